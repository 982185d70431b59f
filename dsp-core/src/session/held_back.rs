//! What a render has made and not handed out yet.

use alloc::vec::Vec;

use crate::block::BLOCK_FRAMES;

/// Frames that wait until it is known whether they are wanted: silence is, if sound comes after it.
pub(super) struct HeldBack {
    /// Left and right.
    values: [Vec<f32>; 2],
    given_frames: usize,
    is_let_go: bool,
}

impl HeldBack {
    pub(super) const fn new() -> Self {
        Self { values: [Vec::new(), Vec::new()], given_frames: 0, is_let_go: false }
    }

    /// Frames that have not been handed out.
    pub(super) fn frames(&self) -> usize {
        self.values[0].len() - self.given_frames
    }

    /// Whether there are frames to be handed out.
    pub(super) fn is_let_go(&self) -> bool {
        self.is_let_go && self.frames() > 0
    }

    /// Adds frames behind all others, or after frames that were let go.
    pub(super) fn push(&mut self, audio: [&[f32]; 2]) {
        if self.is_let_go {
            self.values.iter_mut().for_each(Vec::clear);
            (self.given_frames, self.is_let_go) = (0, false);
        }
        for (values, audio) in self.values.iter_mut().zip(audio) {
            values.extend_from_slice(audio);
        }
    }

    /// Lets all frames be handed out.
    pub(super) fn let_go(&mut self) {
        self.is_let_go = true;
    }

    /// Hands out the next frames, left and right, at most a block.
    pub(super) fn give(&mut self) -> (&[f32], &[f32]) {
        let part = self.given_frames..self.values[0].len().min(self.given_frames + BLOCK_FRAMES);
        self.given_frames = part.end;
        (&self.values[0][part.clone()], &self.values[1][part])
    }
}
