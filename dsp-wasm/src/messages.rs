//! The messages between the page and the audio thread, as TypeScript knows them.

use dsp_core::meters::MasterReadings;
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A command to the engine. Names of tracks, sends, effects and parameters that the session does
/// not have are ignored. Gains are linear.
#[derive(Debug, Clone, PartialEq, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ControlCommand {
    /// Plays from the current position.
    Play,
    /// Stops; notes are released.
    Stop,
    /// Moves to a frame of the session.
    Seek {
        /// The frame.
        frame: f64,
    },
    /// Presses a key.
    NoteOn {
        /// Id of the track.
        track_id: String,
        /// MIDI key number, 0 to 127.
        key: u8,
        /// MIDI velocity, 1 to 127.
        velocity: u8,
    },
    /// Releases a key.
    NoteOff {
        /// Id of the track.
        track_id: String,
        /// MIDI key number, 0 to 127.
        key: u8,
    },
    /// Releases all notes of all tracks.
    AllNotesOff,
    /// Sets a track's fader, pan, mute and solo.
    SetTrackMix {
        /// Id of the track.
        track_id: String,
        /// Gain of the fader.
        gain: f32,
        /// -1 is left, 0 the centre, 1 right.
        pan: f32,
        /// Whether the track is muted.
        mute: bool,
        /// Whether it is soloed.
        solo: bool,
    },
    /// Sets the level of a send.
    SetSendGain {
        /// Id of the track.
        track_id: String,
        /// Index of the send in the track's list.
        send: usize,
        /// The level.
        gain: f32,
    },
    /// Sets the master fader.
    SetMasterGain {
        /// Gain of the fader.
        gain: f32,
    },
    /// Sets a parameter of an effect.
    SetEffectParameter {
        /// The effect.
        #[serde(flatten)]
        effect: EffectName,
        /// Id of the parameter.
        parameter: String,
        /// The value in the parameter's unit.
        value: f64,
    },
    /// Bypasses an effect, or no longer.
    SetEffectBypass {
        /// The effect.
        #[serde(flatten)]
        effect: EffectName,
        /// Whether it is bypassed.
        bypass: bool,
    },
    /// Bypasses all effects of a track or of the master, or no longer.
    SetBypass {
        /// Id of the track; null for the master.
        #[tsify(type = "string | null")]
        track_id: Option<String>,
        /// Whether they are bypassed.
        bypass: bool,
    },
    /// Names the effects whose gain reductions are reported from now on.
    WatchReductions {
        /// The effects.
        effects: Vec<EffectName>,
    },
    /// Starts or stops measuring the master. Stopping discards the measurement.
    WatchMeters {
        /// Whether it is measured.
        watch: bool,
    },
    /// Resets integrated loudness and peaks of the master, as playing from the start does.
    ResetMeters,
    /// Removes the bank in a slot, and an unfinished file for it. Its tracks become silent.
    DropBank {
        /// The slot.
        slot: usize,
    },
    /// Removes the audio in a slot, and an unfinished file for it. Its clips become silent.
    DropAudio {
        /// The slot.
        slot: usize,
    },
}

/// An effect of a track, or of the master.
#[derive(Debug, Clone, PartialEq, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct EffectName {
    /// Id of the track; null for the master.
    #[tsify(type = "string | null")]
    pub track_id: Option<String>,
    /// Id of the effect.
    pub effect_id: String,
}

/// A block of streamed audio that a clip needs.
#[derive(Debug, Clone, PartialEq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct WantedAudio {
    /// Id of the track.
    pub track_id: String,
    /// Index of the clip in its track.
    pub clip: usize,
    /// Slot of the source.
    pub slot: u32,
    /// First frame of the block in the source.
    pub source_frame: u64,
    /// Length of the block in frames.
    pub frames: usize,
    /// Frames that are available before the block is needed; fewer are more urgent.
    pub ahead_frames: u64,
}

/// Measurements of the master. Silence is -Infinity. Integrated loudness and peaks are measured
/// since the page watches the meters, the song played from its start, or the meters were reset.
#[derive(Debug, Clone, PartialEq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct MasterMeters {
    /// Loudness of the last 400 ms in LUFS (ITU-R BS.1770, EBU R 128).
    pub momentary_lufs: f64,
    /// Loudness of the last 3 s in LUFS.
    pub short_term_lufs: f64,
    /// Gated loudness of the measurement in LUFS.
    pub integrated_lufs: f64,
    /// True peak of the measurement in dBTP.
    pub true_peak_dbtp: f64,
    /// Sample peak of the measurement in dBFS.
    pub sample_peak_dbfs: f64,
    /// Correlation of left and right over the last 300 ms: 1 equal, 0 unrelated, -1 inverted.
    pub correlation: f64,
    /// RMS of left and right over the last 300 ms in decibels: a sine of full scale has -3.01.
    pub rms_db: [f64; 2],
    /// Levels of the 31 third octaves from 20 Hz to 20 kHz in decibels, mean of both channels: a
    /// sine of full scale has 0.
    pub spectrum_db: Vec<f64>,
}

impl From<MasterReadings> for MasterMeters {
    fn from(readings: MasterReadings) -> Self {
        Self {
            momentary_lufs: readings.momentary_lufs,
            short_term_lufs: readings.short_term_lufs,
            integrated_lufs: readings.integrated_lufs,
            true_peak_dbtp: readings.true_peak_dbtp,
            sample_peak_dbfs: readings.sample_peak_dbfs,
            correlation: readings.correlation,
            rms_db: readings.rms_db,
            spectrum_db: readings.spectrum_db.to_vec(),
        }
    }
}
