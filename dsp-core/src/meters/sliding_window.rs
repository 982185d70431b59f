//! Overlapping windows of a stereo signal.

use alloc::vec;
use alloc::vec::Vec;

/// Collects frames and passes overlapping windows on. The first window starts with silence.
#[derive(Debug, Clone)]
pub(super) struct SlidingWindow {
    window: [Vec<f32>; 2],
    filled: usize,
    hop: usize,
}

impl SlidingWindow {
    /// Windows of `frames` frames, which start `hop` frames apart.
    pub(super) fn new(frames: usize, hop: usize) -> Self {
        Self { window: [vec![0.0; frames], vec![0.0; frames]], filled: frames - hop, hop }
    }

    pub(super) fn reset(&mut self) {
        self.window.iter_mut().for_each(|window| window.fill(0.0));
        self.filled = self.window[0].len() - self.hop;
    }

    /// Adds frames of left and right, of the same length. Calls `each` with every complete window.
    pub(super) fn add(&mut self, [left, right]: [&[f32]; 2], mut each: impl FnMut([&[f32]; 2])) {
        let mut done = 0;
        while done < left.len() {
            let count = (left.len() - done).min(self.window[0].len() - self.filled);
            for (window, channel) in self.window.iter_mut().zip([left, right]) {
                window[self.filled..][..count].copy_from_slice(&channel[done..done + count]);
            }
            done += count;
            self.filled += count;
            if self.filled == self.window[0].len() {
                each([&self.window[0], &self.window[1]]);
                self.window.iter_mut().for_each(|window| window.copy_within(self.hop.., 0));
                self.filled -= self.hop;
            }
        }
    }
}
