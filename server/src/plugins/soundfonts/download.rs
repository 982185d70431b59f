//! `GET /plugins/soundfonts/download/{sf_id}`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

use super::Chosen;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::Path;
use crate::plugins::file_answer::FileAnswer;
use crate::state::AppState;

const SOUNDFONT_ID: HeaderName = HeaderName::from_static("x-soundfont-id");
const SOUNDFONT_FALLBACK: HeaderName = HeaderName::from_static("x-soundfont-fallback");

/// Sends a SoundFont: the SF2 where there is also an SF3, and the default bank where there is
/// none of that id or it cannot be played.
#[utoipa::path(get, path = "/plugins/soundfonts/download/{sf_id}", tag = "plugins",
    params(("sf_id", description = "Id of the SoundFont")),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", headers(
            ("ETag" = String), ("X-Soundfont-Id" = String, description = "The bank that is really sent"),
            ("X-Soundfont-Fallback" = String, description = "`true` if it stands in for another"))),
        (status = 206, description = "The range that was asked for"),
        (status = 304, description = "`If-None-Match` names the current file"),
        (status = 416, description = "The range lies outside the file"), CommonErrors))]
pub(crate) async fn read(
    State(state): State<AppState>,
    _: CurrentUser,
    Path(soundfont_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let snapshot = state.sound.catalogue.current().await?;
    let chosen = snapshot.choose(Some(&soundfont_id)).ok_or_else(|| ApiError::NotFound {
        code: "no_soundfont",
        detail: "No SoundFont is installed that could be sent.".to_owned(),
    })?;
    let path = chosen.soundfont.path.clone();
    let file = tokio::task::spawn_blocking(move || std::fs::File::open(path)).await?.map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            ApiError::not_found("SoundFont", &chosen.soundfont.summary.soundfont_id)
        } else {
            error.into()
        }
    })?;
    let tag = chosen.soundfont.summary.content_hash.as_deref().unwrap_or_default();
    let answer = FileAnswer {
        file,
        etag: format!("\"{tag}\""),
        media_type: "application/octet-stream",
        save_as: None,
    };
    let mut response = answer.respond(&headers)?;
    response.headers_mut().extend(chosen_headers(&chosen)?);
    Ok(response)
}

/// The headers that name the bank that was really used.
pub(crate) fn chosen_headers(chosen: &Chosen) -> ApiResult<[(HeaderName, HeaderValue); 2]> {
    // Letters outside ASCII cannot stand in a header; they are sent percent-encoded.
    let id: String = chosen
        .soundfont
        .summary
        .soundfont_id
        .bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let fallback = HeaderValue::from_static(if chosen.fallback { "true" } else { "false" });
    Ok([
        (SOUNDFONT_ID, HeaderValue::from_str(&id).map_err(ApiError::internal)?),
        (SOUNDFONT_FALLBACK, fallback),
    ])
}
