//! Designs the filters of a sample-rate conversion.

use alloc::vec;
use alloc::vec::Vec;

use super::error::{MAX_PHASES, MAX_RATE_HZ, MIN_RATE_HZ, ResampleError};
use super::fourier::{Pair, Plan, Spectrum};
use super::polyphase::{PolyphaseFilter, TAPS};
use super::sample::Sample;
use crate::dsp::window::{WindowedSinc, transition_width};

/// The filters that convert one sample rate to another. Resamplers of the same rates can share
/// them.
#[derive(Debug, Clone)]
pub struct ResamplerFilter<S: Sample> {
    /// Ratio of the input rate to the output rate.
    pub(super) ratio: Ratio,
    /// The first filter. It removes the frequencies that one of the rates cannot represent.
    pub(super) sharp: SharpFilter<S>,
    /// The second filter. It converts the rate.
    pub(super) polyphase: PolyphaseFilter<S>,
}

/// A ratio of two sample rates in lowest terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    pub(super) input: u32,
    pub(super) output: u32,
}

impl Ratio {
    fn new(input: u32, output: u32) -> Self {
        let divisor = greatest_common_divisor(input, output);
        Self { input: input / divisor, output: output / divisor }
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl<S: Sample> ResamplerFilter<S> {
    /// Designs the filters for two sample rates in hertz. If the rates are equal, the filters leave
    /// the signal unchanged.
    ///
    /// # Errors
    ///
    /// [`ResampleError`] for rates out of range or a ratio that needs too many phases.
    pub fn new(input_rate_hz: u32, output_rate_hz: u32) -> Result<Self, ResampleError> {
        for rate_hz in [input_rate_hz, output_rate_hz] {
            if !(MIN_RATE_HZ..=MAX_RATE_HZ).contains(&rate_hz) {
                return Err(ResampleError::Rate { rate_hz });
            }
        }
        // The signal between the filters must have no frequencies above a quarter of its rate.
        let factor =
            if input_rate_hz == output_rate_hz || input_rate_hz >= 2 * output_rate_hz { 1 } else { 2 };
        let second = Ratio::new(factor * input_rate_hz, output_rate_hz);
        let phases = second.output as usize;
        if phases > MAX_PHASES {
            return Err(ResampleError::Ratio { input_rate_hz, output_rate_hz, phases });
        }
        let sharp = if input_rate_hz == output_rate_hz {
            SharpFilter::passthrough()
        } else {
            let lower_rate_ratio = (f64::from(output_rate_hz) / f64::from(input_rate_hz)).min(1.0);
            SharpFilter::new(factor as usize, lower_rate_ratio)
        };
        let ratio = Ratio::new(input_rate_hz, output_rate_hz);
        Ok(Self { ratio, sharp, polyphase: PolyphaseFilter::new(phases, second.input as usize) })
    }

    /// Returns the number of output frames: `input_frames * output rate / input rate`, rounded to
    /// the nearest integer.
    pub fn output_frames(&self, input_frames: u64) -> u64 {
        let (input, output) = (u128::from(self.ratio.input), u128::from(self.ratio.output));
        ((2 * u128::from(input_frames) * output + input) / (2 * input)) as u64
    }

    /// Returns the maximum number of input frames by which the output lags behind the input.
    pub fn lag_frames(&self) -> usize {
        self.sharp.input_frames() + TAPS
    }
}

/// The low-pass filter at the lower of the two Nyquist frequencies. It processes two blocks of
/// input at a time and can double the sample rate.
#[derive(Debug, Clone)]
pub(super) struct SharpFilter<S: Sample> {
    /// Output frames per input frame: 1 or 2.
    pub(super) factor: usize,
    /// Number of input frames before an output frame on which the output frame depends.
    pub(super) lead_frames: usize,
    /// Number of input frames in a block.
    pub(super) block_frames: usize,
    taps: usize,
    plan: Plan<S>,
    /// Spectrum of the filter of each phase. Empty if the filter leaves the signal unchanged.
    spectra: Vec<Spectrum<S>>,
}

/// Buffers of a [`SharpFilter`].
#[derive(Debug, Clone)]
pub(super) struct Workspace<S> {
    /// The two input blocks, which are filtered together.
    signals: Pair<S>,
    /// The two filtered blocks, for each phase.
    results: Vec<Pair<S>>,
}

impl<S: Sample> SharpFilter<S> {
    /// Designs the filter. `lower_rate` is the lower of the two rates divided by the input rate.
    fn new(factor: usize, lower_rate: f64) -> Self {
        // The length of the impulse response is fixed in frames of the lower rate.
        let taps = (libm::ceil(S::TAPS as f64 / lower_rate) as usize).next_multiple_of(2);
        // The transition band ends at the lower Nyquist frequency.
        let cutoff = (0.5 - transition_width(S::ATTENUATION_DB, S::TAPS) / 2.0) * lower_rate;
        let sinc = WindowedSinc::new(S::ATTENUATION_DB, cutoff, taps as f64 / 2.0);
        let plan = Plan::new(taps * 5 / 2);
        let length = plan.length();
        let exact_plan = Plan::<f64>::new(length);
        let spectra = (0..factor).map(|phase| {
            let mut response = vec![0.0; length];
            for (index, value) in response.iter_mut().enumerate() {
                // The convolution is circular: the second half of the response holds negative
                // times.
                let time = if index < length / 2 { index as f64 } else { index as f64 - length as f64 };
                *value = sinc.value_at(time + phase as f64 / factor as f64);
            }
            exact_plan.spectrum(response)
        });
        let spectra = spectra.collect();
        Self { factor, lead_frames: taps / 2 - 1, block_frames: length - taps + 1, taps, plan, spectra }
    }

    /// Creates a filter that leaves the signal unchanged.
    fn passthrough() -> Self {
        Self {
            factor: 1,
            lead_frames: 0,
            block_frames: 1_024,
            taps: 1,
            plan: Plan::new(0),
            spectra: Vec::new(),
        }
    }

    pub(super) fn workspace(&self) -> Workspace<S> {
        let silent_pair = Pair::silent(self.plan.length());
        Workspace { results: vec![silent_pair.clone(); self.spectra.len()], signals: silent_pair }
    }

    /// Returns the number of input frames on which two output blocks depend.
    pub(super) fn input_frames(&self) -> usize {
        2 * self.block_frames + self.taps - 1
    }

    /// Returns the number of output frames of two blocks.
    pub(super) fn output_frames(&self) -> usize {
        2 * self.block_frames * self.factor
    }

    /// Filters two blocks of one channel.
    pub(super) fn process(&self, input: &[S], workspace: &mut Workspace<S>, output: &mut [S]) {
        let Workspace { signals, results } = workspace;
        if self.spectra.is_empty() {
            output.copy_from_slice(input);
            return;
        }
        let length = self.plan.length();
        signals.re.copy_from_slice(&input[..length]);
        signals.im.copy_from_slice(&input[self.block_frames..][..length]);
        S::convolve(&self.plan, signals, &self.spectra, results);
        let (first, second) = output.split_at_mut(output.len() / 2);
        let valid = self.lead_frames..self.lead_frames + self.block_frames;
        match &**results {
            [result] => {
                first.copy_from_slice(&result.re[valid.clone()]);
                second.copy_from_slice(&result.im[valid]);
            }
            [even, odd] => {
                interleave(&even.re[valid.clone()], &odd.re[valid.clone()], first);
                interleave(&even.im[valid.clone()], &odd.im[valid], second);
            }
            _ => {}
        }
    }
}

fn interleave<S: Sample>(even: &[S], odd: &[S], output: &mut [S]) {
    for (pair, (even, odd)) in output.as_chunks_mut::<2>().0.iter_mut().zip(even.iter().zip(odd)) {
        *pair = [*even, *odd];
    }
}
