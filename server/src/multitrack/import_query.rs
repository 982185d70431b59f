//! Query of the import.

use serde::Deserialize;
use utoipa::IntoParams;

/// Options that the file does not contain.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// Bank that the tracks play; the default bank by default.
    pub(super) soundfont_id: Option<String>,
    /// Name of the project; the name in the file by default.
    pub(super) name: Option<String>,
}
