//! Background tasks: started by any slice, followed and cancelled through `/tasks`.
//!
//! A slice starts one with [`Tasks::start`] and gives it a closure that runs on a worker thread.
//! The closure reports through its [`TaskContext`] and returns the task's `result`, or the error
//! that a request would have been answered with.

mod events;
mod store;
mod verbs;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::clock;
use crate::db::Db;
use crate::error::ApiError;
use crate::jobs::Jobs;
use crate::paging::Position;
use crate::state::AppState;

/// Tasks that may wait or run at one time; more are refused with 503.
const LIVE_MAX: usize = 256;

/// How often progress goes to listeners, and how often to the database.
const REPORT_EVERY: Duration = Duration::from_millis(50);
const STORE_EVERY: Duration = Duration::from_millis(500);

/// The routes of this slice, relative to `/api/v1`.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(verbs::list))
        .routes(routes!(verbs::read, verbs::cancel))
        .routes(routes!(events::events))
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Waits for a thread.
    Queued,
    /// Is being worked on.
    Running,
    /// Done; `result` holds the outcome.
    Succeeded,
    /// Went wrong; `error` says how.
    Failed,
    /// Stopped on request.
    Cancelled,
}

impl TaskState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn from_stored(text: &str) -> Self {
        match text {
            "queued" => Self::Queued,
            "running" => Self::Running,
            "succeeded" => Self::Succeeded,
            "cancelled" => Self::Cancelled,
            _ => Self::Failed,
        }
    }

    /// Whether nothing will change any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A task as the API shows it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Task {
    /// Id, a UUID.
    pub id: String,
    /// What kind of work it is, such as `render`.
    pub kind: String,
    /// Where it stands.
    pub state: TaskState,
    /// Share that is done, 0 to 1.
    pub progress: f64,
    /// What it is doing, for a person; may be empty.
    pub message: String,
    /// When it was started, RFC 3339.
    pub created_at: String,
    /// When a thread took it up, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub finished_at: Option<String>,
    /// What came out of it: what the same request would have answered directly.
    pub result: Option<Value>,
    /// The problem (`type`, `title`, `status`, `detail`, `code`) that made it fail.
    pub error: Option<Value>,
}

/// A task that was started in place of a direct answer.
#[derive(Debug, Serialize, ToSchema)]
pub struct StartedTask {
    /// Its id; see `/tasks/{id}`.
    pub task_id: String,
}

#[derive(Debug)]
struct Live {
    owner_id: String,
    cancelled: Arc<AtomicBool>,
    task: watch::Sender<Task>,
}

#[derive(Debug)]
struct Inner {
    db: Db,
    jobs: Jobs,
    runtime: Handle,
    live: Mutex<HashMap<String, Live>>,
}

/// Starts tasks and knows the running ones.
#[derive(Debug, Clone)]
pub struct Tasks(Arc<Inner>);

impl Tasks {
    /// Opens the task list: what an earlier run left unfinished is marked failed, and the threads start.
    ///
    /// # Errors
    /// When the database or the system refuses.
    pub async fn open(db: Db, workers: usize) -> anyhow::Result<Self> {
        let interrupted = ApiError::Unavailable {
            code: "interrupted",
            detail: "The service stopped before the task was done; start it again.".to_owned(),
        };
        let count = store::fail_leftovers(&db, &json!(interrupted.problem()).to_string()).await?;
        if count > 0 {
            tracing::warn!(count, "tasks that an earlier run left unfinished are marked failed");
        }
        let live = Mutex::new(HashMap::new());
        Ok(Self(Arc::new(Inner { db, jobs: Jobs::start(workers)?, runtime: Handle::current(), live })))
    }

