//! The protocol's requests.

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
    CHECKSUMS, Checksum, UPLOAD_EXPIRES, UPLOAD_LENGTH, UPLOAD_METADATA, UPLOAD_OFFSET, metadata,
    needed_number, number, require_offset_octets, require_version,
};
use super::part::{Appended, PIECES_WAITING_MAX, append as append_part};
use super::store::{UploadRow, UploadState};
use super::{key, remove_expired, store};
use crate::auth::CurrentUser;
use crate::clock;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Path, Query, is_length_limit};
use crate::paging::{Page, PageQuery, Position};
use crate::reserve;
use crate::state::AppState;
use crate::storage::{Allowance, ensure_room};

/// Uploads that a user may have begun and not ended.
const UNFINISHED_MAX: i64 = 100;

const TUS_EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
const TUS_MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
const TUS_CHECKSUM_ALGORITHM: HeaderName = HeaderName::from_static("tus-checksum-algorithm");
const TASK_ID: HeaderName = HeaderName::from_static("songfoundry-task-id");
const EXTENSIONS: HeaderValue = HeaderValue::from_static("creation,expiration,termination,checksum");

/// The form of dates in HTTP (RFC 9110, section 5.6.7).
const HTTP_DATE: &[BorrowedFormatItem<'static>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// The version of the protocol, for the API's description.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
enum TusVersion {
    /// The only one.
    #[schema(rename = "1.0.0")]
    One,
}

/// Where a resumable upload stands.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadStatus {
    /// Id of the upload.
    id: String,
    /// Where it goes on.
    location: String,
    /// Name of the file.
    name: String,
    /// Announced size in bytes.
    length_bytes: u64,
    /// Bytes that have come.
    offset_bytes: u64,
    /// Until when it is kept, RFC 3339; every part that comes makes it later.
    expires_at: String,
    /// Where it stands.
    state: UploadState,
    /// The task that decodes the file, once all bytes are there.
    task_id: Option<String>,
    /// The audio file, once it is there.
    audio_id: Option<String>,
}

impl UploadStatus {
    fn of(row: UploadRow) -> Self {
        Self {
            location: location(&row.id),
            id: row.id,
            name: row.name,
            length_bytes: row.length_bytes,
            offset_bytes: row.offset_bytes,
            expires_at: clock::text_of_unix_secs(row.expires_secs),
            state: row.state,
            task_id: row.task_id,
            audio_id: row.file_id,
        }
    }
}

/// Where an upload is reached.
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
    store::by_id(&state.db, &user.id, id).await?.ok_or_else(|| ApiError::not_found("upload", id))
}

/// Says what of the tus protocol is spoken here.
#[utoipa::path(options, path = "/audio/uploads", tag = "audio",
    responses((status = 204, description = "See the headers", headers(("Tus-Version" = String),
        ("Tus-Extension" = String), ("Tus-Max-Size" = u64), ("Tus-Checksum-Algorithm" = String))), CommonErrors))]
pub(super) async fn options(State(state): State<AppState>, _: CurrentUser) -> Response {
    let fields = [
        (TUS_EXTENSION, EXTENSIONS),
        (TUS_MAX_SIZE, HeaderValue::from(state.config.limits.upload_max_bytes)),
        (TUS_CHECKSUM_ALGORITHM, HeaderValue::from_static(CHECKSUMS)),
    ];
    (StatusCode::NO_CONTENT, fields).into_response()
}

