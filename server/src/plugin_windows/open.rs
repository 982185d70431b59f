//! Handler of `POST /plugins/open-fx-gui`.

use std::sync::mpsc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::WINDOWS_PATH;
use super::command::WAITING_COMMANDS_MAX;
use super::open_windows::{Reserved, Subject, Window};
use super::{owner_process, process};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::exports::{plugin_request, setup_of};
use crate::extract::Json;
use crate::plugin_hosts::HostProblems;
use crate::state::AppState;

/// Maximum length of an id in a request, in characters.
const ID_MAX_CHARS: usize = 200;

plugin_request! {
    /// A plugin of a song, whose window is opened with its settings.
    pub(super) struct OpenWindowRequest {
        /// Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
        /// /plugins/effects`.
        plugin_id: String,
        /// Id of the track of the plugin; missing for the master.
        #[schema(max_length = 200)]
        track_id: Option<String>,
        /// Id of the effect in the song; missing for an instrument. A caller has one window for
        /// each track, effect and plugin.
        #[schema(max_length = 200)]
        effect_id: Option<String>,
        /// Whether the window is shown through the service. Windows on the screen of this machine
        /// are not supported, so `false` is refused.
        #[serde(default = "yes")]
        #[schema(required = false, default = true)]
        embed: bool,
    }
}

fn yes() -> bool {
    true
}

/// An open window of a plugin.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OpenedWindow {
    /// Id of the window.
    window_id: String,
    /// Path of the window, relative to the service. Its picture is at `/frame` below it.
    embed_url: String,
    /// Whether the window was open already. It then keeps its settings, and those of the request
    /// are ignored.
    already_running: bool,
    /// Width of the window in pixels when it was opened.
    width: u16,
    /// Height of the window in pixels when it was opened.
    height: u16,
}

/// Opens the own window of a plugin, with the settings of the request. The plugin runs in a
/// separate process, whose sound nobody hears, until the window is closed or has had no client for
/// `SF_PLUGIN_WINDOW_IDLE_SECS`. Only the caller can see and use the window.
#[utoipa::path(post, path = "/plugins/open-fx-gui", tag = "plugins", request_body = OpenWindowRequest,
    responses((status = 200, body = OpenedWindow),
        HostProblems,
        (status = 409, description = "`too_many_windows`, `window_busy` or `cancelled`", body = Problem, content_type = "application/problem+json"),
        (status = 501, description = "`x_server_missing` or `plugin_host_unavailable`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`plugin_has_no_window`, `embed_required`, `plugin_refused`, `bad_id`, `bad_state`, `bad_preset` or `bad_plugin_parameter`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn open(
    State(state): State<AppState>,
    user: CurrentUser,
    Json(request): Json<OpenWindowRequest>,
) -> ApiResult<axum::Json<OpenedWindow>> {
    let OpenWindowRequest { plugin_id, track_id, effect_id, embed, state: plugin_state, preset, params } =
        request;
    if !embed {
        let detail = "Windows are shown through the service only; leave `embed` out.".to_owned();
        return Err(ApiError::Unprocessable { code: "embed_required", detail });
    }
    for (name, id) in [("track_id", &track_id), ("effect_id", &effect_id)] {
        if id.as_ref().is_some_and(|id| id.chars().count() > ID_MAX_CHARS) {
            let detail = format!("`{name}` must have at most {ID_MAX_CHARS} characters.");
            return Err(ApiError::Unprocessable { code: "bad_id", detail });
        }
    }
    let setup = setup_of(plugin_state, preset, params)?;
    let found = state.plugins.find(&user, &plugin_id).await?;
    state.plugin_hosts.check_format(found.format).await?;
    state.plugin_windows.check_x_server()?;
    let (sender, commands) = mpsc::sync_channel(WAITING_COMMANDS_MAX);
    let subject = Subject { plugin_id, track_id, effect_id };
    match state.plugin_windows.reserve(&user.id, subject, sender)? {
        Reserved::Existing(window) => answer(&window, true),
        Reserved::New(window) => {
            process::start(state.clone(), window.clone(), found.into(), setup, commands).await?;
            owner_process::announce(&state, &window).await?;
            answer(&window, false)
        }
    }
}

fn answer(window: &Window, already_running: bool) -> ApiResult<axum::Json<OpenedWindow>> {
    let server =
        window.server.get().ok_or_else(|| ApiError::internal(anyhow::anyhow!("the window has no server")))?;
    Ok(axum::Json(OpenedWindow {
        window_id: window.id.clone(),
        embed_url: format!("{WINDOWS_PATH}/{}", window.id),
        already_running,
        width: server.window.width,
        height: server.window.height,
    }))
}
