//! The effects of a requested chain.

use std::collections::BTreeMap;

use dsp_core::effects::{EFFECTS, EffectKind};
use dsp_core::mixer::MAX_EFFECTS;
use serde::Deserialize;
use serde_json::Value;
use songfoundry_bridge_protocol::PluginFormat;

use super::message::{Answer, shown};
use super::plugin_request::RequestedPlugin;

/// Maximum memory of the effects of one chain, in bytes.
const CHAIN_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A requested effect.
#[derive(Debug)]
pub(super) struct RequestedEffect {
    pub(super) id: String,
    pub(super) origin: RequestedOrigin,
}

/// A requested effect of the engine, or a plugin.
#[derive(Debug)]
pub(super) enum RequestedOrigin {
    BuiltIn { kind: &'static EffectKind, params: BTreeMap<String, Value>, is_bypassed: bool },
    Plugin(RequestedPlugin),
}

/// An effect as in a project. Without an id, its id is its index.
#[derive(Deserialize)]
struct Description {
    id: Option<String>,
    #[serde(rename = "type", default)]
    effect_type: Option<String>,
    #[serde(default)]
    name: String,
    plugin_id: Option<String>,
    state: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    #[serde(default)]
    bypass: bool,
}

/// The effects of a chain.
#[derive(Debug)]
pub(super) struct RequestedChain {
    pub(super) effects: Vec<RequestedEffect>,
    /// An answer for each effect that is left out.
    pub(super) left_out: Vec<Answer>,
    /// Memory of the effects in bytes.
    pub(super) memory_bytes: u64,
}

/// Reads the effects of a chain at a sample rate in hertz.
///
/// # Errors
/// The answer if the chain as a whole is refused.
pub(super) fn read_effects(values: Vec<Value>, sample_rate_hz: u32) -> Result<RequestedChain, Answer> {
    if values.len() > MAX_EFFECTS {
        let detail = format!("the chain has {} effects; at most {MAX_EFFECTS} are allowed", values.len());
        return Err(Answer::error("chain_too_large", detail));
    }
    let (mut effects, mut left_out) = (Vec::<RequestedEffect>::new(), Vec::new());
    for (index, value) in values.into_iter().enumerate() {
        match read_effect(index, value) {
            Ok(effect) if effects.iter().any(|other| other.id == effect.id) => {
                let detail =
                    format!("effect {index} is left out: another one has the id `{}`", shown(&effect.id));
                left_out.push(Answer::error("duplicate_effect", detail));
            }
            Ok(effect) => effects.push(effect),
            Err(answer) => left_out.push(answer),
        }
    }
    let memory_bytes = |effect: &RequestedEffect| match &effect.origin {
        RequestedOrigin::BuiltIn { kind, .. } => (kind.memory_bytes)(sample_rate_hz, 0),
        // The number of plugins has a limit of its own.
        RequestedOrigin::Plugin(_) => 0,
    };
    let memory_bytes: u64 = effects.iter().map(memory_bytes).sum();
    if memory_bytes > CHAIN_MAX_BYTES {
        let [mib, max_mib] = [memory_bytes, CHAIN_MAX_BYTES].map(|bytes| bytes / (1024 * 1024));
        let detail = format!("the chain needs {mib} MiB of memory; at most {max_mib} MiB are allowed");
        return Err(Answer::error("chain_too_large", detail));
    }
    Ok(RequestedChain { effects, left_out, memory_bytes })
}

fn read_effect(index: usize, value: Value) -> Result<RequestedEffect, Answer> {
    let Description { id, effect_type, name, plugin_id, state, params, bypass } =
        serde_json::from_value(value).map_err(|error| {
            Answer::error("invalid_effect", format!("effect {index} is left out: {error}"))
        })?;
    let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| index.to_string());
    let effect_type = effect_type.unwrap_or_else(|| "builtin".to_owned());
    let format = match effect_type.as_str() {
        "builtin" => None,
        "vst2" => Some(PluginFormat::Vst2),
        "vst3" => Some(PluginFormat::Vst3),
        other => {
            let other = shown(other);
            let detail = format!(
                "effect {index} is left out: its type is `{other}`; expected `builtin`, `vst2` or `vst3`"
            );
            return Err(Answer::error("unsupported_effect", detail));
        }
    };
    if let Some(format) = format {
        let plugin = RequestedPlugin::read(index, format, plugin_id, state, params, bypass)?;
        return Ok(RequestedEffect { id, origin: RequestedOrigin::Plugin(plugin) });
    }
    let Some(kind) = EFFECTS.iter().find(|kind| kind.id == name) else {
        let detail = format!("effect {index} is left out: there is no effect named `{}`", shown(&name));
        return Err(Answer::error("unknown_effect", detail));
    };
    Ok(RequestedEffect { id, origin: RequestedOrigin::BuiltIn { kind, params, is_bypassed: bypass } })
}
