//! Requests and answers of `songfoundry-bridge host`, which hosts one plugin.
//!
//! The service creates a pair of sockets, passes one of them to the helper as inherited file
//! descriptor (`--socket FD`), and sends [`Request`]s on the other. The helper sends one [`Answer`]
//! to each request, in order. Both are headers of frames ([`crate::frame`]). The first request is
//! [`Request::Hello`], the second [`Request::Open`].
//!
//! The answers come from a process that runs the code of a plugin. The helper limits names, lists
//! and sizes, but the service must not trust them more than it trusts the plugin.

use serde::{Deserialize, Serialize};

use crate::PluginKind;

/// Version of this protocol. A helper refuses a [`Request::Hello`] with another version.
pub const PROTOCOL_VERSION: u32 = 5;

/// Maximum number of frames of a block: the upper limit of [`Open::block_frames_max`].
pub const BLOCK_FRAMES_MAX: u32 = 8_192;

/// Maximum number of channels of all buses of a direction, and of the audio in a frame. Samplers
/// with separate outputs have up to 98.
pub const CHANNELS_MAX: u16 = 128;

/// Maximum number of buses of a direction.
pub const BUSES_MAX: usize = 64;

/// Maximum number of parameters that a plugin may have.
pub const PARAMETERS_MAX: usize = 10_000;

/// Maximum number of programs that are listed for a plugin.
pub const PROGRAMS_MAX: usize = 1_000;

/// Maximum number of events in a [`Process`] request.
pub const EVENTS_MAX: usize = 20_000;

/// Maximum number of [`Process::transport_changes`].
pub const TRANSPORT_CHANGES_MAX: usize = 10_000;

/// Maximum length of a name or a text from a plugin. Longer texts are truncated.
pub const TEXT_BYTES_MAX: usize = 256;

/// A request from the service. Each is answered by the variant of [`Answer`] that its comment
/// names, or by [`Answer::Refused`]. A refused request does not change the plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Compares the versions of the protocol. Answer: [`Answer::Hello`].
    Hello {
        /// [`PROTOCOL_VERSION`] of the service.
        protocol_version: u32,
    },
    /// Loads the module, creates the plugin and activates it. Answer: [`Answer::Opened`].
    Open(Open),
    /// Processes audio. The binary part has the input and then the side-chain, see
    /// [`Process::input_channels`] and [`Process::side_chain_channels`]. Answer:
    /// [`Answer::Processed`].
    Process(Process),
    /// Requests the state of the plugin. Answer: [`Answer::State`].
    GetState,
    /// Restores a state, which is the binary part. It is refused if it belongs to another plugin.
    /// Answer: [`Answer::StateSet`].
    SetState,
    /// Requests texts of parameter values, as the plugin formats them. Answer:
    /// [`Answer::ParameterTexts`].
    ParameterTexts {
        /// The values; they do not change the plugin.
        values: Vec<ParameterValue>,
    },
    /// Loads a preset, which is the binary part: the content of a `.vstpreset`, `.fxp` or `.fxb`
    /// file. It is refused if it belongs to another plugin. Answer: [`Answer::StateSet`].
    LoadPreset,
    /// Requests the current state as a preset file. Answer: [`Answer::Preset`].
    SavePreset {
        /// The format of the file. VST3 plugins write only `vstpreset`, VST2 plugins the others.
        format: PresetFormat,
    },
    /// Selects one of the plugin's programs. Answer: [`Answer::StateSet`].
    SetProgram {
        /// Index of the program in [`Opened::programs`].
        index: u32,
    },
    /// Ends all notes and tails: deactivates the plugin, processes silence until it is silent (for
    /// at most five seconds of audio), and activates it again. Parameters keep their values.
    /// Plugins may still keep the phase of an LFO or the seed of a noise. Answer: [`Answer::Done`].
    Reset,
    /// Processes blocks in real time from now on, through shared memory ([`crate::live`]). A byte
    /// with three file descriptors follows the frame: those of the memory, of the socket that
    /// signals posted blocks, and of the socket that signals answered blocks. Neither end of these
    /// sockets blocks. Answer: [`Answer::Done`].
    ShareBlocks,
    /// Opens the plugin's own window and the server that shows it ([`crate::window`]). Only the
    /// command `gui` fulfils it, once. Answer: [`Answer::WindowOpened`].
    OpenWindow(OpenWindow),
    /// Closes the plugin. The helper closes it after the answer and then ends. Some plugins crash
    /// or hang meanwhile, so the service ignores the exit status. Answer: [`Answer::Done`].
    Close,
}

