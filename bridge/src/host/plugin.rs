//! The interface of a hosted plugin, whatever its format.

use std::time::Duration;

use songfoundry_bridge_protocol::host::{Event, Opened, ParameterValue, PresetFormat, Transport};

use super::editor::PluginEditor;
use crate::module::FailureReason;

/// Number of a file descriptor.
pub(crate) type Descriptor = i32;

/// A block of audio to process. Parameter events are at frame 0, unless the changes of a request
/// are very dense ([`super::blocks::change_interval`]).
pub(crate) struct Block<'a> {
    /// Number of frames, at most that of [`Format::block_frames_max`].
    pub(crate) frames: usize,
    /// Position and tempo at the first frame.
    pub(crate) transport: Transport,
    /// Events, with offsets from the first frame.
    pub(crate) events: &'a [Event],
}

/// The sample rate, the maximum block size and the mode, which stay the same while the plugin is
/// open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: f64,
    /// Maximum number of frames of a block.
    pub(crate) block_frames_max: u32,
    /// Whether the plugin processes in real time instead of offline.
    pub(crate) is_real_time: bool,
}

/// The descriptors and timers of a plugin for which the host must wait between requests.
#[derive(Default)]
pub(crate) struct IdleWork {
    /// File descriptors that the plugin wants to read.
    pub(crate) descriptors: Vec<Descriptor>,
    /// Time until the plugin's next timer.
    pub(crate) timeout: Option<Duration>,
}

/// An open and active plugin.
pub(crate) trait HostedPlugin: PluginEditor {
    /// Returns the properties of the plugin and the current values of its parameters.
    fn opened(&mut self) -> Result<Opened, FailureReason>;

    /// Returns the channels of the main input, to be filled before [`Self::process`]; empty if the
    /// plugin has no main input.
    fn main_input(&mut self) -> &mut [Vec<f32>];

    /// Returns the channels of the side-chain, to be filled before [`Self::process`]; empty if the
    /// plugin has none.
    fn side_chain(&mut self) -> &mut [Vec<f32>];

    /// Returns the channels of the main output of the last block; empty if the plugin has none.
    fn main_output(&mut self) -> &mut [Vec<f32>];

    /// Processes a block. Returns the reason if the plugin fails.
    fn process(&mut self, block: &Block) -> Result<(), FailureReason>;

    /// Returns the latency in frames. Some plugins report it only after the first block.
    fn latency_frames(&mut self) -> u32;

    /// Carries out the changes that the plugin requested while it processed, and returns the
    /// parameters that it changed.
    fn take_changes(&mut self) -> Result<Vec<ParameterValue>, FailureReason>;

    /// Returns the values of all parameters of [`Opened::parameters`].
    fn parameter_values(&mut self) -> Vec<ParameterValue>;

    /// Returns the text of a parameter value; the parameter keeps its value.
    fn parameter_text(&mut self, value: ParameterValue) -> String;

    /// Returns the state in the form of [`super::state`].
    fn state(&mut self) -> Result<Vec<u8>, FailureReason>;

    /// Restores a state in the form of [`super::state`].
    fn set_state(&mut self, bytes: &[u8]) -> Result<(), FailureReason>;

    /// Loads the content of a preset file.
    fn load_preset(&mut self, bytes: &[u8]) -> Result<(), FailureReason>;

    /// Returns the current state as the content of a preset file.
    fn save_preset(&mut self, format: PresetFormat) -> Result<Vec<u8>, FailureReason>;

    /// Selects the program with this index. Returns the reason if there is none.
    fn set_program(&mut self, index: u32) -> Result<(), FailureReason>;

    /// Ends all notes and tails.
    fn reset(&mut self) -> Result<(), FailureReason>;

    /// Returns the descriptors and timers for which the host must wait between requests.
    fn idle_work(&self) -> IdleWork {
        IdleWork::default()
    }

    /// Runs the plugin's timers that are due and its descriptor handlers. `ready` are the
    /// descriptors that can be read.
    fn idle(&mut self, ready: &[Descriptor]) {
        let _ = ready;
    }

    /// Deactivates and closes the plugin.
    fn close(self: Box<Self>);
}
