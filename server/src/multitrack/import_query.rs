//! Query parameters of the MIDI import.

use serde::Deserialize;
use utoipa::IntoParams;

/// Properties of the new project.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// Id of the SoundFont bank that the tracks play; the default bank if absent.
    pub(super) soundfont_id: Option<String>,
    /// Name of the project; if absent, the name in the MIDI file.
    pub(super) name: Option<String>,
}
