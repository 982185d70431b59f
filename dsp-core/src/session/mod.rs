//! A session: plain data that describe the sound of a project. Times are in frames, gains are
//! linear. A [`Mixer`](crate::mixer::Mixer) renders it.

mod audio;
mod automation;
mod clip;

pub use audio::{Audio, AudioError, AudioSlot};
pub use automation::{AutomationLane, AutomationPoint, AutomationTarget, Curve};
pub use clip::Clip;

use alloc::string::String;
use alloc::vec::Vec;

/// The complete description of a project's sound, except the contents of its SoundFont banks and
/// audio files.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Session {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Maximum number of voices of a track, 8 to 256.
    pub polyphony: u16,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Interpolation between the frames of a SoundFont sample.
    pub interpolation: Interpolation,
    /// Whether velocity changes the filter cutoff if the SoundFont bank does not specify it.
    pub velocity_to_cutoff: VelocityToCutoff,
    /// The reverb that all instruments share.
    pub reverb: ReverbSettings,
    /// The chorus that all instruments share.
    pub chorus: ChorusSettings,
    /// Tempo changes by ascending frame, for tempo-synced effects. If the list is empty, the tempo
    /// is 120 quarter notes per minute.
    pub tempo: Vec<TempoChange>,
    /// Effects of the master, in the order of the signal. They precede the master fader.
    pub master_effects: Vec<EffectSettings>,
    /// Linear gain of the master fader, before the limiter.
    pub master_gain: f32,
    /// Automation of the master. The master has no pan and no sends.
    pub master_automation: Vec<AutomationLane>,
    /// End of the last note or clip, in frames from the start of the session. A render may add a
    /// tail.
    pub length_frames: u64,
    /// Tracks, buses and groups.
    pub tracks: Vec<Track>,
}

impl Default for Session {
    /// Returns a session at 48 kHz without tracks.
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

/// Interpolation between the frames of a SoundFont sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Interpolation {
    /// Linear interpolation between two frames.
    Linear,
    /// Cubic interpolation through four frames.
    #[default]
    FourPoint,
    /// Interpolation by a windowed sinc.
    Sinc,
}

/// The change of a voice's filter cutoff by velocity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum VelocityToCutoff {
    /// As the modulators of the bank specify. Without such a modulator, velocity does not change
    /// the cutoff.
    #[default]
    AsStated,
    /// As the modulators of the bank specify. Without such a modulator, the default modulator of
    /// the SoundFont specification 2.04, section 8.4.2, applies: -2400 cents for a velocity of 0.
    Specification,
}

/// A tempo and the frame at which it starts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TempoChange {
    /// Frames from the start of the session.
    pub frame: u64,
    /// Quarter notes per minute, 1 to 100,000.
    pub bpm: f64,
    /// Quarter notes from the start of the session to this frame.
    pub beat: f64,
}

/// The reverb that all instruments share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReverbSettings {
    /// Room size, 0 to 1. A larger room has a longer decay.
    pub room: f32,
    /// Damping of high frequencies, 0 to 1.
    pub damping: f32,
    /// Stereo width: 0 is mono, 1 is the full width.
    pub width: f32,
    /// Linear gain of the reverb's output, 0 to 4.
    pub level: f32,
}

impl Default for ReverbSettings {
    /// Returns a medium room with half damping and full width.
    fn default() -> Self {
        Self { room: 0.5, damping: 0.5, width: 1.0, level: 1.0 }
    }
}

/// The chorus that all instruments share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChorusSettings {
    /// Mean delay in seconds, 0.001 to 0.05.
    pub delay_secs: f64,
    /// Amplitude of the modulation of the delay in seconds, 0 to 0.02; at most the mean delay.
    pub depth_secs: f64,
    /// Frequency of the modulation in hertz, 0.05 to 10.
    pub rate_hz: f64,
    /// Linear gain of the chorus's output, 0 to 4.
    pub level: f32,
}

impl Default for ChorusSettings {
    /// Returns a delay of 8 ms that is modulated by 2.5 ms at 0.4 Hz.
    fn default() -> Self {
        Self { delay_secs: 0.008, depth_secs: 0.0025, rate_hz: 0.4, level: 1.0 }
    }
}

