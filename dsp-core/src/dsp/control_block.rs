//! Short blocks of audio in arrays of constant length, for which compilers generate vector
//! instructions.

use super::control::CONTROL_FRAMES;

/// One value per frame, for the frames between two control points or for `FRAMES` frames.
pub(crate) type ControlBlock<const FRAMES: usize = CONTROL_FRAMES> = [f32; FRAMES];

/// Returns a block that starts with `values`, which has at most `FRAMES` values. All further frames
/// are 0.
#[inline(always)]
pub(crate) fn zero_padded<const FRAMES: usize>(values: &[f32]) -> ControlBlock<FRAMES> {
    match values.try_into() {
        Ok(whole) => whole,
        Err(_) => {
            let mut block = [0.0; FRAMES];
            for (target, value) in block.iter_mut().zip(values) {
                *target = *value;
            }
            block
        }
    }
}

/// Copies the start of a block into `values`, which has at most `FRAMES` frames.
#[inline(always)]
pub(crate) fn copy_to<const FRAMES: usize>(block: &[f32], values: &mut [f32]) {
    match (block.as_array::<FRAMES>(), values.as_mut_array()) {
        (Some(block), Some(whole)) => *whole = *block,
        _ => values.iter_mut().zip(block).for_each(|(target, value)| *target = *value),
    }
}
