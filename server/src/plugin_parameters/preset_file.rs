//! Handler of `POST /plugins/preset-file`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::host::PresetFormat;
use tokio::runtime::Handle;

use super::list::plugin;
use super::reading::save_preset;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::exports::{plugin_request, setup_of};
use crate::extract::{JsonBytes, parse_object};
use crate::file_answer::attachment;
use crate::file_stem::file_stem;
use crate::large_answer::Recipient;
use crate::permits::Caller;
use crate::plugin_hosts::HostProblems;
use crate::state::AppState;

plugin_request! {
    /// A plugin, and the settings that are saved.
    pub(super) struct PresetFileRequest {
        /// Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
        /// /plugins/effects`.
        plugin_id: String,
    }
}

/// Sends the settings of a plugin as a preset file, which other hosts can load: a `.vstpreset` file
/// of a VST3 plugin, or a `.fxp` file of a VST2 plugin. The plugin runs in a separate process, which
/// ends with the request.
#[utoipa::path(post, path = "/plugins/preset-file", tag = "plugins", request_body = PresetFileRequest,
    responses((status = 200, description = "The file, whose name is that of the plugin", content_type = "application/octet-stream",
            headers(("Content-Disposition" = String))),
        HostProblems,
        (status = 422, description = "`plugin_refused`, `bad_state`, `bad_preset` or `bad_plugin_parameter`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn save(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    state.plugin_hosts.formats().await?;
    let (runtime, work_state, body_kib) = (Handle::current(), state.clone(), body.len() as u64 / 1024);
    let recipient = Recipient::new(&state, &user.id, &headers);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| answer(&work_state, &runtime, &user, caller, &recipient, &body);
    state.plugin_parameters.permits.run_for(&owner_id, body_kib, work).await
}

/// Returns the answer to a request. Blocks.
fn answer(
    state: &AppState,
    runtime: &Handle,
    user: &CurrentUser,
    caller: &Caller,
    recipient: &Recipient,
    body: &[u8],
) -> ApiResult<Response> {
    let PresetFileRequest { plugin_id, state: plugin_state, preset, params } = parse_object(body)?;
    let setup = setup_of(plugin_state, preset, params)?;
    let plugin = runtime.block_on(plugin(state, user, &plugin_id))?;
    let (format, extension) = match plugin.format {
        PluginFormat::Vst2 => (PresetFormat::Fxp, "fxp"),
        PluginFormat::Vst3 => (PresetFormat::Vstpreset, "vstpreset"),
    };
    let is_cancelled = || caller.has_disconnected();
    let hosts = &state.plugin_hosts;
    let saving = || save_preset(hosts, &plugin, &setup, format, &is_cancelled);
    let (name, content) = hosts.run(runtime, &user.id, &is_cancelled, saving)??;
    let mut answer = recipient.answer("application/octet-stream", content)?;
    let disposition = attachment(&format!("{}.{extension}", file_stem(&name)));
    let disposition = HeaderValue::from_str(&disposition).map_err(ApiError::internal)?;
    answer.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(answer)
}
