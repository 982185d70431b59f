//! The range of samples that effects accept as input.

use super::effect::{MAX_INPUT_MAGNITUDE, MIN_INPUT_MAGNITUDE};
use crate::simd::on_best_instructions;

on_best_instructions! {
    /// Clamps samples to magnitudes of at most [`MAX_INPUT_MAGNITUDE`]. Magnitudes below
    /// [`MIN_INPUT_MAGNITUDE`] and NaN become 0.
    pub(crate) fn clamp_to_range(audio: [&mut [f32]; 2]) = clamp_to_range_inline;
}

#[inline(always)]
fn clamp_to_range_inline(audio: [&mut [f32]; 2]) {
    for values in audio {
        for value in values {
            // The comparison is false for NaN, so NaN becomes 0.
            let value_or_zero = if value.abs() >= MIN_INPUT_MAGNITUDE { *value } else { 0.0 };
            *value = value_or_zero.clamp(-MAX_INPUT_MAGNITUDE, MAX_INPUT_MAGNITUDE);
        }
    }
}
