//! The messages between the page and the audio thread, with their TypeScript types.

use dsp_core::meters::MasterReadings;
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// A command to the engine. A command that names a track, send, effect or parameter that the
/// session does not have is ignored. Gains are linear.
#[derive(Debug, Clone, PartialEq, Deserialize, Tsify)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ControlCommand {
    /// Plays from the current position, after a count-in.
    Play {
        /// Number of bars of the count-in, at most 4; by default 0, which plays immediately.
        #[serde(default)]
        #[tsify(optional)]
        count_in_bars: u32,
    },
    /// Stops playback and releases all notes.
    Stop,
    /// Moves to a frame of the session.
    Seek {
        /// The frame, counted from the start of the session.
        frame: f64,
    },
    /// Sets the region that playback repeats.
    SetLoop {
        /// The region; null ends the repetition, as does a region of less than 256 frames.
        #[tsify(type = "FrameRange | null")]
        region: Option<FrameRange>,
    },
    /// Sets the clicks that accompany playback and count-ins.
    SetMetronome {
        /// Whether clicks accompany playback.
        on: bool,
        /// Linear gain of the clicks of playback and of count-ins.
        gain: f32,
    },
    /// Sets the beats on which the metronome clicks.
    SetBeats {
        /// Tempo changes in ascending order, the first at tick 0.
        tempo: Vec<TempoPoint>,
        /// Time signatures in ascending order.
        signatures: Vec<BarSignature>,
    },
    /// Sets a controller of a track live, such as the sustain pedal.
    SetController {
        /// Id of the track.
        track_id: String,
        /// MIDI controller number, 0 to 127.
        controller: u8,
        /// Value of the controller, 0 to 127.
        value: u8,
    },
    /// Bends the pitch of a track live.
    SetPitchBend {
        /// Id of the track.
        track_id: String,
        /// Value from -8192 to 8191; 0 is the centre.
        value: i16,
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
        /// Linear gain of the fader.
        gain: f32,
        /// Position from -1 (left) through 0 (centre) to 1 (right).
        pan: f32,
        /// Whether the track is muted.
        mute: bool,
        /// Whether the track is soloed.
        solo: bool,
    },
    /// Sets the level of a send.
    SetSendGain {
        /// Id of the track.
        track_id: String,
        /// Index of the send in the track's list of sends.
        send: usize,
        /// Linear gain of the send.
        gain: f32,
    },
    /// Sets the master fader.
    SetMasterGain {
        /// Linear gain of the fader.
        gain: f32,
    },
    /// Sets a parameter of an effect.
    SetEffectParameter {
        /// Names the effect and its track.
        #[serde(flatten)]
        effect: EffectName,
        /// Id of the parameter.
        parameter: String,
        /// The value in the parameter's unit.
        value: f64,
    },
    /// Bypasses an effect or reactivates it.
    SetEffectBypass {
        /// Names the effect and its track.
        #[serde(flatten)]
        effect: EffectName,
        /// Whether the effect is bypassed.
        bypass: bool,
    },
    /// Bypasses all effects of a track or of the master, or reactivates these effects.
    SetBypass {
        /// Id of the track; null for the master.
        #[tsify(type = "string | null")]
        track_id: Option<String>,
        /// Whether the effects are bypassed.
        bypass: bool,
    },
    /// Sets the effects whose gain reductions are reported from now on.
    WatchReductions {
        /// The effects, in the order of the reports.
        effects: Vec<EffectName>,
    },
    /// Starts or stops measuring the master. Stopping discards the measurement.
    WatchMeters {
        /// Whether the master is measured.
        watch: bool,
    },
    /// Sets the latency of effects outside the engine, which follow those of a track or of the
    /// master; null removes the effects outside the engine.
    SetInsert {
        /// Id of the track; null for the master.
        #[tsify(type = "string | null")]
        track_id: Option<String>,
        /// Frames from the input of the effects to their output.
        #[tsify(type = "number | null")]
        latency_frames: Option<u32>,
    },
    /// Resets the integrated loudness and the peaks of the master. Playing from the start also
    /// resets them.
    ResetMeters,
    /// Removes the bank in a slot and an unfinished file for the slot. Tracks that use the slot
    /// become silent.
    DropBank {
        /// Number of the slot, below 64.
        slot: usize,
    },
    /// Removes the audio in a slot and an unfinished file for the slot. Clips that use the slot
    /// become silent.
    DropAudio {
        /// Number of the slot, below 4096.
        slot: usize,
    },
}

/// A range of frames of the session.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct FrameRange {
    /// The first frame of the range.
    pub start_frame: f64,
    /// The first frame after the range.
    pub end_frame: f64,
}

/// A tempo and the tick at which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Tsify)]
pub struct TempoPoint {
    /// Ticks from the start of the song.
    pub tick: u64,
    /// Tempo in quarter notes per minute, 1 to 100,000.
    pub bpm: f64,
}

/// A time signature and the tick at which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Tsify)]
pub struct BarSignature {
    /// Ticks from the start of the song.
    pub tick: u64,
    /// Number of beats in a bar.
    pub numerator: u16,
    /// Note value of a beat.
    pub denominator: u16,
}

/// Names an effect of a track or of the master.
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
    /// Id of the track; empty for the master.
    pub track_id: String,
    /// Index of the clip in its track. The recorded outputs of effects follow the clips.
    pub clip: usize,
    /// Audio slot of the clip's source.
    pub slot: u32,
    /// First frame of the block in the source.
    pub source_frame: u64,
    /// Length of the block in frames.
    pub frames: usize,
    /// Frames until the clip reaches the block; a block with fewer frames is more urgent.
    pub ahead_frames: u64,
}

/// Measurements of the master. The level of silence is -Infinity. A measurement of integrated
/// loudness and peaks begins when the page starts to watch the meters. It begins again when the
/// song plays from its start, or when the page resets the meters.
#[derive(Debug, Clone, PartialEq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct MasterMeters {
    /// Loudness of the last 400 ms in LUFS (ITU-R BS.1770, EBU R 128).
    pub momentary_lufs: f64,
    /// Loudness of the last 3 s in LUFS.
    pub short_term_lufs: f64,
    /// Gated loudness since the measurement began, in LUFS.
    pub integrated_lufs: f64,
    /// True peak since the measurement began, in dBTP.
    pub true_peak_dbtp: f64,
    /// Sample peak since the measurement began, in dBFS.
    pub sample_peak_dbfs: f64,
    /// Correlation of left and right over the last 300 ms: 1 means equal channels, 0 unrelated and
    /// -1 inverted channels.
    pub correlation: f64,
    /// RMS levels of left and right over the last 300 ms in decibels. A full-scale sine has a level
    /// of -3.01 dB.
    pub rms_db: [f64; 2],
    /// Levels in decibels of the 31 third-octave bands from 20 Hz to 20 kHz, averaged over both
    /// channels. A full-scale sine has a level of 0 dB.
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
