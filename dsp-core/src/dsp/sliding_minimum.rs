//! The minimum of the last values.

use alloc::vec;
use alloc::vec::Vec;

use super::decibels::lower;
use super::lanes::LANES;

/// The minimum of the last values, at most 1 (M. van Herk, "A Fast Algorithm for Local Minimum and
/// Maximum Filters", Pattern Recognition Letters 13-7, 1992). The time does not depend on the
/// values.
///
/// The values are divided into blocks that are as long as the window. A window then consists of
/// the end of one block and the start of the next.
#[derive(Debug, Clone)]
pub(crate) struct SlidingMinimum {
    /// Before `index`: the values of the current block. From `index` on: the minimum of each value
    /// of the last block and all later ones of that block.
    values: Vec<f32>,
    index: usize,
    /// Minimum of the values of the current block.
    minimum: f32,
}

impl SlidingMinimum {
    /// Creates a window of `frames` values, at least 1, which are all 1.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![1.0; frames], index: 0, minimum: 1.0 }
    }

    /// Sets all values to 1.
    pub(crate) fn reset(&mut self) {
        self.values.fill(1.0);
        (self.index, self.minimum) = (0, 1.0);
    }

    /// Returns the minimum of the window.
    #[inline(always)]
    pub(crate) fn minimum(&self) -> f32 {
        lower(self.minimum, self.values[self.index])
    }

    /// Adds a value. Returns the minimum of the window, in which the value replaces the oldest.
    #[inline(always)]
    pub(crate) fn next(&mut self, value: f32) -> f32 {
        self.values[self.index] = value;
        self.minimum = lower(self.minimum, value);
        self.index += 1;
        if self.index < self.values.len() {
            return self.minimum();
        }
        (self.index, self.minimum) = (0, 1.0);
        self.take_later_minima();
        self.values[0]
    }

    /// Replaces each value by the minimum of it and all later values.
    fn take_later_minima(&mut self) {
        let mut later_minimum = 1.0;
        // The CPU processes several parts at once, because the minima of a part do not depend on
        // other parts.
        for part in self.values.rchunks_mut(LANES) {
            let mut minimum = 1.0;
            for value in part.iter_mut().rev() {
                minimum = lower(minimum, *value);
                *value = lower(minimum, later_minimum);
            }
            later_minimum = lower(minimum, later_minimum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_the_minimum_of_the_window() {
        let values: Vec<f32> = (0..500_u32).map(|frame| (frame * frame % 101) as f32 / 90.0).collect();
        for frames in [1, 2, 7, 100] {
            let mut sliding = SlidingMinimum::new(frames);
            for end in 1..=values.len() {
                let window = &values[end.saturating_sub(frames)..end];
                let expected = window.iter().copied().fold(1.0, f32::min);
                assert_eq!(sliding.next(values[end - 1]), expected, "{frames} frames before {end}");
                assert_eq!(sliding.minimum(), expected, "{frames} frames before {end}");
            }
            sliding.reset();
            assert_eq!(sliding.minimum(), 1.0);
        }
    }
}
