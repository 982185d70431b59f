//! `GET /plugins/soundfonts/download/{sf_id}`.

use std::fs::File;
use std::io::ErrorKind;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::preset_list::{self, DownloadQuery};
use super::{BankFile, ChosenSoundFont, reduced};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::etag;
use crate::extract::{Path, Query};
use crate::file_answer::FileAnswer;
use crate::rendering::banks::Version;
use crate::state::AppState;

const SOUNDFONT_ID: HeaderName = HeaderName::from_static("x-soundfont-id");
const SOUNDFONT_FALLBACK: HeaderName = HeaderName::from_static("x-soundfont-fallback");

/// Sends a SoundFont. A SoundFont of the caller comes before one of the system, and an SF2 before
/// an SF3. If the id is unknown or the SoundFont cannot be played, sends the default bank.
#[utoipa::path(get, path = "/plugins/soundfonts/download/{sf_id}", tag = "plugins",
    params(("sf_id", description = "Id of the SoundFont"), DownloadQuery),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", headers(
            ("ETag" = String), ("X-Soundfont-Id" = String, description = "Id of the bank that is sent"),
            ("X-Soundfont-Fallback" = String, description = "`true` if this bank replaces the requested one"))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the current file"),
        (status = 416, description = "The range is outside the file"),
        (status = 422, description = "`bad_presets` or `soundfont_unusable`", body = Problem,
            content_type = "application/problem+json")))]
pub(crate) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(soundfont_id): Path<String>,
    Query(query): Query<DownloadQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let presets = query.presets.as_deref().map(preset_list::parse).transpose()?;
    let chosen_soundfont = choose(&state, &user.id, &soundfont_id).await?;
    let mut response = match presets {
        None => send_file(&state, &chosen_soundfont, &headers).await?,
        Some(presets) => send_reduced(&state, &chosen_soundfont, presets, &headers).await?,
    };
    response.headers_mut().extend(chosen_headers(&chosen_soundfont)?);
    Ok(response)
}

/// Finds the bank of an id for a user. If the bank's file has changed since the last scan, scans
/// again.
async fn choose(state: &AppState, owner_id: &str, soundfont_id: &str) -> ApiResult<ChosenSoundFont> {
    let not_found = || ApiError::NotFound {
        code: "no_soundfont",
        detail: "No playable SoundFont is installed or uploaded; upload an SF2 or SF3 file.".to_owned(),
    };
    let catalogue = &state.soundfonts.catalogue;
    let chosen_soundfont =
        catalogue.of_user(owner_id).await?.choose(Some(soundfont_id)).ok_or_else(not_found)?;
    let BankFile::InFolder { path, version: scanned_version } = chosen_soundfont.soundfont.file.clone()
    else {
        return Ok(chosen_soundfont);
    };
    let metadata = tokio::task::spawn_blocking(move || std::fs::metadata(path)).await?;
    if metadata.is_ok_and(|metadata| Version::from_metadata(&metadata) == scanned_version) {
        return Ok(chosen_soundfont);
    }
    catalogue.rescan().await?;
    catalogue.of_user(owner_id).await?.choose(Some(soundfont_id)).ok_or_else(not_found)
}

async fn send_file(
    state: &AppState,
    chosen_soundfont: &ChosenSoundFont,
    headers: &HeaderMap,
) -> ApiResult<Response> {
    let (blobs, bank_file) = (state.blobs.clone(), chosen_soundfont.soundfont.file.clone());
    let opening = tokio::task::spawn_blocking(move || match bank_file {
        BankFile::InFolder { path, .. } => File::open(path),
        BankFile::Stored { blob_key, .. } => blobs.read(&blob_key)?.ok_or_else(|| ErrorKind::NotFound.into()),
    });
    let file = opening.await?.map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            ApiError::not_found("SoundFont", &chosen_soundfont.soundfont.summary.soundfont_id)
        } else {
            error.into()
        }
    })?;
    let tag = chosen_soundfont.soundfont.summary.content_hash.as_deref().unwrap_or_default();
    answer(file, tag).respond(headers)
}

async fn send_reduced(
    state: &AppState,
    chosen_soundfont: &ChosenSoundFont,
    presets: Vec<(u16, u8)>,
    headers: &HeaderMap,
) -> ApiResult<Response> {
    let soundfont = &chosen_soundfont.soundfont;
    let tag = reduced::etag_of(soundfont.summary.content_hash.as_deref().unwrap_or_default(), &presets);
    let etag = format!("\"{tag}\"");
    if etag::matches_if_none_match(headers, &etag) {
        // This answer does not contain the reduced bank, so the bank is not made.
        let etag = HeaderValue::from_str(&etag).map_err(ApiError::internal)?;
        let cache_control = HeaderValue::from_static("private, no-cache");
        let fields = [(header::ETAG, etag), (header::CACHE_CONTROL, cache_control)];
        return Ok((StatusCode::NOT_MODIFIED, fields).into_response());
    }
    let file = state.soundfonts.reduced_banks.open(state, soundfont.clone(), presets, &tag).await?;
    answer(file, &tag).respond(headers)
}

fn answer(file: File, tag: &str) -> FileAnswer {
    FileAnswer { file, etag: format!("\"{tag}\""), media_type: "application/octet-stream", save_as: None }
}

/// Returns the headers that name the bank which was used.
pub(crate) fn chosen_headers(
    chosen_soundfont: &ChosenSoundFont,
) -> ApiResult<[(HeaderName, HeaderValue); 2]> {
    // A header may contain only ASCII, so other letters are percent-encoded.
    let id: String = chosen_soundfont
        .soundfont
        .summary
        .soundfont_id
        .bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let fallback = HeaderValue::from_static(if chosen_soundfont.fallback { "true" } else { "false" });
    Ok([
        (SOUNDFONT_ID, HeaderValue::from_str(&id).map_err(ApiError::internal)?),
        (SOUNDFONT_FALLBACK, fallback),
    ])
}
