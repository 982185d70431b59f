//! Items of tracks: notes, audio, and named sections.

use serde::{Deserialize, Serialize};

use super::Control;
use crate::Extra;
use crate::number::{optional_whole, whole};

/// An item at a position on a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Item {
    /// Notes and controls.
    Midi(MidiItem),
    /// A piece of an audio file.
    Audio(AudioItem),
    /// A named section of the song.
    Section(SectionItem),
}

/// An item with notes and controls for an instrument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MidiItem {
    /// Id of the item within its track.
    pub id: String,
    /// Name shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Start of the item, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// Length in ticks. Notes end at the end of the item at the latest.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// Notes, relative to the item's start.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Controls, relative to the item's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<Control>,
    /// Bank that this item plays instead of the track's bank, 0 to 128.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub soundfont_bank: Option<u8>,
    /// Program that this item plays instead of the track's program, 0 to 127.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub soundfont_program: Option<u8>,
    /// Id of the take of the track of which this item plays a piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_id: Option<String>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A note of a MIDI item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Start of the note, in ticks from the start of its item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Length in ticks, 960 to a quarter note.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// MIDI key number, 0 to 127; 60 is middle C.
    #[serde(deserialize_with = "whole")]
    pub pitch: u8,
    /// MIDI velocity divided by 127, 0 to 1.
    pub velocity: f64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

impl Note {
    /// Returns the MIDI velocity, 1 to 127.
    pub fn midi_velocity(&self) -> u8 {
        (self.velocity * 127.0 + 0.5).clamp(1.0, 127.0) as u8
    }
}

/// A piece of an audio file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AudioItem {
    /// Id of the item within its track.
    pub id: String,
    /// Name shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Start of the item, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// First frame of the source that plays.
    #[serde(default, deserialize_with = "whole")]
    pub offset_frames: u64,
    /// Length of the item in frames of the source. `None` plays to the end of the source.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub length_frames: Option<u64>,
    /// Level in decibels, -144 to 24.
    #[serde(default)]
    pub gain_db: f64,
    /// Fade-in and fade-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fades: Option<Fades>,
    /// Whether the source starts over at `offset_frames` when it ends before the item.
    #[serde(default, rename = "loop")]
    pub looped: bool,
    /// Source of the audio: a file of the service.
    pub source: AudioSource,
    /// How the service made the source from another file; `None` for an unprocessed file.
    #[cfg_attr(feature = "whole-documents", serde(default, skip_serializing_if = "Option::is_none"))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub processing: Option<AudioProcessing>,
    /// The service's id of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_file_id: Option<String>,
    /// Address of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio_file_url: Option<String>,
    /// Id of the take of the track of which this item plays a piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_id: Option<String>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// The source of an audio item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AudioSource {
    /// The service's id of the audio file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_file_id: Option<String>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// How the service made the file that an audio item plays: a piece of another file, and the
/// operations on it. The engine ignores it. It lets the operations be changed or taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AudioProcessing {
    /// The service's id of the file that was processed.
    pub server_file_id: String,
    /// First frame of the piece in that file.
    #[serde(deserialize_with = "whole")]
    pub start_frame: u64,
    /// Length of the piece in frames of that file, at least 1.
    #[serde(deserialize_with = "whole")]
    pub length_frames: u64,
    /// Whether the piece is played backwards.
    #[serde(default)]
    pub reverse: bool,
    /// Length of the processed file divided by the length of the piece, 0.25 to 4.
    #[serde(default = "unstretched")]
    pub stretch: f64,
    /// Change of pitch in cents, -2400 to 2400.
    #[serde(default)]
    pub pitch_cents: f64,
    /// The level that the processed file has; `None` if the gain did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalize: Option<AudioNormalization>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

fn unstretched() -> f64 {
    1.0
}

/// The level that a processed file has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AudioNormalization {
    /// The level that was measured.
    pub measure: LevelMeasure,
    /// The level, -60 to 0: dBFS for a peak, LUFS for a loudness.
    pub level_db: f64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A level that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelMeasure {
    /// The highest magnitude of any sample.
    Peak,
    /// The gated loudness (ITU-R BS.1770).
    Loudness,
}

/// Fade-in and fade-out of an audio item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fades {
    /// Length of the fade-in, in frames of the source.
    #[serde(default, deserialize_with = "whole")]
    pub in_frames: u64,
    /// Length of the fade-out, in frames of the source.
    #[serde(default, deserialize_with = "whole")]
    pub out_frames: u64,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A named section of the song.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SectionItem {
    /// Id of the section.
    #[serde(rename = "sectionId")]
    pub section_id: String,
    /// Name shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Start of the section, in ticks.
    #[serde(deserialize_with = "whole")]
    pub start_tick: u32,
    /// Length in ticks, 960 to a quarter note.
    #[serde(deserialize_with = "whole")]
    pub length_ticks: u32,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}
