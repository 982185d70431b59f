//! Handlers of the tus protocol's requests.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::expiry::expires_secs;
use super::headers::{
    CHECKSUM_ALGORITHMS, Checksum, UPLOAD_EXPIRES, UPLOAD_LENGTH, UPLOAD_METADATA, UPLOAD_OFFSET,
    parse_metadata, parse_number, require_offset_octets, require_version, required_number,
};
use super::part::{AppendResult, QUEUED_CHUNKS_MAX, append as append_part};
use super::store::{UploadRow, UploadState};
use super::{blob_key_of, remove_expired, store};
use crate::auth::CurrentUser;
use crate::clock;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Path, Query, body_error};
use crate::paging::{Page, PageQuery, Position};
use crate::reserve;
use crate::state::AppState;
use crate::storage::{Allowance, ensure_room};

/// Maximum number of unfinished uploads of a user.
const UNFINISHED_MAX: i64 = 100;

const TUS_EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
const TUS_MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
const TUS_CHECKSUM_ALGORITHM: HeaderName = HeaderName::from_static("tus-checksum-algorithm");
const TASK_ID: HeaderName = HeaderName::from_static("songfoundry-task-id");
const PROTOCOL_EXTENSIONS: HeaderValue = HeaderValue::from_static("creation,expiration,termination,checksum");

/// Format of dates in HTTP headers (RFC 9110, section 5.6.7).
const HTTP_DATE: &[BorrowedFormatItem<'static>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// The version of the protocol, used only in the description of the API.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
enum TusVersion {
    /// The only supported version.
    #[schema(rename = "1.0.0")]
    One,
}

/// State of a resumable upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadStatus {
    /// Id of the upload.
    id: String,
    /// Path of the upload in the API.
    location: String,
    /// Name of the file.
    name: String,
    /// Size of the file in bytes, as announced by the client.
    length_bytes: u64,
    /// Number of bytes received so far.
    offset_bytes: u64,
    /// When the upload expires, RFC 3339. Every received part extends this time.
    expires_at: String,
    /// State of the upload.
    state: UploadState,
    /// Id of the task that decodes the file, once the upload is complete.
    task_id: Option<String>,
    /// Id of the audio file, once it is stored.
    audio_id: Option<String>,
}

impl UploadStatus {
    fn from_row(upload_row: UploadRow) -> Self {
        Self {
            location: location(&upload_row.id),
            id: upload_row.id,
            name: upload_row.name,
            length_bytes: upload_row.length_bytes,
            offset_bytes: upload_row.offset_bytes,
            expires_at: clock::text_of_unix_secs(upload_row.expires_secs),
            state: upload_row.state,
            task_id: upload_row.task_id,
            audio_id: upload_row.file_id,
        }
    }
}

/// Returns the path of an upload in the API.
fn location(id: &str) -> String {
    format!("/api/v1/audio/uploads/{id}")
}

fn text_value(text: &str) -> ApiResult<HeaderValue> {
    HeaderValue::from_str(text).map_err(ApiError::internal)
}

fn expires(expires_secs: i64) -> ApiResult<HeaderValue> {
    let time = OffsetDateTime::from_unix_timestamp(expires_secs).map_err(ApiError::internal)?;
    text_value(&time.format(HTTP_DATE).map_err(ApiError::internal)?)
}

async fn find(state: &AppState, user: &CurrentUser, id: &str) -> ApiResult<UploadRow> {
    store::find_by_id(&state.db, &user.id, id).await?.ok_or_else(|| ApiError::not_found("upload", id))
}

/// Returns the supported version, extensions and limits of the tus protocol.
#[utoipa::path(options, path = "/audio/uploads", tag = "audio",
    responses((status = 204, description = "The headers describe the supported protocol", headers(("Tus-Version" = String),
        ("Tus-Extension" = String), ("Tus-Max-Size" = u64), ("Tus-Checksum-Algorithm" = String)))))]
