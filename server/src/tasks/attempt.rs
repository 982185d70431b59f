//! An attempt at a task. It claims the task, runs it, and finishes or requeues it.
//!
//! An *offer* tells the worker threads that a task is waiting. A *delivery* is the message that
//! carries an offer (see `delivery.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use schemas::json::JsonText;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::context::TaskContext;
use super::delivery::{Deliver, Delivery};
use super::kind::TaskKind;
use super::runner::Runner;
use super::service::{LiveAttempt, Tasks};
use super::store::{self, ClaimedTask};
use super::task::{Task, TaskState};
use crate::clock;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::storage::ensure_room;

/// Number of times that an offer is postponed because the disk of the process that received it is
/// full. After that the next process runs the task even if its own disk is full. The task then ends
/// with an error instead of waiting endlessly.
const FULL_DISKS_MAX: u32 = 30;

/// Interval of heartbeats. Each heartbeat stores the progress and reads whether the task was
/// cancelled.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(750);

/// Minimum delay until a postponed task is offered again.
const POSTPONE_MIN: Duration = Duration::from_secs(1);

/// Additional delay for each waiting task of the same owner before the queue gives the task to a
/// worker again. Without it, many postponed tasks would keep the workers busy.
const POSTPONE_PER_WAITING_TASK: Duration = Duration::from_millis(25);

/// Minimum and maximum backoff before the end of an attempt is stored again. The backoff doubles
/// each time.
const STORE_BACKOFF_MIN: Duration = Duration::from_millis(250);
const STORE_BACKOFF_MAX: Duration = Duration::from_secs(15);

/// Number of internal database errors after which the service gives up storing a result and the
/// task fails. Errors of a busy or full database do not count.
const STORE_ERRORS_MAX: u32 = 5;

/// Maximum time that a worker waits until the end of its attempt is stored. After that it takes the
/// next task.
const WORKER_WAIT_MAX: Duration = Duration::from_secs(1);

/// Progress message of a task whose end cannot be stored yet.
const WAITING_MESSAGE: &str = "Waiting for the database";

/// Maximum backoff before another attempt.
pub(super) const RETRY_BACKOFF_MAX: Duration = Duration::from_secs(3_600);

/// Maximum backoff after an attempt that ended with [`ApiError::Busy`].
const BUSY_BACKOFF_MAX: Duration = Duration::from_secs(60);

/// Outcome of an attempt for its task.
#[derive(Debug)]
enum End {
    /// The task has ended. The new state is in the task.
    Finished(Box<Task>),
    /// The task waits for another attempt.
    Requeued {
        /// Minimum wait before the next attempt.
        delay: Duration,
        /// Whether the attempt counts as a failure.
        is_failure: bool,
    },
}

impl Deliver for Tasks {
    fn deliver(&self, delivery: &Delivery) {
        let Some(state) = self.state() else { return };
        if self.0.is_stopping.load(Ordering::Relaxed) {
            // If no other process shares the tasks, the next start of the service ends the waiting
            // tasks instead.
            if self.has_other_processes() {
                self.0.runtime.block_on(self.reoffer(delivery, POSTPONE_MIN));
            }
            return;
        }
        if self.leaves_to_others(&state, delivery) {
            let later_delivery = Delivery { full_disks: delivery.full_disks + 1, ..delivery.clone() };
            return self.0.runtime.block_on(self.reoffer(&later_delivery, POSTPONE_MIN));
        }
        let config = &self.0.config;
        let Some(_running) =
            self.0.running_by_owner.begin(&delivery.owner_id, config.running_per_user, config.workers)
        else {
            return self.postpone(delivery);
        };
        let claiming = store::claim(&self.0.db, delivery, self.lease_ms());
        match self.0.runtime.block_on(claiming) {
            Ok(Some(claimed_task)) => {
                let input = claimed_task.input.clone();
                Attempt::begin(self, &delivery.owner_id, claimed_task).run(&state, input);
            }
            Ok(None) => self.postpone(delivery),
            Err(error) => {
                tracing::error!(task = delivery.task_id, %error, "cannot claim a task");
                self.0.runtime.block_on(self.reoffer(delivery, POSTPONE_MIN));
            }
        }
    }
}

