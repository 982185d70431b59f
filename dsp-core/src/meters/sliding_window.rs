//! Splits a stereo signal into overlapping windows.

use alloc::vec;
use alloc::vec::Vec;

/// Collects frames and calls a function with each complete window. All but the last hop of the
/// first window is silence.
#[derive(Debug, Clone)]
pub(super) struct SlidingWindow {
    window: [Vec<f32>; 2],
    /// Number of frames in the incomplete window.
    pending_frames: usize,
    /// Number of frames from the start of a window to the start of the next window.
    hop_frames: usize,
}

impl SlidingWindow {
    /// Creates windows of `frames` frames, which start `hop_frames` frames apart.
    pub(super) fn new(frames: usize, hop_frames: usize) -> Self {
        Self {
            window: [vec![0.0; frames], vec![0.0; frames]],
            pending_frames: frames - hop_frames,
            hop_frames,
        }
    }

    pub(super) fn reset(&mut self) {
        self.window.iter_mut().for_each(|window| window.fill(0.0));
        self.pending_frames = self.window[0].len() - self.hop_frames;
    }

    /// Adds the same number of samples of left and right. Calls `process_window` with every
    /// complete window.
    pub(super) fn add(&mut self, [left, right]: [&[f32]; 2], mut process_window: impl FnMut([&[f32]; 2])) {
        let mut processed_frames = 0;
        while processed_frames < left.len() {
            let count = (left.len() - processed_frames).min(self.window[0].len() - self.pending_frames);
            for (window, channel) in self.window.iter_mut().zip([left, right]) {
                window[self.pending_frames..][..count]
                    .copy_from_slice(&channel[processed_frames..processed_frames + count]);
            }
            processed_frames += count;
            self.pending_frames += count;
            if self.pending_frames == self.window[0].len() {
                process_window([&self.window[0], &self.window[1]]);
                self.window.iter_mut().for_each(|window| window.copy_within(self.hop_frames.., 0));
                self.pending_frames -= self.hop_frames;
            }
        }
    }
}
