//! The task from the view of its work, which reports through it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::store;
use super::task::Task;
use crate::db::Db;
use crate::error::{ApiError, ApiResult};

/// How often progress goes to listeners in this process.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// The task from the view of its work.
#[derive(Debug)]
pub struct TaskContext {
    pub(super) db: Db,
    pub(super) runtime: Handle,
    pub(super) id: String,
    pub(super) owner_id: String,
    pub(super) attempt: i64,
    pub(super) failures: i64,
    pub(super) attempts_max: i64,
    /// Somebody wants the work to end: its owner, the end of the process, or because the task is
    /// lost.
    pub(super) stop_asked: Arc<AtomicBool>,
    pub(super) sender: watch::Sender<Task>,
    /// When progress last went to listeners.
    pub(super) reported: Mutex<Instant>,
}

impl TaskContext {
    /// Id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Id of the user whose task it is.
    #[must_use]
    pub fn owner_id(&self) -> &str {
        &self.owner_id
    }

    /// Waits for futures on the thread of the work.
    #[must_use]
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Whether the work should stop as soon as it can, with any error.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop_asked.load(Ordering::Relaxed)
    }

    /// Whether the task is still this attempt's. Otherwise what it works on belongs to another, and
    /// must be left.
    ///
    /// # Errors
    /// When the database does not say.
    pub fn holds(&self) -> ApiResult<bool> {
        let holding = store::holds(&self.db, &self.id, self.attempt);
        Ok(self.runtime().block_on(holding)?)
    }

    /// Whether the task has another attempt if this one fails with `error`.
    #[must_use]
    pub fn is_tried_again_after(&self, error: &ApiError) -> bool {
        matches!(error, ApiError::Internal(_) | ApiError::Unavailable { .. } | ApiError::Busy { .. })
            && self.failures + 1 < self.attempts_max
    }

    /// Says how much is done (0 to 1) and what is being done. Cheap: most calls change nothing
    /// outside.
    pub fn progress(&self, share: f64, message: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(*reported) < REPORT_EVERY {
            return;
        }
        *reported = now;
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.sender.send_modify(|task| {
            task.progress = share;
            message.clone_into(&mut task.message);
        });
    }
}
