//! Handler of `GET /plugins/fx-gui/{window_id}/state`.

use std::sync::mpsc::TrySendError;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::command::{Command, WAITING_COMMANDS_MAX};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Path;
use crate::large_answer::Recipient;
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
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`window_busy` or `cancelled`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let window = state.plugin_windows.find(&user.id, &window_id)?;
    let (reply, answer) = oneshot::channel();
    let gone = || ApiError::BadGateway {
        code: "window_ended",
        detail: "The window of the plugin has ended; open it again.".to_owned(),
    };
    let recipient = Recipient::new(&state, &user.id, &headers);
    window.commands.try_send(Command::ReadState { recipient, reply }).map_err(|error| match error {
        TrySendError::Full(_) => ApiError::Conflict {
            code: "window_busy",
            detail: format!(
                "The plugin does not answer, and {WAITING_COMMANDS_MAX} requests wait for its state, which is the \
                 maximum; try again in a moment."
            ),
        },
        TrySendError::Disconnected(_) => gone(),
    })?;
    answer.await.map_err(|_| gone())?
}

/// Returns the answer with a state of the plugin. Blocks.
pub(super) fn answer(recipient: &Recipient, state: &[u8]) -> ApiResult<Response> {
    let answer = WindowState { state: BASE64_STANDARD.encode(state) };
    recipient.answer_json(serde_json::to_vec(&answer).map_err(ApiError::internal)?)
}