    /// Starts a task and says its id. `work` runs on a worker thread and may block.
    ///
    /// # Errors
    /// 503 when too many tasks wait; 5xx when the database refuses.
    pub async fn start(
        &self,
        owner_id: &str,
        kind: &str,
        work: impl FnOnce(&TaskContext) -> Result<Value, ApiError> + Send + 'static,
    ) -> Result<String, ApiError> {
        if self.live().len() >= LIVE_MAX {
            return Err(ApiError::Unavailable {
                code: "too_many_tasks",
                detail: format!("{LIVE_MAX} tasks are waiting or running already; try again later."),
            });
        }
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
        store::insert(&self.0.db, owner_id, &task).await?;
        let id = task.id.clone();
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, _) = watch::channel(task);
        let context = TaskContext {
            tasks: self.clone(),
            id: id.clone(),
            cancelled: Arc::clone(&cancelled),
            sender: sender.clone(),
            reported: Mutex::new((Instant::now(), Instant::now())),
        };
        self.live().insert(id.clone(), Live { owner_id: owner_id.to_owned(), cancelled, task: sender });
        self.0.jobs.push(move || context.run(work));
        Ok(id)
    }

    /// Asks every task to stop; for the end of the service.
    pub fn cancel_all(&self) {
        for live in self.live().values() {
            live.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Waits until no task is left, or until `limit` has passed. Says whether none is left.
    pub async fn drained(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while !self.live().is_empty() {
            if begun.elapsed() > limit {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }

    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, owner_id: &str, id: &str) -> Option<watch::Receiver<Task>> {
        self.live().get(id).filter(|live| live.owner_id == owner_id).map(|live| live.task.subscribe())
    }

    async fn find(&self, owner_id: &str, id: &str) -> Result<Task, ApiError> {
        if let Some(task) = self.follow(owner_id, id).map(|receiver| receiver.borrow().clone()) {
            return Ok(task);
        }
        store::by_id(&self.0.db, owner_id, id).await?.ok_or_else(|| ApiError::not_found("task", id))
    }

    /// Tasks of all users with their owners' ids, the newest first; for administrators.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn page_of_all(
        &self,
        state: Option<TaskState>,
        after: Option<&Position>,
        count: u32,
    ) -> Result<Vec<(String, Task)>, ApiError> {
        let state = state.map(TaskState::as_str).unwrap_or_default();
        let mut tasks = store::page_of_all(&self.0.db, state, after, count).await?;
        for (owner_id, task) in &mut tasks {
            if let Some(live) = self.follow(owner_id, &task.id) {
                *task = live.borrow().clone();
            }
        }
        Ok(tasks)
    }

    /// Cancels a task, whoever started it; for administrators. Answers its owner's id and the task as it is now.
    ///
    /// # Errors
    /// 404 without such a task.
    pub async fn cancel_of_anybody(&self, id: &str) -> Result<(String, Task), ApiError> {
        let owner = store::owner(&self.0.db, id).await?.ok_or_else(|| ApiError::not_found("task", id))?;
        let task = self.cancel(&owner, id).await?;
        Ok((owner, task))
    }

    async fn cancel(&self, owner_id: &str, id: &str) -> Result<Task, ApiError> {
        {
            let live = self.live();
            if let Some(live) = live.get(id).filter(|live| live.owner_id == owner_id) {
                live.cancelled.store(true, Ordering::Relaxed);
            }
        }
        self.find(owner_id, id).await
    }
}

/// What a task's work sees of its task.
#[derive(Debug)]
pub struct TaskContext {
    tasks: Tasks,
    id: String,
    cancelled: Arc<AtomicBool>,
    sender: watch::Sender<Task>,
    /// When progress last went to listeners, and to the database.
    reported: Mutex<(Instant, Instant)>,
}

impl TaskContext {
    /// Id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the work should stop as soon as it can, with any error.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Says how much is done (0 to 1) and what is being done. Cheap: most calls change nothing outside.
    pub fn progress(&self, share: f64, message: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(reported.0) < REPORT_EVERY {
            return;
        }
        reported.0 = now;
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.sender.send_modify(|task| {
            task.progress = share;
            message.clone_into(&mut task.message);
        });
        if now.duration_since(reported.1) >= STORE_EVERY {
            reported.1 = now;
            self.store();
        }
    }

    fn run(self, work: impl FnOnce(&Self) -> Result<Value, ApiError>) {
        if self.is_cancelled() {
            self.finish(Err(cancelled()));
            return;
        }
        self.sender.send_modify(|task| {
            task.state = TaskState::Running;
            task.started_at = Some(clock::now_text());
        });
        self.store();
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&self))).unwrap_or_else(|panic| {
            let text = crate::panics::message(&*panic);
            Err(ApiError::internal(anyhow::anyhow!("a task panicked: {text}")))
        });
        self.finish(outcome);
    }

    fn finish(&self, outcome: Result<Value, ApiError>) {
        let stopped = self.is_cancelled();
        self.sender.send_modify(|task| {
            task.finished_at = Some(clock::now_text());
            task.message.clear();
            match outcome {
                Ok(result) => {
                    task.state = TaskState::Succeeded;
                    task.progress = 1.0;
                    task.result = Some(result);
                }
                Err(_) if stopped => task.state = TaskState::Cancelled,
                Err(error) => {
                    if let ApiError::Internal(cause) = &error {
                        tracing::error!(task = task.id, kind = task.kind, "a task failed: {cause:#}");
                    }
                    task.state = TaskState::Failed;
                    task.error = Some(json!(error.problem()));
                }
            }
        });
        self.store();
        self.tasks.live().remove(&self.id);
    }

    /// Writes the task's present state. A failure is logged: the work itself must not suffer from it.
    fn store(&self) {
        let task = self.sender.borrow().clone();
        if let Err(error) = self.tasks.0.runtime.block_on(store::update(&self.tasks.0.db, &task)) {
            tracing::error!(task = task.id, %error, "cannot store a task's state");
        }
    }
}

fn cancelled() -> ApiError {
    ApiError::Conflict { code: "cancelled", detail: "The task was cancelled.".to_owned() }
}

#[cfg(test)]
mod tests;
