//! Query parameters of `/media`.

use serde::Deserialize;
use utoipa::IntoParams;

/// The requested part of the folder tree.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TreeQuery {
    /// Absolute path of the folder to list.
    pub(super) path: String,
    /// Number of levels below the folder: 1 (the default) to 5.
    pub(super) depth: Option<u32>,
}

/// The folder to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FilesQuery {
    /// Absolute path of the folder.
    pub(super) path: String,
}
