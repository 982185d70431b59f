//! Delivers tasks to the threads that run them. On a desktop, these are threads of this process. In
//! a server deployment, several processes share a queue.
//!
//! A [`Delivery`] is only an offer. Its receiver must claim the task in the database
//! (`tasks/store.rs`), where only one receiver can get each attempt. Therefore a delivery may
//! arrive twice, and a lost delivery is simply repeated.

mod queue;
mod store;
mod threads;

use std::time::Duration;

pub(crate) use queue::Queue;
pub(super) use threads::Threads;

use super::delivery::{Deliver, Delivery};
use crate::error::ApiError;

/// The receiver of deliveries.
#[derive(Debug)]
pub(super) enum Runner {
    /// Threads of this process.
    Threads(Threads),
    /// A queue from which any process may take deliveries.
    Queue(Queue),
}

impl Runner {
    /// Offers a task after `delay`.
    ///
    /// # Errors
    /// 5xx if the queue does not accept the offer.
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
