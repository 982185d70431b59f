//! Overlapping windows of a stereo signal.

use alloc::vec;
use alloc::vec::Vec;

/// Collects frames and shows the last of them, a window at a time; before the first there is
/// silence.
#[derive(Debug, Clone)]
pub(super) struct SlidingWindow {
    kept: [Vec<f32>; 2],
    filled: usize,
    hop: usize,
}

impl SlidingWindow {
    /// Windows of so many frames, each so many frames behind the last.
    pub(super) fn new(frames: usize, hop: usize) -> Self {
        Self { kept: [vec![0.0; frames], vec![0.0; frames]], filled: frames - hop, hop }
    }

    pub(super) fn reset(&mut self) {
        self.kept.iter_mut().for_each(|kept| kept.fill(0.0));
        self.filled = self.kept[0].len() - self.hop;
    }

    /// Adds frames, left and right of one length; `each` sees every window that is complete.
    pub(super) fn add(&mut self, [left, right]: [&[f32]; 2], mut each: impl FnMut([&[f32]; 2])) {
        let mut done = 0;
        while done < left.len() {
            let count = (left.len() - done).min(self.kept[0].len() - self.filled);
            for (kept, channel) in self.kept.iter_mut().zip([left, right]) {
                kept[self.filled..][..count].copy_from_slice(&channel[done..done + count]);
            }
            done += count;
            self.filled += count;
            if self.filled == self.kept[0].len() {
                each([&self.kept[0], &self.kept[1]]);
                self.kept.iter_mut().for_each(|kept| kept.copy_within(self.hop.., 0));
                self.filled -= self.hop;
            }
        }
    }
}
