//! Handler of `GET /plugins/fx-gui/{window_id}/state`.

use axum::extract::State;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::command::Command;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Path;
use crate::plugin_hosts::HostProblems;
use crate::state::AppState;

/// The state of the plugin of a window.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WindowState {
    /// State in base64, as in the field `state` of a project.
    #[schema(content_encoding = "base64")]
    state: String,
}

/// Returns the state of the plugin of a window, with all changes that were made in the window.
#[utoipa::path(get, path = "/plugins/fx-gui/{window_id}/state", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 200, body = WindowState), HostProblems,
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
) -> ApiResult<axum::Json<WindowState>> {
    let window = state.plugin_windows.find(&user.id, &window_id)?;
    let (sender, reply) = oneshot::channel();
    let gone = || ApiError::BadGateway {
        code: "window_ended",
        detail: "The window of the plugin has ended; open it again.".to_owned(),
    };
    window.commands.send(Command::ReadState(sender)).map_err(|_| gone())?;
    let bytes = reply.await.map_err(|_| gone())??;
    Ok(axum::Json(WindowState { state: BASE64_STANDARD.encode(bytes) }))
}
