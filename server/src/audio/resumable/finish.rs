//! From a whole upload to a file.

use std::io::Read as _;

use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::store::{UploadRow, UploadState};
use super::{key, store};
use crate::audio::FOLDER as AUDIO_FOLDER;
use crate::audio::ingest::{self, Observer};
use crate::audio::intake::Received;
use crate::audio::upload::UploadedFile;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Bytes that are hashed at a time.
const HASHED_BYTES: usize = 256 * 1024;

/// Starts the task that decodes a whole upload, and says its id. For threads that may block.
pub(super) fn start(state: &AppState, runtime: &Handle, row: &UploadRow) -> ApiResult<String> {
    runtime.block_on(store::set_state(&state.db, &row.id, UploadState::Decoding, None))?;
    runtime.block_on(start_task(state, row))
}

/// Goes on with uploads that were whole when the service ended.
///
/// # Errors
/// When the database refuses.
pub(in crate::audio) async fn take_up_again(state: &AppState) -> ApiResult<()> {
    for row in store::to_decode(&state.db).await? {
        start_task(state, &row).await?;
    }
    Ok(())
}

async fn start_task(state: &AppState, row: &UploadRow) -> ApiResult<String> {
    let (work_state, runtime, work_row) = (state.clone(), Handle::current(), row.clone());
    let work = move |observer: Observer<'_>| finish(&work_state, &runtime, &work_row, observer);
    let task_id = state
        .tasks
        .start(&row.owner_id, "audio-upload", move |task| {
            let answer = work(&mut |share| {
                task.progress(share, "Decoding");
                !task.is_cancelled()
            })?;
            serde_json::to_value(answer).map_err(ApiError::internal)
        })
        .await?;
    store::set_task(&state.db, &row.id, &task_id).await?;
    Ok(task_id)
}

fn finish(
    state: &AppState,
    runtime: &Handle,
    row: &UploadRow,
    observer: Observer<'_>,
) -> ApiResult<UploadedFile> {
    let outcome = received(state, row)
        .and_then(|received| ingest::ingest(state, runtime, &row.owner_id, received, observer));
    let (now, file_id) = match &outcome {
        Ok(done) => (UploadState::Done, Some(done.file.id.as_str())),
        // The service is stopping, or it is its own fault: the next start tries again.
        Err(error) if matches!(error, ApiError::Internal(_)) || state.stop.is_cancelled() => {
            return outcome.map(UploadedFile::from);
        }
        Err(_) => (UploadState::Refused, None),
    };
    runtime.block_on(store::set_state(&state.db, &row.id, now, file_id))?;
    state.blobs.remove(&key(&row.id)?)?;
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
