//! Tracks, their instruments, sends, effects and automation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, MidiItem, TempoPoint};
use crate::Extra;
use crate::number::{optional_whole, whole};

/// A track of the arrangement and of the mixer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Id of the track, unique within the project.
    pub id: String,
    /// Name shown to people.
    #[serde(default)]
    pub name: String,
    /// Kind of the track, which determines its source of sound.
    pub kind: TrackKind,
    /// Colour of the track as `#rrggbb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Fader in decibels, -144 to 24.
    #[serde(default)]
    pub volume_db: f64,
    /// Pan: -1 is left, 0 the centre, 1 right.
    #[serde(default)]
    pub pan: f64,
    /// Whether the track is muted.
    #[serde(default)]
    pub mute: bool,
    /// Whether the track is soloed. While any track is soloed, the other tracks are muted.
    #[serde(default)]
    pub solo: bool,
    /// Whether the effects of the track are bypassed.
    #[serde(default)]
    pub bypass: bool,
    /// Id of the bus or group that the track feeds; `None` for the master.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Sends to buses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sends: Vec<Send>,
    /// Effects in processing order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Automation of parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub automation: Vec<AutomationLane>,
    /// Items of the track.
    #[serde(default)]
    pub items: Vec<Item>,
    /// Takes of recordings, which do not play. Items of the track play pieces of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<Item>,
    /// The instrument, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synth_engine: Option<SynthEngine>,
    /// The recording that a frozen track plays; `None` if the track is not frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenSound>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Track {
    /// Creates an empty track with fader and pan in their neutral positions.
    pub fn new(id: impl Into<String>, kind: TrackKind) -> Self {
        Self {
            id: id.into(),
            name: String::new(),
            kind,
            color: None,
            volume_db: 0.0,
            pan: 0.0,
            mute: false,
            solo: false,
            bypass: false,
            output: None,
            sends: Vec::new(),
            effects: Vec::new(),
            automation: Vec::new(),
            items: Vec::new(),
            takes: Vec::new(),
            synth_engine: None,
            frozen: None,
            extra: Extra::default(),
        }
    }

    /// Returns the track without the parts whose sound the recording of a frozen track contains:
    /// its items, its instrument and its effects. Returns other tracks unchanged.
    pub fn without_frozen_parts(&self) -> Cow<'_, Self> {
        if self.frozen.is_none() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            name: self.name.clone(),
            color: self.color.clone(),
            volume_db: self.volume_db,
            pan: self.pan,
            mute: self.mute,
            solo: self.solo,
            output: self.output.clone(),
            sends: self.sends.clone(),
            automation: self.automation.clone(),
            frozen: self.frozen.clone(),
            extra: self.extra.clone(),
            ..Self::new(self.id.clone(), self.kind)
        })
    }

    /// Returns the track's plugin instrument, if it has one.
    pub fn plugin_engine(&self) -> Option<&PluginEngine> {
        match self.synth_engine.as_ref()? {
            SynthEngine::SoundFont(_) => None,
            SynthEngine::Vst2(engine) | SynthEngine::Vst3(engine) => Some(engine),
        }
    }

    /// Returns the track's MIDI items in the order in which they begin.
    pub fn midi_items(&self) -> Vec<&MidiItem> {
        let mut items: Vec<&MidiItem> = self
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Midi(item) => Some(item),
                Item::Audio(_) | Item::Section(_) => None,
            })
            .collect();
        items.sort_by_key(|item| item.start_tick);
        items
    }
}

/// The recording of a frozen track, after its effects and before its fader, from the start of the
/// song. The items, the instrument and the effects of the track stay in the project, but only the
/// recording plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrozenSound {
    /// The service's id of the audio file.
    pub server_file_id: String,
    /// End of the track's items, in frames of the file. The remaining frames are the tail.
    #[serde(deserialize_with = "whole")]
    pub length_frames: u64,
    /// Sample rate of the file in hertz. Without it, a missing file is assumed to have the sample
    /// rate of the project.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub sample_rate_hz: Option<u32>,
    /// Tempo map of the project when the track was frozen. The recording does not follow later
    /// changes of the tempo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tempo_map: Vec<TempoPoint>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// The kind of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrackKind {
    /// Notes for an instrument.
    Instrument,
    /// Recorded audio.
    Audio,
    /// The sum of the sends to this track.
    Bus,
    /// The sum of the tracks that feed this track.
    Group,
}

