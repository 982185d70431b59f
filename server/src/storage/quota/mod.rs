//! How much users may store: quotas, and what is left of them and of the disk.

mod store;

use std::collections::HashMap;
use std::path::Path;

use futures_util::future::BoxFuture;

use crate::config::AudioLimits;
use crate::db::Db;
use crate::disk::free_bytes;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Says how many bytes a slice has stored for a user, by the user's id.
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
        for counted in state.storage.counted {
            used_bytes += counted(&state.db, owner_id).await?;
        }
        Ok(Self { quota_bytes, used_bytes, reserve_bytes })
    }

    /// The allowance once `freed_bytes` bytes are removed, which make room for the new ones.
    pub(crate) fn without(self, freed_bytes: u64) -> Self {
        Self { used_bytes: self.used_bytes.saturating_sub(freed_bytes), ..self }
    }

    /// The allowance for files that are not kept: only the disk limits them.
    pub(crate) fn of_passing(state: &AppState) -> Self {
        Self::of_disk(&state.config.limits.audio)
    }

    /// An allowance that only the disk limits.
    pub(crate) fn of_disk(limits: &AudioLimits) -> Self {
        Self { quota_bytes: u64::MAX, used_bytes: 0, reserve_bytes: limits.reserve_bytes }
    }

    /// Bytes of the quota that are left.
    pub(crate) fn left_bytes(&self) -> u64 {
        self.quota_bytes.saturating_sub(self.used_bytes)
    }

    /// 507 if `more_bytes` exceed the quota.
    pub(crate) fn check(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, true)
    }

    /// 507 if `more_bytes`, which may become more, exceed the quota.
    pub(crate) fn check_at_least(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, false)
    }

    fn check_bytes(&self, needed_bytes: u64, is_exact: bool) -> ApiResult<()> {
        if needed_bytes <= self.left_bytes() {
            return Ok(());
        }
        let Self { quota_bytes, used_bytes, .. } = *self;
        Err(ApiError::QuotaExceeded { quota_bytes, used_bytes, needed_bytes, is_exact })
    }

    /// 507 if `more_bytes` on the disk of `folder` leave less free than its reserve.
    pub(crate) fn check_disk(&self, folder: &Path, more_bytes: u64) -> ApiResult<()> {
        self.check_disk_without(folder, more_bytes, 0)
    }

    /// 507 likewise, once `removed_bytes` are removed from that disk.
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

    /// Bytes that may be written to the disk of `folder`.
    pub(crate) fn room_bytes(&self, folder: &Path) -> ApiResult<u64> {
        let free_bytes = free_bytes(folder)?.unwrap_or(u64::MAX);
        Ok(free_bytes.saturating_sub(self.reserve_bytes))
    }
}

/// The quotas of users who have one of their own, in bytes, by their ids.
///
/// # Errors
/// When the database refuses.
pub(crate) async fn own_quotas(db: &Db) -> ApiResult<HashMap<String, u64>> {
    Ok(store::quotas(db).await?.into_iter().collect())
}

/// Gives a user a quota of their own in bytes, or with `None` everybody's again.
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
    let own = store::quota(&state.db, owner_id).await?;
    Ok(own.unwrap_or(state.config.limits.audio.quota_bytes))
}
