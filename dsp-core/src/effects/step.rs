//! Audio of a control step, or of some, in arrays, which compilers copy and pass through by whole
//! vectors.

use super::CONTROL_FRAMES;

/// A value for each frame of a control step, or of so many frames.
pub(crate) type Step<const FRAMES: usize = CONTROL_FRAMES> = [f32; FRAMES];

/// At most a step of values, and 0 for the frames that follow.
#[inline(always)]
pub(crate) fn step_of<const FRAMES: usize>(values: &[f32]) -> Step<FRAMES> {
    match values.try_into() {
        Ok(whole) => whole,
        Err(_) => {
            let mut step = [0.0; FRAMES];
            for (place, value) in step.iter_mut().zip(values) {
                *place = *value;
            }
            step
        }
    }
}

/// Puts the first of a control step of values where there is room for at most as many.
#[inline(always)]
pub(crate) fn put(step: &[f32], values: &mut [f32]) {
    match (step.as_array::<CONTROL_FRAMES>(), values.as_mut_array()) {
        (Some(step), Some(whole)) => *whole = *step,
        _ => values.iter_mut().zip(step).for_each(|(place, value)| *place = *value),
    }
}
