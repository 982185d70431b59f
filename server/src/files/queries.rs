//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// How to save.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SaveQuery {
    /// Name of the file with its ending. What could be a folder or a device in it becomes `_`.
    pub(super) name: String,
}
