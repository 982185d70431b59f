//! Following a task by server-sent events, wherever it runs.

use std::convert::Infallible;

use super::Task;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::event_stream::{HEARTBEAT_EVERY, unbuffered};
use crate::extract::Path;
use crate::state::AppState;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};

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
    let task = state.tasks.find(&user.id, &id).await?;
    let mut followed = state.tasks.follow(&user.id, task);
    let stop = state.stop.clone();
    let stream = async_stream::stream! {
        let mut sent = None;
        loop {
            let task = followed.borrow_and_update().clone();
            let is_final = task.state.is_final();
            if sent.as_ref() != Some(&task) {
                yield Ok::<_, Infallible>(event(&task));
                sent = Some(task);
            }
            if is_final {
                break;
            }
            let has_changed = tokio::select! {
                changed = followed.changed() => changed.is_ok(),
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
    let data = serde_json::to_string(task).unwrap_or_default();
    Event::default().event("task").data(data)
}
