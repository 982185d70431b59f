//! Offers of tasks to the threads that run them.

use serde::{Deserialize, Serialize};

/// An offer of a task. Any process that receives it may claim the task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) task_id: String,
    pub(crate) owner_id: String,
    /// Number of times that the offer was postponed because the disk of its receiver was full.
    #[serde(default)]
    pub(crate) full_disks: u32,
}

impl Delivery {
    /// Offers a task for the first time.
    pub(crate) fn new(task_id: String, owner_id: String) -> Self {
        Self { task_id, owner_id, full_disks: 0 }
    }
}

/// Receives offers and runs their tasks.
pub(crate) trait Deliver: Clone + Send + Sync + 'static {
    /// Claims and runs the task if it is still waiting. Blocks until the attempt has ended.
    fn deliver(&self, delivery: &Delivery);
}