/// A track of a session. A track that other tracks feed is a bus or a group.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Track {
    /// Identifier that is unique within the session.
    pub id: String,
    /// Linear gain of the fader.
    pub gain: f32,
    /// Pan: -1 is left, 0 is the centre, 1 is right.
    pub pan: f32,
    /// Whether the track and its sends are muted.
    pub mute: bool,
    /// Whether the track is soloed. While any track is soloed, only soloed tracks, the tracks that
    /// feed them and the tracks that they feed are audible.
    pub solo: bool,
    /// The instrument that plays the notes. If it is `None`, the notes are silent.
    pub instrument: Option<Instrument>,
    /// Notes and controllers by ascending frame, in the order in which they take effect.
    pub events: Vec<TrackEvent>,
    /// Audio clips in any order.
    pub clips: Vec<Clip>,
    /// Insert effects before the fader, in the order of the signal. The sends of an instrument to
    /// the shared reverb and chorus skip them.
    pub effects: Vec<EffectSettings>,
    /// Whether all effects are bypassed.
    pub bypass: bool,
    /// Index of the track that this track feeds. `None` is the master.
    pub output: Option<u32>,
    /// Sends to other tracks.
    pub sends: Vec<SendSettings>,
    /// Automation lanes of the fader, the pan, the sends and the effects.
    pub automation: Vec<AutomationLane>,
}

impl Default for Track {
    /// Returns an empty track with an empty id, a gain of 1 and a centred pan.
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

/// A stereo send to another track.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SendSettings {
    /// Index of the track that the send feeds.
    pub to: u32,
    /// Linear gain of the send.
    pub gain: f32,
    /// Whether the send branches off before fader and pan. Mute silences the send in both cases.
    pub pre_fader: bool,
}

/// An effect of a track or of the master.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EffectSettings {
    /// Identifier that is unique within the track.
    pub id: String,
    /// Identifier of the kind of effect: see [`crate::effects::effect_kind`].
    pub kind: String,
    /// Values of the parameters in the order of the table for this kind of effect. They are clamped
    /// to their ranges. Parameters without a value have their defaults.
    pub values: Vec<f64>,
    /// Whether the effect is bypassed.
    pub bypass: bool,
    /// Index of the track whose signal feeds the side-chain. The mixer reads the signal after the
    /// effects and before the fader of that track. The mixer does not read the side-chain of a
    /// [`crate::effects::RECORDED_OUTPUT`], which [`crate::render::EffectInput`] renders.
    pub side_chain: Option<u32>,
    /// Index of the effect's audio in the audio slots of the session: the impulse response of a
    /// convolution, or the output of a [`crate::effects::RECORDED_OUTPUT`] from the start of the
    /// session on.
    pub audio_slot: Option<u32>,
}

/// A preset of a SoundFont bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instrument {
    /// Index of the bank in the banks of the session.
    pub bank_slot: u32,
    /// Bank number in the SoundFont; 128 and above are drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u8,
}

/// An event and the frame at which it takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TrackEvent {
    /// Frames from the start of the session.
    pub frame: u64,
    /// The MIDI event.
    pub event: Event,
}

/// A MIDI event. Values have the ranges of MIDI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Event {
    /// A note starts.
    NoteOn {
        /// MIDI key number, 0 to 127; 60 is middle C.
        key: u8,
        /// Velocity, 1 to 127.
        velocity: u8,
    },
    /// All notes of a key end.
    NoteOff {
        /// MIDI key number, 0 to 127.
        key: u8,
    },
    /// A controller changes.
    Controller {
        /// Controller number, 0 to 127.
        controller: u8,
        /// Value of the controller, 0 to 127.
        value: u8,
    },
    /// The pitch wheel changes.
    PitchBend {
        /// Position from -8192 (lowest) to 8191 (highest). The pitch bend range of the channel is
        /// the interval to either end.
        value: i16,
    },
    /// The pressure of the channel (aftertouch) changes.
    ChannelPressure {
        /// Pressure, 0 to 127.
        value: u8,
    },
    /// The pressure of a key (polyphonic aftertouch) changes.
    KeyPressure {
        /// MIDI key number, 0 to 127.
        key: u8,
        /// Pressure, 0 to 127.
        value: u8,
    },
    /// Selects a preset by its bank number in the SoundFont.
    Preset {
        /// Bank number, 0 to 65535; 128 and above are drum kits.
        bank: u16,
        /// Program number, 0 to 127.
        program: u8,
    },
    /// Selects a program. If the bank select controllers (0 and 32) have changed since the last
    /// program change, they select its bank. Otherwise the current bank stays.
    Program {
        /// Program number, 0 to 127.
        program: u8,
    },
}
