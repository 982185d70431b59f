//! A project as the engine sees it, and the processors that render it.
//!
//! [`Session`] is plain data in frames and linear gains. A [`Mixer`] plays it: each track's notes
//! through a [`TrackPlayer`], its clips, its effects and its fader, through the buses and groups
//! that it feeds; the sum through the master's effects and fader and the limiter. [`OfflineRender`]
//! runs a mixer from the first frame to the end of the sound.
//!
//! Sound that meets is in time to the frame: what comes by a quicker way waits. Whatever moves by
//! itself (automation, tempo) waits for the sound that it belongs to.

mod assembly;
mod audio;
mod automation;
mod clips;
mod compensation;
mod desk;
mod edge;
mod fader;
mod follower;
mod gap;
mod gliding_gain;
mod held_back;
mod held_keys;
mod input;
mod insert;
mod live;
mod master;
mod memory;
mod meter;
mod mixer;
mod musical_time;
mod note_ends;
mod offline;
mod routing;
mod source;
mod strip;
mod track_player;
mod track_render;
mod wait;

#[cfg(test)]
mod tests;

pub use audio::{Audio, AudioError, AudioSlot};
pub use automation::{AutomationLane, AutomationPoint, AutomationTarget, Curve};
pub use clips::{Clip, Underruns, WantedAudio};
pub use insert::MAX_EFFECTS;
pub use live::EffectOwner;
pub use memory::{MemoryNeed, MemoryShare};
pub use mixer::{Mixer, MixerError, Slots, TrackMix};
pub use musical_time::TempoChange;
pub use offline::{Alone, Crew, MAX_TAIL_SECS, OfflineRender, TailConfig};
pub(crate) use strip::Sounding;
pub use strip::TRACK_OUTPUTS;
pub use track_player::TrackPlayer;
pub use track_render::TrackRender;

use alloc::string::String;
use alloc::vec::Vec;

/// How long what opens, closes or is delayed otherwise takes to do so, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Everything that decides what a project sounds like, except the banks and the audio themselves.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Session {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Most voices that one track sounds at a time, 8 to 256.
    pub polyphony: u16,
    /// Start of every random sequence.
    pub seed: u64,
    /// How voices read between the values of a sample.
    pub interpolation: Interpolation,
    /// Whether velocity moves the cutoff of a sound whose bank does not say so.
    pub velocity_to_cutoff: VelocityToCutoff,
    /// The room that all instruments share.
    pub reverb: ReverbSettings,
    /// The chorus that all instruments share.
    pub chorus: ChorusSettings,
    /// Tempo changes by ascending frame, for effects that keep time; none: 120 quarter notes a
    /// minute.
    pub tempo: Vec<TempoChange>,
    /// Effects of the whole mix, before the master's fader.
    pub master_effects: Vec<EffectSettings>,
    /// Linear gain of the sum of the tracks, before the limiter.
    pub master_gain: f32,
    /// What moves by itself on the master; it has no pan and no sends.
    pub master_automation: Vec<AutomationLane>,
    /// Where the last item ends, in frames; sound may ring on.
    pub length_frames: u64,
    /// The tracks, buses and groups.
    pub tracks: Vec<Track>,
}

impl Default for Session {
    /// No tracks, at 48 kHz.
    fn default() -> Self {
        Self {
            sample_rate_hz: 48_000,
            polyphony: 256,
            seed: 0,
            interpolation: Interpolation::default(),
            velocity_to_cutoff: VelocityToCutoff::default(),
            reverb: ReverbSettings::default(),
            chorus: ChorusSettings::default(),
            tempo: Vec::new(),
            master_effects: Vec::new(),
            master_gain: 1.0,
            master_automation: Vec::new(),
            length_frames: 0,
            tracks: Vec::new(),
        }
    }
}

/// How voices read between the values of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Interpolation {
    /// A straight line between two values.
    Linear,
    /// A cubic through four values.
    #[default]
    FourPoint,
    /// A windowed sinc.
    Sinc,
}

/// How velocity moves the cutoff of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum VelocityToCutoff {
    /// As the zones of the bank state; not at all where they state nothing.
    #[default]
    AsStated,
    /// As they state; where they state nothing, by the default modulator of the SoundFont
    /// specification 2.04, section 8.4.2: -2400 cents for a velocity of 0.
    Specification,
}

/// The reverb of the instruments.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReverbSettings {
    /// Size of the room, 0 to 1: how slowly it falls silent.
    pub room: f32,
    /// Damping of the treble, 0 to 1.
    pub damping: f32,
    /// How far the two sides differ: 0 is mono, 1 is as wide as it goes.
    pub width: f32,
    /// Linear gain of what it adds to the mix, 0 to 4.
    pub level: f32,
}

impl Default for ReverbSettings {
    /// A medium room, half damped, at full width.
    fn default() -> Self {
        Self { room: 0.5, damping: 0.5, width: 1.0, level: 1.0 }
    }
}

