//! Buffers frames that a render has computed but not yet returned.

use alloc::vec::Vec;

use crate::block::BLOCK_FRAMES;

/// Buffers the silent frames of a tail. They are released if sound follows, and otherwise dropped.
pub(super) struct LookaheadBuffer {
    /// Samples of left and right.
    values: [Vec<f32>; 2],
    returned_frames: usize,
    is_released: bool,
}

impl LookaheadBuffer {
    pub(super) const fn new() -> Self {
        Self { values: [Vec::new(), Vec::new()], returned_frames: 0, is_released: false }
    }

    /// Returns the number of frames that have not been returned by [`Self::next_block`].
    pub(super) fn frames(&self) -> usize {
        self.values[0].len() - self.returned_frames
    }

    /// Whether [`Self::next_block`] has frames to return.
    pub(super) fn has_released_frames(&self) -> bool {
        self.is_released && self.frames() > 0
    }

    /// Appends frames. Frames that were released before are removed first.
    pub(super) fn push(&mut self, audio: [&[f32]; 2]) {
        if self.is_released {
            self.values.iter_mut().for_each(Vec::clear);
            (self.returned_frames, self.is_released) = (0, false);
        }
        for (values, audio) in self.values.iter_mut().zip(audio) {
            values.extend_from_slice(audio);
        }
    }

    /// Lets [`Self::next_block`] return all frames.
    pub(super) fn release(&mut self) {
        self.is_released = true;
    }

    /// Returns left and right of the next released frames, at most [`BLOCK_FRAMES`].
    pub(super) fn next_block(&mut self) -> (&[f32], &[f32]) {
        let chunk = self.returned_frames..self.values[0].len().min(self.returned_frames + BLOCK_FRAMES);
        self.returned_frames = chunk.end;
        (&self.values[0][chunk.clone()], &self.values[1][chunk])
    }
}
