//! Responses in time, made as far as they are asked for.

use alloc::vec::Vec;

use super::rooms::{Room, Side};

/// Values of less than this are left out of a response.
const SILENT: f64 = 1e-12;

/// A response whose energy, the mean of left and right, is 1; that of a room as far as chance lets
/// it be.
pub(super) struct Waveform {
    frames: usize,
    /// Left and right, as far as they are made.
    made: [Vec<f32>; 2],
    /// What makes the rest.
    room: Option<[Side; 2]>,
}

impl Waveform {
    /// What somebody brought, at another level; the shorter side ends in silence. Of an energy that
    /// is no number, or none, there is silence.
    pub(super) fn own(impulse: [&[f32]; 2]) -> Self {
        let frames = impulse[0].len().max(impulse[1].len());
        let energy = impulse.into_iter().map(energy).sum::<f64>() / 2.0;
        let scale = if energy > 0.0 && energy.is_finite() { 1.0 / libm::sqrt(energy) } else { 0.0 };
        let scaled = |value: &f32| {
            let value = f64::from(*value) * scale;
            if value.abs() >= SILENT { value as f32 } else { 0.0 }
        };
        let made = impulse.map(|side| {
            let mut values = Vec::with_capacity(frames);
            values.extend(side.iter().map(scaled));
            values.resize(frames, 0.0);
            values
        });
        Self { frames, made, room: None }
    }

    /// A room, of which nothing is made yet.
    pub(super) fn of_room(room: &Room, sample_rate_hz: f64, seed: u64) -> Self {
        let frames = room.frames(sample_rate_hz);
        let made = [Vec::with_capacity(frames), Vec::with_capacity(frames)];
        Self { frames, made, room: Some(room.sides(sample_rate_hz, seed)) }
    }

    /// How long it is, in frames.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Sees to it that its first frames are there, as many as it has at most. Allocates nothing.
    pub(super) fn make(&mut self, frames: usize) {
        let Some(room) = &mut self.room else { return };
        for (made, side) in self.made.iter_mut().zip(room) {
            let done = made.len();
            made.resize(frames.min(self.frames).max(done), 0.0);
            made[done..].iter_mut().zip(side).for_each(|(place, value)| *place = value);
        }
    }

    /// Left (0) or right (1), as far as it is made.
    pub(super) fn side(&self, side: usize) -> &[f32] {
        &self.made[side]
    }
}

/// The sum of the squares of some values.
fn energy(values: &[f32]) -> f64 {
    let square = |value: &f32| f64::from(*value) * f64::from(*value);
    // Four sums that do not wait for each other.
    let (fours, rest) = values.as_chunks::<4>();
    let sums = fours
        .iter()
        .fold([0.0; 4], |sums, four| core::array::from_fn(|lane| sums[lane] + square(&four[lane])));
    sums.into_iter().sum::<f64>() + rest.iter().map(square).sum::<f64>()
}
