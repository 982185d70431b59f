//! `POST /plugins/soundfonts/upload`.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::import::{self, FileName, Imported};
use super::{FILES, SkippedParts, SoundFont, SoundFontFormat};
use crate::allocator;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::Json;
use crate::form;
use crate::permits::Caller;
use crate::state::AppState;
use crate::storage::{Destination, Received, form_error, receive_field};

/// Subject of the error for an upload that is too large.
pub(crate) const SUBJECT: &str = "A SoundFont";

/// A SoundFont as a form, for the API's description.
#[derive(ToSchema)]
pub(crate) struct SoundFontForm {
    /// An SF2 or SF3 file. The id is made of its name: lower case, letters and digits, without the
    /// extension.
    #[expect(dead_code, reason = "only its description is used")]
    #[schema(format = Binary, content_media_type = "application/octet-stream", value_type = String)]
    file: String,
}

/// An uploaded SoundFont.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SoundFontUpload {
    /// The SoundFont of this id as the catalogue has it now: an SF2 of the same id comes before an
    /// SF3 that was sent.
    #[serde(flatten)]
    soundfont: SoundFont,
    /// The file that was sent.
    uploaded: UploadedSoundFont,
}

/// A sent file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadedSoundFont {
    /// Sample format.
    format: SoundFontFormat,
    /// Its size in bytes, which counts toward the quota.
    size_bytes: u64,
    /// Its SHA-256 in hexadecimal.
    content_hash: String,
    /// Skipped parts.
    skipped: SkippedParts,
    /// Whether the caller already had the same file under this id.
    already_there: bool,
    /// Whether it replaced another file of the caller with this id and format.
    replaced: bool,
}

/// Stores a SoundFont for the caller alone. Refuses one that cannot be played, and reports skipped
/// parts. It replaces an earlier one of the same id and format; the same file again changes
/// nothing. It counts of the caller's quota for audio.
#[utoipa::path(post, path = "/plugins/soundfonts/upload", tag = "plugins",
    request_body(content = SoundFontForm, content_type = "multipart/form-data"),
    responses((status = 201, body = SoundFontUpload),
        (status = 415, description = "No SoundFont", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`soundfont_damaged`, or `bad_soundfont_name`: no id can be made of the file's name",
            body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json"),
        CommonErrors))]
pub(crate) async fn upload(
    State(state): State<AppState>,
    user: CurrentUser,
    request: Request,
) -> ApiResult<(StatusCode, Json<SoundFontUpload>)> {
    let (name, received) = receive(&state, &user.id, request).await?;
    let (work_state, runtime, owner_id) = (state.clone(), Handle::current(), user.id.clone());
    // After the upload, the import completes even if the client disconnects.
    let importing = move |_: &Caller| {
        let imported = import::import(&work_state, &runtime, &owner_id, name, received);
        // Gives the memory of a large SoundFont back before the next one is read.
        allocator::return_free_memory();
        imported
    };
    let Imported { uploaded, already_there, replaced } = state.soundfonts.uploads.run(importing).await?;
    let soundfonts = state.soundfonts.catalogue.of(&user.id).await?;
    let listed = soundfonts.find(&uploaded.soundfont_id).cloned();
    let answer = SoundFontUpload {
        // Answers the upload itself if it was deleted meanwhile.
        soundfont: listed.map_or_else(|| uploaded.soundfont(), Ok)?,
        uploaded: UploadedSoundFont {
            format: uploaded.format,
            size_bytes: uploaded.content.size_bytes,
            content_hash: uploaded.content.sha256,
            skipped: uploaded.skipped,
            already_there,
            replaced,
        },
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Receives the one file of a form.
async fn receive(state: &AppState, owner_id: &str, request: Request) -> ApiResult<(FileName, Received)> {
    let limit_bytes = state.config.limits.soundfont_max_bytes;
    let destination = Destination { folder: FILES.folder, limit_bytes, what: SUBJECT };
    let mut form = form::read(request).await?;
    let mut received = None;
    while let Some(field) = form.next_field().await.map_err(|error| form_error(&error, destination))? {
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        if received.is_some() {
            return Err(ApiError::bad_request("too_many_files", "Upload one SoundFont at a time."));
        }
        let parsed = FileName::parse(&name)?;
        let allowance = import::allowance(state, owner_id, &parsed.id).await?;
        let file = receive_field(state, allowance, destination, &name, field).await?;
        received = Some((parsed, file));
    }
    received.ok_or_else(|| ApiError::bad_request("no_file", "The form has no part with a file name."))
}
