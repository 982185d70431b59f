//! Handler of `POST /plugins/preset-file`.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value};
use songfoundry_bridge_protocol::PluginFormat;
use songfoundry_bridge_protocol::host::PresetFormat;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::list::plugin;
use super::reading::save_preset;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::exports::{PluginPreset, setup_of};
use crate::extract::{JsonBytes, parse_object};
use crate::file_answer::attachment;
use crate::file_stem::file_stem;
use crate::large_answer::Recipient;
use crate::permits::Caller;
use crate::state::AppState;

/// A plugin, and the settings that are saved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFileRequest {
    /// Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
    /// /plugins/effects`.
    plugin_id: String,
    /// State that the plugin loads, in base64, as in the field `state` of a project.
    #[schema(content_encoding = "base64")]
    state: Option<String>,
    /// Preset that the plugin loads instead of a state.
    #[schema(value_type = Option<PluginPreset>)]
    preset: Option<Value>,
    /// Normalized values (0 to 1) of parameters, by the name or the id of the parameter. They are
    /// set after `state` or `preset` is loaded.
    #[serde(default)]
    #[schema(value_type = HashMap<String, f64>, required = false)]
    params: Map<String, Value>,
}

/// Saves the settings of a plugin as a preset file, which other hosts can load: a `.vstpreset` file
/// of a VST 3 plugin, or a `.fxp` file of a VST 2 plugin. The plugin runs in a separate process,
/// which ends with the request.
#[utoipa::path(post, path = "/plugins/preset-file", tag = "plugins", request_body = PresetFileRequest,
    responses((status = 200, description = "The file, whose name is that of the plugin", content_type = "application/octet-stream",
            headers(("Content-Disposition" = String))),
        (status = 404, description = "None of the caller's scans found the plugin", body = Problem,
            content_type = "application/problem+json"),
        (status = 409, description = "`cancelled`: an administrator ended the plugin", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`plugin_refused`, `bad_state`, `bad_preset` or `bad_plugin_parameter`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`plugin_host_unavailable`: there is no plugin helper, or it cannot host this format",
            body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`plugin_crashed`, `plugin_ended` or `plugin_answer_invalid`", body = Problem,
            content_type = "application/problem+json"),
        (status = 504, description = "`plugin_timeout`: the plugin did not answer within `SF_PLUGIN_ANSWER_MAX_SECS`", body = Problem,
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
    let (plugin, _) = runtime.block_on(plugin(state, user, &plugin_id))?;
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
