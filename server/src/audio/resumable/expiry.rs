//! Expiry of unfinished resumable uploads.

use super::{blob_key_of, store};
use crate::clock;
use crate::error::ApiResult;
use crate::state::AppState;
use crate::storage::quarantine_deleted;

/// Returns the expiry time of an upload that receives bytes now, in seconds since 1970.
pub(super) fn expires_secs(state: &AppState) -> i64 {
    let kept_secs = state.config.limits.audio.unfinished_upload_secs;
    clock::now_unix_secs().saturating_add(i64::try_from(kept_secs).unwrap_or(i64::MAX))
}

/// Removes expired uploads that no task decodes. Moves their bytes to the quarantine: if an older
/// database is restored, it may still contain the upload. Files without a database row are not
/// removed here; they go to the quarantine as orphans.
///
/// # Errors
/// If a query or the storage fails.
pub(crate) async fn remove_expired(state: &AppState) -> ApiResult<()> {
    let ids = store::delete_expired(&state.db, clock::now_unix_secs()).await?;
    if ids.is_empty() {
        return Ok(());
    }
    let state = state.clone();
    let removing = move || -> ApiResult<()> {
        let blob_keys = ids.iter().map(|id| blob_key_of(id)).collect::<ApiResult<Vec<_>>>()?;
        if state.blobs.is_remote() {
            quarantine_deleted(&state, &state.blobs.local(), &blob_keys)?;
        }
        quarantine_deleted(&state, &state.blobs, &blob_keys)
    };
    tokio::task::spawn_blocking(removing).await?
}
