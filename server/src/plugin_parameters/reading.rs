//! Reads the parameters or a preset file of a plugin in a separate process.

use std::collections::HashMap;

use songfoundry_bridge_protocol::host::{
    EventKind, Opened, Parameter, ParameterValue, PresetFormat, Process, Tail, Transport,
};

use super::sample_texts::{sample_texts, texts_of};
use crate::plugin_hosts::{OpenOptions, PluginHost, PluginHosts, PluginRef};
use crate::rendering::RenderError;
use crate::rendering::plugin_track::{PluginSetup, StartState};

/// Sample rate at which plugins state their latency.
const SAMPLE_RATE_HZ: u32 = 48_000;

/// Frames that a plugin processes after its values are set.
const BLOCK_FRAMES: u32 = 512;

/// Data that a request needs from a plugin, in addition to its parameters.
pub(super) struct Wanted<'w> {
    /// Values of parameters, whose texts are read.
    pub(super) values: &'w [ParameterValue],
    /// Whether the state is read.
    pub(super) state: bool,
}

/// A plugin with the values of a setup.
pub(super) struct ReadPlugin {
    /// Properties of the plugin and its parameters, with the values and texts of the setup.
    pub(super) opened: Opened,
    /// Texts of evenly spaced values of each parameter.
    pub(super) sample_texts: Vec<Vec<String>>,
    /// Texts of [`Wanted::values`].
    pub(super) value_texts: Vec<String>,
    /// The state, if it is wanted.
    pub(super) state: Option<Vec<u8>>,
}

/// Starts a plugin and reads its parameters. Blocks.
///
/// # Errors
/// The plugin fails, or refuses the setup.
pub(super) fn read(
    hosts: &PluginHosts,
    plugin: &PluginRef,
    setup: &PluginSetup,
    wanted: &Wanted<'_>,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<ReadPlugin, RenderError> {
    let StartedPlugin { mut host, changes, latency_frames } = start(hosts, plugin, setup, is_cancelled)?;
    let mut opened = host.opened().clone();
    opened.latency_frames = latency_frames;
    opened.program = match setup.start {
        StartState::New => opened.program,
        StartState::Program(index) => Some(index),
        StartState::State(_) | StartState::Preset(_) => None,
    };
    set_values(&mut opened.parameters, &changes);
    let state = if wanted.state { Some(host.state()?) } else { None };
    let current: Vec<ParameterValue> = opened.parameters.iter().map(current_value).collect();
    for (parameter, text) in opened.parameters.iter_mut().zip(texts_of(&mut host, &current)?) {
        parameter.text = text;
    }
    let value_texts = texts_of(&mut host, wanted.values)?;
    let sample_texts = sample_texts(&mut host, &opened.parameters)?;
    Ok(ReadPlugin { opened, sample_texts, value_texts, state })
}

/// Starts a plugin with a setup, and returns its name and its settings as the content of a preset
/// file. Blocks.
///
/// # Errors
/// Those of [`read`].
pub(super) fn save_preset(
    hosts: &PluginHosts,
    plugin: &PluginRef,
    setup: &PluginSetup,
    format: PresetFormat,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<(String, Vec<u8>), RenderError> {
    let StartedPlugin { mut host, .. } = start(hosts, plugin, setup, is_cancelled)?;
    let content = host.save_preset(format)?;
    Ok((host.opened().name.clone(), content))
}

/// A plugin that has applied a setup.
struct StartedPlugin<'h> {
    host: PluginHost<'h>,
    /// Values that differ from those with which the plugin was opened.
    changes: Vec<ParameterValue>,
    latency_frames: u32,
}

/// Starts a plugin, loads a setup, and makes the plugin process a block of silence, because some
/// plugins apply values only then.
fn start<'h>(
    hosts: &'h PluginHosts,
    plugin: &PluginRef,
    setup: &PluginSetup,
    is_cancelled: &'h dyn Fn() -> bool,
) -> Result<StartedPlugin<'h>, RenderError> {
    let options = OpenOptions {
        sample_rate_hz: SAMPLE_RATE_HZ,
        block_frames_max: BLOCK_FRAMES,
        is_real_time: false,
        can_show_window: false,
        is_cancelled,
    };
    let mut host = PluginHost::open(hosts, plugin, options)?;
    let mut changes = setup.load_start(&mut host)?;
    let events = setup.value_changes(host.opened(), &mut Vec::new())?;
    changes.extend(events.iter().filter_map(|event| match event.kind {
        EventKind::Parameter(value) => Some(value),
        _ => None,
    }));
    let transport = Transport { is_playing: false, ..Transport::default() };
    let silence =
        Process { frames: BLOCK_FRAMES, output_channels: 2, transport, events, ..Process::default() };
    let processed = host.process(silence, &[])?.processed;
    changes.extend(processed.parameter_changes);
    Ok(StartedPlugin { host, changes, latency_frames: processed.latency_frames })
}

fn current_value(parameter: &Parameter) -> ParameterValue {
    ParameterValue { id: parameter.id, value: parameter.value }
}

/// Sets the values of parameters. If a parameter has several changes, the last one applies.
fn set_values(parameters: &mut [Parameter], changes: &[ParameterValue]) {
    let changes: HashMap<u32, f64> = changes.iter().map(|change| (change.id, change.value)).collect();
    for parameter in parameters {
        if let Some(value) = changes.get(&parameter.id) {
            parameter.value = value.clamp(0.0, 1.0);
        }
    }
}

/// Converts frames at [`SAMPLE_RATE_HZ`] to seconds.
pub(super) fn secs(frames: u32) -> f64 {
    f64::from(frames) / f64::from(SAMPLE_RATE_HZ)
}

/// Returns the length of a tail in seconds; `None` if the plugin states none.
pub(super) fn tail_secs(tail: Tail) -> Option<f64> {
    match tail {
        Tail::None => Some(0.0),
        Tail::Frames(frames) => Some(secs(frames)),
        Tail::Infinite | Tail::Unknown => None,
    }
}
