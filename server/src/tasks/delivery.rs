//! An offer of a task.

use serde::{Deserialize, Serialize};

/// An offered task, which any process may claim.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) task_id: String,
    pub(crate) owner_id: String,
}

/// Runs offered tasks.
pub(crate) trait Deliver: Clone + Send + Sync + 'static {
    /// Claims and runs the task, if it is still waiting. Blocks until the attempt has ended.
    fn deliver(&self, delivery: &Delivery);
}
