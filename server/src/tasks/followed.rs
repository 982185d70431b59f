//! The tasks that event streams follow. All streams of one task share its database queries.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::task::Task;

/// Senders of the followed tasks, by task id.
#[derive(Debug, Default)]
pub(super) struct FollowedTasks(Mutex<HashMap<String, watch::Sender<Task>>>);

impl FollowedTasks {
    /// Returns the number of followed tasks.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
