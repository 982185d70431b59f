//! An import that is running.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::thread;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use tokio::runtime::Handle;

use crate::allocator;
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::Json;
use crate::permits::Caller;
use crate::projects;
use crate::state::AppState;
use crate::storage::BlobWriter;

/// Maximum number of attempts to delete the audio of a failed import. Another attempt is made only
/// if the database was busy.
const UNDO_ATTEMPTS_MAX: u32 = 60;

/// Time between two of these attempts.
const UNDO_BACKOFF: Duration = Duration::from_secs(1);

/// An import that is running. If it fails, its audio files are deleted.
pub(crate) struct Import {
    pub(crate) state: AppState,
    pub(crate) runtime: Handle,
    pub(crate) owner_id: String,
    caller: Caller,
    files: AudioFiles,
}

/// Ids of the audio files of an import.
#[derive(Debug, Default)]
pub(crate) struct AudioFiles {
    /// Files that this import added.
    pub(crate) added_ids: HashSet<String>,
    /// Files that the user already had.
    pub(crate) known_ids: HashSet<String>,
}

impl Import {
    /// Runs `work`, which imports the archive that `user` has sent, with the open archive. Waits
    /// until fewer than the maximum number of imports run.
    ///
    /// # Errors
    /// Those of `work`; 503 `busy` if too many imports are waiting, and `stopping` if the service
    /// stops.
    pub(crate) async fn run<T: Send + 'static>(
        state: AppState,
        user: CurrentUser,
        received_archive: BlobWriter,
        work: impl FnOnce(&mut Self, File) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<(T, AudioFiles)> {
        let (runtime, owner_id) = (Handle::current(), user.id.clone());
        let import = |state: AppState| {
            move |caller: &Caller| {
                let mut import =
                    Self { state, runtime, owner_id, caller: caller.clone(), files: AudioFiles::default() };
                let archive = File::open(received_archive.temporary())?;
                match work(&mut import, archive) {
                    Ok(work_result) => Ok((work_result, import.files)),
                    Err(error) => {
                        import.undo();
                        match import.state.stop.is_cancelled() {
                            true => Err(ApiError::stopping()),
                            false => Err(error),
                        }
                    }
                }
            }
        };
        state.archives.imports.run_for(&user.id, 1, import(state.clone())).await
    }

    /// Whether the caller has disconnected or the service stops.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancellation()()
    }

    /// Returns a function that tells whether the caller has disconnected or the service stops.
    pub(crate) fn cancellation(&self) -> impl Fn() -> bool + Send + use<> {
        let (caller, stop) = (self.caller.clone(), self.state.stop.clone());
        move || caller.has_disconnected() || stop.is_cancelled()
    }

    /// Waits for a permit of the user, and runs `work`, which keeps a whole document in memory.
    pub(crate) fn with_document<T>(&mut self, work: impl FnOnce(&mut Self) -> ApiResult<T>) -> ApiResult<T> {
        let (state, runtime, owner_id) = (self.state.clone(), self.runtime.clone(), self.owner_id.clone());
        state.archives.reading.run_part(&runtime, &owner_id, || {
            let outcome = work(self);
            // Returns the memory of a large document to the system before the next one is read.
            allocator::return_free_memory();
            outcome
        })
    }

    /// Waits for a permit to decode, and imports a file of the archive as an upload.
    ///
    /// # Errors
    /// Those of an upload; 400 `unreadable` if `content` cannot be read.
    pub(crate) fn add_audio(&mut self, name: &str, content: &mut dyn Read) -> ApiResult<AudioFile> {
        let (state, runtime, owner_id) = (&self.state, &self.runtime, &*self.owner_id);
        let (file, is_known) = state.audio.decoding.run_part(runtime, owner_id, || {
            let mut observer = |_| !self.is_cancelled();
            audio::import_content(state, runtime, owner_id, name, content, &mut observer)
        })?;
        if !is_known {
            self.files.added_ids.insert(file.id.clone());
        } else if !self.files.added_ids.contains(&file.id) {
            self.files.known_ids.insert(file.id.clone());
        }
        Ok(file)
    }

    /// Deletes the files that this import has added. Waits while the database is busy.
    fn undo(&self) {
        let ids: Vec<String> = self.files.added_ids.iter().cloned().collect();
        for _ in 0..UNDO_ATTEMPTS_MAX {
            match audio::undo_imports(&self.state, &self.runtime, &self.owner_id, &ids) {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(
                        files = ids.len(),
                        "cannot delete the audio of an import that failed: {error:#}"
                    );
                    if !matches!(error, ApiError::Unavailable { .. }) || self.state.stop.is_cancelled() {
                        return;
                    }
                }
            }
            thread::sleep(UNDO_BACKOFF);
        }
    }
}

/// Returns the answer for an imported project: 201 with its path and revision.
pub(crate) fn created(project_id: &str, revision: i64, body: &impl Serialize) -> ApiResult<Response> {
    let location = HeaderValue::from_str(&format!("/api/v1/projects/{project_id}"));
    let headers = [
        (header::LOCATION, location.map_err(ApiError::internal)?),
        (header::ETAG, projects::revision_tag(revision)),
    ];
    Ok((StatusCode::CREATED, headers, Json(body)).into_response())
}
