//! Starts, finds and cancels tasks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::delivery::Delivery;
use super::followed::FollowedTasks;
use super::kind::Kinds;
use super::runner::{Queue, Runner, Threads};
use super::running::RunningByOwner;
use super::store::{self, AbandonedTask, InsertOutcome};
use super::task::{Task, TaskState};
use crate::auth::management;
use crate::clock;
use crate::config::{StorageConfig, TasksConfig};
use crate::db::{DatabaseKind, Db, kind};
use crate::error::ApiError;
use crate::extract::with_document;
use crate::fair_bytes::FairBytes;
use crate::paging::Position;
use crate::state::{AppState, Services};
use crate::storage::{Blobs, DocumentQuota};

/// Maximum total size of the long inputs that are being stored at the same time, in bytes.
const INPUTS_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// An attempt that runs in this process.
#[derive(Debug)]
pub(super) struct LiveAttempt {
    pub(super) owner_id: String,
    /// Number of the attempt.
    pub(super) attempt: i64,
    /// Set to make the work stop.
    pub(super) stop_requested: Arc<AtomicBool>,
    pub(super) task: watch::Receiver<Task>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) db: Db,
    pub(super) runner: Runner,
    pub(super) kinds: Kinds,
    /// Names of the kinds whose tasks have files.
    pub(super) kinds_with_files: Vec<&'static str>,
    pub(super) runtime: Handle,
    pub(super) config: TasksConfig,
    /// Quota that a user's projects and tasks share.
    quota: DocumentQuota,
    /// Memory budget for long inputs that are being stored.
    inputs: FairBytes,
    /// The attempts that run in this process, by task id.
    live_attempts: Mutex<HashMap<String, LiveAttempt>>,
    /// The tasks that event streams of this process follow.
    pub(super) followed_tasks: FollowedTasks,
    /// Numbers of running tasks of each owner in this process.
    pub(super) running_by_owner: RunningByOwner,
    /// Whether the process is ending.
    pub(super) is_stopping: AtomicBool,
    services: OnceLock<Weak<Services>>,
}

/// Starts tasks, and tracks the tasks that run in this process.
#[derive(Debug, Clone)]
pub struct Tasks(pub(super) Arc<Inner>);

impl Tasks {
    /// Opens the list of tasks. `quota` is the limit that a user's projects and tasks share.
    ///
    /// On a desktop, this starts the threads. It also marks unfinished tasks of an earlier process
    /// as failed, unless they have files. With PostgreSQL, it opens the queue.
    ///
    /// # Errors
    /// A query fails, or a thread cannot be started.
    pub(crate) async fn open(
        db: Db,
        storage: &StorageConfig,
        config: TasksConfig,
        quota: DocumentQuota,
        kinds: Kinds,
    ) -> anyhow::Result<Self> {
        let kinds_with_files = kinds.names_with_files();
        let runner = match kind(&db) {
            DatabaseKind::Sqlite => {
                let error = json!(interruption_error().problem()).to_string();
                let count = store::fail_unfinished(&db, &kinds_with_files, &error).await?;
                if count > 0 {
                    tracing::warn!(count, "marked the unfinished tasks of an earlier process as failed");
                }
                Runner::Threads(Threads::start(config.thread_count())?)
            }
            DatabaseKind::Postgres => {
                let lost_after = Duration::from_secs(config.lost_after_secs);
                Runner::Queue(Queue::open(&storage.database, lost_after).await?)
            }
        };
        Ok(Self(Arc::new(Inner {
            db,
            runner,
            kinds,
            kinds_with_files,
            runtime: Handle::current(),
            config,
            quota,
            inputs: FairBytes::new("memory for task inputs", INPUTS_MAX_BYTES),
            live_attempts: Mutex::default(),
            followed_tasks: FollowedTasks::default(),
            running_by_owner: RunningByOwner::default(),
            is_stopping: AtomicBool::new(false),
            services: OnceLock::new(),
        })))
    }

    /// Gives tasks access to the services. The reference is weak, because the services own `self`.
    pub(crate) fn attach(&self, services: Weak<Services>) {
        // This fails if the services are already set, which does no harm.
        let _ = self.0.services.set(services);
    }

    /// Returns the services; `None` before [`Self::attach`] and while the services are being
    /// dropped.
    pub(super) fn state(&self) -> Option<AppState> {
        self.0.services.get().and_then(Weak::upgrade).map(AppState::from)
    }

    /// Starts a task of this kind. Returns the task's id.
    ///
    /// # Errors
    /// 429 if too many tasks of the owner are waiting or running; 507 if the input exceeds the
    /// owner's quota of projects; 401 `account_disabled`; 5xx if the query fails.
    pub async fn start(&self, owner_id: &str, kind: &'static str, input: &Value) -> Result<String, ApiError> {
        self.store(owner_id, kind, &input.to_string(), Some(self.0.quota)).await
    }

