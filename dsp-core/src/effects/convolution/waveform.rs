//! Impulse responses, computed on demand.

use alloc::vec::Vec;

use super::rooms::{Room, RoomNoise};

/// Values below this magnitude are replaced by 0.
const SILENT_MAGNITUDE: f64 = 1e-12;

/// An impulse response with a mean energy of 1 over left and right. The energy of a room's response
/// varies slightly with its random noise.
pub(super) struct Waveform {
    frames: usize,
    /// Samples of left and right, as far as they are computed.
    samples: [Vec<f32>; 2],
    /// Iterators over the samples that are not yet computed; `None` for a response of the user.
    room: Option<[RoomNoise; 2]>,
}

impl Waveform {
    /// Creates a normalized waveform from a response of the user. The shorter channel is padded
    /// with silence. A response without finite, positive energy becomes silent.
    pub(super) fn from_impulse(impulse: [&[f32]; 2]) -> Self {
        let frames = impulse[0].len().max(impulse[1].len());
        let energy = impulse.into_iter().map(energy).sum::<f64>() / 2.0;
        let scale = if energy > 0.0 && energy.is_finite() { 1.0 / libm::sqrt(energy) } else { 0.0 };
        let scale_value = |value: &f32| {
            let value = f64::from(*value) * scale;
            if value.abs() >= SILENT_MAGNITUDE { value as f32 } else { 0.0 }
        };
        let samples = impulse.map(|side| {
            let mut values = Vec::with_capacity(frames);
            values.extend(side.iter().map(scale_value));
            values.resize(frames, 0.0);
            values
        });
        Self { frames, samples, room: None }
    }

    /// Creates the waveform of a synthetic room, of which no sample is computed yet.
    pub(super) fn from_room(room: &Room, sample_rate_hz: f64, seed: u64) -> Self {
        let frames = room.frames(sample_rate_hz);
        let samples = [Vec::with_capacity(frames), Vec::with_capacity(frames)];
        Self { frames, samples, room: Some(room.sides(sample_rate_hz, seed)) }
    }

    /// Returns the length in frames.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Computes the samples of the first `frames` frames, or all samples if there are fewer. Does
    /// not allocate.
    pub(super) fn compute(&mut self, frames: usize) {
        let Some(room) = &mut self.room else { return };
        for (samples, side) in self.samples.iter_mut().zip(room) {
            let computed_frames = samples.len();
            samples.resize(frames.min(self.frames).max(computed_frames), 0.0);
            samples[computed_frames..].iter_mut().zip(side).for_each(|(sample, value)| *sample = value);
        }
    }

    /// Returns the computed samples of left (0) or right (1).
    pub(super) fn side(&self, side: usize) -> &[f32] {
        &self.samples[side]
    }
}

/// Returns the sum of squares.
fn energy(values: &[f32]) -> f64 {
    let square = |value: &f32| f64::from(*value) * f64::from(*value);
    // A CPU computes the four independent sums in parallel.
    let (fours, remainder) = values.as_chunks::<4>();
    let sums = fours
        .iter()
        .fold([0.0; 4], |sums, four| core::array::from_fn(|lane| sums[lane] + square(&four[lane])));
    sums.into_iter().sum::<f64>() + remainder.iter().map(square).sum::<f64>()
}
