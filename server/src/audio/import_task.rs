//! Imports received files in a task: the files of a form, or a complete resumable upload.

use std::io::Seek as _;

use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;

use super::import_all::import_all;
use super::{FOLDER, resumable};
use crate::db::Db;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::{BlobKey, Blobs, ExpectedFile, ReceivedFile, lock_contents};
use crate::tasks::{self, TaskContext, TaskKind};

/// The kind of task that imports audio files.
pub(crate) const IMPORT_TASK: TaskKind = TaskKind { name: "audio-upload", run, discard: Some(discard) };

/// Extension of files that wait for their task.
pub(super) const WAITING_EXTENSION: &str = "waiting";

/// Input of the import task.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Input {
    /// The files of a form.
    Form(Vec<WaitingFile>),
    /// Id of a complete resumable upload.
    #[serde(rename = "whole")]
    Resumable(String),
}

/// A received file that waits for its task.
#[derive(Clone, Serialize, Deserialize)]
struct WaitingFile {
    /// Id of the file's bytes in the store.
    id: String,
    name: String,
    sha256: String,
    size_bytes: u64,
}

impl WaitingFile {
    fn blob_key(&self) -> ApiResult<BlobKey> {
        BlobKey::new(FOLDER, &self.id, WAITING_EXTENSION).map_err(ApiError::internal)
    }

    /// Copies the file's bytes to a temporary file, as if it had just been uploaded.
    fn open_received(&self, blobs: &Blobs) -> ApiResult<ReceivedFile> {
        let mut writer = blobs.unnamed_copy(&self.blob_key()?, FOLDER)?;
        writer.seek(std::io::SeekFrom::End(0))?;
        let (name, sha256) = (self.name.clone(), self.sha256.clone());
        Ok(ReceivedFile { name, writer, sha256, size_bytes: self.size_bytes })
    }
}

/// Stores the files of a form for a task, and starts the task.
pub(super) async fn start_form(
    state: &AppState,
    owner_id: &str,
    received_files: Vec<ReceivedFile>,
) -> ApiResult<String> {
    let (state, owner_id, runtime) = (state.clone(), owner_id.to_owned(), Handle::current());
    let begin = move || -> ApiResult<String> {
        let mut waiting = Vec::new();
        let mut writers = Vec::new();
        for ReceivedFile { name, mut writer, sha256, size_bytes } in received_files {
            let id = uuid::Uuid::new_v4().to_string();
            let file = WaitingFile { id, name, sha256, size_bytes };
            writer.upload_as(&file.blob_key()?)?;
            writers.push(writer);
            waiting.push(file);
        }
        // Without this lock, a clean-up could treat the files as orphans before the task exists.
        let _contents = lock_contents(&state, &runtime)?;
        for (writer, file) in writers.into_iter().zip(&waiting) {
            writer.finish_as(&file.blob_key()?)?;
        }
        let start_result = runtime.block_on(start(&state, &owner_id, &Input::Form(waiting.clone())));
        if start_result.is_err() {
            remove(&state.blobs, &waiting)?;
        }
        start_result
    };
    tokio::task::spawn_blocking(begin).await?
}

/// Starts the task of a resumable upload.
pub(super) async fn start_resumable(state: &AppState, owner_id: &str, upload_id: &str) -> ApiResult<String> {
    start(state, owner_id, &Input::Resumable(upload_id.to_owned())).await
}

async fn start(state: &AppState, owner_id: &str, input: &Input) -> ApiResult<String> {
    let input = serde_json::to_value(input).map_err(ApiError::internal)?;
    state.tasks.start_uncounted(owner_id, IMPORT_TASK.name, &input).await
}

/// Removes the files of a form. A resumable upload keeps its bytes, so that the client can retry.
fn discard(blobs: &Blobs, input: Value) -> ApiResult<()> {
    match serde_json::from_value(input).map_err(ApiError::internal)? {
        Input::Form(waiting) => remove(blobs, &waiting),
        Input::Resumable(_) => Ok(()),
    }
}

fn remove(blobs: &Blobs, files: &[WaitingFile]) -> ApiResult<()> {
    files.iter().try_for_each(|file| Ok(blobs.remove(&file.blob_key()?)?))
}

fn run(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let input = serde_json::from_value(input).map_err(ApiError::internal)?;
    let observer = &mut |fraction| {
        task.report_progress(fraction, "Decoding");
        !task.is_cancelled()
    };
    match input {
        Input::Resumable(upload_id) => {
            let answer = resumable::finish(state, task, &upload_id, observer)?;
            JsonText::write(&answer).map_err(ApiError::internal)
        }
        Input::Form(waiting) => {
            let received_files: ApiResult<Vec<ReceivedFile>> =
                waiting.iter().map(|file| file.open_received(&state.blobs)).collect();
            let outcome = received_files.and_then(|received_files| {
                import_all(state, task.runtime(), task.owner_id(), received_files, observer)
            });
            let has_ended = match &outcome {
                Ok(_) => true,
                // When this process stops, the task is continued by another process or at the next
                // start.
                Err(_) if state.stop.is_cancelled() => false,
                Err(error) => task.is_cancelled() || !task.will_retry_after(error),
            };
            if has_ended && task.holds()? {
                remove(&state.blobs, &waiting)?;
            }
            JsonText::write(&outcome?).map_err(ApiError::internal)
        }
    }
}

/// Returns every file that waits for an unfinished task.
///
/// # Errors
/// If the query fails.
pub(crate) async fn list_expected_waiting_files(db: &Db) -> ApiResult<Vec<ExpectedFile>> {
    let mut waiting = Vec::new();
    for input in tasks::read_unfinished_inputs(db, IMPORT_TASK.name).await? {
        if let Ok(Input::Form(files)) = serde_json::from_str(&input) {
            for file in files {
                let (blob_key, size_bytes) = (file.blob_key()?, file.size_bytes);
                waiting.push(ExpectedFile {
                    blob_key,
                    size_bytes,
                    is_growing: false,
                    sha256: Some(file.sha256),
                });
            }
        }
    }
    Ok(waiting)
}