/// Begins a resumable upload (tus 1.0.0, creation).
#[utoipa::path(post, path = "/audio/uploads", tag = "audio",
    params(("Tus-Resumable" = inline(TusVersion), Header),
        ("Upload-Length" = u64, Header, description = "Size of the file in bytes"),
        ("Upload-Metadata" = Option<String>, Header, description = "`filename` and its name in base64")),
    responses((status = 201, description = "Begun", headers(("Location" = String), ("Upload-Expires" = String))),
        (status = 409, description = "`too_many_uploads`", body = Problem, content_type = "application/problem+json"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The file is too large", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn create(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
) -> ApiResult<Response> {
    require_version(&headers)?;
    let length_bytes = needed_number(&headers, &UPLOAD_LENGTH)?;
    let (name, metadata) = metadata(&headers)?;
    let limit_bytes = state.config.limits.upload_max_bytes;
    if length_bytes == 0 {
        return Err(ApiError::bad_request("bad_upload_header", "A file of no bytes holds no sound."));
    }
    if length_bytes > limit_bytes {
        return Err(ApiError::TooLarge { what: "An upload", limit_bytes });
    }
    remove_expired(&state).await?;
    if store::unfinished(&state.db, &user.id).await? >= UNFINISHED_MAX {
        return Err(ApiError::Conflict {
            code: "too_many_uploads",
            detail: format!("{UNFINISHED_MAX} uploads are begun and not ended; end or delete some first."),
        });
    }
    Allowance::of(&state, &user.id).await?.check_at_least(length_bytes)?;
    let (room_state, runtime) = (state.clone(), Handle::current());
    let ensure = move || ensure_room(&room_state, &runtime, room_state.blobs.root(), length_bytes);
    tokio::task::spawn_blocking(ensure).await??;
    let row = UploadRow {
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
    store::insert(&state.db, &row).await?;
    let (blobs, key) = (state.blobs.local(), key(&row.id)?);
    tokio::task::spawn_blocking(move || blobs.put(&key, &[])).await??;
    let fields =
        [(header::LOCATION, text_value(&location(&row.id))?), (UPLOAD_EXPIRES, expires(row.expires_secs)?)];
    Ok((StatusCode::CREATED, fields).into_response())
}

/// Says how many bytes of an upload have come (tus 1.0.0).
#[utoipa::path(head, path = "/audio/uploads/{id}", tag = "audio",
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header)),
    responses((status = 200, description = "See the headers", headers(("Upload-Offset" = u64),
        ("Upload-Length" = u64), ("Upload-Expires" = String), ("Upload-Metadata" = String))),
        (status = 412, description = "`tus_version`"), CommonErrors))]
pub(super) async fn head(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    require_version(&headers)?;
    let row = find(&state, &user, &id).await?;
    let mut fields = HeaderMap::new();
    fields.insert(UPLOAD_OFFSET, HeaderValue::from(row.offset_bytes));
    fields.insert(UPLOAD_LENGTH, HeaderValue::from(row.length_bytes));
    fields.insert(UPLOAD_EXPIRES, expires(row.expires_secs)?);
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if !row.metadata.is_empty() {
        fields.insert(UPLOAD_METADATA, text_value(&row.metadata)?);
    }
    Ok((StatusCode::OK, fields).into_response())
}

/// Lists the caller's uploads that lack bytes, those first that will be kept the longest.
#[utoipa::path(get, path = "/audio/uploads", tag = "audio", params(PageQuery),
    responses((status = 200, body = Page<UploadStatus>), CommonErrors))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(page): Query<PageQuery>,
) -> ApiResult<Response> {
    let limit = page.limit()?;
    let found = store::page(&state.db, &user.id, page.position()?.as_ref(), limit + 1).await?;
    let position = |row: &UploadRow| Position { time: row.expires_secs.to_string(), id: row.id.clone() };
    let Page { items, next_cursor } = Page::from_overfetched(found, limit, position);
    let page = Page { items: items.into_iter().map(UploadStatus::of).collect(), next_cursor };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(page)).into_response())
}

/// Says where an upload stands, and which file came of it.
#[utoipa::path(get, path = "/audio/uploads/{id}", tag = "audio", params(("id", description = "Id of the upload")),
    responses((status = 200, body = UploadStatus), CommonErrors))]
pub(super) async fn describe(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let status = UploadStatus::of(find(&state, &user, &id).await?);
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(status)).into_response())
}

