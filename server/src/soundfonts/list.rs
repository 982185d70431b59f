//! `GET /plugins/soundfonts/catalog`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::SoundFont;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::etag;
use crate::extract::Json;
use crate::state::AppState;

/// The SoundFonts, full and condensed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CatalogAnswer {
    /// Every bank with its presets.
    soundfonts: Vec<SoundFont>,
    /// Every bank in short.
    condensed: Vec<CondensedSoundFont>,
    /// When the folders were last searched, RFC 3339.
    scanned_at: String,
}

/// A SoundFont in short.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CondensedSoundFont {
    /// Identifies the bank.
    soundfont_id: String,
    /// Its name.
    name: String,
    /// How many presets it has.
    preset_count: usize,
}

/// Lists the SoundFonts that the scanner has found and those that the caller has uploaded. If
/// several have one id, lists the one that is played; it names the others.
#[utoipa::path(get, path = "/plugins/soundfonts/catalog", tag = "plugins",
    responses((status = 200, body = CatalogAnswer, headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` names the current catalogue"), CommonErrors))]
pub(crate) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = state.soundfonts.catalogue.of(&user.id).await?;
    let etag = snapshot.etag();
    let common = [
        (header::ETAG, HeaderValue::from_str(&etag).map_err(ApiError::internal)?),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
    ];
    if etag::matches_none(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let condensed = |soundfont: &SoundFont| CondensedSoundFont {
        soundfont_id: soundfont.summary.soundfont_id.clone(),
        name: soundfont.summary.name.clone(),
        preset_count: soundfont.presets.len(),
    };
    let answer = CatalogAnswer {
        soundfonts: snapshot.soundfonts.clone(),
        condensed: snapshot.soundfonts.iter().map(condensed).collect(),
        scanned_at: snapshot.scanned_at.clone(),
    };
    Ok((common, Json(answer)).into_response())
}
