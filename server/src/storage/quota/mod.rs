//! How much users may store: quotas, and the remaining room in them and on the disk.

mod store;

use std::collections::HashMap;
use std::path::Path;

use futures_util::future::BoxFuture;

use crate::config::AudioLimits;
use crate::db::Db;
use crate::disk::free_bytes;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Returns how many bytes a slice stores for a user, by the user's id.
pub(crate) type UsedBytes = for<'a> fn(&'a Db, &'a str) -> BoxFuture<'a, Result<u64, sqlx::Error>>;

/// How much a user may still store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    quota_bytes: u64,
    used_bytes: u64,
    reserve_bytes: u64,
}

impl Allowance {
    /// The allowance of `owner_id` now.
    pub(crate) async fn of(state: &AppState, owner_id: &str) -> ApiResult<Self> {
        let reserve_bytes = state.config.limits.audio.reserve_bytes;
        let quota_bytes = quota_bytes(state, owner_id).await?;
        let mut used_bytes = 0;
        for used_bytes_of in state.storage.used_bytes_of {
            used_bytes += used_bytes_of(&state.db, owner_id).await?;
        }
        Ok(Self { quota_bytes, used_bytes, reserve_bytes })
    }

    /// The allowance after `freed_bytes` bytes are removed to make room.
    pub(crate) fn after_freeing(self, freed_bytes: u64) -> Self {
        Self { used_bytes: self.used_bytes.saturating_sub(freed_bytes), ..self }
    }

    /// The allowance for temporary files: only the disk limits them.
    pub(crate) fn of_temporary_files(state: &AppState) -> Self {
        Self::of_disk(&state.config.limits.audio)
    }

    /// An allowance that only the disk limits.
    pub(crate) fn of_disk(limits: &AudioLimits) -> Self {
        Self { quota_bytes: u64::MAX, used_bytes: 0, reserve_bytes: limits.reserve_bytes }
    }

    /// Unused bytes of the quota.
    pub(crate) fn remaining_bytes(&self) -> u64 {
        self.quota_bytes.saturating_sub(self.used_bytes)
    }

    /// 507 if `more_bytes` exceed the quota.
    pub(crate) fn check(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, true)
    }

    /// 507 if `more_bytes`, a lower bound of the final size, exceed the quota.
    pub(crate) fn check_at_least(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, false)
    }

    fn check_bytes(&self, needed_bytes: u64, is_exact: bool) -> ApiResult<()> {
        if needed_bytes <= self.remaining_bytes() {
            return Ok(());
        }
        let Self { quota_bytes, used_bytes, .. } = *self;
        Err(ApiError::QuotaExceeded { quota_bytes, used_bytes, needed_bytes, is_exact })
    }

    /// 507 if `more_bytes` on the disk of `folder` leave less free than its reserve.
    pub(crate) fn check_disk(&self, folder: &Path, more_bytes: u64) -> ApiResult<()> {
        self.check_disk_without(folder, more_bytes, 0)
    }

    /// Like [`Self::check_disk`], after `removed_bytes` are removed from that disk.
    pub(crate) fn check_disk_without(
        &self,
        folder: &Path,
        more_bytes: u64,
        removed_bytes: u64,
    ) -> ApiResult<()> {
        let needed_bytes = self.reserve_bytes.saturating_add(more_bytes);
        if free_bytes(folder)?
            .is_some_and(|free_bytes| free_bytes.saturating_add(removed_bytes) < needed_bytes)
        {
            return Err(ApiError::StorageFull);
        }
        Ok(())
    }

    /// Bytes that may still be written to the disk of `folder`.
    pub(crate) fn room_bytes(&self, folder: &Path) -> ApiResult<u64> {
        let free_bytes = free_bytes(folder)?.unwrap_or(u64::MAX);
        Ok(free_bytes.saturating_sub(self.reserve_bytes))
    }
}

/// Individual quotas in bytes, by user id.
///
/// # Errors
/// If the query fails.
pub(crate) async fn individual_quotas(db: &Db) -> ApiResult<HashMap<String, u64>> {
    Ok(store::quotas(db).await?.into_iter().collect())
}

/// Sets the individual quota of a user in bytes; `None` restores the default quota.
///
/// # Errors
/// When the database refuses, or there is no such user.
pub(crate) async fn set_quota(db: &Db, owner_id: &str, quota_bytes: Option<u64>) -> ApiResult<()> {
    match quota_bytes {
        Some(bytes) => store::put_quota(db, owner_id, bytes).await?,
        None => store::delete_quota(db, owner_id).await?,
    }
    Ok(())
}

/// The quota of a user in bytes.
async fn quota_bytes(state: &AppState, owner_id: &str) -> ApiResult<u64> {
    let individual = store::quota(&state.db, owner_id).await?;
    Ok(individual.unwrap_or(state.config.limits.audio.quota_bytes))
}
