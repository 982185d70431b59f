//! The side-chain input of an effect.

use alloc::boxed::Box;

use crate::block::{BLOCK_FRAMES, StereoBlock};
use crate::dsp::delay_line::DelayLine;

/// The signal of another track, aligned with the input of an effect.
pub(crate) struct SideChain {
    /// Index of the effect in its chain.
    pub(crate) effect: usize,
    /// Index of the track that feeds the side-chain; `None` if the side-chain is silent.
    pub(crate) source_index: Option<usize>,
    delays: [DelayLine; 2],
    audio: Box<StereoBlock>,
}

impl SideChain {
    pub(crate) fn new(effect: usize, source_index: usize, delay_frames: usize) -> Self {
        Self {
            effect,
            source_index: Some(source_index),
            delays: [DelayLine::new(delay_frames), DelayLine::new(delay_frames)],
            audio: Box::new([[0.0; BLOCK_FRAMES]; 2]),
        }
    }

    pub(crate) fn delay_frames(&self) -> usize {
        self.delays[0].frames()
    }

    pub(crate) fn reset(&mut self) {
        self.delays.iter_mut().for_each(DelayLine::clear);
    }

    /// Reads the next frames from the taps of the mix, and delays them.
    pub(crate) fn read(&mut self, taps: &[Option<Box<StereoBlock>>], frames: usize) {
        let tap =
            self.source_index.and_then(|source_index| taps.get(source_index)).and_then(Option::as_deref);
        for (side, (values, delay)) in self.audio.iter_mut().zip(&mut self.delays).enumerate() {
            match tap {
                Some(tap) => values[..frames].copy_from_slice(&tap[side][..frames]),
                None => values[..frames].fill(0.0),
            }
            delay.process(&mut values[..frames]);
        }
    }

    /// Returns the frames of the last call of [`Self::read`].
    pub(crate) fn audio(&self) -> &StereoBlock {
        &self.audio
    }
}
