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
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
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
            body = Problem, content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<FileQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let found = find(&state, &user.id, &id).await?;
    let answer = match query.format {
        FileFormat::Original if query.sample_rate_hz.is_some() => {
            let detail = "`sample_rate_hz` needs `format=wav32f`: the original file keeps its rate.";
            return Err(ApiError::bad_request("bad_query", detail));
        }
        FileFormat::Original => original(&state, &found).await?,
        FileFormat::Wav32f => samples(&state, &user, &found, query.sample_rate_hz).await?,
    };
    answer.respond(&headers)
}

async fn original(state: &AppState, found: &StoredFile) -> ApiResult<FileAnswer> {
    let key = ContentKeys::new(&found.content.sha256)?.original;
    Ok(FileAnswer {
        file: open(state, key, &found.file.id).await?,
        etag: format!("\"{}\"", found.content.sha256),
        media_type: found.file.media_type,
        save_as: Some(found.file.name.clone()),
    })
}

async fn samples(
    state: &AppState,
    user: &CurrentUser,
    found: &StoredFile,
    rate_hz: Option<u32>,
) -> ApiResult<FileAnswer> {
    let file_rate_hz = found.content.report.sample_rate_hz;
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
        file: renditions::open(state, &user.id, found, rate_hz).await?,
        etag: format!("\"{}-wav32f-{rate_hz}\"", found.content.sha256),
        media_type: AudioFormat::Wav.media_type(),
        save_as: None,
    })
}

/// Opens the stored file with this key. Returns 404 if it was deleted.
pub(super) async fn open(
    state: &AppState,
    key: crate::storage::BlobKey,
    id: &str,
) -> ApiResult<std::fs::File> {
    let blobs = state.blobs.clone();
    tokio::task::spawn_blocking(move || blobs.read(&key))
        .await??
        .ok_or_else(|| ApiError::not_found("audio file", id))
}
