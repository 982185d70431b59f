//! Deleted audio files, which can be restored for `SF_DELETED_KEPT_SECS`.
//!
//! A browser window may save a song with a file that another window has just deleted. Therefore
//! deleting a file and saving a song take the same lock. A file that a song refers to cannot be
//! deleted, and saving a song restores the deleted files that the song refers to. For
//! `SF_DELETED_KEPT_SECS`, the row of a deleted file stays in the database, and its stored files
//! stay in the quarantine. They do not count toward the quota. When a quota is reached or the disk
//! is full, deleted files are removed first.

mod store;

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio::runtime::Handle;

use super::store::{Rates, read_rates};
use super::{ContentKeys, renditions};
use crate::clock;
use crate::error::{ApiError, ApiResult};
use crate::projects::{self, IdReferences};
use crate::state::AppState;
use crate::storage::{
    Allowance, BlobKey, QuarantineReason, deleted_in_quarantine, is_disk_full, lock_contents,
    quarantine_deleted,
};

/// Deletes a user's file, unless a project or an autosave refers to it. Blocks.
///
/// # Errors
/// 404 if there is no such file, 409 `audio_in_use`.
pub(super) fn delete(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
    name: &str,
) -> ApiResult<()> {
    let kept_secs = state.config.orphans.deleted_kept_secs;
    let is_full = is_disk_full(state, &state.blobs)?;
    if is_full {
        make_room(state, runtime)?;
    }
    // The search runs before the locks are taken, because songs are large.
    let searching = IdReferences::search(&state.db, owner_id, HashSet::from([id.to_owned()]));
    let mut naming = runtime.block_on(searching)?;
    let _contents = lock_contents(state, runtime)?;
    let deleting = async {
        let mut saves = projects::lock_saves(&state.db, owner_id).await?;
        let is_kept = kept_secs > 0 && !is_full;
        let deleted_sha256 = store::delete(&mut saves, owner_id, id, clock::now_unix_ms(), is_kept).await?;
        let sha256 = deleted_sha256.ok_or_else(|| ApiError::not_found("audio file", id))?;
        naming.search_changed(&mut saves).await?;
        let users = naming.documents_naming(id);
        if !users.is_empty() {
            saves.rollback().await?;
            return Err(ApiError::Conflict {
                code: "audio_in_use",
                detail: format!("`{name}` is used by {}; remove it there first.", users.join(", ")),
            });
        }
        saves.commit().await?;
        Ok(sha256)
    };
    let sha256 = runtime.block_on(deleting)?;
    // The row is deleted already, so a failure here only leaves files, which the periodic
    // cleanup finds later.
    if let Err(error) = release(state, runtime, &sha256) {
        tracing::warn!(
            id,
            "cannot delete the stored files of a deleted audio file; the periodic cleanup will try again: {error:#}"
        );
    }
    Ok(())
}

/// Number of files that are deleted together in one transaction.
const DELETED_PER_TRANSACTION: usize = 200;

/// Deletes those files of a user to which no project and no autosave refers. Takes the lock once
/// for [`DELETED_PER_TRANSACTION`] files, so other users wait less than with a call of [`delete`]
/// for each file. The stored files of files that may be restored stay until those are purged.
/// Blocks.
///
/// # Errors
/// If a query or the storage fails. Some files may be deleted then.
pub(super) fn delete_unused(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    ids: &[String],
) -> ApiResult<()> {
    let is_full = is_disk_full(state, &state.blobs)?;
    if is_full {
        make_room(state, runtime)?;
    }
    let is_kept = state.config.orphans.deleted_kept_secs > 0 && !is_full;
    let searching = IdReferences::search(&state.db, owner_id, ids.iter().cloned().collect());
    let mut naming = runtime.block_on(searching)?;
    for part in ids.chunks(DELETED_PER_TRANSACTION) {
        let _contents = lock_contents(state, runtime)?;
        let deleting = async {
            let mut saves = projects::lock_saves(&state.db, owner_id).await?;
            naming.search_changed(&mut saves).await?;
            let now_ms = clock::now_unix_ms();
            let mut deleted_files = Vec::new();
            for id in part.iter().filter(|id| naming.documents_naming(id).is_empty()) {
                deleted_files.extend(store::delete(&mut saves, owner_id, id, now_ms, is_kept).await?);
            }
            saves.commit().await?;
            Ok::<_, ApiError>(deleted_files)
        };
        let deleted_files = runtime.block_on(deleting)?;
        if !is_kept {
            deleted_files.iter().try_for_each(|sha256| release(state, runtime, sha256))?;
        }
    }
    Ok(())
}