    /// Starts a task whose input is small and does not count towards any quota.
    ///
    /// # Errors
    /// Those of [`Self::start`], except 507.
    pub(crate) async fn start_uncounted(
        &self,
        owner_id: &str,
        kind: &'static str,
        input: &Value,
    ) -> Result<String, ApiError> {
        self.store(owner_id, kind, &input.to_string(), None).await
    }

    /// Starts a task whose input has about `size_bytes` bytes as JSON. The JSON is written on a
    /// thread that may block.
    ///
    /// # Errors
    /// Those of [`Self::start`]; 503 `busy` if too many long inputs are being stored.
    pub(crate) async fn start_sized(
        &self,
        owner_id: &str,
        kind: &'static str,
        size_bytes: usize,
        input: impl Serialize + Send + 'static,
    ) -> Result<String, ApiError> {
        let mut reserved_bytes = self.0.inputs.reservation(owner_id);
        reserved_bytes.grow(size_bytes as u64)?;
        let write = move || serde_json::to_string(&input).map_err(ApiError::internal);
        let input = with_document(size_bytes, write).await?;
        self.store(owner_id, kind, &input, Some(self.0.quota)).await
    }

    /// Stores a task with its input as JSON text, and offers it to the runner.
    async fn store(
        &self,
        owner_id: &str,
        kind: &'static str,
        input: &str,
        quota: Option<DocumentQuota>,
    ) -> Result<String, ApiError> {
        let task = Task {
            id: uuid::Uuid::new_v4().to_string(),
            kind: kind.to_owned(),
            state: TaskState::Queued,
            progress: 0.0,
            message: String::new(),
            created_at: clock::now_text(),
            started_at: None,
            finished_at: None,
            result: None,
            error: None,
        };
        let limit = self.0.config.unfinished_per_user;
        match store::insert(&self.0.db, owner_id, &task, input, limit, quota).await? {
            InsertOutcome::Stored => {}
            InsertOutcome::TooMany => {
                return Err(ApiError::TooManyRequests {
                    detail: format!(
                        "{limit} of your tasks are already waiting or running (SF_TASKS_UNFINISHED_PER_USER); \
                         try again later."
                    ),
                    retry_after_secs: 10,
                });
            }
            InsertOutcome::Full { quota_bytes, used_bytes } => {
                let needed_bytes = input.len() as u64;
                return Err(ApiError::QuotaExceeded {
                    quota_bytes,
                    used_bytes,
                    needed_bytes,
                    is_exact: true,
                });
            }
        }
        // If the account was disabled while this request waited, all its other tasks have already
        // been cancelled.
        if management::user(&self.0.db, owner_id).await?.is_disabled {
            store::delete(&self.0.db, &task.id).await?;
            let detail = "The account was disabled before the task started.".to_owned();
            return Err(ApiError::Unauthorized { code: "account_disabled", detail });
        }
        let delivery = Delivery::new(task.id.clone(), owner_id.to_owned());
        if let Err(error) = self.0.runner.offer(self, delivery, Duration::ZERO).await {
            store::delete(&self.0.db, &task.id).await?;
            return Err(error);
        }
        Ok(task.id)
    }

