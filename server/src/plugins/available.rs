//! `GET /plugins/available`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::vst::VstPlugin;
use crate::auth::CurrentUser;
use crate::error::ApiResult;
use crate::etag;
use crate::soundfonts::SoundFontSummary;
use crate::state::AppState;

/// The instruments that the caller can use.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Available {
    /// VST instruments in the caller's plugin folders, sorted by name. Only administrators and
    /// callers on this machine have such folders; in `container`, all users have those of the
    /// installation.
    vst_instruments: Vec<VstPlugin>,
    /// SoundFonts of the system and of the caller, without their presets.
    soundfonts: Vec<SoundFontSummary>,
}

/// Lists the instruments that the caller can use. The plugins come from the last scan if it is at
/// most five minutes old. Otherwise, this request scans new and changed plugins. A request with an
/// API key never scans: it gets the list of the last scan. In `container`, only administrators
/// scan, and all other users get the list of the last scan.
#[utoipa::path(get, path = "/plugins/available", tag = "plugins",
    responses((status = 200, body = Available, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current list")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let scan = state.plugins.current(&user).await?;
    let instruments = scan.iter().flat_map(|scan| &scan.instruments);
    let vst_instruments = instruments.map(VstPlugin::from).collect();
    let snapshot = state.soundfonts.catalogue.of_user(&user.id).await?;
    let soundfonts = snapshot.soundfonts.iter().map(|soundfont| soundfont.summary.clone()).collect();
    etag::tagged_json(&headers, &Available { vst_instruments, soundfonts })
}
