//! Following a task by server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;

use super::Task;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors};
use crate::extract::Path;
use crate::state::AppState;

/// Follows a task: an event `task` with the task's JSON now and after every change, until it has ended.
#[utoipa::path(get, path = "/tasks/{id}/events", tag = "tasks", params(("id", description = "Id of the task")),
    responses((status = 200, description = "Events named `task`, each with a task as JSON",
        content_type = "text/event-stream", body = Task), CommonErrors))]
pub(super) async fn events(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    // Subscribed before the look into the database, so that an end in between is not missed.
    let live = state.tasks.follow(&user.id, &id);
    let first = state.tasks.find(&user.id, &id).await?;
    let stop = state.stop.clone();
    let stream = async_stream::stream! {
        match live {
            None => yield Ok(event(&first)),
            Some(mut live) => loop {
                let task = live.borrow_and_update().clone();
                let ended = task.state.is_final();
                yield Ok(event(&task));
                if ended {
                    break;
                }
                tokio::select! {
                    changed = live.changed() => {
                        if changed.is_err() {
                            break;
                        }
                    }
                    () = stop.cancelled() => break,
                }
            },
        }
    };
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

fn event(task: &Task) -> Event {
    let data = serde_json::to_string(task).unwrap_or_default();
    Event::default().event("task").data(data)
}
