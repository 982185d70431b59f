//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// Name under which a file is saved.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SaveQuery {
    /// Name of the file with its extension. Characters that are not safe in names become `_`.
    pub(super) name: String,
}
