//! A project as Rust types. Each type keeps the fields that it does not define in `extra`.
//!
//! Positions and lengths named `tick` or `_ticks` count 960 to a quarter note.

mod control;
mod item;
mod settings;
mod track;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use control::{
    BendControl, CcControl, Control, KeyPressureControl, ParameterControl, PressureControl, ProgramControl,
};
pub use item::{
    AudioItem, AudioNormalization, AudioProcessing, AudioSource, Fades, Item, LevelMeasure, MidiItem, Note,
    SectionItem,
};
pub use settings::{ChorusSettings, Interpolation, ReverbSettings, Settings, VelocityToCutoff};
pub use track::{
    AutomationCurve, AutomationLane, AutomationPoint, Effect, EffectType, FrozenSound, PluginEngine, Send,
    SoundFontEngine, SynthEngine, Track, TrackKind,
};

use crate::number::whole;
use crate::{Extra, SCHEMA_VERSION};

/// A whole project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Version of the schema that the document follows; 1.
    #[serde(deserialize_with = "whole")]
    pub schema_version: u32,
    /// Id of the project on its service.
    pub project_id: String,
    /// Title shown to people.
    #[serde(default = "default_name")]
    pub name: String,
    /// Rate at which the engine renders the project, in hertz: 44100, 48000 or 96000.
    #[serde(default = "default_sample_rate_hz", deserialize_with = "whole")]
    pub sample_rate_hz: u32,
    /// Tempo changes by ascending tick, the first at tick 0.
    #[serde(default = "default_tempo_map")]
    pub tempo_map: Vec<TempoPoint>,
    /// Time signatures by ascending tick, the first at tick 0.
    #[serde(default = "default_time_signatures")]
    pub time_signatures: Vec<TimeSignature>,
    /// Named positions.
    #[serde(default)]
    pub markers: Vec<Marker>,
    /// The tracks, top to bottom.
    pub tracks: Vec<Track>,
    /// Level and effects of the whole mix.
    #[serde(default)]
    pub master: Master,
    /// Settings of the engine that change the sound.
    #[serde(default)]
    pub settings: Settings,
    /// View state of the web page, which the service does not interpret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Value>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Project {
    /// Returns an empty project at 48 kHz, 120 BPM and 4/4, without tracks.
    pub fn new(project_id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            project_id: project_id.into(),
            name: name.into(),
            sample_rate_hz: default_sample_rate_hz(),
            tempo_map: default_tempo_map(),
            time_signatures: default_time_signatures(),
            markers: Vec::new(),
            tracks: Vec::new(),
            master: Master::default(),
            settings: Settings::default(),
            client: None,
            extra: Extra::default(),
        }
    }
}

/// A tempo change: from `tick` on, the tempo is `bpm` quarter notes per minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TempoPoint {
    /// Start of the tempo, in ticks.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Quarter notes per minute, 1 to 100000.
    pub bpm: f64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A time signature: from `tick` on, a bar has `numerator` beats of 1/`denominator` notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeSignature {
    /// Start of the signature, in ticks.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Beats in a bar, 1 to 255.
    #[serde(deserialize_with = "whole")]
    pub numerator: u8,
    /// Note value of a beat: 4 is a quarter note. A power of two up to 128.
    #[serde(deserialize_with = "whole")]
    pub denominator: u8,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A named position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// Position in ticks.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Name shown to people.
    pub name: String,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// Level and effects of the whole mix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Master {
    /// Level in decibels, -144 to 24; 0 is unchanged.
    #[serde(default)]
    pub volume_db: f64,
    /// Effects in processing order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Automation. Its targets are `volume_db` or `effect_id/parameter_id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub automation: Vec<AutomationLane>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

fn default_name() -> String {
    "Untitled".into()
}

fn default_sample_rate_hz() -> u32 {
    48_000
}

fn default_tempo_map() -> Vec<TempoPoint> {
    vec![TempoPoint { tick: 0, bpm: 120.0, extra: Extra::default() }]
}

fn default_time_signatures() -> Vec<TimeSignature> {
    vec![TimeSignature { tick: 0, numerator: 4, denominator: 4, extra: Extra::default() }]
}
