//! The lock on stored contents: none is deleted while somebody stores the same one again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;

use crate::db;
use crate::error::ApiResult;
use crate::state::AppState;

/// Held within this process while contents are stored or deleted.
#[derive(Debug, Default)]
pub(super) struct Contents(Mutex<()>);

/// Waits until no other thread, in whatever process, stores or deletes contents: audio, or
/// SoundFonts, which count towards the same quota. For threads that may block.
///
/// # Errors
/// When the database refuses.
pub(crate) fn lock_contents<'a>(state: &'a AppState, runtime: &Handle) -> ApiResult<ContentsGuard<'a>> {
    let here = state.storage.contents.0.lock().unwrap_or_else(PoisonError::into_inner);
    let everywhere = runtime.block_on(db::lock(&state.db, "audio contents"))?;
    Ok(ContentsGuard { everywhere: Some(everywhere), runtime: runtime.clone(), _here: here })
}

/// Held while contents are stored or deleted. For threads that may block.
pub(crate) struct ContentsGuard<'a> {
    everywhere: Option<db::Lock>,
    runtime: Handle,
    _here: MutexGuard<'a, ()>,
}

impl Drop for ContentsGuard<'_> {
    fn drop(&mut self) {
        if let Some(everywhere) = self.everywhere.take() {
            self.runtime.block_on(everywhere.release());
        }
    }
}