/// Removes stored audio that no audio file uses. If a deleted file that uses it may still be
/// restored, moves it to the quarantine instead.
fn release(state: &AppState, runtime: &Handle, sha256: &str) -> ApiResult<()> {
    let db = &state.db;
    if runtime.block_on(super::store::has_any_file(db, sha256))? {
        return Ok(());
    }
    let blob_keys = blob_keys_of(sha256, &runtime.block_on(read_rates(db, sha256))?)?;
    if !runtime.block_on(super::store::delete_unneeded(db, sha256))? {
        return quarantine_deleted(state, &state.blobs, &blob_keys);
    }
    for blob_key in &blob_keys {
        state.blobs.remove(blob_key)?;
    }
    for entry in state.blobs.list_quarantined()? {
        if entry.reason == QuarantineReason::Deleted
            && blob_keys.iter().any(|blob_key| blob_key.path() == entry.name)
        {
            state.blobs.remove_quarantined(&entry)?;
        }
    }
    Ok(())
}

/// Returns the keys of the stored audio with this hash, copies at other sample rates included.
fn blob_keys_of(sha256: &str, rates_hz: &Rates) -> ApiResult<Vec<BlobKey>> {
    let ContentKeys { original, samples, peaks } = ContentKeys::new(sha256)?;
    let mut blob_keys = vec![original, samples, peaks];
    for rate_hz in rates_hz {
        blob_keys.push(renditions::blob_key_of(sha256, *rate_hz)?);
    }
    Ok(blob_keys)
}

/// Restores the user's deleted files that `text` refers to. `text` is a document that was just
/// stored, so errors are only logged. Before a deleted file is purged, the songs are searched
/// again.
pub(crate) async fn restore_named(state: &AppState, owner_id: &str, text: &str) {
    let restoring = async {
        let mut deleted_by_id: HashMap<_, _> =
            store::read_of_owner(&state.db, owner_id).await?.into_iter().collect();
        if deleted_by_id.is_empty() {
            return Ok(());
        }
        // The search runs in a blocking thread. It needs a copy of the text, so it starts only if
        // there are deleted files.
        let (state, runtime, text) = (state.clone(), Handle::current(), text.to_owned());
        tokio::task::spawn_blocking(move || {
            let named_files: Vec<_> =
                projects::ids_in(&text).filter_map(|id| deleted_by_id.remove_entry(id)).collect();
            if named_files.is_empty() {
                return Ok(());
            }
            let _contents = lock_contents(&state, &runtime)?;
            named_files.iter().try_for_each(|(id, sha256)| restore(&state, &runtime, id, sha256))
        })
        .await?
    };
    let outcome: ApiResult<()> = restoring.await;
    if let Err(error) = outcome {
        tracing::error!(owner_id, "cannot restore deleted audio that a saved song refers to: {error:#}");
    }
}

/// Restores a deleted file. The caller must have the lock of [`lock_contents`].
fn restore(state: &AppState, runtime: &Handle, id: &str, sha256: &str) -> ApiResult<()> {
    for blob_key in blob_keys_of(sha256, &runtime.block_on(read_rates(&state.db, sha256))?)? {
        if !state.blobs.contains(&blob_key)? {
            tracing::warn!(
                file = blob_key.path(),
                id,
                "restored a deleted file, but one of its stored files is missing"
            );
        }
    }
    if runtime.block_on(store::restore(&state.db, id))? {
        tracing::info!(id, "restored a deleted audio file that a song refers to");
    }
    Ok(())
}

