//! Frames that a render has computed and not returned yet.

use alloc::vec::Vec;

use crate::block::BLOCK_FRAMES;

/// Frames of a tail that are held back while they are silent: they belong to the render if sound
/// follows.
pub(super) struct LookaheadBuffer {
    /// Left and right.
    values: [Vec<f32>; 2],
    returned_frames: usize,
    is_released: bool,
}

impl LookaheadBuffer {
    pub(super) const fn new() -> Self {
        Self { values: [Vec::new(), Vec::new()], returned_frames: 0, is_released: false }
    }

    /// Number of frames that have not been returned.
    pub(super) fn frames(&self) -> usize {
        self.values[0].len() - self.returned_frames
    }

    /// Whether there are frames to return.
    pub(super) fn has_released_frames(&self) -> bool {
        self.is_released && self.frames() > 0
    }

    /// Appends frames; drops those that have been released.
    pub(super) fn push(&mut self, audio: [&[f32]; 2]) {
        if self.is_released {
            self.values.iter_mut().for_each(Vec::clear);
            (self.returned_frames, self.is_released) = (0, false);
        }
        for (values, audio) in self.values.iter_mut().zip(audio) {
            values.extend_from_slice(audio);
        }
    }

    /// Releases all frames.
    pub(super) fn release(&mut self) {
        self.is_released = true;
    }

    /// Returns the next released frames, left and right, at most a block.
    pub(super) fn next_block(&mut self) -> (&[f32], &[f32]) {
        let chunk = self.returned_frames..self.values[0].len().min(self.returned_frames + BLOCK_FRAMES);
        self.returned_frames = chunk.end;
        (&self.values[0][chunk.clone()], &self.values[1][chunk])
    }
}
