//! Query parameters of the import.

use serde::Deserialize;
use utoipa::IntoParams;

/// Properties of the new project.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// Name of the project if the file has no title, for example the name of the file.
    pub(super) name: Option<String>,
}