/// The plugin to open and how it will be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// Absolute path of the module: a library or a bundle.
    pub module: String,
    /// Id of the plugin in the module, as [`crate::ScannedPlugin::plugin_id`] has it.
    pub plugin_id: String,
    /// Sample rate, 8,000 to 768,000.
    pub sample_rate_hz: f64,
    /// Maximum number of frames of a block, 1 to [`BLOCK_FRAMES_MAX`]. The helper divides longer
    /// [`Process`] requests into such blocks.
    pub block_frames_max: u32,
    /// Whether the plugin processes in real time instead of offline, which plugins are told.
    #[serde(default)]
    pub is_real_time: bool,
}

/// The settings of a window to open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenWindow {
    /// The secret that each request to the server of the window must contain, at least
    /// [`crate::window::SECRET_BYTES_MIN`] bytes.
    pub secret: String,
}

/// An open window of a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowOpened {
    /// Port of the window's server, on the loopback interface.
    pub port: u16,
    /// Width of the window in pixels.
    pub width: u16,
    /// Height of the window in pixels.
    pub height: u16,
}

/// A request to process audio.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Number of frames. The input with the side-chain, and the output, must fit into the binary
    /// part of a frame.
    pub frames: u32,
    /// Number of channels of the input in the binary part; 0 for silent input. An input with other
    /// channels than the plugin's main input is converted: a mono input is copied to every channel
    /// of the bus, and a mono bus gets the mean of the channels. Otherwise, excess channels are
    /// left out and missing channels are silent.
    pub input_channels: u16,
    /// Number of channels of the side-chain in the binary part; 0 for a silent side-chain. They are
    /// converted to the channels of the bus as those of the input are. A plugin without a
    /// side-chain ignores them.
    pub side_chain_channels: u16,
    /// Number of channels of the output. The plugin's main output is converted to them: a mono
    /// output is copied to each channel, and a single channel gets the mean of all. Otherwise,
    /// excess channels are left out and missing channels are silent.
    pub output_channels: u16,
    /// Position of the first frame.
    pub transport: Transport,
    /// Changes of the tempo and the time signature, in ascending order of their frames, which are
    /// at least 1. At most [`TRANSPORT_CHANGES_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transport_changes: Vec<TransportChange>,
    /// Events, in ascending order of their frames. At most [`EVENTS_MAX`]. Parameters change at
    /// their exact frames, unless there are changes at more than a sixteenth of the frames.
    pub events: Vec<Event>,
}

/// A change of the tempo or the time signature. A block starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransportChange {
    /// Offset from the first frame of the request; less than [`Process::frames`].
    pub frame: u32,
    /// Tempo and position from this frame on.
    pub transport: Transport,
}

/// Tempo and position at a frame. The tempo and the time signature apply up to the next
/// [`TransportChange`]; the helper advances the positions for later blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transport {
    /// Tempo in quarter notes a minute.
    pub tempo_bpm: f64,
    /// Position in the song. Negative before its start.
    pub position_frames: i64,
    /// Position in the song in quarter notes.
    pub position_quarters: f64,
    /// Start of the current bar in quarter notes.
    pub bar_start_quarters: f64,
    /// Numerator of the time signature.
    pub numerator: u8,
    /// Denominator of the time signature.
    pub denominator: u8,
    /// Whether the song plays.
    pub is_playing: bool,
}

