//! Tasks that event streams follow. All streams of a task share its queries of the database.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::{Task, Tasks};

/// Shortest and longest time between two queries for a task that does not run in this process. The
/// time doubles while the task stays the same.
const QUERY_AFTER_MIN: Duration = Duration::from_millis(250);
const QUERY_AFTER_MAX: Duration = Duration::from_secs(2);

/// The followed tasks, by their ids.
#[derive(Debug, Default)]
pub(super) struct FollowedTasks(Mutex<HashMap<String, watch::Sender<Task>>>);

impl FollowedTasks {
    /// Number of followed tasks.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    /// Follows a task that was read just now. The receiver has its latest state; it is closed after
    /// the task's end, or when the task can no longer be read.
    pub(super) fn follow(&self, owner_id: &str, task: Task) -> watch::Receiver<Task> {
        let mut followed = self.0.followed.lock();
        if let Some(sender) = followed.get(&task.id) {
            sender.send_replace(task);
            return sender.subscribe();
        }
        let id = task.id.clone();
        let is_final = task.state.is_final();
        let (sender, receiver) = watch::channel(task);
        if !is_final {
            followed.insert(id.clone(), sender.clone());
            tokio::spawn(watch_changes(self.clone(), owner_id.to_owned(), id, sender));
        }
        receiver
    }
}

/// Sends the changes of a task while somebody follows it.
async fn watch_changes(tasks: Tasks, owner_id: String, id: String, sender: watch::Sender<Task>) {
    loop {
        let has_ended = tokio::select! {
            changed = next(&tasks, &owner_id, &id, &sender) => match changed {
                Some(task) => {
                    let is_final = task.state.is_final();
                    sender.send_replace(task);
                    is_final
                }
                // It was deleted, or the database is gone: whoever follows may ask again.
                None => true,
            },
            () = sender.closed() => false,
        };
        let mut followed = tasks.0.followed.lock();
        if has_ended || sender.is_closed() {
            followed.remove(&id);
            return;
        }
    }
}

/// The task as soon as it is no longer what was sent last; `None` if it cannot be read.
async fn next(tasks: &Tasks, owner_id: &str, id: &str, sent: &watch::Sender<Task>) -> Option<Task> {
    let mut query_after = QUERY_AFTER_MIN;
    loop {
        match tasks.live_task(owner_id, id) {
            Some(mut live) => {
                let is_known = *live.borrow_and_update() == *sent.borrow();
                if is_known {
                    // Whether it changes or ends here, what comes then is found below.
                    let _ = tokio::time::timeout(query_after, live.changed()).await;
                }
            }
            None => tokio::time::sleep(query_after).await,
        }
        query_after = QUERY_AFTER_MAX.min(2 * query_after);
        let now = tasks.find(owner_id, id).await.ok()?;
        if now != *sent.borrow() {
            return Some(now);
        }
    }
}
