//! Query parameters of the requests for autosaves.

use serde::Deserialize;
use utoipa::IntoParams;

/// The autosave that a request is about.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::projects) struct AutosaveQuery {
    /// Id of the song. Without it, the autosave that was written last is meant.
    pub(in crate::projects) project_id: Option<String>,
}

/// The autosave to discard.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::projects) struct DiscardQuery {
    /// Id of the song. Without it, the autosave that was written last is meant.
    pub(in crate::projects) project_id: Option<String>,
    /// If this is sent, the autosave is kept unless the window with this id wrote it. A window that
    /// saves a song thereby keeps the later autosave of another window.
    pub(in crate::projects) client_id: Option<String>,
}
