//! `GET /plugins/soundfonts/catalog`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::SoundFont;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::etag;
use crate::extract::Json;
use crate::state::AppState;

/// The SoundFonts, listed once with their presets and once without details.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CatalogAnswer {
    /// All banks with their presets.
    soundfonts: Vec<SoundFont>,
    /// All banks without details.
    condensed: Vec<CondensedSoundFont>,
    /// Time when the folders were last searched, RFC 3339.
    scanned_at: String,
}

/// A SoundFont without details.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CondensedSoundFont {
    /// Id of the bank.
    soundfont_id: String,
    /// Name of the bank.
    name: String,
    /// Number of presets in the bank.
    preset_count: usize,
}

/// Lists the SoundFonts of the system and those that the caller has uploaded. If several have the
/// same id, the list has only the one that is played; its field `others` lists the other ones.
#[utoipa::path(get, path = "/plugins/soundfonts/catalog", tag = "plugins",
    responses((status = 200, body = CatalogAnswer, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current catalogue")))]
pub(crate) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = state.soundfonts.catalogue.of_user(&user.id).await?;
    let etag = snapshot.etag();
    let common = [
        (header::ETAG, HeaderValue::from_str(&etag).map_err(ApiError::internal)?),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    if etag::matches_if_none_match(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let condense = |soundfont: &SoundFont| CondensedSoundFont {
        soundfont_id: soundfont.summary.soundfont_id.clone(),
        name: soundfont.summary.name.clone(),
        preset_count: soundfont.presets.len(),
    };
    let answer = CatalogAnswer {
        soundfonts: snapshot.soundfonts.clone(),
        condensed: snapshot.soundfonts.iter().map(condense).collect(),
        scanned_at: snapshot.scanned_at.clone(),
    };
    Ok((common, Json(answer)).into_response())
}
