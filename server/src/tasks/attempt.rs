//! One attempt at a task: taken up, run, and ended or put back.

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
use super::kind::Kind;
use super::runner::Runner;
use super::service::{Live, Tasks};
use super::store::{self, Taken};
use super::task::{Task, TaskState};
use crate::clock;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// How often an attempt shows that it lives, with its progress, and looks whether it is to be
/// cancelled.
const BEAT_EVERY: Duration = Duration::from_millis(750);

/// How long a task waits at least that was offered and not taken up.
const POSTPONED: Duration = Duration::from_secs(1);

/// What each task of the same owner that waits adds to that, so that many do not keep the threads
/// busy with offers.
const POSTPONED_FOR_EACH: Duration = Duration::from_millis(25);

/// Wait before the end of an attempt is stored again after the database refused it; it doubles up
/// to the longest.
const STORE_AGAIN_AFTER: Duration = Duration::from_millis(250);
const STORE_AGAIN_MAX: Duration = Duration::from_secs(15);

/// After how many refusals for another reason than a busy or full database a result counts as one
/// that cannot be stored.
const REFUSALS_MAX: u32 = 5;

/// How long a worker waits for the end of its attempt to be stored before it turns to the next
/// task.
const WORKER_WAITS: Duration = Duration::from_secs(1);

/// Message of a task while its end cannot be stored.
const WAITING: &str = "Waiting for the database";

/// Longest wait before another attempt.
pub(super) const RETRY_MAX: Duration = Duration::from_secs(3_600);

/// How an attempt ends.
#[derive(Debug)]
enum End {
    /// The task has ended, as this says.
    Finished(Box<Task>),
    /// The task waits for another attempt.
    PutBack {
        /// How long it waits at least.
        delay: Duration,
        /// Whether the attempt counts as failed.
        failed: bool,
    },
}

impl Deliver for Tasks {
    fn deliver(&self, delivery: &Delivery) {
        let Some(state) = self.state() else { return };
        if self.0.stopping.load(Ordering::Relaxed) {
            // Threads end with the process, and the next start says so of what waited.
            if self.has_other_processes() {
                self.0.runtime.block_on(self.offer_again(delivery, POSTPONED));
            }
            return;
        }
        let Some(_running) = self.0.running.begin(&delivery.owner_id, self.0.config.running_per_user) else {
            return self.postpone(delivery);
        };
        let taking = store::take_up(&self.0.db, delivery, self.alive_ms());
        match self.0.runtime.block_on(taking) {
            Ok(Some(taken)) => {
                let input = taken.input.clone();
                Attempt::begin(self, &delivery.owner_id, taken).run(&state, input);
            }
            Ok(None) => self.postpone(delivery),
            Err(error) => {
                tracing::error!(task = delivery.task_id, %error, "cannot take up a task");
                self.0.runtime.block_on(self.offer_again(delivery, POSTPONED));
            }
        }
    }
}

impl Tasks {
    /// Offers a task again that waits still: it is not due, or its owner has enough running here.
    fn postpone(&self, delivery: &Delivery) {
        let delay = match self.0.runtime.block_on(store::wait(&self.0.db, delivery)) {
            Ok(Some(wait)) => {
                let others = u32::try_from(wait.waiting).unwrap_or(u32::MAX);
                let postponed = POSTPONED.saturating_add(POSTPONED_FOR_EACH.saturating_mul(others));
                Duration::from_millis(wait.due_in_ms).max(postponed)
            }
            // It runs or has ended: somebody else answered another offer.
            Ok(None) => return,
            Err(error) => {
                tracing::error!(task = delivery.task_id, %error, "cannot look for a task");
                POSTPONED
            }
        };
        self.0.runtime.block_on(self.offer_again(delivery, delay));
    }

    async fn offer_again(&self, delivery: &Delivery, delay: Duration) {
        if let Err(error) = self.0.runner.offer(self, delivery.clone(), delay).await {
            // Upkeep finds it when it is overdue.
            tracing::error!(task = delivery.task_id, %error, "cannot offer a task again");
        }
    }