/// Purges files whose retention has ended. Restores those that a song still refers to.
///
/// # Errors
/// If a query or the storage fails.
pub(crate) async fn remove_expired_deleted_files(state: &AppState, now_ms: i64) -> ApiResult<()> {
    let kept_ms =
        i64::try_from(state.config.orphans.deleted_kept_secs.saturating_mul(1_000)).unwrap_or(i64::MAX);
    let (state, runtime) = (state.clone(), Handle::current());
    let due_ms = now_ms.saturating_sub(kept_ms);
    tokio::task::spawn_blocking(move || purge_until(&state, &runtime, due_ms).map(|_| ())).await?
}

/// Purges the files that were deleted at `due_ms` or earlier, and returns their number.
fn purge_until(state: &AppState, runtime: &Handle, due_ms: i64) -> ApiResult<usize> {
    let mut ids_by_owner: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut count = 0;
    for (id, owner_id) in runtime.block_on(store::read_due(&state.db, due_ms))? {
        ids_by_owner.entry(owner_id).or_default().push(id);
        count += 1;
    }
    for (owner_id, ids) in ids_by_owner {
        purge_all(state, runtime, &owner_id, &ids)?;
    }
    Ok(count)
}

/// Purges deleted files of one user, after one search of the user's songs.
fn purge_all(state: &AppState, runtime: &Handle, owner_id: &str, ids: &[String]) -> ApiResult<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let searching = IdReferences::search(&state.db, owner_id, ids.iter().cloned().collect());
    let mut naming = runtime.block_on(searching)?;
    ids.iter().try_for_each(|id| purge(state, runtime, owner_id, id, &mut naming))
}

fn purge(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    id: &str,
    naming: &mut IdReferences,
) -> ApiResult<()> {
    let _contents = lock_contents(state, runtime)?;
    let purging = async {
        let mut saves = projects::lock_saves(&state.db, owner_id).await?;
        let Some(sha256) = store::remove(&mut saves, id).await? else { return Ok(None) };
        naming.search_changed(&mut saves).await?;
        let is_named = !naming.documents_naming(id).is_empty();
        if is_named {
            saves.rollback().await?;
        } else {
            saves.commit().await?;
        }
        Ok::<_, ApiError>(Some((sha256, is_named)))
    };
    match runtime.block_on(purging)? {
        None => Ok(()),
        Some((sha256, true)) => restore(state, runtime, id, &sha256),
        Some((sha256, false)) => release(state, runtime, &sha256),
    }
}

/// Purges all deleted files to free disk space, and returns whether there were any. If the files
/// are in object storage, empties its cache instead, because deleting them there frees nothing on
/// this disk. Blocks.
///
/// # Errors
/// If a query or the storage fails.
pub(crate) fn make_room(state: &AppState, runtime: &Handle) -> ApiResult<bool> {
    if state.blobs.is_remote() {
        return Ok(state.blobs.clear_cache()?);
    }
    // The quarantine is listed first. A file that is deleted after this may keep its row, so its
    // stored files must stay.
    let quarantined_files = deleted_in_quarantine(&state.blobs)?;
    let purged = purge_until(state, runtime, i64::MAX)?;
    for entry in &quarantined_files {
        state.blobs.remove_quarantined(entry)?;
    }
    Ok(purged + quarantined_files.len() > 0)
}

/// Purges a user's oldest deleted files until the remaining ones fit into the free quota. Blocks.
///
/// # Errors
/// If a query or the storage fails.
pub(super) fn fit_quota(state: &AppState, runtime: &Handle, owner_id: &str) -> ApiResult<()> {
    let deleted_sizes = runtime.block_on(store::read_sizes(&state.db, owner_id))?;
    let mut bytes: u64 = deleted_sizes.iter().map(|(_, bytes)| bytes).sum();
    if bytes == 0 {
        return Ok(());
    }
    let left_bytes = runtime.block_on(Allowance::load(state, owner_id))?.remaining_bytes();
    let mut purged = Vec::new();
    for (id, size_bytes) in deleted_sizes {
        if bytes <= left_bytes {
            break;
        }
        purged.push(id);
        bytes -= size_bytes;
    }
    purge_all(state, runtime, owner_id, &purged)
}
