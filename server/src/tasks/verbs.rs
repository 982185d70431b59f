//! Handlers that list, read and cancel tasks.

use axum::extract::State;

use super::queries::CancelQuery;
use super::{Task, store};
use crate::auth::CurrentUser;
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::reserve;
use crate::state::AppState;

/// Lists the caller's tasks, newest first.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(PageQuery),
    responses((status = 200, body = Page<Task>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Task>>> {
    let limit = query.limit()?;
    let tasks = store::read_page(&state.db, &user.id, query.position()?.as_ref(), limit + 1).await?;
    let position = |task: &Task| Position { time: task.created_at.clone(), id: task.id.clone() };
    let mut page = Page::from_overfetched(tasks, limit, position);
    for task in page.items.iter_mut().filter(|task| !task.state.is_final()) {
        *task = state.tasks.find(&user.id, &task.id).await?;
    }
    Ok(Json(page))
}

/// Reads a task.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id", description = "Id of the task")),
    responses((status = 200, body = Task)))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
) -> ApiResult<Json<Task>> {
    state.tasks.find(&user.id, &id).await.map(Json)
}

/// Cancels a task, which then ends soon. A finished task stays unchanged; with `remove=true` it is
/// removed.
#[utoipa::path(delete, path = "/tasks/{id}", tag = "tasks",
    params(("id", description = "Id of the task"), CancelQuery),
    responses((status = 200, description = "The task, or its last state if it was removed",
        body = Task)))]
pub(super) async fn cancel(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<CancelQuery>,
) -> ApiResult<Json<Task>> {
    let task = state.tasks.cancel(&user.id, &id).await?;
    if query.remove && task.state.is_final() {
        let removing = || async { Ok(store::remove_finished(&state.db, &user.id, &id).await?) };
        reserve::retry_with_reserve(&state, removing).await?;
    }
    Ok(Json(task))
}
