//! Reads the input of a plugin effect in parts of any length.

use dsp_core::render::EffectInput;

use super::SILENT_MAGNITUDE;

/// The input of a plugin effect.
pub(super) struct InputReader {
    input: EffectInput,
    has_ended: bool,
    has_sound: bool,
    sides: [Vec<f32>; 2],
}

impl InputReader {
    pub(super) fn new(input: EffectInput) -> Self {
        Self { input, has_ended: false, has_sound: false, sides: [Vec::new(), Vec::new()] }
    }

    /// Returns left and right of the next frames. After the end of the input, returns no channels,
    /// which are silent.
    pub(super) fn read(&mut self, frames: usize) -> &[Vec<f32>] {
        self.sides.iter_mut().for_each(Vec::clear);
        while !self.has_ended && self.sides[0].len() < frames {
            match self.input.next_block(frames - self.sides[0].len()) {
                Some(block) => {
                    for (side, values) in self.sides.iter_mut().zip(block) {
                        self.has_sound |= values.iter().any(|value| value.abs() > SILENT_MAGNITUDE);
                        side.extend_from_slice(values);
                    }
                }
                None => self.has_ended = true,
            }
        }
        if self.sides[0].is_empty() {
            return &[];
        }
        self.sides.iter_mut().for_each(|side| side.resize(frames, 0.0));
        &self.sides
    }

    /// Whether any frame that was read has sound.
    pub(super) fn has_sound(&self) -> bool {
        self.has_sound
    }
}
