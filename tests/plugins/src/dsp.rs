//! The sound of the test plugins.

use std::collections::VecDeque;
use std::f64::consts::TAU;

/// Latency of the VST3 gain.
pub const GAIN_LATENCY_FRAMES: u32 = 64;

/// Latency of the VST3 gain of `latent.rs`.
pub const LONG_LATENCY_FRAMES: u32 = 4_096;

/// Returns the gain of a normalized value: 0.5 leaves the level as it is.
#[must_use]
pub fn gain(normalized: f64) -> f32 {
    (normalized * 2.0) as f32
}

/// A gain with a delay.
#[derive(Debug)]
pub struct Gain {
    delays: [VecDeque<f32>; 2],
}

impl Gain {
    /// Creates a gain with a latency.
    #[must_use]
    pub fn new(latency_frames: u32) -> Self {
        let delay = || std::iter::repeat_n(0.0, latency_frames as usize).collect();
        Self { delays: [delay(), delay()] }
    }

    /// Processes a sample of a channel: 0 or 1.
    pub fn process(&mut self, channel: usize, sample: f32, gain: f32) -> f32 {
        let delay = &mut self.delays[channel];
        delay.push_back(sample);
        delay.pop_front().unwrap_or(0.0) * gain
    }
}

#[derive(Debug)]
struct Note {
    id: i32,
    key: i32,
    velocity: f32,
    tuning_semitones: f64,
    phase: f64,
}

/// A synthesizer of sines that start at their maximum, so that the first frame of a note is
/// audible, and that end without a release.
#[derive(Debug, Default)]
pub struct Sines {
    notes: Vec<Note>,
}

impl Sines {
    /// Starts a note.
    pub fn start(&mut self, id: i32, key: i32, velocity: f32) {
        self.notes.push(Note { id, key, velocity, tuning_semitones: 0.0, phase: 0.0 });
    }

    /// Ends the notes with the id, or with the key if the id is -1.
    pub fn end(&mut self, id: i32, key: i32) {
        self.notes.retain(|note| if id == -1 { note.key != key } else { note.id != id });
    }

    /// Changes the pitch of the notes with the id.
    pub fn tune(&mut self, id: i32, semitones: f64) {
        for note in self.notes.iter_mut().filter(|note| note.id == id) {
            note.tuning_semitones = semitones;
        }
    }

    /// Ends all notes.
    pub fn reset(&mut self) {
        self.notes.clear();
    }

    /// Returns the next sample.
    pub fn next(&mut self, sample_rate_hz: f64) -> f32 {
        let mut sum = 0.0;
        for note in &mut self.notes {
            sum += note.velocity * (note.phase * TAU).cos() as f32 * 0.25;
            let key = f64::from(note.key) + note.tuning_semitones;
            note.phase += 440.0 * ((key - 69.0) / 12.0).exp2() / sample_rate_hz;
        }
        sum
    }
}