    /// Stops the tasks that run in this process, because it ends. In a server deployment, they then
    /// wait for another process. On a desktop, they are cancelled.
    pub fn stop_all(&self) {
        self.0.is_stopping.store(true, Ordering::Relaxed);
        for live_attempt in self.live_attempts().values() {
            live_attempt.stop_requested.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until no task runs in this process, but at most for `limit`. Returns whether no task
    /// runs.
    pub async fn wait_until_stopped(&self, limit: Duration) -> bool {
        let started_at = Instant::now();
        while !self.0.running_by_owner.is_empty() || !self.live_attempts().is_empty() {
            if started_at.elapsed() > limit {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }

    /// Waits until no task waits or runs, but at most for `limit`. Returns whether no task waits or
    /// runs.
    #[cfg(test)]
    pub(crate) async fn wait_until_drained(&self, limit: Duration) -> bool {
        let started = Instant::now();
        while store::count_unfinished(&self.0.db).await.expect("counts") > 0
            || !self.live_attempts().is_empty()
        {
            if started.elapsed() > limit {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }

    pub(super) fn live_attempts(&self) -> MutexGuard<'_, HashMap<String, LiveAttempt>> {
        self.0.live_attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this attempt still runs in this process, or is still storing its end.
    pub(super) fn is_live(&self, id: &str, attempt: i64) -> bool {
        self.live_attempts().get(id).is_some_and(|live_attempt| live_attempt.attempt == attempt)
    }

    /// Removes a finished attempt from the list of running ones.
    pub(super) fn remove_live(&self, id: &str, attempt: i64) {
        let mut live = self.live_attempts();
        if live.get(id).is_some_and(|live_attempt| live_attempt.attempt == attempt) {
            live.remove(id);
        }
    }

    /// Returns the current state of a task if it runs in this process.
    pub(super) fn live_task(&self, owner_id: &str, id: &str) -> Option<watch::Receiver<Task>> {
        self.live_attempts()
            .get(id)
            .filter(|live_attempt| live_attempt.owner_id == owner_id)
            .map(|live_attempt| live_attempt.task.clone())
    }

    pub(super) async fn find(&self, owner_id: &str, id: &str) -> Result<Task, ApiError> {
        if let Some(task) = self.live_task(owner_id, id).map(|receiver| receiver.borrow().clone()) {
            return Ok(task);
        }
        store::find_by_id(&self.0.db, owner_id, id).await?.ok_or_else(|| ApiError::not_found("task", id))
    }

    /// Returns at most `count` tasks of all users with the ids of their owners, the newest first.
    /// For administrators.
    ///
    /// # Errors
    /// The query fails.
    pub async fn read_page_of_all(
        &self,
        state: Option<TaskState>,
        after: Option<&Position>,
        count: u32,
    ) -> Result<Vec<(String, Task)>, ApiError> {
        let state = state.map(TaskState::as_str).unwrap_or_default();
        let mut tasks = store::read_page_of_all(&self.0.db, state, after, count).await?;
        for (owner_id, task) in &mut tasks {
            if let Some(live_attempt) = self.live_task(owner_id, &task.id) {
                *task = live_attempt.borrow().clone();
            }
        }
        Ok(tasks)
    }

    /// Cancels a task of any user. Returns the id of its owner, and the task in its new state. For
    /// administrators.
    ///
    /// # Errors
    /// 404 if there is no such task.
    pub async fn cancel_of_any_user(&self, id: &str) -> Result<(String, Task), ApiError> {
        let owner =
            store::find_owner(&self.0.db, id).await?.ok_or_else(|| ApiError::not_found("task", id))?;
        let task = self.cancel(&owner, id).await?;
        Ok((owner, task))
    }

    pub(super) async fn cancel(&self, owner_id: &str, id: &str) -> Result<Task, ApiError> {
        let (_, abandoned_tasks) =
            store::cancel(&self.0.db, &self.0.kinds_with_files, owner_id, Some(id)).await?;
        if let Some(live_attempt) =
            self.live_attempts().get(id).filter(|live_attempt| live_attempt.owner_id == owner_id)
        {
            live_attempt.stop_requested.store(true, Ordering::Relaxed);
        }
        self.discard(abandoned_tasks).await;
        self.find(owner_id, id).await
    }

    /// Cancels all unfinished tasks of a user. Returns their number.
    ///
    /// # Errors
    /// The query fails.
    pub async fn cancel_all_of(&self, owner_id: &str) -> Result<u64, ApiError> {
        let (count, abandoned_tasks) =
            store::cancel(&self.0.db, &self.0.kinds_with_files, owner_id, None).await?;
        for live_attempt in
            self.live_attempts().values().filter(|live_attempt| live_attempt.owner_id == owner_id)
        {
            live_attempt.stop_requested.store(true, Ordering::Relaxed);
        }
        self.discard(abandoned_tasks).await;
        Ok(count)
    }

    pub(super) async fn discard(&self, abandoned_tasks: Vec<AbandonedTask>) {
        if let Some(state) = self.state() {
            discard(self.0.kinds, &state.blobs, abandoned_tasks).await;
        }
    }

    /// Whether a task is waiting or running.
    pub(crate) async fn is_unfinished(&self, id: &str) -> Result<bool, ApiError> {
        Ok(store::is_unfinished(&self.0.db, id).await?)
    }

    /// Returns the numbers of waiting and running tasks of all users, by kind and state.
    pub(crate) async fn count_unfinished_by_kind(&self) -> Result<Vec<(String, TaskState, i64)>, ApiError> {
        Ok(store::count_unfinished_by_kind(&self.0.db).await?)
    }
}

/// Removes the files of tasks that ended while they waited. If a file cannot be removed, it becomes
/// an orphan.
async fn discard(kinds: Kinds, blobs: &Blobs, abandoned_tasks: Vec<AbandonedTask>) {
    if abandoned_tasks.is_empty() {
        return;
    }
    let blobs = blobs.clone();
    let discarding = tokio::task::spawn_blocking(move || {
        for AbandonedTask { kind, input } in abandoned_tasks {
            let discard = kinds.find(&kind).and_then(|kind| kind.discard);
            if let Some(Err(error)) = discard.map(|discard| discard(&blobs, input)) {
                tracing::warn!(kind, "cannot remove the files of a task that ended: {error:#}");
            }
        }
    });
    if let Err(error) = discarding.await {
        tracing::error!(%error, "a panic interrupted the removal of files of ended tasks");
    }
}

/// Returns the error of a task whose process ended before the task did.
pub(super) fn interruption_error() -> ApiError {
    ApiError::Unavailable {
        code: "interrupted",
        detail: "The service stopped before the task was done; start the task again.".to_owned(),
    }
}
