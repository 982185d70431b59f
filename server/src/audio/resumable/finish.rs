//! From a whole upload to a file.

use std::io::Read as _;

use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::store::{UploadRow, UploadState};
use super::{key, store};
use crate::audio::FOLDER as AUDIO_FOLDER;
use crate::audio::files::find;
use crate::audio::ingest::{self, Observer};
use crate::audio::intake::Received;
use crate::audio::upload::UploadedFile;
use crate::audio::upload_task;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::tasks::TaskContext;

/// Bytes that are hashed at a time.
const HASHED_BYTES: usize = 256 * 1024;

/// Starts the task that decodes a whole upload, and says its id. For threads that may block.
pub(super) fn start(state: &AppState, runtime: &Handle, row: &UploadRow) -> ApiResult<String> {
    state.blobs.take_from_local(&key(&row.id)?)?;
    runtime.block_on(store::set_state(&state.db, &row.id, UploadState::Decoding, None))?;
    runtime.block_on(start_task(state, row))
}

/// Goes on with uploads that were whole when the service ended.
///
/// # Errors
/// When the database refuses.
pub(in crate::audio) async fn take_up_again(state: &AppState) -> ApiResult<()> {
    for row in store::to_decode(&state.db).await? {
        let is_under_way = match &row.task_id {
            Some(task_id) => state.tasks.is_unfinished(task_id).await?,
            None => false,
        };
        if !is_under_way {
            start_task(state, &row).await?;
        }
    }
    Ok(())
}

async fn start_task(state: &AppState, row: &UploadRow) -> ApiResult<String> {
    let task_id = upload_task::start_whole(state, &row.owner_id, &row.id).await?;
    store::set_task(&state.db, &row.id, &task_id).await?;
    Ok(task_id)
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
        .block_on(store::by_id(&state.db, owner_id, upload_id))?
        .ok_or_else(|| ApiError::not_found("upload", upload_id))?;
    if let Some(file_id) = row.file_id.as_ref().filter(|_| row.state == UploadState::Done) {
        // An earlier attempt came so far.
        let file = runtime.block_on(find(state, owner_id, file_id))?.file;
        return Ok(UploadedFile { file, already_there: false });
    }
    let outcome = received(state, &row)
        .and_then(|received| ingest::ingest(state, runtime, owner_id, received, observer));
    let (now, file_id) = match &outcome {
        Ok(done) => (UploadState::Done, Some(done.file.id.as_str())),
        // The service is stopping, or it is its own fault: another attempt or the next start tries again.
        Err(error) if matches!(error, ApiError::Internal(_)) || state.stop.is_cancelled() => {
            return outcome.map(UploadedFile::from);
        }
        Err(_) => (UploadState::Refused, None),
    };
    if task.holds()? {
        runtime.block_on(store::set_state(&state.db, &row.id, now, file_id))?;
        state.blobs.remove(&key(&row.id)?)?;
    }
    outcome.map(UploadedFile::from)
}

/// The bytes of an upload as a file that has come. The upload keeps its own until all is done.
fn received(state: &AppState, row: &UploadRow) -> ApiResult<Received> {
    let writer = state.blobs.unnamed_copy(&key(&row.id)?, AUDIO_FOLDER)?;
    let mut file = std::fs::File::open(writer.temporary())?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; HASHED_BYTES]);
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            break;
        }
        hash.update(&piece[..count]);
    }
    Ok(Received {
        name: row.name.clone(),
        writer,
        sha256: format!("{:x}", hash.finalize()),
        size_bytes: row.length_bytes,
    })
}
