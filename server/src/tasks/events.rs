//! Follows a task through server-sent events, whichever process runs it.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::watch;

use super::{Task, Tasks};
use crate::auth::CurrentUser;
use crate::error::ApiResult;
use crate::event_stream::{HEARTBEAT_EVERY, unbuffered};
use crate::extract::Path;
use crate::state::AppState;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};

/// Minimum and maximum time between two reads of a followed task. The time doubles while the task
/// does not change. A change in this process is read at once.
const QUERY_AFTER_MIN: Duration = Duration::from_millis(250);
const QUERY_AFTER_MAX: Duration = Duration::from_secs(2);

/// A server-sent event of the stream.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct TaskEvent {
    /// Name of the event: `task`.
    #[schema(pattern = "^task$")]
    event: String,
    /// The task, as JSON.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// Follows a task. Sends an event `task` with the task's JSON now and after every change, until the
/// task has ended.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks", params(("id", description = "Id of the task")),
    responses((status = 200, description = "Events named `task`, each with a task as JSON",
        content_type = "text/event-stream", body = TaskEvent)))]
pub(super) async fn events(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<impl IntoResponse> {
    let task = state.tasks.find(&user.id, &id).await?;
    let mut task_states = state.tasks.follow(&user.id, task);
    let stop = state.stop.clone();
    let stream = async_stream::stream! {
        let mut last_sent = None;
        loop {
            let task = task_states.borrow_and_update().clone();
            let is_final = task.state.is_final();
            if last_sent.as_ref() != Some(&task) {
                yield Ok::<_, Infallible>(event(&task));
                last_sent = Some(task);
            }
            if is_final {
                break;
            }
            let has_changed = tokio::select! {
                changed = task_states.changed() => changed.is_ok(),
                () = stop.cancelled() => false,
            };
            if !has_changed {
                break;
            }
        }
    };
    let events = Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT_EVERY));
    Ok(([unbuffered()], events))
}

fn event(task: &Task) -> Event {
    let json = serde_json::to_string(task).unwrap_or_default();
    Event::default().event("task").data(json)
}

impl Tasks {
    /// Follows a task that was just read from the database. The returned receiver has the latest
    /// state. It closes when the task has ended or can no longer be read.
    pub(super) fn follow(&self, owner_id: &str, task: Task) -> watch::Receiver<Task> {
        let mut followed_tasks = self.0.followed_tasks.lock();
        if let Some(sender) = followed_tasks.get(&task.id) {
            sender.send_replace(task);
            return sender.subscribe();
        }
        let id = task.id.clone();
        let is_final = task.state.is_final();
        let (sender, receiver) = watch::channel(task);
        if !is_final {
            followed_tasks.insert(id.clone(), sender.clone());
            tokio::spawn(watch_changes(self.clone(), owner_id.to_owned(), id, sender));
        }
        receiver
    }
}

/// Passes on the changes of a task as long as at least one stream follows it.
async fn watch_changes(tasks: Tasks, owner_id: String, id: String, sender: watch::Sender<Task>) {
    loop {
        let has_ended = tokio::select! {
            changed = next_change(&tasks, &owner_id, &id, &sender) => match changed {
                Some(task) => {
                    let is_final = task.state.is_final();
                    sender.send_replace(task);
                    is_final
                }
                // The task was deleted, or the database does not answer. The stream ends, and
                // clients may reconnect.
                None => true,
            },
            () = sender.closed() => false,
        };
        let mut followed_tasks = tasks.0.followed_tasks.lock();
        if has_ended || sender.is_closed() {
            followed_tasks.remove(&id);
            return;
        }
    }
}

/// Waits until the task differs from the last one that was sent. Returns `None` if it cannot be
/// read.
async fn next_change(
    tasks: &Tasks,
    owner_id: &str,
    id: &str,
    last_sent: &watch::Sender<Task>,
) -> Option<Task> {
    let mut query_after = QUERY_AFTER_MIN;
    loop {
        match tasks.live_task(owner_id, id) {
            Some(mut live_attempt) => {
                let is_unchanged = *live_attempt.borrow_and_update() == *last_sent.borrow();
                if is_unchanged {
                    // `find` below sees any change, so it does not matter why the wait ended.
                    let _ = tokio::time::timeout(query_after, live_attempt.changed()).await;
                }
            }
            None => tokio::time::sleep(query_after).await,
        }
        query_after = QUERY_AFTER_MAX.min(2 * query_after);
        let current_task = tasks.find(owner_id, id).await.ok()?;
        if current_task != *last_sent.borrow() {
            return Some(current_task);
        }
    }
}
