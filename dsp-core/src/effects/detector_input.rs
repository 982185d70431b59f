//! The input of the detector of dynamics effects.

use super::input_range::clamp_to_range;
use crate::dsp::band_split::BandSplit;
use crate::dsp::control_block::{ControlBlock, zero_padded};

/// The signal from which a dynamics effect computes its gain. It is the side-chain, or the main
/// input without a side-chain, through a high-pass filter.
pub(crate) struct DetectorInput {
    high_pass: BandSplit,
    /// Whether the high-pass filter is off until the next control point.
    is_high_pass_off: bool,
}

/// At and below this frequency in hertz, the high-pass filter is off.
pub(crate) const HIGH_PASS_OFF_HZ: f64 = 20.0;

impl DetectorInput {
    pub(crate) fn new(high_pass_hz: f64, sample_rate_hz: u32) -> Self {
        let mut input =
            Self { high_pass: BandSplit::new(high_pass_hz, sample_rate_hz), is_high_pass_off: false };
        input.is_high_pass_off = input.is_high_pass_unneeded();
        input
    }

    pub(crate) fn set_high_pass_hz(&mut self, high_pass_hz: f64, ramp_frames: u32) {
        self.high_pass.set_frequency_hz(high_pass_hz, ramp_frames);
    }

    pub(crate) fn reset(&mut self) {
        self.high_pass.reset();
        self.is_high_pass_off = self.is_high_pass_unneeded();
    }

    fn is_high_pass_unneeded(&self) -> bool {
        self.high_pass.is_steady() && self.high_pass.target_hz() <= HIGH_PASS_OFF_HZ
    }

    /// See [`BandSplit::is_idle`].
    pub(crate) fn is_idle(&self) -> bool {
        self.high_pass.is_idle()
    }

    /// See [`BandSplit::refresh`].
    pub(crate) fn refresh(&mut self) {
        self.high_pass.refresh();
        self.is_high_pass_off = self.is_high_pass_unneeded();
        if self.is_high_pass_off {
            self.high_pass.clear();
        }
    }

    /// See [`BandSplit::is_steady`].
    pub(crate) fn is_steady(&self) -> bool {
        self.high_pass.is_steady() && self.is_high_pass_off == self.is_high_pass_unneeded()
    }

    /// See [`BandSplit::flush_denormals`].
    pub(crate) fn flush_denormals(&mut self) {
        self.high_pass.flush_denormals();
    }

    /// Returns the left and right channel of the detector's input, at most `FRAMES` frames. A copy
    /// or a filtered signal is stored in `buffer`.
    #[inline(always)]
    pub(crate) fn read<'a, const FRAMES: usize>(
        &mut self,
        main: [&'a [f32]; 2],
        side_chain: Option<[&[f32]; 2]>,
        buffer: &'a mut Option<[ControlBlock<FRAMES>; 2]>,
    ) -> [&'a [f32]; 2] {
        let frames = main[0].len();
        if let Some(side_chain) = side_chain {
            clamp_to_range(
                buffer.insert(side_chain.map(zero_padded)).each_mut().map(|side| &mut side[..frames]),
            );
        }
        if !self.is_high_pass_off {
            let input = buffer.as_ref().map_or(main, |side| side.each_ref().map(|side| &side[..frames]));
            *buffer = Some(self.high_pass.split(input).high);
        }
        buffer.as_ref().map_or(main, |input| input.each_ref().map(|input| &input[..frames]))
    }
}
