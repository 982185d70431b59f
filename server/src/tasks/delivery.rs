//! An *offer* tells the worker threads that a task is waiting. A worker that receives an offer must
//! still claim the task in the database, and another worker may be faster. A *delivery*
//! ([`Delivery`]) is the message that carries an offer. A task may be offered several times.

use serde::{Deserialize, Serialize};

/// The message that carries an offer of a task. Any process that receives it may claim the task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) task_id: String,
    pub(crate) owner_id: String,
    /// Number of the offer. A delivery with another number than the task is a copy, or was replaced
    /// by a later offer: it may claim the task, but is not offered again.
    #[serde(default)]
    pub(crate) offer: i64,
    /// Number of times that the offer was postponed because the disk of the process that received
    /// it was full.
    #[serde(default)]
    pub(crate) full_disks: u32,
}

impl Delivery {
    /// Makes the message of a task's first offer.
    pub(crate) fn new(task_id: String, owner_id: String) -> Self {
        Self { task_id, owner_id, offer: 0, full_disks: 0 }
    }
}

/// Receives offers and runs their tasks.
pub(crate) trait Deliver: Clone + Send + Sync + 'static {
    /// Claims and runs the task if it is still waiting. Blocks until the attempt has ended.
    fn deliver(&self, delivery: &Delivery);
}
