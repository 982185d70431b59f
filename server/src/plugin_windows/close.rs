//! Handler of `POST /plugins/fx-gui/close`.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::owner_process;
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
    parts: Parts,
    Json(CloseWindowRequest { window_id }): Json<CloseWindowRequest>,
) -> ApiResult<Response> {
    let body = serde_json::json!({ "window_id": window_id }).to_string();
    if let Some(answer) = owner_process::pass_body(&state, &window_id, "close", parts, body).await? {
        return Ok(answer);
    }
    let window = state.plugin_windows.find(&user.id, &window_id)?;
    window.stop.cancel();
    window.ended.cancelled().await;
    Ok(StatusCode::NO_CONTENT.into_response())
}
