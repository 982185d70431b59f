//! Handler of `POST /plugins/parameters`.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use songfoundry_bridge_protocol::host::{Parameter, ParameterValue, Tail};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::answer_cache::cache_key;
use super::reading::{ReadPlugin, Wanted, read, secs, tail_secs};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, Problem};
use crate::exports::{plugin_request, setup_of};
use crate::extract::{JsonBytes, parse_object};
use crate::large_answer::Recipient;
use crate::permits::Caller;
use crate::plugin_hosts::{HostProblems, PluginRef};
use crate::plugins::VstFormat;
use crate::state::AppState;

/// Maximum number of values in [`ParametersRequest::values`].
const VALUES_MAX: usize = 1_000;

plugin_request! {
    /// A plugin, and the values with which its parameters are listed.
    pub(super) struct ParametersRequest {
        /// Id of an instrument of `GET /plugins/available` or of a `vst_effects` of `GET
        /// /plugins/effects`.
        plugin_id: String,
        /// Values for which the answer has texts, at most 1000. They do not change the plugin.
        #[serde(default)]
        #[schema(required = false, max_items = 1000)]
        values: Vec<PluginValue>,
        /// Whether the answer contains the state of the plugin with these values.
        #[serde(default)]
        #[schema(required = false)]
        with_state: bool,
    }
}

/// A value of a parameter.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginValue {
    /// Id of the parameter.
    id: u32,
    /// Normalized value.
    #[schema(minimum = 0, maximum = 1)]
    value: f64,
}

/// A plugin with its parameters.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ParameterList {
    /// Id of the plugin.
    plugin_id: String,
    /// Name of the plugin.
    name: String,
    /// Vendor of the plugin; empty if the plugin does not state it.
    vendor: String,
    /// Version of the plugin as its vendor writes it; empty if the plugin does not state it.
    version: String,
    /// Plugin format: VST2 or VST3.
    format: VstFormat,
    /// Whether the plugin receives notes.
    accepts_notes: bool,
    /// Whether the plugin is an effect with a side-chain input, to which the `side_chain` of an
    /// effect in a project is routed.
    has_side_chain: bool,
    /// Whether the plugin has its own window, which `POST /plugins/open-fx-gui` opens.
    has_window: bool,
    /// Latency at 48 kHz, in seconds. Renders remove it.
    latency_secs: f64,
    /// Kind of the tail, which is the output of the plugin after its input has ended.
    tail: PluginTail,
    /// Length of the tail in seconds; null if it is `infinite` or `unknown`.
    tail_secs: Option<f64>,
    /// Names of the programs, which `preset` selects by their index.
    programs: Vec<String>,
    /// Index of the selected program; null if it is unknown, as after `state`, or if there is none.
    program: Option<u32>,
    /// All parameters except hidden and read-only ones.
    parameters: Vec<PluginParameter>,
    /// A text for each of the `values` of the request, without the unit.
    value_texts: Vec<String>,
    /// State of the plugin in base64; null if it was not requested.
    #[schema(content_encoding = "base64")]
    state: Option<String>,
}

/// Kind of a plugin's tail, which is its output after the input has ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PluginTail {
    /// The plugin states that it has no tail.
    None,
    /// The plugin states a length.
    Fixed,
    /// The plugin states that its tail does not end.
    Infinite,
    /// The plugin does not state a length.
    Unknown,
}

/// A parameter of a plugin. Its values are normalized: 0 to 1.
#[derive(Debug, Serialize, ToSchema)]
struct PluginParameter {
    /// Id of the parameter, as in the `params` of an instrument.
    id: u32,
    /// Display name.
    name: String,
    /// Shorter name; empty if the plugin does not state it.
    short_name: String,
    /// Label of the unit, such as `dB`; empty if the plugin does not state it.
    unit: String,
    /// Value with the settings of the request.
    value: f64,
    /// Default value.
    default: f64,
    /// Text of `value` without the unit; empty if the plugin has none.
    text: String,
    /// Number of steps between 0 and 1: 0 for a continuous parameter, 1 for a switch, and otherwise
    /// one less than the number of values.
    step_count: u32,
    /// Whether the parameter can be automated. All parameters can be set to a value.
    is_automatable: bool,
    /// Whether this is the plugin's own bypass.
    is_bypass: bool,
    /// Texts of evenly spaced values from 0 to 1, without the unit. Every step of a parameter with
    /// up to 128 values has a text. Continuous parameters have 101, 51, 21, 11 or 2 texts; the more
    /// parameters the plugin has, the fewer texts.
    texts: Vec<String>,
}