impl Default for Transport {
    /// Returns the start of a playing song in 4/4 at 120 quarter notes a minute.
    fn default() -> Self {
        Self {
            tempo_bpm: 120.0,
            position_frames: 0,
            position_quarters: 0.0,
            bar_start_quarters: 0.0,
            numerator: 4,
            denominator: 4,
            is_playing: true,
        }
    }
}

/// An event at a frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Offset from the first frame of the request; less than [`Process::frames`].
    pub frame: u32,
    /// The kind of the event, with its values.
    pub kind: EventKind,
}

/// The kinds of events. MIDI channels are 0 to 15; keys, controllers and MIDI values 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A note starts.
    NoteOn {
        /// Id of the note, unique among the notes that sound; -1 for none.
        note_id: i32,
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// MIDI key number, 0 to 127.
        key: u8,
        /// Velocity, 0 to 1. VST2 plugins get it in 127 steps, of which the lowest is 1.
        velocity: f32,
    },
    /// A note ends.
    NoteOff {
        /// Id of the note; -1 for none.
        note_id: i32,
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// MIDI key number, 0 to 127.
        key: u8,
        /// Release velocity, 0 to 1.
        velocity: f32,
    },
    /// A MIDI controller changes. VST3 plugins get it only if they map it to a parameter.
    Controller {
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// Controller number, 0 to 127.
        controller: u8,
        /// MIDI value, 0 to 127.
        value: u8,
    },
    /// The pressure of a channel changes.
    ChannelPressure {
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// MIDI value, 0 to 127.
        value: u8,
    },
    /// The pressure of a key changes.
    KeyPressure {
        /// Id of the note; -1 for none.
        note_id: i32,
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// MIDI key number, 0 to 127.
        key: u8,
        /// MIDI value, 0 to 127.
        value: u8,
    },
    /// The pitch wheel moves.
    PitchBend {
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// 0 to 16,383; the centre is 8,192.
        value: u16,
    },
    /// A MIDI program is selected.
    ProgramChange {
        /// MIDI channel, 0 to 15.
        channel: u8,
        /// Number of the program, 0 to 127.
        program: u8,
    },
    /// A parameter changes.
    Parameter(ParameterValue),
    /// A property of a single note changes. Only VST3 plugins that offer the property get it.
    NoteExpression {
        /// Id of the note.
        note_id: i32,
        /// The property of the note that changes.
        expression: NoteExpression,
        /// Normalized value, 0 to 1, see [`NoteExpression`].
        value: f64,
    },
}

/// Properties of a single note, as VST3 defines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteExpression {
    /// Gain: four times the value.
    Volume,
    /// Panorama: 0 is left, 0.5 the centre, 1 right.
    Pan,
    /// Change of pitch: 240 semitones times (value - 0.5).
    Tuning,
    /// Depth of the vibrato.
    Vibrato,
    /// Expression, as controller 11 of MIDI.
    Expression,
    /// Brightness of the sound.
    Brightness,
}

/// A value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ParameterValue {
    /// [`Parameter::id`].
    pub id: u32,
    /// Normalized value, 0 to 1.
    pub value: f64,
}

/// Formats of preset files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PresetFormat {
    /// A preset of a VST3 plugin.
    Vstpreset,
    /// A program of a VST2 plugin.
    Fxp,
    /// A bank of programs of a VST2 plugin.
    Fxb,
}

/// The answer to a [`Request`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The answer to [`Request::Hello`].
    Hello {
        /// [`PROTOCOL_VERSION`] of the helper.
        protocol_version: u32,
        /// Version of the helper.
        version: String,
    },
    /// The answer to [`Request::Open`].
    Opened(Box<Opened>),
    /// The answer to [`Request::Process`]. The binary part has the output:
    /// [`Process::output_channels`] channels of [`Process::frames`] samples.
    Processed(Processed),
    /// The answer to [`Request::GetState`]. The binary part has the state.
    State,
    /// The answer to [`Request::SetState`], [`Request::LoadPreset`] and [`Request::SetProgram`].
    StateSet {
        /// The values of all parameters, in the order of [`Opened::parameters`].
        parameters: Vec<ParameterValue>,
    },
    /// The answer to [`Request::ParameterTexts`].
    ParameterTexts {
        /// A text for each value of the request; empty if the plugin has none.
        texts: Vec<String>,
    },
    /// The answer to [`Request::SavePreset`]. The binary part has the content of the file.
    Preset,
    /// The answer to [`Request::OpenWindow`].
    WindowOpened(WindowOpened),
    /// The answer to [`Request::Reset`], [`Request::ShareBlocks`] and [`Request::Close`].
    Done,
    /// The request cannot be fulfilled.
    Refused {
        /// The reason, as a sentence without a capital and a full stop.
        reason: String,
    },
}