impl Tasks {
    /// Offers a waiting task again later. It is not due yet, or this process already runs the
    /// maximum number of tasks, of its owner or in total.
    fn postpone(&self, delivery: &Delivery) {
        let delay = match self.0.runtime.block_on(store::read_remaining_wait(&self.0.db, delivery)) {
            Ok(Some(wait)) => {
                let waiting_count = u32::try_from(wait.waiting_count).unwrap_or(u32::MAX);
                let postpone_duration =
                    POSTPONE_MIN.saturating_add(POSTPONE_PER_WAITING_TASK.saturating_mul(waiting_count));
                Duration::from_millis(wait.due_in_ms).max(postpone_duration)
            }
            // The task is already running or has ended, after another offer.
            Ok(None) => return,
            Err(error) => {
                tracing::error!(task = delivery.task_id, %error, "cannot read how long a task still has to wait");
                POSTPONE_MIN
            }
        };
        self.0.runtime.block_on(self.reoffer(delivery, delay));
    }

    /// Offers a waiting task again after `delay`, unless `delivery` is a copy of another offer.
    async fn reoffer(&self, delivery: &Delivery, delay: Duration) {
        let offer = match store::take_next_offer(&self.0.db, delivery).await {
            Ok(Some(offer)) => offer,
            Ok(None) => return,
            Err(error) => {
                tracing::error!(task = delivery.task_id, %error, "cannot number the next offer of a task");
                delivery.offer
            }
        };
        let delivery = Delivery { offer, ..delivery.clone() };
        if let Err(error) = self.0.runner.offer(self, delivery.clone(), delay).await {
            // Upkeep offers the task again when it is overdue.
            tracing::error!(task = delivery.task_id, %error, "cannot requeue a task");
        }
    }

    /// Whether this process leaves a task to other processes because its own disk is full.
    fn leaves_to_others(&self, state: &AppState, delivery: &Delivery) -> bool {
        if !self.has_other_processes() || delivery.full_disks >= FULL_DISKS_MAX {
            return false;
        }
        let is_full = ensure_room(state, &self.0.runtime, state.blobs.root(), 0).is_err();
        if is_full {
            tracing::warn!(
                task = delivery.task_id,
                folder = %state.blobs.root().display(),
                "the disk of the folder is full, so the task is left to other processes"
            );
        }
        is_full
    }

    fn has_other_processes(&self) -> bool {
        matches!(self.0.runner, Runner::Queue(_))
    }

    pub(super) fn lease_ms(&self) -> i64 {
        i64::try_from(self.0.config.lost_after_secs.saturating_mul(1_000)).unwrap_or(i64::MAX / 2)
    }
}

/// A task that this process has claimed.
struct Attempt {
    tasks: Tasks,
    context: TaskContext,
}

impl Attempt {
    fn begin(tasks: &Tasks, owner_id: &str, claimed_task: ClaimedTask) -> Self {
        let (sender, receiver) = watch::channel(claimed_task.task);
        let id = sender.borrow().id.clone();
        let stop_requested = Arc::new(AtomicBool::new(false));
        let live_attempt = LiveAttempt {
            owner_id: owner_id.to_owned(),
            attempt: claimed_task.attempt,
            stop_requested: Arc::clone(&stop_requested),
            task: receiver,
        };
        tasks.live_attempts().insert(id.clone(), live_attempt);
        // `stop_all` may have run before this attempt was in the list.
        if tasks.0.is_stopping.load(Ordering::Relaxed) {
            stop_requested.store(true, Ordering::Relaxed);
        }
        let context = TaskContext {
            db: tasks.0.db.clone(),
            runtime: tasks.0.runtime.clone(),
            id,
            owner_id: owner_id.to_owned(),
            attempt: claimed_task.attempt,
            failures: claimed_task.failures,
            offer: claimed_task.offer,
            attempts_max: tasks.0.config.attempts_max,
            has_other_processes: tasks.has_other_processes(),
            stop_requested,
            sender,
            reported_at: Mutex::new(Instant::now()),
        };
        Self { tasks: tasks.clone(), context }
    }

