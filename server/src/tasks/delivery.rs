//! An offer of a task.

use serde::{Deserialize, Serialize};

/// A task that some process may run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) task_id: String,
    pub(crate) owner_id: String,
}

/// Runs offered tasks.
pub(crate) trait Deliver: Clone + Send + Sync + 'static {
    /// Runs the task if it may. Blocks until it has ended.
    fn deliver(&self, delivery: &Delivery);
}