    fn has_other_processes(&self) -> bool {
        matches!(self.0.runner, Runner::Queue(_))
    }

    pub(super) fn alive_ms(&self) -> i64 {
        i64::try_from(self.0.config.lost_after_secs.saturating_mul(1_000)).unwrap_or(i64::MAX / 2)
    }
}

/// A task that this process has taken up.
struct Attempt {
    tasks: Tasks,
    context: TaskContext,
}

impl Attempt {
    fn begin(tasks: &Tasks, owner_id: &str, taken: Taken) -> Self {
        let (sender, receiver) = watch::channel(taken.task);
        let id = sender.borrow().id.clone();
        let stop_asked = Arc::new(AtomicBool::new(false));
        let live = Live {
            owner_id: owner_id.to_owned(),
            attempt: taken.attempt,
            stop_asked: Arc::clone(&stop_asked),
            task: receiver,
        };
        tasks.live().insert(id.clone(), live);
        // Who asked all attempts to stop a moment before did not see this one.
        if tasks.0.stopping.load(Ordering::Relaxed) {
            stop_asked.store(true, Ordering::Relaxed);
        }
        let context = TaskContext {
            db: tasks.0.db.clone(),
            runtime: tasks.0.runtime.clone(),
            id,
            owner_id: owner_id.to_owned(),
            attempt: taken.attempt,
            failures: taken.failures,
            attempts_max: tasks.0.config.attempts_max,
            stop_asked,
            sender,
            reported: Mutex::new(Instant::now()),
        };
        Self { tasks: tasks.clone(), context }
    }

    fn run(self, state: &AppState, input: Value) {
        let attempt = Arc::new(self);
        let ended = CancellationToken::new();
        attempt.context.runtime.spawn(beats(Arc::clone(&attempt), ended.clone()));
        let kind = attempt.context.sender.borrow().kind.clone();
        let begun = Instant::now();
        let outcome = match attempt.tasks.0.kinds.find(&kind) {
            Some(known) => catch_unwind(AssertUnwindSafe(|| (known.run)(state, &attempt.context, input)))
                .unwrap_or_else(|panic| {
                    let text = crate::panics::message(&*panic);
                    Err(ApiError::internal(anyhow::anyhow!("a task panicked: {text}")))
                }),
            None => Err(ApiError::internal(anyhow::anyhow!("this version knows no task `{kind}`"))),
        };
        let end = attempt.end(&kind, outcome);
        let storing = attempt.context.runtime.spawn(Arc::clone(&attempt).settle(end, kind, begun, ended));
        // A database that is locked holds up the end of this task, not the next one.
        let waited = async { tokio::time::timeout(WORKER_WAITS, storing).await };
        if let Ok(Err(error)) = attempt.context.runtime.block_on(waited) {
            tracing::error!(task = attempt.context.id, %error, "the end of a task was not stored");
        }
    }

    /// The end of the attempt for this outcome.
    fn end(&self, kind: &str, outcome: ApiResult<JsonText>) -> End {
        let is_stopping = self.tasks.0.stopping.load(Ordering::Relaxed);
        let cancelled = self.context.is_cancelled();
        // Another process goes on with it, or the next start.
        let goes_on =
            self.tasks.has_other_processes() || self.tasks.0.kinds.find(kind).is_some_and(Kind::keeps_files);
        match outcome {
            Err(_) if cancelled && is_stopping && goes_on => {
                End::PutBack { delay: Duration::ZERO, failed: false }
            }
            Err(error) if !cancelled && self.context.is_tried_again_after(&error) => {
                let (task, failures) = (&self.context.id, self.context.failures + 1);
                tracing::warn!(task, failures, "an attempt at a task failed: {error:#}");
                End::PutBack { delay: self.retry_after(), failed: true }
            }
            outcome => End::Finished(Box::new(self.finished(outcome, cancelled))),
        }
    }

