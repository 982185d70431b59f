//! What keeps the list of tasks right while processes come and go.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::attempt::RETRY_MAX;
use super::delivery::Delivery;
use super::runner::Runner;
use super::service::{Tasks, interrupted};
use super::store;
use crate::clock;
use crate::error::ApiError;

/// How often it is looked for tasks without a sign of life.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// After how long a task that waits is offered again, in milliseconds. Too many offers harm nobody.
const OVERDUE_MS: i64 = 60_000;

/// How many looks there are between two removals of what is too old.
const LOOKS_BETWEEN_TIDYING: u32 = 600;

/// Seconds of a day.
const SECS_PER_DAY: i64 = 86_400;

impl Tasks {
    /// Looks after the tasks until `stop`, and works on the queue if there is one and `working`.
    pub(crate) async fn keep(self, working: bool, stop: CancellationToken) {
        let upkeep = self.clone().look_after(stop.clone());
        match &self.0.runner {
            Runner::Queue(queue) if working => {
                tokio::join!(queue.work(&self, self.0.config.workers, &stop), upkeep);
            }
            Runner::Queue(_) | Runner::Threads(_) => upkeep.await,
        }
    }

    /// Lets go of the queue's database.
    pub(crate) async fn close(&self) {
        if let Runner::Queue(queue) = &self.0.runner {
            queue.close().await;
        }
    }

    async fn look_after(self, stop: CancellationToken) {
        let mut looks = 0_u32;
        loop {
            if looks.is_multiple_of(LOOKS_BETWEEN_TIDYING)
                && let Err(error) = self.tidy().await
            {
                tracing::warn!(%error, "cannot remove old tasks");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "cannot look after the tasks");
            }
            looks = looks.wrapping_add(1);
        }
    }

    /// Removes finished tasks that were kept for long enough, and old offers of the queue.
    async fn tidy(&self) -> Result<(), sqlx::Error> {
        let oldest = clock::text_in(self.0.config.kept_days.saturating_mul(-SECS_PER_DAY));
        let removed = store::remove_finished_before(&self.0.db, &oldest).await?;
        if removed > 0 {
            tracing::info!(removed, "finished tasks were removed (SF_TASKS_KEPT_DAYS)");
        }
        match &self.0.runner {
            Runner::Queue(queue) => queue.tidy().await,
            Runner::Threads(_) => Ok(()),
        }
    }

    /// Takes tasks from attempts that are gone, and offers again what nobody took up.
    async fn look(&self) -> Result<(), ApiError> {
        let wait_ms = i64::try_from(RETRY_MAX.as_millis()).unwrap_or(i64::MAX);
        let mut waiting = store::follow_clock(&self.0.db, self.alive_ms(), wait_ms).await?;
        waiting.extend(self.take_back().await?);
        waiting.extend(store::overdue(&self.0.db, OVERDUE_MS).await?);
        for delivery in waiting {
            self.0.runner.offer(self, delivery, Duration::ZERO).await?;
        }
        Ok(())
    }

    /// Takes tasks from attempts that are gone, and says which of them wait for another.
    pub(super) async fn take_back(&self) -> Result<Vec<Delivery>, ApiError> {
        let (db, mut waiting) = (&self.0.db, Vec::new());
        let error = json!(interrupted().problem()).to_string();
        for lost in store::lost(db).await? {
            let (id, attempt) = (&lost.delivery.task_id, lost.attempt);
            if self.is_live(id, attempt) {
                // The database did not take its beats. The attempt itself stores how it ends.
                continue;
            }
            if lost.failures + 1 >= self.0.config.attempts_max && !lost.cancel_requested {
                if let Some(abandoned) = store::fail_lost(db, &self.0.with_files, id, attempt, &error).await?
                {
                    tracing::error!(task = id, "a task has failed: its process was gone each time");
                    self.discard(abandoned).await;
                }
                continue;
            }
            let let_go = store::put_back_lost(db, &self.0.with_files, id, attempt).await?;
            self.discard(let_go.abandoned).await;
            if let_go.waits {
                tracing::warn!(task = id, "a task whose attempt is gone waits for another");
                waiting.push(lost.delivery);
            }
        }
        Ok(waiting)
    }
}
