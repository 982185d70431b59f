//! Query parameters of `/plugins/dirs`.

use serde::Deserialize;
use utoipa::IntoParams;

/// Which folder is removed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::plugins) struct PluginDirQuery {
    /// Its absolute path, as in the list.
    #[param(min_length = 1, max_length = 2048)]
    pub(super) path: String,
}