    fn run(self, state: &AppState, input: Value) {
        let attempt = Arc::new(self);
        let heartbeats_stop = CancellationToken::new();
        attempt.context.runtime.spawn(send_heartbeats(Arc::clone(&attempt), heartbeats_stop.clone()));
        let kind = attempt.context.sender.borrow().kind.clone();
        let started_at = Instant::now();
        let outcome = match attempt.tasks.0.kinds.find(&kind) {
            Some(task_kind) => {
                catch_unwind(AssertUnwindSafe(|| (task_kind.run)(state, &attempt.context, input)))
                    .unwrap_or_else(|panic| {
                        let text = crate::panics::message(&*panic);
                        Err(ApiError::internal(anyhow::anyhow!("a task panicked: {text}")))
                    })
            }
            None => Err(ApiError::internal(anyhow::anyhow!("this version has no kind of task `{kind}`"))),
        };
        let end = attempt.end(&kind, outcome);
        let storing = attempt.context.runtime.spawn(Arc::clone(&attempt).settle(
            end,
            kind,
            started_at,
            heartbeats_stop,
        ));
        // A locked database must not delay the next task for long.
        let wait_for_store = async { tokio::time::timeout(WORKER_WAIT_MAX, storing).await };
        if let Ok(Err(error)) = attempt.context.runtime.block_on(wait_for_store) {
            tracing::error!(task = attempt.context.id, %error, "cannot store the outcome of a task");
        }
    }

    /// Decides how the attempt ends after this outcome.
    fn end(&self, kind: &str, outcome: ApiResult<JsonText>) -> End {
        let is_stopping = self.tasks.0.is_stopping.load(Ordering::Relaxed);
        let is_cancelled = self.context.is_cancelled();
        // The task can be resumed in another process, or after the next start of this one.
        let can_resume = self.tasks.has_other_processes()
            || self.tasks.0.kinds.find(kind).is_some_and(TaskKind::keeps_files);
        match outcome {
            Err(_) if is_cancelled && is_stopping && can_resume => {
                End::Requeued { delay: Duration::ZERO, is_failure: false }
            }
            Err(error) if !is_cancelled && self.context.will_retry_after(&error) => {
                let (task, failures) = (&self.context.id, self.context.failures + 1);
                tracing::warn!(task, failures, "an attempt at a task failed: {error:#}");
                End::Requeued { delay: self.retry_backoff(&error), is_failure: true }
            }
            outcome => End::Finished(Box::new(self.finished_task(outcome, is_cancelled))),
        }
    }

    /// Stores the end of the attempt, and tries again until that succeeds. Then removes the attempt
    /// from the list of running ones.
    async fn settle(
        self: Arc<Self>,
        mut end: End,
        kind: String,
        started_at: Instant,
        heartbeats: CancellationToken,
    ) {
        let (mut backoff, mut store_errors) = (STORE_BACKOFF_MIN, 0);
        while let Err(error) = self.store(&end).await {
            tracing::error!(task = self.context.id, %error, "cannot store the end of an attempt; the service tries again");
            if self.tasks.0.db.is_closed() {
                // The process ends. Its next start, or another process, will treat this attempt as
                // lost.
                break;
            }
            if let ApiError::Internal(cause) = ApiError::from(error) {
                store_errors += 1;
                if let End::Finished(task) = &mut end
                    && store_errors >= STORE_ERRORS_MAX
                    && task.result.take().is_some()
                {
                    task.state = TaskState::Failed;
                    task.error = Some(json!(ApiError::Internal(cause).problem()));
                }
            }
            self.context.sender.send_modify(|task| WAITING_MESSAGE.clone_into(&mut task.message));
            tokio::time::sleep(backoff).await;
            backoff = backoff.saturating_mul(2).min(STORE_BACKOFF_MAX);
        }
        heartbeats.cancel();
        let final_state = self.context.sender.borrow().state;
        if let Some(state) = self.tasks.state().filter(|_| final_state.is_final()) {
            state.metrics.record_task_end(&kind, final_state.as_str(), started_at.elapsed());
        }
        self.tasks.remove_live(&self.context.id, self.context.attempt);
    }

