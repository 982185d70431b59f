//! What users store in audio, and how much they may.

mod store;

use std::collections::HashMap;

pub(super) use store::used_bytes;

use crate::db::Db;
use crate::error::ApiResult;
use crate::state::AppState;

/// What a user stores in audio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AudioUsage {
    /// Audio files.
    pub files: u64,
    /// What they take on the disk with everything made from them, and uploads that are under way,
    /// in bytes.
    pub bytes: u64,
}

/// What every user stores, by their ids. Content that several users have counts for each of them.
///
/// # Errors
/// When the database refuses.
pub async fn usage_of_all(db: &Db) -> ApiResult<HashMap<String, AudioUsage>> {
    let mut usage: HashMap<String, AudioUsage> = store::stored_by_owner(db).await?.into_iter().collect();
    for (owner_id, bytes) in store::receiving_by_owner(db).await? {
        usage.entry(owner_id).or_default().bytes += bytes;
    }
    Ok(usage)
}

/// The quotas of users who have one of their own, in bytes, by their ids.
///
/// # Errors
/// When the database refuses.
pub async fn own_quotas(db: &Db) -> ApiResult<HashMap<String, u64>> {
    Ok(store::quotas(db).await?.into_iter().collect())
}

/// Gives a user a quota of their own in bytes, or with `None` everybody's again.
///
/// # Errors
/// When the database refuses, or there is no such user.
pub async fn set_quota(db: &Db, owner_id: &str, quota_bytes: Option<u64>) -> ApiResult<()> {
    match quota_bytes {
        Some(bytes) => store::put_quota(db, owner_id, bytes).await?,
        None => store::delete_quota(db, owner_id).await?,
    }
    Ok(())
}

/// What a user may store, in bytes.
pub(super) async fn quota_bytes(state: &AppState, owner_id: &str) -> ApiResult<u64> {
    let own = store::quota(&state.db, owner_id).await?;
    Ok(own.unwrap_or(state.config.limits.audio.quota_bytes))
}
