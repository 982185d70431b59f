//! `POST /plugins/soundfonts/upload`.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::import::{self, FileName, ImportResult};
use super::{FILE_KIND, SkippedParts, SoundFont, SoundFontFormat};
use crate::allocator;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Json;
use crate::form::{self, form_error};
use crate::permits::Caller;
use crate::state::AppState;
use crate::storage::{Destination, ReceivedFile, receive_field};

/// Subject of the error message for an upload that is too large.
pub(crate) const SUBJECT_PHRASE: &str = "A SoundFont";

/// Form with a SoundFont, for the API description.
#[derive(ToSchema)]
pub(crate) struct SoundFontForm {
    /// An SF2 or SF3 file. The letters and digits of its name without the extension, in lower case,
    /// become the id.
    #[expect(dead_code, reason = "only its description is used")]
    #[schema(format = Binary, content_media_type = "application/octet-stream", value_type = String)]
    file: String,
}

/// Answer to an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SoundFontUpload {
    /// The SoundFont that the catalogue now has under this id. If an SF3 was sent and an SF2 with
    /// the same id exists, this is the SF2.
    #[serde(flatten)]
    soundfont: SoundFont,
    /// The file that was sent.
    uploaded: UploadedSoundFont,
}

/// The file that was sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadedSoundFont {
    /// Sample format of the file.
    format: SoundFontFormat,
    /// Size of the file in bytes, which counts towards the quota.
    size_bytes: u64,
    /// SHA-256 of the file in hexadecimal.
    content_hash: String,
    /// Faulty parts of the bank, which are skipped.
    skipped: SkippedParts,
    /// Whether the caller already had the same file under this id.
    already_there: bool,
    /// Whether the file replaced another file of the caller with the same id and format.
    replaced: bool,
}

/// Stores a SoundFont that only the caller can use. Refuses a file that cannot be played, and
/// reports skipped parts. An earlier SoundFont with the same id and format is replaced; sending
/// the same file again changes nothing. The file counts towards the caller's quota for audio.
#[utoipa::path(post, path = "/plugins/soundfonts/upload", tag = "plugins",
    request_body(content = SoundFontForm, content_type = "multipart/form-data"),
    responses((status = 201, body = SoundFontUpload),
        (status = 415, description = "The file is not a SoundFont", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`soundfont_damaged`, `too_many_presets`, or `bad_soundfont_name`: no id can be made from the file name",
            body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "`quota_exceeded` or `storage_full`", body = Problem,
            content_type = "application/problem+json")))]
pub(crate) async fn upload(
    State(state): State<AppState>,
    user: CurrentUser,
    request: Request,
) -> ApiResult<(StatusCode, Json<SoundFontUpload>)> {
    let (name, received_file) = receive(&state, &user.id, request).await?;
    let (work_state, runtime, owner_id) = (state.clone(), Handle::current(), user.id.clone());
    // Once the file has arrived, the import completes even if the client disconnects.
    let importing = move |_: &Caller| {
        let import_result = import::import(&work_state, &runtime, &owner_id, name, received_file);
        // The memory of a large SoundFont is returned to the system before the next one is read.
        allocator::return_free_memory();
        import_result
    };
    let ImportResult { uploaded_bank, is_already_stored, is_replacement } =
        state.soundfonts.uploads.run(importing).await?;
    let soundfonts = state.soundfonts.catalogue.of_user(&user.id).await?;
    let listed_soundfont = soundfonts.find(&uploaded_bank.soundfont_id).cloned();
    let answer = SoundFontUpload {
        // If the upload was deleted in the meantime, the answer has the upload itself.
        soundfont: listed_soundfont.map_or_else(|| uploaded_bank.soundfont(&user.id), Ok)?,
        uploaded: UploadedSoundFont {
            format: uploaded_bank.format,
            size_bytes: uploaded_bank.content_id.size_bytes,
            content_hash: uploaded_bank.content_id.sha256,
            skipped: uploaded_bank.skipped_parts,
            already_there: is_already_stored,
            replaced: is_replacement,
        },
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Receives the only file of a form.
async fn receive(state: &AppState, owner_id: &str, request: Request) -> ApiResult<(FileName, ReceivedFile)> {
    let limit_bytes = state.config.limits.soundfont_max_bytes;
    let destination = Destination { folder: FILE_KIND.folder, limit_bytes, subject: SUBJECT_PHRASE };
    let mut form = form::read(request).await?;
    let mut received_file = None;
    while let Some(field) =
        form.next_field().await.map_err(|error| form_error(&error, || destination.too_large_error()))?
    {
        let Some(name) = field.file_name().map(str::to_owned) else { continue };
        if received_file.is_some() {
            return Err(ApiError::bad_request(
                "too_many_files",
                "The form has more than one file; upload one SoundFont at a time.",
            ));
        }
        let parsed_name = FileName::parse(&name)?;
        let allowance = import::allowance(state, owner_id, &parsed_name.id).await?;
        let file = receive_field(state, allowance, destination, &name, field).await?;
        received_file = Some((parsed_name, file));
    }
    received_file.ok_or_else(|| {
        ApiError::bad_request("no_file", "The form has no file; send a part with a file name.")
    })
}
