//! Lists and cancels the tasks of all users.

use std::collections::HashMap;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::TaskQuery;
use crate::audit::{self, Action};
use crate::auth::{Admin, management};
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::paging::{Page, PageQuery, Position};
use crate::state::AppState;
use crate::tasks::Task;

/// A task and its owner.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OwnedTask {
    /// Id of the account that started the task.
    owner_id: String,
    /// Name of that account.
    owner: String,
    /// The task, as its owner sees it.
    #[serde(flatten)]
    task: Task,
}

/// Lists the tasks of all users, the newest first.
#[utoipa::path(get, path = "/admin/tasks", tag = "admin", security(("bearer" = ["admin"])), params(PageQuery, TaskQuery),
    responses((status = 200, body = Page<OwnedTask>)))]
pub(super) async fn list(
    State(state): State<AppState>,
    _: Admin,
    Query(page): Query<PageQuery>,
    Query(query): Query<TaskQuery>,
) -> ApiResult<Json<Page<OwnedTask>>> {
    let limit = page.limit()?;
    let task_rows = state.tasks.read_page_of_all(query.state, page.position()?.as_ref(), limit + 1).await?;
    let names: HashMap<String, String> = management::user_names(&state.db).await?.into_iter().collect();
    let owned_tasks = task_rows.into_iter().map(|(owner_id, task)| {
        let owner = names.get(&owner_id).cloned().unwrap_or_default();
        OwnedTask { owner_id, owner, task }
    });
    let position_of = |owned_task: &OwnedTask| Position {
        time: owned_task.task.created_at.clone(),
        id: owned_task.task.id.clone(),
    };
    Ok(Json(Page::from_overfetched(owned_tasks.collect(), limit, position_of)))
}

/// Cancels a task of any user. A running task ends soon afterwards; a finished task stays
/// unchanged.
#[utoipa::path(delete, path = "/admin/tasks/{id}", tag = "admin", security(("bearer" = ["admin"])), params(("id", description = "Id of the task")),
    responses((status = 200, description = "The task as it is now", body = OwnedTask)))]
pub(super) async fn cancel(
    State(state): State<AppState>,
    Admin(admin): Admin,
    Path(id): Path<String>,
) -> ApiResult<Json<OwnedTask>> {
    let (owner_id, task) = state.tasks.cancel_of_any_user(&id).await?;
    let owner = management::user(&state.db, &owner_id).await?.username;
    let detail = format!("{} {}", task.kind, task.id);
    audit::record(&state.db, &admin.who(), Action::TaskCancelled, &owner, &detail).await;
    Ok(Json(OwnedTask { owner_id, owner, task }))
}
