//! `GET /plugins/available`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::soundfonts::SoundFontSummary;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::Json;
use crate::state::AppState;

/// The instruments of this installation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Available {
    /// VST instruments: none, as the helper of this version loads no plugins.
    vst_instruments: Vec<VstInstrument>,
    /// SoundFonts, without their presets.
    soundfonts: Vec<SoundFontSummary>,
}

/// A VST instrument.
#[derive(Debug, Serialize, ToSchema)]
struct VstInstrument {
    /// Identifies the plugin in a track's `synth_engine`.
    plugin_id: String,
    /// Name in the module.
    name: String,
    /// `vst2` or `vst3`.
    format: String,
}

/// Lists the instruments of this installation.
#[utoipa::path(get, path = "/plugins/available", tag = "plugins",
    responses((status = 200, body = Available), CommonErrors))]
pub(super) async fn read(State(state): State<AppState>, _: CurrentUser) -> ApiResult<Json<Available>> {
    let snapshot = state.sound.catalogue.current().await?;
    let soundfonts = snapshot.soundfonts.iter().map(|one| one.summary.clone()).collect();
    Ok(Json(Available { vst_instruments: Vec::new(), soundfonts }))
}
