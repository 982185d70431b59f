//! The position and the buffers of the block that is being mixed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::routing::Destination;
use crate::block::{StereoBlock, TrackBlock};

/// The position of a block in the session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessContext {
    /// Frame of the clock at the start of the block.
    pub(crate) clock: u64,
    /// Whether the session plays. Only then do the clock, automation and tempo advance.
    pub(crate) is_playing: bool,
    /// Number of frames in the block.
    pub(crate) frames: usize,
}

/// The sums to which routes add their signals.
pub(crate) struct Sums {
    pub(crate) master: Box<TrackBlock>,
    /// The sum of each strip's inputs; `None` for a strip that no other strip feeds.
    pub(crate) strips: Vec<Option<Box<TrackBlock>>>,
}

impl Sums {
    pub(super) fn clear(&mut self, frames: usize) {
        let sums = self.strips.iter_mut().flatten().chain([&mut self.master]);
        sums.flat_map(|sum| sum.iter_mut()).for_each(|values| values[..frames].fill(0.0));
    }

    pub(crate) fn get_mut(&mut self, destination: Destination) -> Option<&mut TrackBlock> {
        match destination {
            Destination::Master => Some(&mut self.master),
            Destination::Strip(index) => self.strips.get_mut(index)?.as_deref_mut(),
        }
    }
}

/// The buffers of the mix.
pub(crate) struct MixBuffers {
    pub(crate) sums: Sums,
    /// The signal of each strip after its effects and before its fader; `None` for a strip that
    /// feeds no side-chain.
    pub(crate) taps: Vec<Option<Box<StereoBlock>>>,
    pub(crate) scratch: Box<[TrackBlock; 2]>,
}
