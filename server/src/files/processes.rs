//! Handlers of `/files/processes`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::audit::{self, Action};
use crate::auth::{AdminOrLocal, LoggedInAdminOrLocal};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path};
use crate::helper_processes::Helper;
use crate::state::AppState;

/// Helper processes.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HelperList {
    /// The helpers of this process that run now, the oldest first.
    items: Vec<Helper>,
}

/// Lists the running helper processes of this process of the service. Only administrators and
/// callers on this machine may do this.
#[utoipa::path(get, path = "/files/processes", tag = "files", security(("bearer" = ["admin", "local"])),
    responses((status = 200, body = HelperList)))]
pub(super) async fn list(State(state): State<AppState>, _: AdminOrLocal) -> Json<HelperList> {
    Json(HelperList { items: state.helpers.list() })
}

/// Ends a helper process. Its work counts as cancelled. Only administrators and callers on this
/// machine may do this.
#[utoipa::path(delete, path = "/files/processes/{id}", tag = "files", security(("bearer" = ["admin", "local", "log_in"])),
    params(("id" = u64, Path, description = "Id of the helper")),
    responses((status = 202, description = "The process was signalled to end", body = Helper)))]
pub(super) async fn end(
    State(state): State<AppState>,
    LoggedInAdminOrLocal(user): LoggedInAdminOrLocal,
    Path(id): Path<u64>,
) -> ApiResult<(StatusCode, Json<Helper>)> {
    let helper =
        state.helpers.end(id).ok_or_else(|| ApiError::not_found("helper process", &id.to_string()))?;
    let target = format!("{} {}", helper.kind, helper.pid);
    audit::record(&state.db, &user.who(), Action::HelperEnded, &target, &helper.started_at).await;
    Ok((StatusCode::ACCEPTED, Json(helper)))
}
