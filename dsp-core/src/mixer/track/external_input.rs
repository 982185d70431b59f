//! A signal from outside the engine that a track plays instead of its notes.

use alloc::boxed::Box;

use crate::block::{SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock};

/// The external input of a track.
pub(crate) struct ExternalInput {
    /// Whether the track plays [`Self::block`].
    pub(crate) is_enabled: bool,
    pub(crate) block: Box<TrackBlock>,
    /// The last frame of the output, which decays when the input ends.
    last_frame: [f32; TRACK_OUTPUTS],
    /// Difference to the input after a jump, which decays.
    offset: [f32; TRACK_OUTPUTS],
    is_jumping: bool,
}

impl ExternalInput {
    pub(crate) fn new() -> Self {
        let (block, silence) = (Box::new(SILENT_BLOCK), [0.0; TRACK_OUTPUTS]);
        Self { is_enabled: false, block, last_frame: silence, offset: silence, is_jumping: false }
    }

    /// Whether the input adds only silence.
    pub(crate) fn is_silent(&self, is_playing: bool) -> bool {
        !(self.is_enabled && is_playing) && self.last_frame == [0.0; TRACK_OUTPUTS]
    }

    /// Ends the input without a fade.
    pub(crate) fn cut(&mut self) {
        self.last_frame = [0.0; TRACK_OUTPUTS];
        self.offset = [0.0; TRACK_OUTPUTS];
        self.is_jumping = false;
    }

    /// Marks a jump of the input before its next frame. The step from the last frame to that frame
    /// then decays instead of causing a click. Without an enabled input, this changes nothing.
    pub(crate) fn jump(&mut self) {
        self.is_jumping = self.is_enabled;
    }

    /// Adds the next frames to `outputs`. Samples that are not finite become 0, because the effects
    /// would not recover from them.
    pub(crate) fn add_to(&mut self, is_playing: bool, outputs: [&mut [f32]; TRACK_OUTPUTS]) {
        let has_input = self.is_enabled && is_playing;
        let is_jumping = core::mem::take(&mut self.is_jumping) && has_input;
        let states = self.last_frame.iter_mut().zip(&mut self.offset);
        for ((values, (last, offset)), input) in outputs.into_iter().zip(states).zip(self.block.iter()) {
            if is_jumping && let Some(first) = input.first().filter(|first| first.is_finite()) {
                *offset = *last - first;
            }
            for (value, input) in values.iter_mut().zip(input) {
                *last = match has_input {
                    true if input.is_finite() => *input + *offset,
                    true => 0.0,
                    false => decay(*last),
                };
                *offset = decay(*offset);
                *value += *last;
            }
        }
    }
}

/// Returns the next frame of an input that has ended. To avoid a click, the last value decays to a
/// hundredth in 300 frames, and then to silence.
fn decay(value: f32) -> f32 {
    if value.abs() < 1e-6 { 0.0 } else { value * 0.985 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first four frames that an input of a constant value adds.
    fn add(input: &mut ExternalInput, value: f32) -> [f32; 4] {
        input.block.iter_mut().for_each(|values| values[..4].fill(value));
        let mut outputs = [[0.0; 4]; TRACK_OUTPUTS];
        input.add_to(true, outputs.each_mut().map(|output| &mut output[..]));
        outputs[0]
    }

    #[test]
    fn the_step_of_a_jump_decays() {
        let mut input = ExternalInput::new();
        input.is_enabled = true;
        assert_eq!(add(&mut input, 0.5), [0.5; 4]);
        input.jump();
        let after_jump = add(&mut input, 0.25);
        assert_eq!(after_jump[0], 0.5);
        assert!(after_jump.is_sorted_by(|a, b| a > b && *b > 0.25), "{after_jump:?}");
    }

    #[test]
    fn a_jump_without_an_input_does_not_change_a_later_input() {
        let mut input = ExternalInput::new();
        input.jump();
        assert!(input.is_silent(true));
        input.is_enabled = true;
        assert_eq!(add(&mut input, 0.5), [0.5; 4]);
    }
}
