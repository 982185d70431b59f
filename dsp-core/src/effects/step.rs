//! Audio of a control step in arrays, which compilers copy and pass through by whole vectors.

use super::CONTROL_FRAMES;

/// A value for each frame of a control step.
pub(crate) type Step = [f32; CONTROL_FRAMES];

/// At most a control step of values, and 0 for the frames that follow.
#[inline(always)]
pub(crate) fn step_of(values: &[f32]) -> Step {
    match values.try_into() {
        Ok(whole) => whole,
        Err(_) => {
            let mut step = [0.0; CONTROL_FRAMES];
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
