//! The interface through which the work of a task reports and is cancelled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::store;
use super::task::Task;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};

/// Minimum interval between progress reports to listeners in this process.
const REPORT_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum number of attempts at a task whose attempts end with [`ApiError::Busy`], for example
/// because the memory for SoundFonts is in use. With the default `SF_TASK_RETRY_SECS`, the waits
/// between the attempts take about 15 minutes.
const BUSY_ATTEMPTS_MAX: i64 = 20;

/// Gives the work of a task access to the task's ids, cancellation and progress.
#[derive(Debug)]
pub struct TaskContext {
    pub(super) db: Db,
    pub(super) runtime: Handle,
    pub(super) id: String,
    pub(super) owner_id: String,
    pub(super) attempt: i64,
    pub(super) failures: i64,
    /// Number of the offer with which the attempt began.
    pub(super) offer: i64,
    pub(super) attempts_max: i64,
    /// Whether other processes may run the task.
    pub(super) has_other_processes: bool,
    /// True if the work should stop, because the owner cancelled it, the process ends, or the
    /// attempt has lost the task.
    pub(super) stop_requested: Arc<AtomicBool>,
    pub(super) sender: watch::Sender<Task>,
    /// Time of the last progress report.
    pub(super) reported_at: Mutex<Instant>,
}

impl TaskContext {
    /// Returns the id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of the user who owns the task.
    #[must_use]
    pub fn owner_id(&self) -> &str {
        &self.owner_id
    }

    /// Returns the async runtime. Blocking work can use it to wait for futures.
    #[must_use]
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Whether the work should stop as soon as it can. It may then return any error.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop_requested.load(Ordering::Relaxed)
    }

    /// Whether this attempt still owns the task. If not, another attempt owns the task's files.
    ///
    /// # Errors
    /// The database does not answer.
    pub fn holds(&self) -> ApiResult<bool> {
        let holding = store::has_lease(&self.db, &self.id, self.attempt);
        Ok(self.runtime().block_on(holding)?)
    }

    /// Whether the task will get another attempt if this one fails with `error`. If only this disk
    /// is full, another process may succeed.
    #[must_use]
    pub fn will_retry_after(&self, error: &ApiError) -> bool {
        let (may_succeed, attempts_max) = match error {
            ApiError::Internal(_) | ApiError::Unavailable { .. } => (true, self.attempts_max),
            ApiError::Busy { .. } => (true, self.attempts_max.max(BUSY_ATTEMPTS_MAX)),
            ApiError::StorageFull => (self.has_other_processes, self.attempts_max),
            _ => (false, 0),
        };
        may_succeed && self.failures + 1 < attempts_max
    }

    /// Reports the completed fraction (0 to 1) and a message about the current step. Calls are
    /// cheap, because only one per [`REPORT_INTERVAL`] is passed on.
    pub fn report_progress(&self, fraction: f64, message: &str) {
        let mut reported_at = self.reported_at.lock().unwrap_or_else(PoisonError::into_inner);
        let now_time = Instant::now();
        if now_time.duration_since(*reported_at) < REPORT_INTERVAL {
            return;
        }
        *reported_at = now_time;
        let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
        self.sender.send_modify(|task| {
            task.progress = fraction;
            message.clone_into(&mut task.message);
        });
    }
}
