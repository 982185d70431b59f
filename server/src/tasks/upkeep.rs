//! Requeues lost tasks, offers overdue tasks again, and removes old tasks.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::attempt::RETRY_BACKOFF_MAX;
use super::delivery::Delivery;
use super::runner::Runner;
use super::service::{Tasks, interruption_error};
use super::store;
use crate::clock;
use crate::error::ApiError;

/// Interval between checks for lost and overdue tasks.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Time after which a due task is offered again, in milliseconds. Additional offers have no effect.
const OVERDUE_MS: i64 = 60_000;

/// Number of checks between two removals of old tasks.
const CHECKS_BETWEEN_TIDYING: u32 = 60;

/// Number of seconds in a day.
const SECS_PER_DAY: i64 = 86_400;

impl Tasks {
    /// Runs the upkeep until `stop` is cancelled. With `is_worker`, also runs the workers of the
    /// queue.
    pub(crate) async fn serve(self, is_worker: bool, stop: CancellationToken) {
        let upkeep = self.clone().run_upkeep(stop.clone());
        match &self.0.runner {
            Runner::Queue(queue) if is_worker => {
                tokio::join!(queue.work(&self, self.0.config.thread_count(), &stop), upkeep);
            }
            Runner::Queue(_) | Runner::Threads(_) => upkeep.await,
        }
    }

    /// Closes the queue's connections to the database.
    pub(crate) async fn close(&self) {
        if let Runner::Queue(queue) = &self.0.runner {
            queue.close().await;
        }
    }

    async fn run_upkeep(self, stop: CancellationToken) {
        let mut checks = 0_u32;
        loop {
            if checks.is_multiple_of(CHECKS_BETWEEN_TIDYING)
                && let Err(error) = self.tidy().await
            {
                tracing::warn!(%error, "cannot remove old tasks");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
            }
            if let Err(error) = self.check().await {
                tracing::warn!(%error, "cannot check for lost and overdue tasks");
            }
            checks = checks.wrapping_add(1);
        }
    }

    /// Removes tasks that finished more than `SF_TASKS_KEPT_DAYS` ago, and old offers of the queue.
    async fn tidy(&self) -> Result<(), sqlx::Error> {
        let oldest_kept = clock::text_in(self.0.config.kept_days.saturating_mul(-SECS_PER_DAY));
        let removed_tasks = store::remove_finished_before(&self.0.db, &oldest_kept).await?;
        if removed_tasks > 0 {
            tracing::info!(removed = removed_tasks, "removed old finished tasks (SF_TASKS_KEPT_DAYS)");
        }
        match &self.0.runner {
            Runner::Queue(queue) => queue.tidy().await,
            Runner::Threads(_) => Ok(()),
        }
    }

    /// Requeues the tasks of lost attempts, and offers overdue tasks again.
    async fn check(&self) -> Result<(), ApiError> {
        let wait_ms = i64::try_from(RETRY_BACKOFF_MAX.as_millis()).unwrap_or(i64::MAX);
        let mut waiting_deliveries = store::adapt_to_clock(&self.0.db, self.lease_ms(), wait_ms).await?;
        waiting_deliveries.extend(self.requeue_lost().await?);
        waiting_deliveries.extend(store::reset_and_list_overdue(&self.0.db, OVERDUE_MS).await?);
        for delivery in waiting_deliveries {
            self.0.runner.offer(self, delivery, Duration::ZERO).await?;
        }
        Ok(())
    }

    /// Ends or requeues the tasks of lost attempts. Returns those that were requeued.
    pub(super) async fn requeue_lost(&self) -> Result<Vec<Delivery>, ApiError> {
        let (db, mut waiting_deliveries) = (&self.0.db, Vec::new());
        let error = json!(interruption_error().problem()).to_string();
        for lost_attempt in store::read_lost_attempts(db).await? {
            let (id, attempt) = (&lost_attempt.delivery.task_id, lost_attempt.attempt);
            if self.is_live(id, attempt) {
                // The database refused the attempt's heartbeats, but the attempt still runs in this
                // process. It will store its own end.
                continue;
            }
            if lost_attempt.failures + 1 >= self.0.config.attempts_max && !lost_attempt.is_cancel_requested {
                if let Some(abandoned_tasks) =
                    store::fail_lost(db, &self.0.kinds_with_files, id, attempt, &error).await?
                {
                    tracing::error!(
                        task = id,
                        "a task has failed, because its process ended in the last attempt (SF_TASK_ATTEMPTS)"
                    );
                    self.discard(abandoned_tasks).await;
                }
                continue;
            }
            let release_outcome = store::requeue_lost(db, &self.0.kinds_with_files, id, attempt).await?;
            self.discard(release_outcome.abandoned_tasks).await;
            if release_outcome.is_waiting {
                tracing::warn!(
                    task = id,
                    "the process of a task died or stalled; the task waits for its next attempt"
                );
                waiting_deliveries.push(lost_attempt.delivery);
            }
        }
        Ok(waiting_deliveries)
    }
}
