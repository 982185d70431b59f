//! Leases that let only one request write to an upload, across all processes that share the
//! database.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::store;
use crate::db::{DatabaseKind, Db, kind};
use crate::error::{ApiError, ApiResult};

/// Duration of a lease, and interval at which its holder renews it.
const LEASE_DURATION: Duration = Duration::from_secs(20);
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// The leases of this process.
#[derive(Debug, Clone)]
pub(in crate::audio) struct UploadLeases {
    ids: Arc<Mutex<HashSet<String>>>,
    /// Identifies this process in the database.
    process: Arc<str>,
}

impl Default for UploadLeases {
    fn default() -> Self {
        Self { ids: Arc::default(), process: uuid::Uuid::new_v4().to_string().into() }
    }
}

impl UploadLeases {
    /// Leases an upload until the returned lease is dropped. Returns 409 while another request
    /// holds a lease of the upload.
    pub(super) async fn acquire(&self, db: &Db, id: &str) -> ApiResult<UploadLease> {
        if !self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned()) {
            return Err(upload_busy_error());
        }
        let mut lease = UploadLease {
            leases: self.clone(),
            id: id.to_owned(),
            db: db.clone(),
            runtime: Handle::current(),
            renewed_at: None,
            is_lost: false,
        };
        lease.renew().await?;
        Ok(lease)
    }
}

/// The right to write to an upload. Dropping it releases the upload.
#[derive(Debug)]
pub(super) struct UploadLease {
    leases: UploadLeases,
    id: String,
    db: Db,
    runtime: Handle,
    /// When the lease was last renewed in the database. `None` with SQLite, which only one process
    /// uses.
    renewed_at: Option<Instant>,
    /// Whether another process has leased the upload, so that this one must not write to it.
    is_lost: bool,
}

impl UploadLease {
    /// Whether another process has leased the upload in the meantime.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Renews the lease if [`RENEW_EVERY`] has passed. Call this before each write.
    pub(super) async fn renew_if_due(&mut self) -> ApiResult<()> {
        if self.renewed_at.is_some_and(|renewed_at| renewed_at.elapsed() >= RENEW_EVERY) {
            self.renew().await?;
        }
        Ok(())
    }

    /// Releases the upload before it returns. Dropping the lease releases the upload in the
    /// background.
    pub(super) async fn release(mut self) {
        if self.renewed_at.take().is_some() {
            release(&self.db, &self.id, &self.leases.process).await;
        }
    }

    async fn renew(&mut self) -> ApiResult<()> {
        if kind(&self.db) == DatabaseKind::Sqlite {
            return Ok(());
        }
        let lease_ms = i64::try_from(LEASE_DURATION.as_millis()).unwrap_or(i64::MAX);
        if !store::take_lease(&self.db, &self.id, &self.leases.process, lease_ms).await? {
            self.is_lost = true;
            return Err(upload_busy_error());
        }
        self.renewed_at = Some(Instant::now());
        Ok(())
    }
}

impl Drop for UploadLease {
    fn drop(&mut self) {
        self.leases.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        if self.renewed_at.is_some() {
            let (db, id, process) = (self.db.clone(), self.id.clone(), Arc::clone(&self.leases.process));
            self.runtime.spawn(async move { release(&db, &id, &process).await });
        }
    }
}

async fn release(db: &Db, id: &str, process: &str) {
    if let Err(error) = store::release_lease(db, id, process).await {
        tracing::warn!(
            upload = id,
            %error,
            "cannot release an upload; other processes must wait until its lease expires"
        );
    }
}

fn upload_busy_error() -> ApiError {
    ApiError::Conflict {
        code: "upload_busy",
        detail: format!(
            "Another request is writing to this upload; request the offset when that request has ended, or after {} \
             seconds if its connection was lost.",
            LEASE_DURATION.as_secs()
        ),
    }
}