    /// Stores how the attempt ended, again and again until the database takes it, and gives up the
    /// task.
    async fn settle(self: Arc<Self>, mut end: End, kind: String, begun: Instant, beating: CancellationToken) {
        let (mut wait, mut refusals) = (STORE_AGAIN_AFTER, 0);
        while let Err(error) = self.store(&end).await {
            tracing::error!(task = self.context.id, %error, "cannot store the end of an attempt; trying again");
            if self.tasks.0.db.is_closed() {
                // The process ends. The next start, or another process, finds that the attempt is
                // gone.
                break;
            }
            if let ApiError::Internal(cause) = ApiError::from(error) {
                refusals += 1;
                if let End::Finished(task) = &mut end
                    && refusals >= REFUSALS_MAX
                    && task.result.take().is_some()
                {
                    task.state = TaskState::Failed;
                    task.error = Some(json!(ApiError::Internal(cause).problem()));
                }
            }
            self.context.sender.send_modify(|task| WAITING.clone_into(&mut task.message));
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2).min(STORE_AGAIN_MAX);
        }
        beating.cancel();
        let ended_as = self.context.sender.borrow().state;
        if let Some(state) = self.tasks.state().filter(|_| ended_as.is_final()) {
            state.metrics.task_ended(&kind, ended_as.as_str(), begun.elapsed());
        }
        self.tasks.let_go(&self.context.id, self.context.attempt);
    }

    /// Stores the end once. An attempt that has lost its task changes nothing.
    async fn store(&self, end: &End) -> Result<(), sqlx::Error> {
        let db = &self.tasks.0.db;
        match end {
            End::Finished(task) => {
                if store::finish(db, task, self.context.attempt).await? {
                    self.context.sender.send_replace(Task::clone(task));
                } else {
                    tracing::warn!(task = task.id, "an attempt had lost its task; its result is not used");
                }
            }
            End::PutBack { delay, failed } => {
                let due_ms = clock::now_unix_ms() + i64::try_from(delay.as_millis()).unwrap_or(i64::MAX / 2);
                let let_go = store::put_back(
                    db,
                    &self.tasks.0.with_files,
                    &self.context.id,
                    self.context.attempt,
                    due_ms,
                    *failed,
                )
                .await?;
                self.tasks.discard(let_go.abandoned).await;
                if let_go.waits {
                    let delivery = Delivery {
                        task_id: self.context.id.clone(),
                        owner_id: self.context.owner_id.clone(),
                    };
                    self.tasks.offer_again(&delivery, *delay).await;
                }
            }
        }
        Ok(())
    }

    /// The wait before the next attempt: it doubles with each failure.
    fn retry_after(&self) -> Duration {
        let doublings = u32::try_from(self.context.failures).unwrap_or(u32::MAX).min(12);
        let first = Duration::from_secs(self.tasks.0.config.retry_secs);
        first.saturating_mul(1 << doublings).min(RETRY_MAX)
    }

    /// The task as it is after its last attempt.
    fn finished(&self, outcome: ApiResult<JsonText>, cancelled: bool) -> Task {
        let mut task = self.context.sender.borrow().clone();
        task.finished_at = Some(clock::now_text());
        task.message.clear();
        match outcome {
            Ok(result) => {
                task.state = TaskState::Succeeded;
                task.progress = 1.0;
                task.result = Some(result);
            }
            Err(_) if cancelled => task.state = TaskState::Cancelled,
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

/// Shows that an attempt lives until it has ended, and hears what the database says about it.
async fn beats(attempt: Arc<Attempt>, ended: CancellationToken) {
    let (tasks, context) = (&attempt.tasks, &attempt.context);
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            () = tokio::time::sleep(BEAT_EVERY) => {}
        }
        let task = context.sender.borrow().clone();
        match store::beat(&tasks.0.db, &task, context.attempt, tasks.alive_ms()).await {
            Ok(Some(false)) => {}
            // It was cancelled, or somebody else has it now.
            Ok(Some(true) | None) => context.stop_asked.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(task = context.id, %error, "cannot show that a task lives"),
        }
    }
}
