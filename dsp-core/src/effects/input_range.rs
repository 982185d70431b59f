//! The input range of effects.

use super::effect::{FAINTEST, LOUDEST};
use crate::simd::on_best_instructions;

on_best_instructions! {
    /// Clamps samples to the input range of effects; NaN becomes 0.
    pub(crate) fn clamp_to_range(audio: [&mut [f32]; 2]) = clamp_to_range_here;
}

#[inline(always)]
fn clamp_to_range_here(audio: [&mut [f32]; 2]) {
    for values in audio {
        for value in values {
            // A comparison with NaN is false.
            let kept = if value.abs() >= FAINTEST { *value } else { 0.0 };
            *value = kept.clamp(-LOUDEST, LOUDEST);
        }
    }
}
