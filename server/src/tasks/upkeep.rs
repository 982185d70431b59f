//! What keeps the list of tasks right while processes come and go.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::service::interrupted;
use super::{Tasks, store};
use crate::error::ApiError;
use crate::jobs::Runner;

/// How often it is looked for tasks without a sign of life.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// After how long a task that waits is offered again, in milliseconds. Too many offers harm nobody.
const OVERDUE_MS: i64 = 60_000;

/// How many looks there are between two removals of old offers.
const LOOKS_BETWEEN_TIDYING: u32 = 600;

impl Tasks {
    /// Works on the queue until `stop`, if there is one and `working`, and looks after everybody's tasks.
    pub(crate) async fn keep(self, working: bool, stop: CancellationToken) {
        let Runner::Queue(queue) = &self.0.runner else { return };
        let upkeep = self.clone().look_after(stop.clone());
        if working {
            tokio::join!(queue.work(&self, self.0.config.workers, &stop), upkeep);
        } else {
            upkeep.await;
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
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "cannot look after the tasks");
            }
            looks = looks.wrapping_add(1);
            if let Runner::Queue(queue) = &self.0.runner
                && looks.is_multiple_of(LOOKS_BETWEEN_TIDYING)
                && let Err(error) = queue.tidy().await
            {
                tracing::warn!(%error, "cannot tidy up the task queue");
            }
        }
    }

    /// Takes tasks from attempts that are gone, and offers again what nobody took up.
    pub(super) async fn look(&self) -> Result<(), ApiError> {
        let db = &self.0.db;
        let error = json!(interrupted().problem()).to_string();
        let failed = store::fail_lost(db, self.0.config.attempts_max, &error).await?;
        if failed > 0 {
            tracing::error!(failed, "tasks have failed whose process was gone each time");
        }
        let lost = store::put_back_lost(db).await?;
        if !lost.is_empty() {
            tracing::warn!(count = lost.len(), "tasks whose process is gone wait for another");
        }
        let overdue = store::overdue(db, OVERDUE_MS).await?;
        for delivery in lost.into_iter().chain(overdue) {
            self.0.runner.offer(self, delivery, Duration::ZERO).await?;
        }
        Ok(())
    }
}