/// Goes on with an upload (tus 1.0.0). After the last byte a task decodes the file. Where that
/// fails for want of room or of a database, the upload keeps its bytes and is `receiving` again: a
/// request without bytes, at the offset of its length, decodes once more.
#[utoipa::path(patch, path = "/audio/uploads/{id}", tag = "audio",
    request_body(content = String, content_type = "application/offset+octet-stream"),
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header),
        ("Upload-Offset" = u64, Header, description = "Bytes that have come before"),
        ("Upload-Checksum" = Option<String>, Header, description = "`sha1` or `sha256`, and the part's in base64")),
    responses((status = 204, description = "Added", headers(("Upload-Offset" = u64), ("Upload-Expires" = String),
            ("Songfoundry-Task-Id" = String, description = "After the last byte: the task that decodes"))),
        (status = 409, description = "`wrong_offset`; `upload_finished`: all bytes are there; `upload_busy`: somebody else is writing", body = Problem,
            content_type = "application/problem+json"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Not `application/offset+octet-stream`", body = Problem,
            content_type = "application/problem+json"),
        (status = 460, description = "`checksum_mismatch`: nothing was added", body = Problem,
            content_type = "application/problem+json"),
        (status = 507, description = "`storage_full`", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn append(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    let headers = request.headers();
    require_version(headers)?;
    require_offset_octets(headers)?;
    let offset_bytes = needed_number(headers, &UPLOAD_OFFSET)?;
    let announced_bytes = number(headers, &header::CONTENT_LENGTH)?;
    let checksum = Checksum::of(headers)?;
    find(&state, &user, &id).await?;
    let busy = state.audio.busy_uploads.take(&state.db, &id).await?;
    // Only now is the offset certain.
    let row = find(&state, &user, &id).await?;
    if row.state != UploadState::Receiving && !is_left_undecoded(&state, &row).await? {
        let detail = format!("The upload is finished: all of its {} bytes are there.", row.length_bytes);
        return Err(ApiError::Conflict { code: "upload_finished", detail });
    }
    if offset_bytes != row.offset_bytes {
        let detail = format!("The upload is at byte {}, not at {offset_bytes}.", row.offset_bytes);
        return Err(ApiError::Conflict { code: "wrong_offset", detail });
    }
    if announced_bytes.is_some_and(|bytes| bytes > row.length_bytes - offset_bytes) {
        return Err(ApiError::bad_request(
            "upload_too_long",
            format!("The upload was announced with {} bytes, and more are to come.", row.length_bytes),
        ));
    }
    let (sender, pieces) = mpsc::channel(PIECES_WAITING_MAX);
    let writing = tokio::spawn(append_part(state.clone(), row, checksum, pieces, busy));
    let sent = send_body(request.into_body(), sender, state.config.limits.upload_max_bytes).await;
    let Appended { offset_bytes, expires_secs, task_id } = writing.await??;
    sent?;
    let mut fields = HeaderMap::new();
    fields.insert(UPLOAD_OFFSET, HeaderValue::from(offset_bytes));
    fields.insert(UPLOAD_EXPIRES, expires(expires_secs)?);
    if let Some(task_id) = task_id {
        fields.insert(TASK_ID, text_value(&task_id)?);
    }
    Ok((StatusCode::NO_CONTENT, fields).into_response())
}

/// Whether an upload is whole, and no task decodes it or will say what came of it.
async fn is_left_undecoded(state: &AppState, row: &UploadRow) -> ApiResult<bool> {
    Ok(match (row.state, &row.task_id) {
        (UploadState::Decoding, Some(task_id)) => !state.tasks.is_unfinished(task_id).await?,
        // Starting a task holds the upload, as the caller does now: nobody is about to start one.
        (UploadState::Decoding, None) => true,
        _ => false,
    })
}

/// Hands the body to the thread that writes, until it ends, breaks off or is refused.
async fn send_body(body: Body, sender: mpsc::Sender<axum::body::Bytes>, limit_bytes: u64) -> ApiResult<()> {
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| match is_length_limit(&error) {
            true => ApiError::TooLarge { what: "An upload", limit_bytes },
            false => ApiError::BodyIncomplete,
        })?;
        if sender.send(piece).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Gives up an upload and its bytes (tus 1.0.0, termination).
#[utoipa::path(delete, path = "/audio/uploads/{id}", tag = "audio",
    params(("id", description = "Id of the upload"), ("Tus-Resumable" = inline(TusVersion), Header)),
    responses((status = 204, description = "Deleted"),
        (status = 412, description = "`tus_version`", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`upload_busy`, or `upload_decoding`: cancel its task", body = Problem,
            content_type = "application/problem+json"), CommonErrors))]
pub(super) async fn terminate(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    require_version(&headers)?;
    find(&state, &user, &id).await?;
    let _busy = state.audio.busy_uploads.take(&state.db, &id).await?;
    let row = find(&state, &user, &id).await?;
    if row.state == UploadState::Decoding && !is_left_undecoded(&state, &row).await? {
        let detail = "All of the upload is there and being decoded; cancel its task instead.".to_owned();
        return Err(ApiError::Conflict { code: "upload_decoding", detail });
    }
    let deleting = || async { Ok::<_, ApiError>(store::delete(&state.db, &id).await?) };
    reserve::making_room(&state, deleting).await?;
    let (blobs, local, key) = (state.blobs.clone(), state.blobs.local(), key(&id)?);
    let removing = tokio::task::spawn_blocking(move || blobs.remove(&key).and_then(|()| local.remove(&key)));
    // The row is gone: the upload is deleted, and upkeep looks for files without a row.
    if let Err(error) = removing.await? {
        tracing::warn!(id, "the bytes of a deleted upload stay for now: {error}");
    }
    Ok(StatusCode::NO_CONTENT)
}
