//! `POST /audio/upload`.

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::AudioFile;
use super::ingest::{self, Ingested, Observer};
use super::intake::{self, Allowance, Destination, Received};
use super::queries::UploadQuery;
use super::upload_task;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Query, is_length_limit};
use crate::form;
use crate::permits::Caller;
use crate::state::AppState;
use crate::tasks::StartedTask;

/// Most files in one request.
const FILES_MAX: usize = 100;

/// Files as a form, for the API's description.
#[derive(ToSchema)]
pub(super) struct UploadForm {
    /// The files, as many parts as there are.
    #[expect(dead_code, reason = "only its description is used")]
    #[schema(min_items = 1, max_items = 100, format = Binary, content_media_type = "application/octet-stream")]
    file: Vec<String>,
}

/// What became of the files of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadAnswer {
    /// The files that are there now, in the order in which they came.
    pub files: Vec<UploadedFile>,
    /// The files that were not taken, and why.
    pub refused: Vec<RefusedFile>,
}

/// A file that is there now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadedFile {
    /// The file.
    #[serde(flatten)]
    pub file: AudioFile,
    /// Whether the user had a file of this content already; it is then the one that is answered.
    pub already_there: bool,
}

impl From<Ingested> for UploadedFile {
    fn from(done: Ingested) -> Self {
        Self { file: done.file, already_there: done.known }
    }
}

/// A file that was not taken.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RefusedFile {
    /// Its name.
    pub name: String,
    /// Why.
    pub problem: Problem,
}

/// Stores audio files: each as it came, with a decoded copy and its peaks.
///
/// If none of the files can be used, the answer is the problem of the first.
#[utoipa::path(post, path = "/audio/upload", tag = "audio", params(UploadQuery),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = UploadAnswer), (status = 202, body = StartedTask),
        (status = 415, description = "No kind of audio file that is read here", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`audio_damaged`, or `audio_limit`: too long, too many channels, \
            a sample rate out of range", body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json"),
        CommonErrors))]
pub(super) async fn upload(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> ApiResult<Response> {
    let received = receive_form(&state, &user, request).await?;
    if query.asynchronous {
        let task_id = upload_task::start_form(&state, &user.id, received).await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let (runtime, owner_id, work_state) = (Handle::current(), user.id.clone(), state.clone());
    let work = move |caller: &Caller| {
        ingest_all(&work_state, &runtime, &owner_id, received, &mut |_| !caller.has_gone())
    };
    let answer = state.audio.decoding.run_for(&user.id, 1, work).await?;
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

async fn receive_form(state: &AppState, user: &CurrentUser, request: Request) -> ApiResult<Vec<Received>> {
    let destination = Destination::audio(state);
    let mut form = form::read(request).await?;
    let mut received = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|error| form_error(&error, destination))? {
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        if received.len() == FILES_MAX {
            let detail = format!("One upload takes at most {FILES_MAX} files.");
            return Err(ApiError::bad_request("too_many_files", detail));
        }
        let allowance = Allowance::of(state, &user.id).await?;
        received
            .push(intake::receive(state, allowance, destination, &name, pieces(field, destination)).await?);
    }
    if received.is_empty() {
        return Err(ApiError::bad_request("no_file", "The form has no part with a file name."));
    }
    Ok(received)
}

/// The bytes of a part as they come.
pub(crate) fn pieces(
    field: Field<'_>,
    destination: Destination,
) -> impl futures_util::Stream<Item = ApiResult<axum::body::Bytes>> + Unpin {
    Box::pin(stream::try_unfold(field, move |mut field| async move {
        let piece = field.chunk().await.map_err(|error| form_error(&error, destination))?;
        Ok(piece.map(|piece| (piece, field)))
    }))
}

/// The refusal of a form that cannot be read.
pub(crate) fn form_error(error: &MultipartError, destination: Destination) -> ApiError {
    if is_length_limit(error) || error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        destination.too_large()
    } else {
        ApiError::bad_request("bad_form", error.body_text())
    }
}

/// Takes each file. Blocks.
pub(super) fn ingest_all(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    received: Vec<Received>,
    observer: Observer<'_>,
) -> ApiResult<UploadAnswer> {
    let count = received.len() as f64;
    let mut answer = UploadAnswer { files: Vec::new(), refused: Vec::new() };
    let mut first_error = None;
    for (number, one) in received.into_iter().enumerate() {
        let name = one.name.clone();
        let mut part = |share: f64| observer((number as f64 + share) / count);
        match ingest::ingest(state, runtime, owner_id, one, &mut part) {
            Ok(done) => answer.files.push(done.into()),
            // It says nothing about the one file: whoever sent them can send all of them again.
            Err(error) if !error.refuses_one_file() => return Err(error),
            Err(error) => {
                answer.refused.push(RefusedFile { name, problem: error.problem() });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if answer.files.is_empty() => Err(error),
        _ => Ok(answer),
    }
}
