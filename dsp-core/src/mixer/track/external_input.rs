//! Signal from outside the engine that a track plays instead of its notes.

use alloc::boxed::Box;

use crate::block::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};

/// The external input of a track.
pub(crate) struct ExternalInput {
    /// Whether the track plays [`Self::block`].
    pub(crate) is_enabled: bool,
    pub(crate) block: Box<TrackBlock>,
    /// The last frame, which decays when the input ends.
    last: [f32; TRACK_OUTPUTS],
}

impl ExternalInput {
    pub(crate) fn new() -> Self {
        Self { is_enabled: false, block: Box::new(SILENT_BLOCK), last: [0.0; TRACK_OUTPUTS] }
    }

    /// Whether the input adds only silence.
    pub(crate) fn is_silent(&self, is_playing: bool) -> bool {
        !(self.is_enabled && is_playing) && self.last == [0.0; TRACK_OUTPUTS]
    }

    /// Ends without a fade.
    pub(crate) fn cut(&mut self) {
        self.last = [0.0; TRACK_OUTPUTS];
    }

    /// Adds the next frames. Samples that are not finite become 0: they would never leave the
    /// effects again.
    pub(crate) fn add_to(&mut self, is_playing: bool, outputs: [&mut [f32]; TRACK_OUTPUTS]) {
        let has_input = self.is_enabled && is_playing;
        for ((values, last), input) in outputs.into_iter().zip(&mut self.last).zip(self.block.iter()) {
            for (value, input) in values.iter_mut().zip(input) {
                *last = match has_input {
                    true if input.is_finite() => *input,
                    true => 0.0,
                    false => decayed(*last),
                };
                *value += *last;
            }
        }
    }
}

/// The next frame of an input that has ended. It decays to a hundredth in 300 frames, then to
/// silence, so that stopping does not click.
fn decayed(value: f32) -> f32 {
    if value.abs() < 1e-6 { 0.0 } else { value * 0.985 }
}
