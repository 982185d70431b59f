//! Decodes a complete upload into an audio file.

use tokio::runtime::Handle;

use super::expiry::expires_secs;
use super::store::{UploadRow, UploadState};
use super::{blob_key_of, store};
use crate::audio::FOLDER as AUDIO_FOLDER;
use crate::audio::import::{Observer, import};
use crate::audio::import_all::UploadedFile;
use crate::audio::import_task;
use crate::audio::store::find;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::{ReceivedFile, hash_file};
use crate::tasks::TaskContext;

/// Starts the task that decodes a complete upload, and returns the task's id. If this fails, the
/// client may retry. Blocks.
pub(super) fn start(state: &AppState, runtime: &Handle, upload_row: &UploadRow) -> ApiResult<String> {
    state.blobs.move_from_local(&blob_key_of(&upload_row.id)?)?;
    runtime.block_on(store::set_state(&state.db, &upload_row.id, UploadState::Decoding, None))?;
    runtime.block_on(start_task(state, upload_row))
}

/// Starts decoding uploads that were complete when the service stopped. If a task cannot be
/// started, the error is logged, and the client may retry.
///
/// # Errors
/// If the query fails.
pub(in crate::audio) async fn resume_decoding(state: &AppState) -> ApiResult<()> {
    for upload in store::read_uploads_to_decode(&state.db).await? {
        let is_running = match &upload.task_id {
            Some(task_id) => state.tasks.is_unfinished(task_id).await?,
            None => false,
        };
        if !is_running && let Err(error) = start_task(state, &upload).await {
            tracing::error!(upload = upload.id, "cannot decode an upload: {error:#}");
        }
    }
    Ok(())
}

async fn start_task(state: &AppState, upload_row: &UploadRow) -> ApiResult<String> {
    match import_task::start_resumable(state, &upload_row.owner_id, &upload_row.id).await {
        Ok(task_id) => {
            store::set_task(&state.db, &upload_row.id, &task_id).await?;
            Ok(task_id)
        }
        Err(refusal) => {
            if let Err(error) = reset_to_receiving(state, upload_row).await {
                // The state stays `decoding`. The upload has no task, so the client may still
                // retry.
                tracing::error!(upload = upload_row.id, "cannot store the state of an upload: {error:#}");
            }
            Err(refusal)
        }
    }
}

/// Sets an upload back to the state `receiving`. It keeps all of its bytes.
async fn reset_to_receiving(state: &AppState, upload_row: &UploadRow) -> ApiResult<()> {
    extend_expiry(state, upload_row).await?;
    Ok(store::set_state(&state.db, &upload_row.id, UploadState::Receiving, None).await?)
}

/// Extends the expiry of a complete upload as if its last byte had just arrived.
async fn extend_expiry(state: &AppState, upload_row: &UploadRow) -> ApiResult<()> {
    Ok(store::set_offset(&state.db, &upload_row.id, upload_row.length_bytes, expires_secs(state)).await?)
}

/// The state of an upload after an attempt to decode it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The file is stored.
    Done,
    /// The file cannot be used. Its bytes are removed.
    Refused,
    /// The task was cancelled, or failed for a reason other than the file. The bytes stay, so that
    /// the client can retry or delete the upload.
    Kept,
    /// The task will be attempted again, now or at the next start of the service.
    Retried,
}

impl Verdict {
    /// Returns the verdict after an error. `is_retried` says whether the task has another attempt.
    fn for_error(error: &ApiError, is_retried: bool) -> Self {
        match (error.is_fault_of_content(), is_retried) {
            (true, _) => Self::Refused,
            (false, true) => Self::Retried,
            (false, false) => Self::Kept,
        }
    }
}

/// Decodes a complete upload for its task.
pub(in crate::audio) fn finish(
    state: &AppState,
    task: &TaskContext,
    upload_id: &str,
    observer: Observer<'_>,
) -> ApiResult<UploadedFile> {
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let upload_row = runtime
        .block_on(store::find_by_id_even_expired(&state.db, owner_id, upload_id))?
        .ok_or_else(|| ApiError::not_found("upload", upload_id))?;
    if let Some(file_id) = upload_row.file_id.as_ref().filter(|_| upload_row.state == UploadState::Done) {
        // An earlier attempt already stored the file.
        let file = runtime.block_on(find(state, owner_id, file_id))?.file;
        return Ok(UploadedFile { file, already_there: false });
    }
    let outcome = copy_received(state, &upload_row)
        .and_then(|received_file| import(state, runtime, owner_id, received_file, observer));
    let verdict = match &outcome {
        Ok(_) => Verdict::Done,
        Err(_) if state.stop.is_cancelled() => Verdict::Retried,
        // An administrator may have cancelled the task, or disabled the account for a while.
        Err(_) if task.is_cancelled() => Verdict::Kept,
        Err(error) => Verdict::for_error(error, task.will_retry_after(error)),
    };
    if verdict != Verdict::Retried && task.holds()? {
        let file_id = outcome.as_ref().ok().map(|uploaded_file| uploaded_file.file.id.as_str());
        let new_state = match verdict {
            Verdict::Done => UploadState::Done,
            Verdict::Refused => UploadState::Refused,
            Verdict::Kept | Verdict::Retried => UploadState::Receiving,
        };
        runtime.block_on(extend_expiry(state, &upload_row))?;
        runtime.block_on(store::set_state(&state.db, &upload_row.id, new_state, file_id))?;
        if new_state != UploadState::Receiving {
            state.blobs.remove(&blob_key_of(&upload_row.id)?)?;
        }
    }
    outcome.map(UploadedFile::from)
}

/// Copies the bytes of an upload. The upload keeps its bytes until its audio file is stored.
fn copy_received(state: &AppState, upload_row: &UploadRow) -> ApiResult<ReceivedFile> {
    let writer = state.blobs.unnamed_copy(&blob_key_of(&upload_row.id)?, AUDIO_FOLDER)?;
    let sha256 = hash_file(writer.temporary())?;
    Ok(ReceivedFile { name: upload_row.name.clone(), writer, sha256, size_bytes: upload_row.length_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_caused_by_the_content_refuses_an_upload() {
        let detail = String::new;
        let busy = || ApiError::Unavailable { code: "database_busy", detail: detail() };
        let internal = || ApiError::internal(anyhow::anyhow!("the disk failed"));
        let quota =
            ApiError::QuotaExceeded { quota_bytes: 1, used_bytes: 1, needed_bytes: 1, is_exact: true };
        let conflict = ApiError::Conflict { code: "try_again", detail: detail() };
        let damage_error = ApiError::Unprocessable { code: "audio_damaged", detail: detail() };
        let unsupported = ApiError::UnsupportedMedia { detail: detail() };
        for (error, is_retried, expected) in [
            (busy(), true, Verdict::Retried),
            (busy(), false, Verdict::Kept),
            (internal(), true, Verdict::Retried),
            (internal(), false, Verdict::Kept),
            (ApiError::StorageFull, false, Verdict::Kept),
            (ApiError::DecodeTimeout { detail: detail() }, true, Verdict::Retried),
            (ApiError::DecodeTimeout { detail: detail() }, false, Verdict::Kept),
            (quota, false, Verdict::Kept),
            (conflict, false, Verdict::Kept),
            (damage_error, false, Verdict::Refused),
            (unsupported, false, Verdict::Refused),
        ] {
            assert_eq!(Verdict::for_error(&error, is_retried), expected, "{error}");
        }
    }
}
