//! `POST /plugins/pick-dir`: a folder dialog on the screen of the service's machine.

mod dialogs;
mod picker;

use axum::extract::{Request, State};
pub(crate) use picker::Picker;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::Json;
use crate::peer::Peer;
use crate::state::AppState;

/// Result of a folder dialog.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PickedDir {
    /// Absolute path of the chosen folder; null if the dialog was cancelled.
    path: Option<String>,
    /// Whether the dialog was closed without a choice.
    cancelled: bool,
}

/// Opens a folder dialog on the screen of the service's machine, and waits until a folder is
/// chosen. Uses the program of `SF_DIALOG_BRIDGE` or, if it is not set or fails, the system's
/// dialog. Does not add the folder to any list. Only local callers may do this; they need no token.
#[utoipa::path(post, path = "/plugins/pick-dir", tag = "plugins", security(()),
    extensions(("x-who" = json!("local callers"))),
    responses((status = 200, body = PickedDir),
        (status = 403, description = "`not_local`: the caller is not at this machine", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`dialog_open`: another dialog is open", body = Problem, content_type = "application/problem+json"),
        (status = 501, description = "`no_display` or `no_dialog`: no dialog can be shown on this machine", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`dialog_failed`", body = Problem, content_type = "application/problem+json"),
        (status = 504, description = "`dialog_timeout`: nobody chose a folder in time", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn pick(
    State(state): State<AppState>,
    Peer(peer): Peer,
    request: Request,
) -> ApiResult<Json<PickedDir>> {
    let (parts, _) = request.into_parts();
    state.local_rule.check(peer, &parts).map_err(|reason| ApiError::Forbidden {
        code: "not_local",
        detail: format!("Only a program on this machine may open a dialog on its screen: {reason}."),
    })?;
    let path = state.picker.pick().await?;
    // The conversion loses nothing, because the dialog printed the path as UTF-8.
    let path = path.map(|path| path.to_string_lossy().into_owned());
    Ok(Json(PickedDir { cancelled: path.is_none(), path }))
}
