//! Query parameters of `/plugins/dirs`.

use serde::Deserialize;
use utoipa::IntoParams;

/// The folder to remove.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::plugins) struct PluginDirQuery {
    /// Absolute path of the folder, as in the list.
    #[param(min_length = 1, max_length = 2048)]
    pub(super) path: String,
}
