//! Handler of `POST /audio/upload`.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::import::make_destination;
use super::import_all::{UploadAnswer, import_all};
use super::import_task;
use super::queries::UploadQuery;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Query};
use crate::form::{self, form_error};
use crate::permits::Caller;
use crate::state::AppState;
use crate::storage::{Allowance, ReceivedFile, receive_field};
use crate::tasks::StartedTask;

/// Maximum number of files in one request.
const FILES_MAX: usize = 100;

/// Files as a form, used only in the description of the API.
#[derive(ToSchema)]
pub(super) struct UploadForm {
    /// The files. Each file is a part of the form.
    #[expect(dead_code, reason = "only its description is used")]
    #[schema(min_items = 1, max_items = 100, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<String>,
}

/// Stores audio files. Each file is stored unchanged, with a decoded copy and its peaks.
///
/// If all files are refused, the answer is the problem of the first file.
#[utoipa::path(post, path = "/audio/upload", tag = "audio", params(UploadQuery),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = UploadAnswer), (status = 202, body = StartedTask),
        (status = 415, description = "Not a supported kind of audio file", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`audio_damaged`, or `audio_limit`: too long, too many channels, \
            a sample rate out of range", body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn upload(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> ApiResult<Response> {
    let received_files = receive_form(&state, &user, request).await?;
    if query.asynchronous {
        let task_id = import_task::start_form(&state, &user.id, received_files).await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let (runtime, owner_id, work_state) = (Handle::current(), user.id.clone(), state.clone());
    let work = move |caller: &Caller| {
        import_all(&work_state, &runtime, &owner_id, received_files, &mut |_| !caller.has_disconnected())
    };
    let answer = state.audio.decoding.run_for(&user.id, 1, work).await?;
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

async fn receive_form(
    state: &AppState,
    user: &CurrentUser,
    request: Request,
) -> ApiResult<Vec<ReceivedFile>> {
    let destination = make_destination(state);
    let mut form = form::read(request).await?;
    let mut received_files = Vec::new();
    while let Some(field) =
        form.next_field().await.map_err(|error| form_error(&error, || destination.too_large_error()))?
    {
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        if received_files.len() == FILES_MAX {
            let detail =
                format!("One upload may have at most {FILES_MAX} files; send the others in another request.");
            return Err(ApiError::bad_request("too_many_files", detail));
        }
        let allowance = Allowance::load(state, &user.id).await?;
        received_files.push(receive_field(state, allowance, destination, &name, field).await?);
    }
    if received_files.is_empty() {
        let detail = "The form has no file; send each file as a part with a file name.";
        return Err(ApiError::bad_request("no_file", detail));
    }
    Ok(received_files)
}
