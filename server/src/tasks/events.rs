//! Following a task by server-sent events, wherever it runs.

use std::convert::Infallible;
use std::time::Duration;

use super::Task;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::event_stream::{HEARTBEAT_EVERY, unbuffered};
use crate::extract::Path;
use crate::state::AppState;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};

/// Shortest and longest time between two queries for a task that does not run in this process. The
/// time doubles while the task stays the same, so that many streams of waiting tasks do not load the
/// database.
const QUERY_AFTER_MIN: Duration = Duration::from_millis(250);
const QUERY_AFTER_MAX: Duration = Duration::from_secs(2);

/// An event of the stream.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct TaskEvent {
    /// What it tells: `task`.
    #[schema(pattern = "^task$")]
    event: String,
    /// The task as it is now, as JSON.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// Follows a task: an event `task` with the task's JSON now and after every change, until it has
/// ended.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks", params(("id", description = "Id of the task")),
    responses((status = 200, description = "Events named `task`, each with a task as JSON",
        content_type = "text/event-stream", body = TaskEvent), CommonErrors))]
pub(super) async fn events(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<impl IntoResponse> {
    let mut task = state.tasks.find(&user.id, &id).await?;
    let stop = state.stop.clone();
    let stream = async_stream::stream! {
        loop {
            yield Ok::<_, Infallible>(event(&task));
            if task.state.is_final() {
                break;
            }
            let changed = tokio::select! {
                changed = next(&state, &user.id, &id, &task) => changed,
                () = stop.cancelled() => break,
            };
            match changed {
                Some(changed) => task = changed,
                // It was deleted, or the database is gone: whoever follows may ask again.
                None => break,
            }
        }
    };
    let events = Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT_EVERY));
    Ok(([unbuffered()], events))
}

/// The task as soon as it is no longer as it was; `None` if it cannot be had.
async fn next(state: &AppState, owner_id: &str, id: &str, before: &Task) -> Option<Task> {
    let mut query_after = QUERY_AFTER_MIN;
    loop {
        match state.tasks.follow(owner_id, id) {
            Some(mut live) => {
                if *live.borrow_and_update() == *before {
                    // Whether it changes or ends here, what comes then is found below.
                    let _ = tokio::time::timeout(query_after, live.changed()).await;
                }
            }
            None => tokio::time::sleep(query_after).await,
        }
        query_after = QUERY_AFTER_MAX.min(2 * query_after);
        let now = state.tasks.find(owner_id, id).await.ok()?;
        if now != *before {
            return Some(now);
        }
    }
}

fn event(task: &Task) -> Event {
    let data = serde_json::to_string(task).unwrap_or_default();
    Event::default().event("task").data(data)
}
