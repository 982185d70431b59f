//! The region that a mixer repeats.

use crate::block::BLOCK_FRAMES;

/// The shortest loop in frames. A block thus contains at most one jump and a shorter remainder.
pub const MIN_LOOP_FRAMES: u64 = BLOCK_FRAMES as u64;

/// A region that the mixer repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopRegion {
    /// The first frame of the region.
    pub start_frame: u64,
    /// The first frame after the region. Playback continues at `start_frame` in its place.
    pub end_frame: u64,
}

impl LoopRegion {
    /// Returns a region, or `None` if it is shorter than [`MIN_LOOP_FRAMES`].
    pub fn new(start_frame: u64, end_frame: u64) -> Option<Self> {
        let length_frames = end_frame.checked_sub(start_frame)?;
        (length_frames >= MIN_LOOP_FRAMES).then_some(Self { start_frame, end_frame })
    }

    /// Returns the number of frames from a position to the end. Returns `None` if the position is
    /// at the end or after it, from where playback goes on without a jump.
    pub(crate) fn frames_to_end(self, position_frames: u64) -> Option<usize> {
        let frames = self.end_frame.checked_sub(position_frames).filter(|frames| *frames > 0)?;
        Some(usize::try_from(frames).unwrap_or(usize::MAX))
    }

    /// Returns the frame before which playback from a position jumps; `u64::MAX` if it does not.
    pub(crate) fn end_frame_from(self, position_frames: u64) -> u64 {
        if position_frames < self.end_frame { self.end_frame } else { u64::MAX }
    }
}
