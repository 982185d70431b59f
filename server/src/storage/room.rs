//! Keeps the reserve of the disk free. When the disk is full, removes deleted files, or empties the
//! cache of object storage.

use std::path::Path;

use tokio::runtime::Handle;

use super::quota::Allowance;
use super::{BlobKey, Blobs, QuarantineReason, QuarantinedFile};
use crate::disk::free_bytes;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Function that frees disk space: it removes all files that users deleted, or empties the cache of
/// object storage. Returns whether it removed any file. Blocks.
pub(crate) type MakeRoom = fn(&AppState, &Handle) -> ApiResult<bool>;

/// Free space in bytes below which deleted files are removed immediately, even if the reserve is
/// smaller.
const ROOM_MIN_BYTES: u64 = 8 * 1024 * 1024;

/// Moves files that a user deleted to the quarantine. If the disk is full, or if the settings keep
/// no deleted files, removes them instead.
///
/// # Errors
/// The storage fails.
pub(crate) fn quarantine_deleted(state: &AppState, blobs: &Blobs, blob_keys: &[BlobKey]) -> ApiResult<()> {
    let is_kept = state.config.orphans.deleted_kept_secs > 0 && !is_disk_full(state, blobs)?;
    for blob_key in blob_keys {
        if is_kept {
            if let Some(quarantined_as) = blobs.move_to_quarantine(blob_key, QuarantineReason::Deleted)? {
                tracing::info!(
                    file = blob_key.path(),
                    quarantined_as,
                    "moved a deleted file to the quarantine"
                );
            }
        } else {
            blobs.remove(blob_key)?;
        }
    }
    Ok(())
}

/// Whether the disk of `blobs` is so full that deleted files must be removed immediately. Object
/// storage is never full.
pub(crate) fn is_disk_full(state: &AppState, blobs: &Blobs) -> ApiResult<bool> {
    if blobs.is_remote() {
        return Ok(false);
    }
    let needed_bytes = state.config.limits.audio.reserve_bytes.max(ROOM_MIN_BYTES);
    Ok(free_bytes(blobs.root())?.is_some_and(|free_bytes| free_bytes < needed_bytes))
}

/// Returns the files in the quarantine that users deleted.
///
/// # Errors
/// The storage fails.
pub(crate) fn deleted_in_quarantine(blobs: &Blobs) -> ApiResult<Vec<QuarantinedFile>> {
    let mut deleted_files = blobs.list_quarantined()?;
    deleted_files.retain(|file| file.reason == QuarantineReason::Deleted);
    Ok(deleted_files)
}

/// Runs `operation`, which needs free disk space. If the disk is full, frees disk space
/// ([`MakeRoom`]) and runs it once more. Blocks. The caller must not have locked the contents
/// (`lock_contents`).
///
/// # Errors
/// Those of `operation`; an error if a query or the storage fails.
pub(crate) fn with_room<T>(
    state: &AppState,
    runtime: &Handle,
    mut operation: impl FnMut() -> ApiResult<T>,
) -> ApiResult<T> {
    match operation() {
        Err(ApiError::StorageFull) if (state.storage.make_room)(state, runtime)? => operation(),
        outcome => outcome,
    }
}

/// Whether `more_bytes` can be written to the disk of `folder` without using its reserve.
pub(crate) fn has_room(state: &AppState, folder: &Path, more_bytes: u64) -> bool {
    Allowance::of_temporary_files(state).check_disk(folder, more_bytes).is_ok()
}

/// Makes sure that `more_bytes` can be written to the disk of `folder` without using its reserve.
/// Frees disk space if necessary ([`MakeRoom`]); returns the error 507 if that is not enough.
/// Blocks. The caller must not have locked the contents (`lock_contents`).
pub(crate) fn ensure_room(
    state: &AppState,
    runtime: &Handle,
    folder: &Path,
    more_bytes: u64,
) -> ApiResult<()> {
    let allowance = Allowance::of_temporary_files(state);
    if allowance.check_disk(folder, more_bytes).is_ok() {
        return Ok(());
    }
    let removable_bytes = if state.blobs.is_remote() {
        state.blobs.cache_size_bytes()?
    } else {
        deleted_in_quarantine(&state.blobs)?.iter().map(|file| file.size_bytes).sum()
    };
    // If removing all of these files would not be enough, none is removed.
    allowance.check_disk_without(folder, more_bytes, removable_bytes)?;
    with_room(state, runtime, || allowance.check_disk(folder, more_bytes))
}
