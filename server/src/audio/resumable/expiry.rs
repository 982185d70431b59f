//! Expiry of unfinished uploads.

use super::{key, store};
use crate::clock;
use crate::error::ApiResult;
use crate::state::AppState;
use crate::storage::quarantine_deleted;

/// Expiry time of an upload that receives bytes now.
pub(super) fn expires_secs(state: &AppState) -> i64 {
    let kept_secs = state.config.limits.audio.unfinished_upload_secs;
    clock::now_unix_secs().saturating_add(i64::try_from(kept_secs).unwrap_or(i64::MAX))
}

/// Removes expired uploads that no task decodes. Quarantines their bytes, because a restored
/// database may hold an expiry time that was extended later. Files without a database row stay;
/// they go to the quarantine as orphans.
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
        let keys = ids.iter().map(|id| key(id)).collect::<ApiResult<Vec<_>>>()?;
        if state.blobs.is_remote() {
            quarantine_deleted(&state, &state.blobs.local(), &keys)?;
        }
        quarantine_deleted(&state, &state.blobs, &keys)
    };
    tokio::task::spawn_blocking(removing).await?
}
