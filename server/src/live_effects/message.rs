//! The text messages of a WebSocket.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::statistics::{PluginStatistics, Statistics};

/// Sample rate of a chain that is sent as a list only.
const DEFAULT_RATE_HZ: u32 = 48_000;

/// Tempo of a chain without one, in quarter notes per minute.
const DEFAULT_BPM: f64 = 120.0;

/// A command of the client.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Chain(ChainCommand),
    SetParameter(SetParameter),
    Bypass(Bypass),
    ReportLatency(ReportLatency),
    Flush(Flush),
    Midi(MidiCommand),
    State(StateOf),
    Stats,
}

/// `chain`: the effects, in their order.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct ChainCommand {
    #[serde(default = "default_rate_hz")]
    pub(super) sample_rate: u32,
    /// Seed of random numbers, as `settings.seed` of a project.
    #[serde(default)]
    pub(super) seed: u64,
    /// Id of the track with the effects, on which random numbers also depend; empty for the master.
    #[serde(default)]
    pub(super) track_id: String,
    /// Tempo in quarter notes per minute, for effects that synchronize to it.
    #[serde(default = "default_bpm")]
    pub(super) bpm: f64,
    pub(super) effects: Vec<Value>,
}

/// `SET_PARAM`: changes a parameter of an effect.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct SetParameter {
    pub(super) effect: EffectName,
    pub(super) param: String,
    pub(super) value: Value,
}

/// `bypass`: bypasses an effect, or ends that.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Bypass {
    pub(super) effect: EffectName,
    pub(super) bypass: bool,
}

/// `REPORT_LATENCY`: asks for the latencies, and may state the client's own.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct ReportLatency {
    /// Latency of the client in frames.
    #[serde(default)]
    pub(super) client_frames: Option<u32>,
}

/// `flush`: clears the audio state.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Flush {
    /// Frame of the song to which the next block belongs.
    #[serde(default)]
    pub(super) frame: u64,
}

/// `state`: asks for the state of a plugin.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct StateOf {
    pub(super) effect: EffectName,
}

/// `midi`: plays notes, or moves controllers.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct MidiCommand {
    /// The plugin; by default the first one of the chain that receives notes.
    pub(super) effect: Option<EffectName>,
    pub(super) events: Vec<MidiEvent>,
}

/// A MIDI message.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct MidiEvent {
    /// Status and data.
    pub(super) bytes: Vec<u8>,
    /// Offset in frames from the start of the next block.
    #[serde(default)]
    pub(super) frame: u32,
}

/// The id of an effect, or its index for effects without an id.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum EffectName {
    Id(String),
    Index(usize),
}

impl EffectName {
    /// Returns the id. The ids of effects without one are their indices.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Id(id) => id.clone(),
            Self::Index(index) => index.to_string(),
        }
    }
}

fn default_rate_hz() -> u32 {
    DEFAULT_RATE_HZ
}

fn default_bpm() -> f64 {
    DEFAULT_BPM
}

/// A message to the client.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub(super) enum Answer {
    /// Latencies in frames of the chain and of each effect.
    Latency { total: usize, latencies: Vec<usize> },
    /// The audio state is clear.
    FlushDone,
    /// MIDI events wait for their blocks.
    MidiQueued {
        effect: String,
        /// Number of events that wait for the plugin.
        waiting: usize,
        /// Frames from the start of the next block to the last of them.
        queue_frames: u64,
        /// Frames by which the sound of an event follows the event in the output of the chain.
        latency: usize,
    },
    /// Statistics of the stream.
    Stats {
        #[serde(flatten)]
        statistics: Statistics,
        /// Times that half and 99 of 100 blocks do not exceed from their arrival to their answer.
        p50_ms: f64,
        p99_ms: f64,
        /// The client's latency in frames as it was last reported.
        client_frames: Option<u32>,
        plugins: Vec<PluginStatistics>,
    },
    /// A plugin is open, or has been started again. It is audible after its latency.
    PluginReady { effect: String, name: String, latency: usize },
    /// A plugin did not answer in time. Its input passes with its latency until it does.
    PluginLate { effect: String, detail: String },
    /// A plugin cannot be used. If it is `restarting`, `plugin_ready` or another `plugin_failed`
    /// follows.
    PluginFailed { effect: String, code: &'static str, detail: String, restarting: bool },
    /// The state of a plugin in base64, as in a project.
    State { effect: String, state: String },
    /// A message was refused. The stream goes on.
    Error { code: &'static str, detail: String },
}

impl Answer {
    pub(super) fn error(code: &'static str, detail: impl Into<String>) -> Self {
        Self::Error { code, detail: detail.into() }
    }
}

impl Command {
    /// Reads a text message.
    ///
    /// # Errors
    /// The answer for a message that is no command.
    pub(super) fn parse(text: &str) -> Result<Self, Answer> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Answer::error("invalid_json", format!("the message is not JSON: {error}")))?;
        let Value::Object(fields) = &value else {
            let kind = kind_of(&value);
            let Value::Array(effects) = value else {
                let detail =
                    format!("the message is {kind}; expected an object with `cmd`, or a list of effects");
                return Err(Answer::error("unknown_command", detail));
            };
            let (sample_rate, bpm) = (DEFAULT_RATE_HZ, DEFAULT_BPM);
            return Ok(Self::Chain(ChainCommand {
                sample_rate,
                seed: 0,
                track_id: String::new(),
                bpm,
                effects,
            }));
        };
        let name = fields.get("cmd").and_then(Value::as_str).unwrap_or_default().to_owned();
        let invalid = |error: serde_json::Error| {
            Answer::error("invalid_command", format!("the fields of `{name}` are invalid: {error}"))
        };
        match name.as_str() {
            "chain" => serde_json::from_value(value).map(Self::Chain).map_err(invalid),
            "SET_PARAM" => serde_json::from_value(value).map(Self::SetParameter).map_err(invalid),
            "REPORT_LATENCY" => serde_json::from_value(value).map(Self::ReportLatency).map_err(invalid),
            "bypass" => serde_json::from_value(value).map(Self::Bypass).map_err(invalid),
            "flush" => serde_json::from_value(value).map(Self::Flush).map_err(invalid),
            "midi" => serde_json::from_value(value).map(Self::Midi).map_err(invalid),
            "state" => serde_json::from_value(value).map(Self::State).map_err(invalid),
            "stats" => Ok(Self::Stats),
            _ => Err(Answer::error(
                "unknown_command",
                format!(
                    "`cmd` is `{}`; expected `chain`, `SET_PARAM`, `REPORT_LATENCY`, `bypass`, `flush`, `midi`, `state` or `stats`",
                    shown(&name)
                ),
            )),
        }
    }
}

/// Maximum number of characters of a name that an error repeats.
const SHOWN_CHARS: usize = 64;

/// Returns the beginning of a name from the client, for an error.
pub(super) fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(SHOWN_CHARS).collect();
    if shown.len() < name.len() {
        shown.push_str("...");
    }
    shown
}

/// Describes the kind of a JSON value.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
