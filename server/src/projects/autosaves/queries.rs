//! Query parameters of the requests for autosaves.

use serde::Deserialize;
use utoipa::IntoParams;

/// The autosave that a request names.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::projects) struct AutosaveQuery {
    /// Id of the song. The default is the song whose autosave was written last.
    pub(in crate::projects) project_id: Option<String>,
}

/// The autosave to discard.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::projects) struct DiscardQuery {
    /// Id of the song. The default is the song whose autosave was written last.
    pub(in crate::projects) project_id: Option<String>,
    /// Id of a window. If it is given, the autosave is deleted only if this window wrote it. A
    /// window that saves a song therefore does not delete a later autosave of another window.
    pub(in crate::projects) client_id: Option<String>,
}
