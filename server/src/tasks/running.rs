//! Limits the running tasks in this process, per owner and in total. Because tasks may take an
//! hour, an owner without a running task may exceed the total limit: additional threads are
//! reserved for such owners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers of running tasks by owner id. Owners without a running task have no entry.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningByOwner(Arc<Mutex<HashMap<String, usize>>>);

/// Counts a running task until it is dropped.
#[derive(Debug)]
pub(super) struct RunningTask {
    owner_id: String,
    counts: RunningByOwner,
}

impl RunningByOwner {
    /// Counts another running task of an owner. Returns `None` if `max_per_owner` of the owner's
    /// tasks are already running, or if the owner has a running task and `max` tasks run in total.
    pub(super) fn begin(&self, owner_id: &str, max_per_owner: usize, max: usize) -> Option<RunningTask> {
        let mut counts = self.lock();
        let total_tasks: usize = counts.values().sum();
        if counts.get(owner_id).is_some_and(|count| *count >= max_per_owner || total_tasks >= max) {
            return None;
        }
        *counts.entry(owner_id.to_owned()).or_default() += 1;
        Some(RunningTask { owner_id: owner_id.to_owned(), counts: self.clone() })
    }

    /// Whether no task is running.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningTask {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_without_a_running_task_may_exceed_the_total_limit() {
        let running = RunningByOwner::default();
        let begin = |owner_id: &str| running.begin(owner_id, 2, 4);
        let mut tasks = Vec::new();
        for owner_id in ["ada", "bob"] {
            tasks.extend([
                begin(owner_id).expect("below the limits"),
                begin(owner_id).expect("below the limits"),
            ]);
            assert!(begin(owner_id).is_none(), "the owner has two running tasks");
        }
        let first_of_eve = begin("eve").expect("the owner has no running task");
        assert!(begin("eve").is_none(), "four tasks are running");
        drop(tasks);
        assert!(begin("eve").is_some());
        drop(first_of_eve);
        assert!(running.is_empty());
    }
}
