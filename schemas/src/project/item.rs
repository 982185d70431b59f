//! What tracks play: notes, audio, and named sections.

use serde::{Deserialize, Serialize};

use super::Control;
use crate::Extra;
use crate::number::{optional_whole, whole};

/// Something at a place on a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Item {
    /// Notes and controls.
    Midi(MidiItem),
    /// A piece of an audio file.
    Audio(AudioItem),
    /// A named stretch of the song.
    Section(SectionItem),
}

/// Notes and controls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MidiItem {
    /// Identifies the item within its track.
    pub id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the item begins, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// How long it lasts, in ticks; notes end with it.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// Notes, counted from the item's start.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Controls, counted from the item's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<Control>,
    /// Bank that this item plays instead of the track's, 0 to 128.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub soundfont_bank: Option<u8>,
    /// Program that this item plays instead of the track's, 0 to 127.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub soundfont_program: Option<u8>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Where the note begins, in ticks from the start of its item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// How long it is held, in ticks.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// MIDI key number, 0 to 127; 60 is middle C.
    #[serde(deserialize_with = "whole")]
    pub pitch: u8,
    /// MIDI velocity divided by 127, 0 to 1.
    pub velocity: f64,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Note {
    /// The MIDI velocity, 1 to 127.
    pub fn midi_velocity(&self) -> u8 {
        (self.velocity * 127.0 + 0.5).clamp(1.0, 127.0) as u8
    }
}

/// A piece of an audio file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AudioItem {
    /// Identifies the item within its track.
    pub id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the item begins, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// Where in the source the item begins, in frames.
    #[serde(default, deserialize_with = "whole")]
    pub offset_frames: u64,
    /// How much of the source is played, in frames; none: to its end.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub length_frames: Option<u64>,
    /// Level in decibels, -144 to 24.
    #[serde(default)]
    pub gain_db: f64,
    /// Fade-in and fade-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fades: Option<Fades>,
    /// Starts over at its end.
    #[serde(default, rename = "loop")]
    pub looped: bool,
    /// Where the audio comes from.
    pub source: AudioSource,
    /// The service's id of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_file_id: Option<String>,
    /// Address of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_file_url: Option<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where an audio item's samples come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AudioSource {
    /// The service's id of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_file_id: Option<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Fade-in and fade-out of an audio item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fades {
    /// Length of the fade-in, in frames.
    #[serde(default, deserialize_with = "whole")]
    pub in_frames: u64,
    /// Length of the fade-out, in frames.
    #[serde(default, deserialize_with = "whole")]
    pub out_frames: u64,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A named stretch of the song.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SectionItem {
    /// Identifies the section.
    #[serde(rename = "sectionId")]
    pub section_id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the section begins, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// How long it lasts, in ticks.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}
