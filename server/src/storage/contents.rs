//! Locks the contents of the storage: stored audio and SoundFonts. While they are locked by an
//! upload, no other request can delete the files that the upload uses again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;

use crate::db;
use crate::error::ApiResult;
use crate::state::AppState;

/// Lock within this process. It is locked while audio or SoundFonts are stored or deleted.
#[derive(Debug, Default)]
pub(super) struct ContentsLock(Mutex<()>);

/// Locks audio and SoundFonts, which share a quota. Waits until no other thread of any process
/// stores or deletes them. Must be called on a thread that may block.
///
/// # Errors
/// The query fails.
pub(crate) fn lock_contents<'a>(state: &'a AppState, runtime: &Handle) -> ApiResult<ContentsGuard<'a>> {
    let process_guard = state.storage.contents.0.lock().unwrap_or_else(PoisonError::into_inner);
    let database_lock = runtime.block_on(db::lock(&state.db, "audio contents"))?;
    Ok(ContentsGuard {
        database_lock: Some(database_lock),
        runtime: runtime.clone(),
        _process_guard: process_guard,
    })
}

/// Keeps audio and SoundFonts locked until it is dropped. Must be dropped on a thread that may
/// block.
pub(crate) struct ContentsGuard<'a> {
    database_lock: Option<db::Lock>,
    runtime: Handle,
    _process_guard: MutexGuard<'a, ()>,
}

impl Drop for ContentsGuard<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.database_lock.take() {
            self.runtime.block_on(lock.release());
        }
    }
}