/// The instrument of a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SynthEngine {
    /// A preset of a SoundFont bank.
    SoundFont(SoundFontEngine),
    /// A VST2 plugin.
    Vst2(PluginEngine),
    /// A VST3 plugin.
    Vst3(PluginEngine),
}

/// A preset of a SoundFont bank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoundFontEngine {
    /// Id of the bank in the catalogue; `None` for the service's default bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soundfont_id: Option<String>,
    /// SoundFont bank number, 0 to 128. Bank 128 has the drum kits.
    #[serde(deserialize_with = "whole")]
    pub bank: u8,
    /// Program, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub program: u8,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A plugin instrument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PluginEngine {
    /// Id of the plugin.
    pub plugin_id: String,
    /// Version that the plugin stated when it was chosen or its state was last saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    /// State of the plugin in base64, which only the plugin interprets. It is kept while the plugin
    /// is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Normalized parameter values, 0 to 1, by parameter id in decimal digits. They are set after
    /// the state is loaded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, f64>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A send of a track's signal to a bus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// Id of the bus.
    pub to: String,
    /// Level in decibels, -144 to 24.
    #[serde(default)]
    pub level_db: f64,
    /// Whether the send is before the fader.
    #[serde(default)]
    pub pre_fader: bool,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// An effect in a chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Id of the effect within its track.
    pub id: String,
    /// Origin of the effect.
    #[serde(rename = "type")]
    pub effect_type: EffectType,
    /// Name of the built-in effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Id of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    /// Version that the plugin stated when it was chosen or its state was last saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    /// Parameter values by parameter id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// Id of the track that feeds the side-chain. Without it, a built-in effect uses its own input,
    /// and the side-chain of a plugin is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_chain: Option<String>,
    /// The service's id of the audio file with the impulse response, which lasts at most 30 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impulse: Option<String>,
    /// Whether the effect is bypassed.
    #[serde(default)]
    pub bypass: bool,
    /// State of the plugin in base64, which only the plugin interprets. It is kept while the plugin
    /// is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// The origin of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectType {
    /// An effect of the engine, which [`Effect::name`] identifies.
    Builtin,
    /// A VST2 plugin.
    Vst2,
    /// A VST3 plugin.
    Vst3,
}

/// The automation of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutomationLane {
    /// `volume_db`, `pan`, `send/` and the id of the bus, `instrument/` and the id of a parameter
    /// of the plugin instrument, or `effect_id/parameter_id`.
    pub target: String,
    /// The control points of the lane.
    pub points: Vec<AutomationPoint>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A control point of an automation lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutomationPoint {
    /// Position in ticks.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Value in the parameter's unit.
    pub value: f64,
    /// Curve to the next point.
    #[serde(default)]
    pub curve: AutomationCurve,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// The curve of an automated value to the next point. It is a function of time in seconds,
/// independent of tempo changes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum AutomationCurve {
    /// A straight line to the next point.
    #[default]
    Linear,
    /// Constant until the next point.
    Step,
    /// An arc with this curvature, -1 to 1. 0 is linear, a positive curvature changes the value
    /// late, and a negative one early.
    Curvature(f64),
}

impl Serialize for AutomationCurve {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Linear => serializer.serialize_str("linear"),
            Self::Step => serializer.serialize_str("step"),
            Self::Curvature(value) => serializer.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for AutomationCurve {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Number(f64),
            Name(String),
        }
        match Wire::deserialize(deserializer)? {
            Wire::Number(value) => Ok(Self::Curvature(value)),
            Wire::Name(name) if name == "linear" => Ok(Self::Linear),
            Wire::Name(name) if name == "step" => Ok(Self::Step),
            Wire::Name(name) => Err(serde::de::Error::unknown_variant(&name, &["linear", "step"])),
        }
    }
}