pub(super) async fn options(State(state): State<AppState>, _: CurrentUser) -> Response {
    let fields = [
        (TUS_EXTENSION, PROTOCOL_EXTENSIONS),
        (TUS_MAX_SIZE, HeaderValue::from(state.config.limits.upload_max_bytes)),
        (TUS_CHECKSUM_ALGORITHM, HeaderValue::from_static(CHECKSUM_ALGORITHMS)),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}

/// Creates a resumable upload (tus 1.0.0, creation).
#[utoipa::path(post, path = "/audio/uploads", tag = "audio",
    params(("Tus-Resumable" = inline(TusVersion), Header),
        ("Upload-Length" = u64, Header, description = "Size of the file in bytes"),
        ("Upload-Metadata" = Option<String>, Header, description = "`filename`, a space, and the name of the file in base64")),
    responses((status = 201, description = "Created", headers(("Location" = String), ("Upload-Expires" = String))),
        (status = 409, description = "`too_many_uploads`", body = Problem, content_type = "application/problem+json"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The file is too large", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    require_version(&headers)?;
    let length_bytes = required_number(&headers, &UPLOAD_LENGTH)?;
    let (name, metadata) = parse_metadata(&headers)?;
    let limit_bytes = state.config.limits.upload_max_bytes;
    if length_bytes == 0 {
        return Err(ApiError::bad_request(
            "bad_upload_header",
            "The file is empty (upload-length is 0); send a file with audio.",
        ));
    }
    if length_bytes > limit_bytes {
        return Err(ApiError::TooLarge { subject: "An upload", limit_bytes });
    }
    remove_expired(&state).await?;
    if store::count_unfinished(&state.db, &user.id).await? >= UNFINISHED_MAX {
        return Err(ApiError::Conflict {
            code: "too_many_uploads",
            detail: format!(
                "You have {UNFINISHED_MAX} unfinished uploads, which is the maximum; finish or delete some first."
            ),
        });
    }
    Allowance::load(&state, &user.id).await?.check_at_least(length_bytes)?;
    let (work_state, runtime) = (state.clone(), Handle::current());
    let ensure = move || ensure_room(&work_state, &runtime, work_state.blobs.root(), length_bytes);
    tokio::task::spawn_blocking(ensure).await??;
    let upload_row = UploadRow {
        id: uuid::Uuid::new_v4().to_string(),
        owner_id: user.id,
        name,
        metadata,
        length_bytes,
        offset_bytes: 0,
        expires_secs: expires_secs(&state),
        state: UploadState::Receiving,
        task_id: None,
        file_id: None,
    };
    store::insert(&state.db, &upload_row).await?;
    let (blobs, blob_key) = (state.blobs.local(), blob_key_of(&upload_row.id)?);
    tokio::task::spawn_blocking(move || blobs.put(&blob_key, &[])).await??;
    let fields = [
        (header::LOCATION, text_value(&location(&upload_row.id))?),
        (UPLOAD_EXPIRES, expires(upload_row.expires_secs)?),
    ];
    Ok((StatusCode::CREATED, fields).into_response())
}

/// Returns how many bytes of an upload have been received (tus 1.0.0).
#[utoipa::path(head, path = "/audio/uploads/{id}", tag = "audio",
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header)),
    responses((status = 200, description = "The headers describe the state", headers(("Upload-Offset" = u64),
        ("Upload-Length" = u64), ("Upload-Expires" = String), ("Upload-Metadata" = String))),
        (status = 412, description = "`tus_version`")))]
pub(super) async fn head(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    require_version(&headers)?;
    let upload_row = find(&state, &user, &id).await?;
    let mut fields = HeaderMap::new();
    fields.insert(UPLOAD_OFFSET, HeaderValue::from(upload_row.offset_bytes));
    fields.insert(UPLOAD_LENGTH, HeaderValue::from(upload_row.length_bytes));
    fields.insert(UPLOAD_EXPIRES, expires(upload_row.expires_secs)?);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if !upload_row.metadata.is_empty() {
        fields.insert(UPLOAD_METADATA, text_value(&upload_row.metadata)?);
    }
    Ok((StatusCode::OK, fields).into_response())
}

/// Lists the caller's incomplete uploads. Those that expire last come first.
#[utoipa::path(get, path = "/audio/uploads", tag = "audio", params(PageQuery),
    responses((status = 200, body = Page<UploadStatus>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
) -> ApiResult<Response> {
    let limit = page.limit()?;
    let upload_rows = store::read_page(&state.db, &user.id, page.position()?.as_ref(), limit + 1).await?;
    let position_of = |upload_row: &UploadRow| Position {
        time: upload_row.expires_secs.to_string(),
        id: upload_row.id.clone(),
    };
    let Page { items, next_cursor } = Page::from_overfetched(upload_rows, limit, position_of);
    let page = Page { items: items.into_iter().map(UploadStatus::from_row).collect(), next_cursor };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(page)).into_response())
}

/// Returns the state of an upload and the id of the resulting file.
#[utoipa::path(get, path = "/audio/uploads/{id}", tag = "audio", params(("id", description = "Id of the upload")),
    responses((status = 200, body = UploadStatus)))]
pub(super) async fn describe(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let status = UploadStatus::from_row(find(&state, &user, &id).await?);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(status)).into_response())
}

