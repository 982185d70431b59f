//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

use super::log::Level;

/// Which lines.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// The newest so many lines: 1 to 1000, 200 by default.
    #[param(minimum = 1, maximum = 1000)]
    pub(super) limit: Option<usize>,
    /// Only lines that are as grave as this or graver.
    #[param(inline)]
    pub(super) level: Option<Level>,
}
