//! One writer for each upload, in whatever process.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::store;
use crate::db::{Db, Kind, kind};
use crate::error::{ApiError, ApiResult};

/// How long an upload stays this process's after its last sign of life, and how often there is one.
const HELD: Duration = Duration::from_secs(20);
const SIGN_EVERY: Duration = Duration::from_secs(5);

/// The uploads that this process is writing to.
#[derive(Debug, Clone)]
pub(in crate::audio) struct Busy {
    ids: Arc<Mutex<HashSet<String>>>,
    /// Name of this process among those that share the database.
    process: Arc<str>,
}

impl Default for Busy {
    fn default() -> Self {
        Self { ids: Arc::default(), process: uuid::Uuid::new_v4().to_string().into() }
    }
}

impl Busy {
    /// Locks an upload until the guard is dropped; 409 if another request has locked it.
    pub(super) async fn take(&self, db: &Db, id: &str) -> ApiResult<BusyGuard> {
        if !self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned()) {
            return Err(upload_busy());
        }
        let mut guard = BusyGuard {
            busy: self.clone(),
            id: id.to_owned(),
            db: db.clone(),
            runtime: Handle::current(),
            held_at: None,
            is_lost: false,
        };
        guard.hold().await?;
        Ok(guard)
    }
}

/// Gives an upload free when dropped.
#[derive(Debug)]
pub(super) struct BusyGuard {
    busy: Busy,
    id: String,
    db: Db,
    runtime: Handle,
    /// When the database was last told; never where one process has it for itself.
    held_at: Option<Instant>,
    /// Another process has it now, and nothing may be changed any more.
    is_lost: bool,
}

impl BusyGuard {
    /// Whether another process took the upload meanwhile.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Makes sure that the upload is still this process's, before it is written to.
    pub(super) async fn keep(&mut self) -> ApiResult<()> {
        if self.held_at.is_some_and(|held_at| held_at.elapsed() >= SIGN_EVERY) {
            self.hold().await?;
        }
        Ok(())
    }

    /// Gives the upload free now, where dropping the guard does so soon.
    pub(super) async fn let_go(mut self) {
        if self.held_at.take().is_some() {
            give_free(&self.db, &self.id, &self.busy.process).await;
        }
    }

    async fn hold(&mut self) -> ApiResult<()> {
        if kind(&self.db) == Kind::Sqlite {
            return Ok(());
        }
        let held_ms = i64::try_from(HELD.as_millis()).unwrap_or(i64::MAX);
        if !store::hold(&self.db, &self.id, &self.busy.process, held_ms).await? {
            self.is_lost = true;
            return Err(upload_busy());
        }
        self.held_at = Some(Instant::now());
        Ok(())
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.busy.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        if self.held_at.is_some() {
            let (db, id, process) = (self.db.clone(), self.id.clone(), Arc::clone(&self.busy.process));
            self.runtime.spawn(async move { give_free(&db, &id, &process).await });
        }
    }
}

async fn give_free(db: &Db, id: &str, process: &str) {
    if let Err(error) = store::let_go(db, id, process).await {
        tracing::warn!(%error, "an upload is free for other processes only after a while");
    }
}

fn upload_busy() -> ApiError {
    ApiError::Conflict {
        code: "upload_busy",
        detail: "Another request is writing to this upload; ask for its offset in a moment.".to_owned(),
    }
}