/// Appends bytes to an upload (tus 1.0.0). After the last byte, a task decodes the file. If
/// decoding fails because the disk is full or the database does not answer, the upload keeps its
/// bytes and its state is `receiving` again. To retry, send a request without bytes at the offset
/// of the upload's length.
#[utoipa::path(patch, path = "/audio/uploads/{id}", tag = "audio",
    request_body(content = String, content_type = "application/offset+octet-stream"),
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header),
        ("Upload-Offset" = u64, Header, description = "Number of bytes received so far"),
        ("Upload-Checksum" = Option<String>, Header, description = "`sha1` or `sha256`, and the checksum of the body in base64")),
    responses((status = 204, description = "Appended", headers(("Upload-Offset" = u64), ("Upload-Expires" = String),
            ("Songfoundry-Task-Id" = String, description = "After the last byte: the task that decodes the upload"))),
        (status = 409, description = "`wrong_offset`; `upload_finished`: all bytes have been received; `upload_busy`: another request is writing", body = Problem,
            content_type = "application/problem+json"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Not `application/offset+octet-stream`", body = Problem,
            content_type = "application/problem+json"),
        (status = 460, description = "`checksum_mismatch`: no bytes were appended", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn append(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    let headers = request.headers();
    require_version(headers)?;
    require_offset_octets(headers)?;
    let offset_bytes = required_number(headers, &UPLOAD_OFFSET)?;
    let announced_bytes = parse_number(headers, &header::CONTENT_LENGTH)?;
    let checksum = Checksum::from_headers(headers)?;
    find(&state, &user, &id).await?;
    let lease = state.audio.upload_leases.acquire(&state.db, &id).await?;
    // The row is read again, because the offset may have changed while the request waited for the
    // lease.
    let upload_row = find(&state, &user, &id).await?;
    if upload_row.state != UploadState::Receiving && !has_no_decoder_task(&state, &upload_row).await? {
        let detail = format!(
            "The upload is finished: all of its {} bytes have been received.",
            upload_row.length_bytes
        );
        return Err(ApiError::Conflict { code: "upload_finished", detail });
    }
    if offset_bytes != upload_row.offset_bytes {
        let detail = format!(
            "Upload-Offset is {offset_bytes}, but the upload has {} bytes; continue there.",
            upload_row.offset_bytes
        );
        return Err(ApiError::Conflict { code: "wrong_offset", detail });
    }
    if announced_bytes.is_some_and(|bytes| bytes > upload_row.length_bytes - offset_bytes) {
        return Err(ApiError::bad_request(
            "upload_too_long",
            format!(
                "The Upload-Length of the upload is {} bytes; this request would exceed it.",
                upload_row.length_bytes
            ),
        ));
    }
    let (sender, chunks) = mpsc::channel(QUEUED_CHUNKS_MAX);
    let writing = tokio::spawn(append_part(state.clone(), upload_row, checksum, chunks, lease));
    let send_result = send_body(request.into_body(), sender, state.config.limits.upload_max_bytes).await;
    let AppendResult { offset_bytes, expires_secs, task_id } = writing.await??;
    send_result?;
    let mut fields = HeaderMap::new();
    fields.insert(UPLOAD_OFFSET, HeaderValue::from(offset_bytes));
    fields.insert(UPLOAD_EXPIRES, expires(expires_secs)?);
    if let Some(task_id) = task_id {
        fields.insert(TASK_ID, text_value(&task_id)?);
    }
    Ok((StatusCode::NO_CONTENT, fields).into_response())
}

/// Whether an upload is complete but no task decodes it. In this case the client must retry.
async fn has_no_decoder_task(state: &AppState, upload_row: &UploadRow) -> ApiResult<bool> {
    Ok(match (upload_row.state, &upload_row.task_id) {
        (UploadState::Decoding, Some(task_id)) => !state.tasks.is_unfinished(task_id).await?,
        // Starting a task needs the lease. The caller holds it, so no other request starts a task
        // now.
        (UploadState::Decoding, None) => true,
        _ => false,
    })
}

/// Sends the body to the task that writes it, until the body ends or fails, or the task stops
/// receiving.
async fn send_body(body: Body, sender: mpsc::Sender<axum::body::Bytes>, limit_bytes: u64) -> ApiResult<()> {
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            body_error(&error, || ApiError::TooLarge { subject: "An upload", limit_bytes })
        })?;
        if sender.send(chunk).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Deletes an upload and its bytes (tus 1.0.0, termination).
#[utoipa::path(delete, path = "/audio/uploads/{id}", tag = "audio",
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header)),
    responses((status = 204, description = "Deleted"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`upload_busy`, or `upload_decoding`: cancel the task that decodes it", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn terminate(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    require_version(&headers)?;
    find(&state, &user, &id).await?;
    let _lease = state.audio.upload_leases.acquire(&state.db, &id).await?;
    let upload_row = find(&state, &user, &id).await?;
    if upload_row.state == UploadState::Decoding && !has_no_decoder_task(&state, &upload_row).await? {
        let detail = "The upload is complete, and a task decodes it; cancel the task instead.".to_owned();
        return Err(ApiError::Conflict { code: "upload_decoding", detail });
    }
    let deleting = || async { Ok::<_, ApiError>(store::delete(&state.db, &id).await?) };
    reserve::retry_with_reserve(&state, deleting).await?;
    let (blobs, local_blobs, blob_key) = (state.blobs.clone(), state.blobs.local(), blob_key_of(&id)?);
    let removing = tokio::task::spawn_blocking(move || {
        blobs.remove(&blob_key).and_then(|()| local_blobs.remove(&blob_key))
    });
    // The row is deleted already, so a failure here only leaves a file, which the periodic
    // cleanup finds later.
    if let Err(error) = removing.await? {
        tracing::warn!(
            id,
            "cannot delete the bytes of a deleted upload; the periodic cleanup will try again: {error}"
        );
    }
    Ok(StatusCode::NO_CONTENT)
}
