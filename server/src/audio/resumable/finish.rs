//! From a whole upload to a file.

use tokio::runtime::Handle;

use super::expiry::expires_secs;
use super::store::{UploadRow, UploadState};
use super::{key, store};
use crate::audio::FOLDER as AUDIO_FOLDER;
use crate::audio::import::{Observer, import};
use crate::audio::import_all::UploadedFile;
use crate::audio::import_task;
use crate::audio::store::find;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::{Received, file_sha256};
use crate::tasks::TaskContext;

/// Starts the task that decodes a complete upload, and returns the task's id. If that fails, the
/// client may continue the upload. Blocks the thread.
pub(super) fn start(state: &AppState, runtime: &Handle, row: &UploadRow) -> ApiResult<String> {
    state.blobs.move_from_local(&key(&row.id)?)?;
    runtime.block_on(store::set_state(&state.db, &row.id, UploadState::Decoding, None))?;
    runtime.block_on(start_task(state, row))
}

/// Goes on with uploads that were whole when the service ended. One that no task can be started for
/// is logged and can be sent on.
///
/// # Errors
/// When the database refuses.
pub(in crate::audio) async fn take_up_again(state: &AppState) -> ApiResult<()> {
    for row in store::to_decode(&state.db).await? {
        let is_under_way = match &row.task_id {
            Some(task_id) => state.tasks.is_unfinished(task_id).await?,
            None => false,
        };
        if !is_under_way && let Err(error) = start_task(state, &row).await {
            tracing::error!(upload = row.id, "cannot go on with an upload: {error:#}");
        }
    }
    Ok(())
}

async fn start_task(state: &AppState, row: &UploadRow) -> ApiResult<String> {
    match import_task::start_whole(state, &row.owner_id, &row.id).await {
        Ok(task_id) => {
            store::set_task(&state.db, &row.id, &task_id).await?;
            Ok(task_id)
        }
        Err(refused) => {
            if let Err(error) = receive_again(state, row).await {
                // Without a task it counts as left undecoded all the same.
                tracing::error!(upload = row.id, "cannot store the state of an upload: {error:#}");
            }
            Err(refused)
        }
    }
}

/// Makes an upload `receiving` with all of its bytes.
async fn receive_again(state: &AppState, row: &UploadRow) -> ApiResult<()> {
    put_off_expiry(state, row).await?;
    Ok(store::set_state(&state.db, &row.id, UploadState::Receiving, None).await?)
}

/// Lets a whole upload expire as if its last byte had just come.
async fn put_off_expiry(state: &AppState, row: &UploadRow) -> ApiResult<()> {
    Ok(store::set_offset(&state.db, &row.id, row.length_bytes, expires_secs(state)).await?)
}

/// The state of an upload after an attempt to decode it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The file is there.
    Done,
    /// The file cannot be used: its bytes go.
    Refused,
    /// The file did not cause the error, or the task was cancelled. The bytes stay, so that the
    /// client can retry or delete the upload.
    Kept,
    /// The same task tries again, or the next start does.
    TriedAgain,
}

impl Verdict {
    /// After an error, and whether the task has another attempt.
    fn on(error: &ApiError, is_tried_again: bool) -> Self {
        match (error.is_fault_of_content(), is_tried_again) {
            (true, _) => Self::Refused,
            (false, true) => Self::TriedAgain,
            (false, false) => Self::Kept,
        }
    }
}

/// Decodes a whole upload for its task.
pub(in crate::audio) fn finish(
    state: &AppState,
    task: &TaskContext,
    upload_id: &str,
    observer: Observer<'_>,
) -> ApiResult<UploadedFile> {
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let row = runtime
        .block_on(store::by_id_at_any_time(&state.db, owner_id, upload_id))?
        .ok_or_else(|| ApiError::not_found("upload", upload_id))?;
    if let Some(file_id) = row.file_id.as_ref().filter(|_| row.state == UploadState::Done) {
        // An earlier attempt came so far.
        let file = runtime.block_on(find(state, owner_id, file_id))?.file;
        return Ok(UploadedFile { file, already_there: false });
    }
    let outcome =
        received(state, &row).and_then(|received| import(state, runtime, owner_id, received, observer));
    let verdict = match &outcome {
        Ok(_) => Verdict::Done,
        Err(_) if state.stop.is_cancelled() => Verdict::TriedAgain,
        // Maybe by an administrator, or because the account was switched off for a while.
        Err(_) if task.is_cancelled() => Verdict::Kept,
        Err(error) => Verdict::on(error, task.will_retry_after(error)),
    };
    if verdict != Verdict::TriedAgain && task.holds()? {
        let file_id = outcome.as_ref().ok().map(|done| done.file.id.as_str());
        let now = match verdict {
            Verdict::Done => UploadState::Done,
            Verdict::Refused => UploadState::Refused,
            Verdict::Kept | Verdict::TriedAgain => UploadState::Receiving,
        };
        runtime.block_on(put_off_expiry(state, &row))?;
        runtime.block_on(store::set_state(&state.db, &row.id, now, file_id))?;
        if now != UploadState::Receiving {
            state.blobs.remove(&key(&row.id)?)?;
        }
    }
    outcome.map(UploadedFile::from)
}

/// The bytes of an upload as a file that has come. The upload keeps its own until all is done.
fn received(state: &AppState, row: &UploadRow) -> ApiResult<Received> {
    let writer = state.blobs.unnamed_copy(&key(&row.id)?, AUDIO_FOLDER)?;
    let sha256 = file_sha256(writer.temporary())?;
    Ok(Received { name: row.name.clone(), writer, sha256, size_bytes: row.length_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_itself_refuses_an_upload() {
        let detail = String::new;
        let busy = || ApiError::Unavailable { code: "database_busy", detail: detail() };
        let internal = || ApiError::internal(anyhow::anyhow!("the disk failed"));
        let quota =
            ApiError::QuotaExceeded { quota_bytes: 1, used_bytes: 1, needed_bytes: 1, is_exact: true };
        let meanwhile = ApiError::Conflict { code: "try_again", detail: detail() };
        let damaged = ApiError::Unprocessable { code: "audio_damaged", detail: detail() };
        let strange = ApiError::UnsupportedMedia { detail: detail() };
        for (error, is_tried_again, expected) in [
            (busy(), true, Verdict::TriedAgain),
            (busy(), false, Verdict::Kept),
            (internal(), true, Verdict::TriedAgain),
            (internal(), false, Verdict::Kept),
            (ApiError::StorageFull, false, Verdict::Kept),
            (ApiError::DecodeTimeout { detail: detail() }, true, Verdict::TriedAgain),
            (ApiError::DecodeTimeout { detail: detail() }, false, Verdict::Kept),
            (quota, false, Verdict::Kept),
            (meanwhile, false, Verdict::Kept),
            (damaged, false, Verdict::Refused),
            (strange, false, Verdict::Refused),
        ] {
            assert_eq!(Verdict::on(&error, is_tried_again), expected, "{error}");
        }
    }
}
