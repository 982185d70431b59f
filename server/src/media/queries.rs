//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::IntoParams;

/// The requested part of the folder tree.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TreeQuery {
    /// Whole path of the folder to begin with.
    pub(super) path: String,
    /// How many levels below it are shown: 1 (the default) to 5.
    pub(super) depth: Option<u32>,
}

/// The folder to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FilesQuery {
    /// Whole path of the folder.
    pub(super) path: String,
}