/// Lists the parameters of a plugin with the plugin's own texts, and its programs. The plugin runs
/// in a separate process, which ends with the request. Lists are cached until the module changes.
#[utoipa::path(post, path = "/plugins/parameters", tag = "plugins", request_body = ParametersRequest,
    responses((status = 200, body = ParameterList),
        HostProblems,
        (status = 422, description = "`plugin_refused`, `bad_state`, `bad_preset` or `bad_plugin_parameter`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn list(
    State(state): State<AppState>,
    user: CurrentUser,
    headers: HeaderMap,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    state.plugin_hosts.formats().await?;
    let (runtime, work_state, body_kib) = (Handle::current(), state.clone(), body.len() as u64 / 1024);
    let recipient = Recipient::new(&state, &user.id, &headers);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| -> ApiResult<Response> {
        let answer = answer(&work_state, &runtime, &user, caller, &body)?;
        recipient.answer_json(answer)
    };
    state.plugin_parameters.permits.run_for(&owner_id, body_kib, work).await
}

/// Returns the answer to a request. Blocks.
fn answer(
    state: &AppState,
    runtime: &Handle,
    user: &CurrentUser,
    caller: &Caller,
    body: &[u8],
) -> ApiResult<Bytes> {
    let ParametersRequest { plugin_id, state: plugin_state, preset, params, values, with_state } =
        parse_object(body)?;
    let setup = setup_of(plugin_state, preset, params)?;
    let values = checked(&values)?;
    let plugin = runtime.block_on(plugin(state, user, &plugin_id))?;
    let key = cache_key(&plugin, body);
    let cache = &state.plugin_parameters.cache;
    if let Some(answer) = cache.get(&key) {
        return Ok(answer);
    }
    let is_cancelled = || caller.has_disconnected();
    let wanted_values = Wanted { values: &values, state: with_state };
    let hosts = &state.plugin_hosts;
    let read_parameters = || read(hosts, &plugin, &setup, &wanted_values, &is_cancelled);
    let read_plugin = hosts.run(runtime, &user.id, &is_cancelled, read_parameters)??;
    let list = ParameterList::of(plugin, read_plugin);
    let answer = Bytes::from(serde_json::to_vec(&list).map_err(ApiError::internal)?);
    cache.insert(key, &answer);
    Ok(answer)
}

/// Returns the plugin with this id that the user may use.
pub(super) async fn plugin(state: &AppState, user: &CurrentUser, plugin_id: &str) -> ApiResult<PluginRef> {
    let scanned_plugin = state.plugins.find(user, plugin_id).await?;
    state.plugin_hosts.check_format(scanned_plugin.format).await?;
    Ok(scanned_plugin.into())
}

fn checked(values: &[PluginValue]) -> ApiResult<Vec<ParameterValue>> {
    let error = |detail: String| ApiError::Unprocessable { code: "bad_plugin_parameter", detail };
    if values.len() > VALUES_MAX {
        return Err(error(format!(
            "`values` has {} entries; at most {VALUES_MAX} are allowed.",
            values.len()
        )));
    }
    let checked = |(index, value): (usize, &PluginValue)| match (0.0..=1.0).contains(&value.value) {
        true => Ok(ParameterValue { id: value.id, value: value.value }),
        false => Err(error(format!(
            "`values/{index}` has the value {}; normalized values are numbers from 0 to 1.",
            value.value
        ))),
    };
    values.iter().enumerate().map(checked).collect()
}

impl ParameterList {
    fn of(plugin: PluginRef, read_plugin: ReadPlugin) -> Self {
        let ReadPlugin { opened, sample_texts, value_texts, state } = read_plugin;
        let has_side_chain = opened.has_side_chain();
        let parameters = opened.parameters.into_iter().zip(sample_texts);
        Self {
            plugin_id: plugin.plugin_id,
            name: opened.name,
            vendor: opened.vendor,
            version: opened.version,
            format: plugin.format.into(),
            accepts_notes: opened.accepts_notes,
            has_side_chain,
            has_window: opened.has_editor,
            latency_secs: secs(opened.latency_frames),
            tail: PluginTail::from(opened.tail_frames),
            tail_secs: tail_secs(opened.tail_frames),
            programs: opened.programs,
            program: opened.program,
            parameters: parameters.map(|(parameter, texts)| PluginParameter::of(parameter, texts)).collect(),
            value_texts,
            state: state.map(|state| BASE64_STANDARD.encode(state)),
        }
    }
}

impl PluginParameter {
    fn of(parameter: Parameter, texts: Vec<String>) -> Self {
        Self {
            id: parameter.id,
            name: parameter.name,
            short_name: parameter.short_name,
            unit: parameter.unit_label,
            value: parameter.value,
            default: parameter.default_value,
            text: parameter.text,
            step_count: parameter.step_count,
            is_automatable: parameter.is_automatable,
            is_bypass: parameter.is_bypass,
            texts,
        }
    }
}

impl From<Tail> for PluginTail {
    fn from(tail: Tail) -> Self {
        match tail {
            Tail::None => Self::None,
            Tail::Frames(_) => Self::Fixed,
            Tail::Infinite => Self::Infinite,
            Tail::Unknown => Self::Unknown,
        }
    }
}
