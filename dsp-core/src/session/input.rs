//! Sound that comes to a track from outside, instead of its notes.

use alloc::boxed::Box;

use super::TRACK_OUTPUTS;
use super::strip::{SILENT_BLOCK, TrackBlock};

/// The way in for sound from outside.
pub(super) struct Input {
    /// Whether [`Self::block`] holds the track's sound.
    pub(super) is_taken: bool,
    pub(super) block: Box<TrackBlock>,
    /// The last frame, which fades when the input breaks off.
    last: [f32; TRACK_OUTPUTS],
}

impl Input {
    pub(super) fn new() -> Self {
        Self { is_taken: false, block: Box::new(SILENT_BLOCK), last: [0.0; TRACK_OUTPUTS] }
    }

    /// Whether nothing is heard of it, or fades.
    pub(super) fn is_silent(&self, playing: bool) -> bool {
        !(self.is_taken && playing) && self.last == [0.0; TRACK_OUTPUTS]
    }

    /// The session goes on somewhere else.
    pub(super) fn cut(&mut self) {
        self.last = [0.0; TRACK_OUTPUTS];
    }

    /// Adds the next frames. What is no number in the input counts as silence: it would never leave
    /// the effects again.
    pub(super) fn add_to(&mut self, playing: bool, outputs: [&mut [f32]; TRACK_OUTPUTS]) {
        let comes_in = self.is_taken && playing;
        for ((values, last), input) in outputs.into_iter().zip(&mut self.last).zip(self.block.iter()) {
            for (value, input) in values.iter_mut().zip(input) {
                *last = match comes_in {
                    true if input.is_finite() => *input,
                    true => 0.0,
                    false => faded(*last),
                };
                *value += *last;
            }
        }
    }
}

/// One frame further in the fade of an input that broke off: down to a hundredth in 300 frames,
/// then silence, so that stopping does not click.
fn faded(value: f32) -> f32 {
    if value.abs() < 1e-6 { 0.0 } else { value * 0.985 }
}
