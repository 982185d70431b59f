//! Handler of `GET /audio/{id}/file`, which sends the uploaded file or its samples.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::queries::{FileFormat, FileQuery};
use super::store::StoredFile;
use super::store::find;
use super::{ContentKeys, renditions};
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Path, Query};
use crate::file_answer::FileAnswer;
use crate::state::AppState;

/// Sends an audio file.
#[utoipa::path(get, path = "/audio/{id}/file", tag = "audio",
    params(("id", description = "Id of the file"), FileQuery),
    responses((status = 200, description = "The file", content_type = "audio/wav", headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the file"),
        (status = 416, description = "The range is outside the file"),
        (status = 422, description = "`rate_not_converted`: the ratio of the two rates is not supported", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`: there is no space for a copy at another rate",
            body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<FileQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let stored_file = find(&state, &user.id, &id).await?;
    let answer = match query.format {
        FileFormat::Original if query.sample_rate_hz.is_some() => {
            let detail = "`sample_rate_hz` needs `format=wav32f`: the original file keeps its rate.";
            return Err(ApiError::bad_request("bad_query", detail));
        }
        FileFormat::Original => open_original(&state, &stored_file).await?,
        FileFormat::Wav32f => open_samples(&state, &user, &stored_file, query.sample_rate_hz).await?,
    };
    answer.respond(&headers)
}

async fn open_original(state: &AppState, stored_file: &StoredFile) -> ApiResult<FileAnswer> {
    let blob_key = ContentKeys::new(&stored_file.content.sha256)?.original;
    Ok(FileAnswer {
        file: open(state, blob_key, &stored_file.file.id).await?,
        etag: format!("\"{}\"", stored_file.content.sha256),
        media_type: stored_file.file.media_type,
        save_as: Some(stored_file.file.name.clone()),
    })
}

async fn open_samples(
    state: &AppState,
    user: &CurrentUser,
    stored_file: &StoredFile,
    rate_hz: Option<u32>,
) -> ApiResult<FileAnswer> {
    let file_rate_hz = stored_file.content.report.sample_rate_hz;
    let rate_hz = rate_hz.unwrap_or(file_rate_hz);
    if rate_hz != file_rate_hz && AudioFormat::Wav.check_rate(rate_hz).is_err() {
        let rates_hz: Vec<String> =
            AudioFormat::Wav.sample_rates_hz().iter().map(ToString::to_string).collect();
        let detail = format!(
            "`sample_rate_hz` is {rate_hz}; expected {}, or {file_rate_hz} as in the file.",
            rates_hz.join(", ")
        );
        return Err(ApiError::bad_request("bad_query", detail));
    }
    Ok(FileAnswer {
        file: renditions::open(state, &user.id, stored_file, rate_hz).await?,
        etag: format!("\"{}-wav32f-{rate_hz}\"", stored_file.content.sha256),
        media_type: AudioFormat::Wav.media_type(),
        save_as: None,
    })
}

/// Opens the stored file with this key. Returns 404 if it was deleted.
pub(super) async fn open(
    state: &AppState,
    blob_key: crate::storage::BlobKey,
    id: &str,
) -> ApiResult<std::fs::File> {
    let blobs = state.blobs.clone();
    tokio::task::spawn_blocking(move || blobs.read(&blob_key))
        .await??
        .ok_or_else(|| ApiError::not_found("audio file", id))
}
