//! Limits how much users may store: by their quotas, and by the free space on the disk.

mod store;

use std::collections::HashMap;
use std::path::Path;

use futures_util::future::BoxFuture;

use crate::config::AudioLimits;
use crate::db::Db;
use crate::disk::free_bytes;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Function that returns how many bytes a slice stores for the user with this id.
pub(crate) type UsedBytes = for<'a> fn(&'a Db, &'a str) -> BoxFuture<'a, Result<u64, sqlx::Error>>;

/// Limits on the number of bytes that a user may still store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    quota_bytes: u64,
    used_bytes: u64,
    reserve_bytes: u64,
}

impl Allowance {
    /// Returns the current allowance of `owner_id`.
    pub(crate) async fn load(state: &AppState, owner_id: &str) -> ApiResult<Self> {
        let reserve_bytes = state.config.limits.audio.reserve_bytes;
        let quota_bytes = read_quota_bytes(state, owner_id).await?;
        let mut used_bytes = 0;
        for used_bytes_of in state.storage.used_bytes_of {
            used_bytes += used_bytes_of(&state.db, owner_id).await?;
        }
        Ok(Self { quota_bytes, used_bytes, reserve_bytes })
    }

    /// Returns the allowance that is left after `freed_bytes` of the user's files are removed.
    pub(crate) fn after_freeing(self, freed_bytes: u64) -> Self {
        Self { used_bytes: self.used_bytes.saturating_sub(freed_bytes), ..self }
    }

    /// Returns the allowance for temporary files, which only the disk limits.
    pub(crate) fn of_temporary_files(state: &AppState) -> Self {
        Self::of_disk(&state.config.limits.audio)
    }

    /// Returns an allowance that only the disk limits.
    pub(crate) fn of_disk(limits: &AudioLimits) -> Self {
        Self { quota_bytes: u64::MAX, used_bytes: 0, reserve_bytes: limits.reserve_bytes }
    }

    /// Returns the number of unused bytes of the quota.
    pub(crate) fn remaining_bytes(&self) -> u64 {
        self.quota_bytes.saturating_sub(self.used_bytes)
    }

    /// Returns the error 507 if `more_bytes` exceed the quota.
    pub(crate) fn check(&self, more_bytes: u64) -> ApiResult<()> {
        self.check_bytes(more_bytes, true)
    }

    /// Returns the error 507 if `more_bytes` exceed the quota. `more_bytes` is a lower bound of the
    /// final size.
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

    /// Returns the error 507 if writing `more_bytes` to the disk of `folder` would leave less free
    /// space than the reserve.
    pub(crate) fn check_disk(&self, folder: &Path, more_bytes: u64) -> ApiResult<()> {
        self.check_disk_without(folder, more_bytes, 0)
    }

    /// Like [`Self::check_disk`], but as if `removed_bytes` had already been removed from that
    /// disk.
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

    /// Returns how many bytes may still be written to the disk of `folder`.
    pub(crate) fn measure_room_bytes(&self, folder: &Path) -> ApiResult<u64> {
        let free_bytes = free_bytes(folder)?.unwrap_or(u64::MAX);
        Ok(free_bytes.saturating_sub(self.reserve_bytes))
    }
}

/// Returns the individual quotas in bytes, by user id.
///
/// # Errors
/// The query fails.
pub(crate) async fn read_individual_quotas(db: &Db) -> ApiResult<HashMap<String, u64>> {
    Ok(store::read_quotas(db).await?.into_iter().collect())
}

/// Sets the individual quota of a user in bytes. `None` restores the default quota.
///
/// # Errors
/// The query fails, or there is no such user.
pub(crate) async fn set_quota(db: &Db, owner_id: &str, quota_bytes: Option<u64>) -> ApiResult<()> {
    match quota_bytes {
        Some(bytes) => store::put_quota(db, owner_id, bytes).await?,
        None => store::delete_quota(db, owner_id).await?,
    }
    Ok(())
}

/// Returns the quota of a user in bytes.
async fn read_quota_bytes(state: &AppState, owner_id: &str) -> ApiResult<u64> {
    let individual = store::read_quota(&state.db, owner_id).await?;
    Ok(individual.unwrap_or(state.config.limits.audio.quota_bytes))
}