/// The chorus of the instruments.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChorusSettings {
    /// Middle of the delay in seconds, 0.001 to 0.05.
    pub delay_secs: f64,
    /// How far the delay drifts to either side of the middle, in seconds, 0 to 0.02; never
    /// further than the middle.
    pub depth_secs: f64,
    /// Drifts there and back a second, 0.05 to 10.
    pub rate_hz: f64,
    /// Linear gain of what it adds to the mix, 0 to 4.
    pub level: f32,
}

impl Default for ChorusSettings {
    /// 8 ms, drifting by 2.5 ms at 0.4 Hz.
    fn default() -> Self {
        Self { delay_secs: 0.008, depth_secs: 0.0025, rate_hz: 0.4, level: 1.0 }
    }
}

/// One track of a session. Any can be a bus or a group: it is what others feed.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Track {
    /// Unique within the session.
    pub id: String,
    /// Linear gain of the fader.
    pub gain: f32,
    /// -1 is left, 0 the centre, 1 right.
    pub pan: f32,
    /// Whether the track is silenced, its sends included.
    pub mute: bool,
    /// While any track is solo, only those are heard, through whatever they feed, and with what
    /// feeds them.
    pub solo: bool,
    /// What its notes play; a track without an instrument plays none.
    pub instrument: Option<Instrument>,
    /// Notes and controls by ascending frame, in the order in which they take effect.
    pub events: Vec<TrackEvent>,
    /// Recorded audio.
    pub clips: Vec<Clip>,
    /// Effects between what sounds and the fader, in the order in which they are heard. What an
    /// instrument sends to the shared reverb and chorus does not pass them.
    pub effects: Vec<EffectSettings>,
    /// Whether the sound passes all effects by.
    pub bypass: bool,
    /// Place of the track that it feeds; `None`: the master.
    pub output: Option<u32>,
    /// Copies of its sound that feed other tracks.
    pub sends: Vec<SendSettings>,
    /// What moves by itself.
    pub automation: Vec<AutomationLane>,
}

impl Default for Track {
    /// An empty track with fader and pan in their neutral positions, and an empty id.
    fn default() -> Self {
        Self {
            id: String::new(),
            gain: 1.0,
            pan: 0.0,
            mute: false,
            solo: false,
            instrument: None,
            events: Vec::new(),
            clips: Vec::new(),
            effects: Vec::new(),
            bypass: false,
            output: None,
            sends: Vec::new(),
            automation: Vec::new(),
        }
    }
}

/// A copy of a track's sound, left and right, to another track.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SendSettings {
    /// Place of the track that it feeds.
    pub to: u32,
    /// Linear gain.
    pub gain: f32,
    /// Whether it is taken before fader and pan; mute silences it all the same.
    pub pre_fader: bool,
}

/// An effect of a track or of the master.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EffectSettings {
    /// Unique within the track.
    pub id: String,
    /// Id of its kind: see [`crate::effects::EFFECTS`].
    pub kind: String,
    /// Values of the parameters by the kind's table, brought into their ranges; those that are left
    /// out are at their defaults.
    pub values: Vec<f64>,
    /// Whether the sound passes it by.
    pub bypass: bool,
    /// Place of the track that its side-chain hears, behind that track's effects and before its
    /// fader.
    pub side_chain: Option<u32>,
    /// Audio slot of its impulse response, for kinds that have one.
    pub impulse: Option<u32>,
}

/// A preset of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instrument {
    /// Which of the banks that come with the session.
    pub bank_slot: u32,
    /// Bank number in the SoundFont; from 128 on, drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u8,
}

/// An event and when it takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrackEvent {
    /// Frames from the start of the session.
    pub frame: u64,
    /// What happens.
    pub event: Event,
}

/// What a track can be told while it plays. Ranges are MIDI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Event {
    /// A note starts.
    NoteOn {
        /// MIDI key number, 0 to 127; 60 is middle C.
        key: u8,
        /// 1 to 127.
        velocity: u8,
    },
    /// Every note of a key ends.
    NoteOff {
        /// MIDI key number, 0 to 127.
        key: u8,
    },
    /// A controller moves.
    Controller {
        /// Controller number, 0 to 127.
        controller: u8,
        /// 0 to 127.
        value: u8,
    },
    /// The pitch wheel moves.
    PitchBend {
        /// -8192 (the bend range down) to 8191 (up).
        value: i16,
    },
    /// Pressure on the whole keyboard.
    ChannelPressure {
        /// 0 to 127.
        value: u8,
    },
    /// Pressure on one key.
    KeyPressure {
        /// MIDI key number, 0 to 127.
        key: u8,
        /// 0 to 127.
        value: u8,
    },
    /// Another preset, by its bank number in the SoundFont.
    Preset {
        /// Bank number, 0 to 65535; from 128 on, drum kits.
        bank: u16,
        /// 0 to 127.
        program: u8,
    },
    /// Another program: of the bank that the bank select controllers (0 and 32) have asked for
    /// since the last program, otherwise of the bank in force.
    Program {
        /// 0 to 127.
        program: u8,
    },
}
