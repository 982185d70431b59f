//! Room on the disk: the reserve that stays free, and the deleted files that give way.

use std::path::Path;

use tokio::runtime::Handle;

use super::quota::Allowance;
use super::{BlobKey, Blobs, Quarantined, Reason};
use crate::disk::free_bytes;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Removes everything that users deleted, and says whether there was anything. Blocks.
pub(crate) type MakeRoom = fn(&AppState, &Handle) -> ApiResult<bool>;

/// Free space below which nothing deleted is kept, in bytes, whatever the reserve is: less is used
/// up by a song or two.
const ROOM_MIN_BYTES: u64 = 8 * 1024 * 1024;

/// Moves files of `blobs` that a user deleted to the quarantine; where the disk is full, or nothing
/// deleted is kept, removes them.
///
/// # Errors
/// When the storage refuses.
pub(crate) fn quarantine_deleted(state: &AppState, blobs: &Blobs, keys: &[BlobKey]) -> ApiResult<()> {
    let is_kept = state.config.orphans.deleted_kept_secs > 0 && !is_disk_full(state, blobs)?;
    for key in keys {
        if is_kept {
            if let Some(quarantined_as) = blobs.set_aside(key, Reason::Deleted)? {
                tracing::info!(file = key.path(), quarantined_as, "moved a deleted file to the quarantine");
            }
        } else {
            blobs.remove(key)?;
        }
    }
    Ok(())
}

/// Whether deleted files of `blobs` must be removed at once, since the disk that holds them is
/// full. Object storage is not on that disk.
pub(crate) fn is_disk_full(state: &AppState, blobs: &Blobs) -> ApiResult<bool> {
    if blobs.is_remote() {
        return Ok(false);
    }
    let needed_bytes = state.config.limits.audio.reserve_bytes.max(ROOM_MIN_BYTES);
    Ok(free_bytes(blobs.root())?.is_some_and(|free_bytes| free_bytes < needed_bytes))
}

/// Files in the quarantine that users deleted.
///
/// # Errors
/// When the storage refuses.
pub(crate) fn deleted_in_quarantine(blobs: &Blobs) -> ApiResult<Vec<Quarantined>> {
    let mut found = blobs.quarantined()?;
    found.retain(|one| one.reason == Reason::Deleted);
    Ok(found)
}

/// Runs what needs room on the disk. Where there is none, it removes everything that was deleted,
/// and runs it once more if that was anything. Blocks; the caller must not hold the lock of
/// contents.
///
/// # Errors
/// Those of `run`; when the database or the storage refuses.
pub(crate) fn with_room<T>(
    state: &AppState,
    runtime: &Handle,
    mut run: impl FnMut() -> ApiResult<T>,
) -> ApiResult<T> {
    match run() {
        Err(ApiError::StorageFull) if (state.storage.make_room)(state, runtime)? => run(),
        outcome => outcome,
    }
}

/// Whether the disk of `folder` has room for `more_bytes` beside its reserve.
pub(crate) fn has_room(state: &AppState, folder: &Path, more_bytes: u64) -> bool {
    Allowance::of_passing(state).check_disk(folder, more_bytes).is_ok()
}

/// 507 if `more_bytes` on the disk of `folder` leave less free than its reserve, even without all
/// deleted files. Blocks; the caller must not hold the lock of contents.
pub(crate) fn ensure_room(
    state: &AppState,
    runtime: &Handle,
    folder: &Path,
    more_bytes: u64,
) -> ApiResult<()> {
    let allowance = Allowance::of_passing(state);
    if allowance.check_disk(folder, more_bytes).is_ok() {
        return Ok(());
    }
    // Where even all of it would not do, nothing deleted is lost.
    let deleted_bytes = deleted_in_quarantine(&state.blobs)?.iter().map(|one| one.size_bytes).sum();
    allowance.check_disk_without(folder, more_bytes, deleted_bytes)?;
    with_room(state, runtime, || allowance.check_disk(folder, more_bytes))
}