/// The properties of a plugin that was opened and activated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Name of the plugin, as the plugin states it.
    pub name: String,
    /// The vendor; empty if the plugin does not state it.
    pub vendor: String,
    /// The version as the vendor writes it; empty if the plugin does not state it.
    pub version: String,
    /// The kind of the plugin.
    pub kind: PluginKind,
    /// Audio inputs. The service supplies the main input and the side-chain; the others get
    /// silence.
    pub inputs: Vec<Bus>,
    /// Audio outputs. The service gets the main output.
    pub outputs: Vec<Bus>,
    /// Latency; it may change when audio is processed, see [`Processed::latency_frames`].
    pub latency_frames: u32,
    /// Length of the sound after the input has ended.
    pub tail_frames: Tail,
    /// All parameters except hidden and read-only ones.
    pub parameters: Vec<Parameter>,
    /// Names of the programs that [`Request::SetProgram`] can select.
    pub programs: Vec<String>,
    /// Index of the selected program, if the plugin has programs.
    pub program: Option<u32>,
    /// Whether the plugin has its own window.
    pub has_editor: bool,
    /// Whether the plugin receives notes.
    pub accepts_notes: bool,
}

impl Opened {
    /// Whether the plugin has a side-chain input.
    #[must_use]
    pub fn has_side_chain(&self) -> bool {
        self.inputs.iter().any(|bus| bus.is_side_chain)
    }
}

/// A group of audio channels of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bus {
    /// Name of the bus; empty if the plugin does not state it.
    pub name: String,
    /// Number of channels.
    pub channels: u16,
    /// Whether this is the main bus of its direction. At most one is.
    pub is_main: bool,
    /// Whether this is the side-chain of an effect: the first auxiliary input. At most one is.
    pub is_side_chain: bool,
}

/// Length of the sound after the input has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// The plugin states that it has no tail.
    None,
    /// The plugin states this length. It is at most one hour.
    Frames(u32),
    /// The plugin may never become silent.
    Infinite,
    /// The plugin does not state a length.
    Unknown,
}

/// A parameter of a plugin. Values are normalized: 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Id of the parameter: the parameter id for VST3, the index for VST2.
    pub id: u32,
    /// Name of the parameter, as the plugin states it.
    pub name: String,
    /// A shorter name; empty if the plugin does not state it.
    pub short_name: String,
    /// Label of the unit, such as `dB`; empty if the plugin does not state it.
    pub unit_label: String,
    /// Default value: that of VST3, and for VST2 the value of a new plugin.
    pub default_value: f64,
    /// Current normalized value, 0 to 1.
    pub value: f64,
    /// Text of the current value without the unit's label.
    pub text: String,
    /// Number of steps between 0 and 1: 0 for a continuous parameter, 1 for a switch, and otherwise
    /// one less than the number of values.
    pub step_count: u32,
    /// Whether automation may change the parameter while the song plays. Its value can always be
    /// set before playback.
    pub is_automatable: bool,
    /// Whether the parameter is the plugin's own bypass.
    pub is_bypass: bool,
}

/// The plugin's reports after it has processed a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Processed {
    /// Latency after the last block, in frames.
    pub latency_frames: u32,
    /// The last value of each parameter that the plugin itself changed.
    pub parameter_changes: Vec<ParameterValue>,
    /// Number of output samples that were infinite or not a number. They are replaced by 0.
    pub non_finite_samples: u64,
}
