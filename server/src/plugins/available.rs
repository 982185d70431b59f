//! `GET /plugins/available`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::vst::VstPlugin;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::etag;
use crate::soundfonts::SoundFontSummary;
use crate::state::AppState;

/// The instruments that the caller has.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Available {
    /// VST instruments in the folders of an administrator, by name.
    vst_instruments: Vec<VstPlugin>,
    /// SoundFonts of the system and of the caller, without their presets.
    soundfonts: Vec<SoundFontSummary>,
}

/// Lists the instruments that the caller has. Plugins come from a scan that is at most five minutes
/// old; without one this scans those that are new or have changed. An API key gets the list of the
/// last scan, and starts none.
#[utoipa::path(get, path = "/plugins/available", tag = "plugins",
    responses((status = 200, body = Available, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current list"), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let scan = state.plugins.current(&user).await?;
    let instruments = scan.iter().flat_map(|scan| &scan.instruments);
    let vst_instruments = instruments.map(VstPlugin::from).collect();
    let snapshot = state.soundfonts.catalogue.of(&user.id).await?;
    let soundfonts = snapshot.soundfonts.iter().map(|soundfont| soundfont.summary.clone()).collect();
    etag::tagged_json(&headers, &Available { vst_instruments, soundfonts })
}