    /// Tries once to store the end. If the attempt has lost its task, nothing changes.
    async fn store(&self, end: &End) -> Result<(), sqlx::Error> {
        let db = &self.tasks.0.db;
        match end {
            End::Finished(task) => {
                if store::finish(db, task, self.context.attempt).await? {
                    self.context.sender.send_replace(Task::clone(task));
                } else {
                    tracing::warn!(
                        task = task.id,
                        "another attempt has taken over this task; the result of this attempt is discarded"
                    );
                }
            }
            End::Requeued { delay, is_failure } => {
                let due_ms = clock::now_unix_ms() + i64::try_from(delay.as_millis()).unwrap_or(i64::MAX / 2);
                let release_outcome = store::requeue(
                    db,
                    &self.tasks.0.kinds_with_files,
                    &self.context.id,
                    self.context.attempt,
                    due_ms,
                    *is_failure,
                )
                .await?;
                self.tasks.discard(release_outcome.abandoned_tasks).await;
                if release_outcome.is_waiting {
                    let delivery = Delivery::new(self.context.id.clone(), self.context.owner_id.clone());
                    let delivery = Delivery { offer: self.context.offer, ..delivery };
                    self.tasks.reoffer(&delivery, *delay).await;
                }
            }
        }
        Ok(())
    }

    /// Returns the backoff before the next attempt. It doubles with each failure.
    fn retry_backoff(&self, error: &ApiError) -> Duration {
        let doublings = u32::try_from(self.context.failures).unwrap_or(u32::MAX).min(12);
        let first_delay = Duration::from_secs(self.tasks.0.config.retry_secs);
        let max = if matches!(error, ApiError::Busy { .. }) { BUSY_BACKOFF_MAX } else { RETRY_BACKOFF_MAX };
        first_delay.saturating_mul(1 << doublings).min(max)
    }

    /// Returns the task as it is after its last attempt.
    fn finished_task(&self, outcome: ApiResult<JsonText>, is_cancelled: bool) -> Task {
        let mut task = self.context.sender.borrow().clone();
        task.finished_at = Some(clock::now_text());
        task.message.clear();
        match outcome {
            Ok(result) => {
                task.state = TaskState::Succeeded;
                task.progress = 1.0;
                task.result = Some(result);
            }
            Err(_) if is_cancelled => task.state = TaskState::Cancelled,
            Err(error) => {
                if let ApiError::Internal(cause) = &error {
                    tracing::error!(task = task.id, kind = task.kind, "a task failed: {cause:#}");
                }
                task.state = TaskState::Failed;
                task.error = Some(json!(error.problem()));
            }
        }
        task
    }
}

/// Sends heartbeats until the attempt has ended. Requests the work to stop if the task was
/// cancelled.
async fn send_heartbeats(attempt: Arc<Attempt>, heartbeats_stop: CancellationToken) {
    let (tasks, context) = (&attempt.tasks, &attempt.context);
    loop {
        tokio::select! {
            () = heartbeats_stop.cancelled() => return,
            () = tokio::time::sleep(HEARTBEAT_INTERVAL) => {}
        }
        let task = context.sender.borrow().clone();
        match store::record_heartbeat(&tasks.0.db, &task, context.attempt, tasks.lease_ms()).await {
            Ok(Some(false)) => {}
            // The task was cancelled, or another attempt has claimed it.
            Ok(Some(true) | None) => context.stop_requested.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(task = context.id, %error, "cannot store the heartbeat of a task"),
        }
    }
}
