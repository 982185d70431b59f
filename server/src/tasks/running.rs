//! Limits the running tasks of each owner in this process. Threads therefore stay free for other
//! owners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers of running tasks by owner id. Owners without a running task have no entry.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningByOwner(Arc<Mutex<HashMap<String, usize>>>);

/// Counts a running task until it is dropped.
#[derive(Debug)]
pub(super) struct Running {
    owner_id: String,
    counts: RunningByOwner,
}

impl RunningByOwner {
    /// Counts another running task of an owner. Returns `None` if `running_max` of the owner's
    /// tasks are already running.
    pub(super) fn begin(&self, owner_id: &str, running_max: usize) -> Option<Running> {
        let mut counts = self.lock();
        if counts.get(owner_id).is_some_and(|count| *count >= running_max) {
            return None;
        }
        *counts.entry(owner_id.to_owned()).or_default() += 1;
        Some(Running { owner_id: owner_id.to_owned(), counts: self.clone() })
    }

    /// Whether no task is running.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.owner_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.owner_id);
            }
        }
    }
}
