//! Brings tasks to the threads that run them: within the process on a desktop, through a queue that
//! many processes share in a server deployment.
//!
//! A [`Delivery`] is only an offer: its receiver must claim the task in the database
//! (`tasks/store.rs`), which gives each attempt to one claimant. So a delivery may come twice, and
//! a lost one is offered again.

mod queue;
mod store;
mod threads;

use std::time::Duration;

pub(crate) use queue::Queue;
pub(super) use threads::Threads;

use super::delivery::{Deliver, Delivery};
use crate::error::ApiError;

/// The destination of deliveries.
#[derive(Debug)]
pub(super) enum Runner {
    /// To threads of this process.
    Threads(Threads),
    /// To any process that works on the queue.
    Queue(Queue),
}

impl Runner {
    /// Offers a task after `delay`.
    ///
    /// # Errors
    /// 503 if the queue does not accept the task.
    pub(super) async fn offer(
        &self,
        tasks: &impl Deliver,
        delivery: Delivery,
        delay: Duration,
    ) -> Result<(), ApiError> {
        match self {
            Self::Queue(queue) => queue.push(&delivery, delay).await,
            Self::Threads(threads) if delay.is_zero() => {
                let tasks = tasks.clone();
                threads.push(move || tasks.deliver(&delivery));
                Ok(())
            }
            Self::Threads(threads) => {
                let (tasks, threads) = (tasks.clone(), threads.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    threads.push(move || tasks.deliver(&delivery));
                });
                Ok(())
            }
        }
    }
}
