//! Handler of `POST /plugins/fx-gui/close`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::auth::CurrentUser;
use crate::error::{ApiResult, Problem};
use crate::extract::Json;
use crate::state::AppState;

/// The window to close.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CloseWindowRequest {
    /// Id of the window.
    window_id: String,
}

/// Closes the window of a plugin, and ends its process. Settings that were not read before are
/// lost.
#[utoipa::path(post, path = "/plugins/fx-gui/close", tag = "plugins", request_body = CloseWindowRequest,
    responses((status = 204, description = "The window is closed"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn close(
    State(state): State<AppState>,
    user: CurrentUser,
    Json(CloseWindowRequest { window_id }): Json<CloseWindowRequest>,
) -> ApiResult<StatusCode> {
    let window = state.plugin_windows.find(&user.id, &window_id)?;
    window.stop.cancel();
    window.ended.cancelled().await;
    Ok(StatusCode::NO_CONTENT)
}
