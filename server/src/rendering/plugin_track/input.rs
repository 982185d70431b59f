//! Reads the input and the side-chain of a plugin effect in parts of any length.

use dsp_core::render::{EffectInput, EffectInputBlock};

use super::SILENT_MAGNITUDE;

/// Number of channels of the input, and of the side-chain.
pub(super) const CHANNELS_EACH: usize = 2;

/// The input and the side-chain of a plugin effect.
pub(super) struct InputReader {
    input: EffectInput,
    has_ended: bool,
    has_sound: bool,
    /// Left and right of the input, then of the side-chain if the plugin has one.
    channels: Vec<Vec<f32>>,
}

impl InputReader {
    pub(super) fn new(input: EffectInput, has_side_chain: bool) -> Self {
        let channels = match has_side_chain && input.has_side_chain() {
            true => 2 * CHANNELS_EACH,
            false => CHANNELS_EACH,
        };
        Self { input, has_ended: false, has_sound: false, channels: vec![Vec::new(); channels] }
    }

    /// Returns left and right of the next frames, then those of the side-chain. After the end of
    /// both, returns no channels, which are silent.
    pub(super) fn read(&mut self, frames: usize) -> &[Vec<f32>] {
        self.channels.iter_mut().for_each(Vec::clear);
        while !self.has_ended && self.channels[0].len() < frames {
            match self.input.next_block(frames - self.channels[0].len()) {
                Some(EffectInputBlock { input, side_chain }) => {
                    let has_sound = |side: &[f32]| side.iter().any(|value| value.abs() > SILENT_MAGNITUDE);
                    self.has_sound |= input.into_iter().any(has_sound);
                    let sides = input.into_iter().chain(side_chain.into_iter().flatten());
                    for (channel, side) in self.channels.iter_mut().zip(sides) {
                        channel.extend_from_slice(side);
                    }
                }
                None => self.has_ended = true,
            }
        }
        if self.channels[0].is_empty() {
            return &[];
        }
        self.channels.iter_mut().for_each(|channel| channel.resize(frames, 0.0));
        &self.channels
    }

    /// Whether any frame of the input that was read has sound.
    pub(super) fn has_sound(&self) -> bool {
        self.has_sound
    }
}
