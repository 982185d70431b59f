//! How tasks get to the threads that run them: on a desktop within the process, in a server
//! deployment through a queue that many processes share.
//!
//! A [`Delivery`] is an offer, not a right: whoever gets one asks the database for the task
//! (`tasks/store.rs`), which gives each attempt to one of them. So nothing depends on a delivery
//! coming once; and what never came is offered again.

pub(crate) mod kinds;
pub(crate) mod queue;
mod threads;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use queue::Queue;
pub(crate) use threads::Threads;

use crate::error::ApiError;
use crate::tasks::Tasks;

/// A task that somebody may run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) task_id: String,
    pub(crate) owner_id: String,
}

/// Where deliveries go.
#[derive(Debug)]
pub(crate) enum Runner {
    /// To threads of this process.
    Threads(Threads),
    /// To any process that works on the queue.
    Queue(Queue),
}

impl Runner {
    /// Offers a task after a while.
    ///
    /// # Errors
    /// 503 when the queue does not take it.
    pub(crate) async fn offer(
        &self,
        tasks: &Tasks,
        delivery: Delivery,
        delay: Duration,
    ) -> Result<(), ApiError> {
        match self {
            Self::Queue(queue) => queue.push(&delivery, delay).await,
            Self::Threads(threads) if delay.is_zero() => {
                let tasks = tasks.clone();
                threads.push(move || tasks.run(&delivery));
                Ok(())
            }
            Self::Threads(threads) => {
                let (tasks, threads) = (tasks.clone(), threads.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    threads.push(move || tasks.run(&delivery));
                });
                Ok(())
            }
        }
    }
}
