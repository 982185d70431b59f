//! The filter of a ratio: a windowed sinc, taken apart into phases.

use alloc::vec::Vec;

use super::ResampleError;
use super::kernel::{Sample, TAPS_AT_ONCE};
use crate::kaiser::{WindowedSinc, transition_width};

/// Lowest rate that can be converted, in hertz.
pub const MIN_RATE_HZ: u32 = 8_000;

/// Highest rate that can be converted, in hertz.
pub const MAX_RATE_HZ: u32 = 192_000;

/// Most coefficients of a filter. All ratios of the usual rates stay below: the largest, 11.025 to
/// 192 kHz and back, has about 650 000.
pub const MAX_COEFFICIENTS: usize = 1 << 20;

/// The filter of a ratio of rates. Resamplers of the same ratio can share one.
#[derive(Debug, Clone)]
pub struct ResamplerFilter<S> {
    /// `phases / step` is the ratio of output to input rate, in lowest terms.
    pub(super) phases: usize,
    pub(super) step: usize,
    /// From an output frame to the next: whole input frames, and phases beyond them.
    pub(super) whole_step: usize,
    pub(super) part_step: usize,
    /// Taps of each phase: input frames that an output frame is made of.
    pub(super) taps: usize,
    /// Phase by phase; the taps of a phase in the order of the input frames.
    pub(super) coefficients: Vec<S>,
}

impl<S: Sample> ResamplerFilter<S> {
    /// Designs the filter from one rate to another, both in hertz. Between equal rates it passes the
    /// signal as it is.
    ///
    /// # Errors
    ///
    /// [`ResampleError`] for rates out of range or a ratio that is too fine.
    pub fn new(input_rate_hz: u32, output_rate_hz: u32) -> Result<Self, ResampleError> {
        for rate_hz in [input_rate_hz, output_rate_hz] {
            if !(MIN_RATE_HZ..=MAX_RATE_HZ).contains(&rate_hz) {
                return Err(ResampleError::Rate { rate_hz });
            }
        }
        let divisor = greatest_common_divisor(input_rate_hz, output_rate_hz);
        let phases = (output_rate_hz / divisor) as usize;
        let step = (input_rate_hz / divisor) as usize;
        // The impulse response lasts as long in time whatever rate it is sampled at.
        let lower_rate = (f64::from(output_rate_hz) / f64::from(input_rate_hz)).min(1.0);
        let taps =
            if phases == step { TAPS_AT_ONCE } else { libm::ceil(S::TAPS as f64 / lower_rate) as usize };
        let taps = taps.next_multiple_of(TAPS_AT_ONCE);
        if phases * taps > MAX_COEFFICIENTS {
            let coefficients = phases * taps;
            return Err(ResampleError::Ratio { input_rate_hz, output_rate_hz, coefficients });
        }
        let cutoff = if phases == step {
            0.5
        } else {
            // The transition ends at the lower Nyquist frequency.
            (0.5 - transition_width(S::ATTENUATION_DB, S::TAPS) / 2.0) * lower_rate
        };
        let sinc = WindowedSinc::new(S::ATTENUATION_DB, cutoff, taps as f64 / 2.0);
        Ok(Self {
            phases,
            step,
            whole_step: step / phases,
            part_step: step % phases,
            taps,
            coefficients: coefficients(&sinc, phases, taps),
        })
    }

    /// Frames that so many input frames become: `frames * output rate / input rate`, rounded to
    /// the nearest.
    pub fn output_frames(&self, input_frames: u64) -> u64 {
        let (phases, step) = (self.phases as u128, self.step as u128);
        ((2 * u128::from(input_frames) * phases + step) / (2 * step)) as u64
    }

    /// Input frames before and after its own time that an output frame depends on.
    pub fn reach_frames(&self) -> usize {
        self.taps / 2
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The impulse response by phases: tap `t` of phase `p` is its value at `p / phases + taps / 2 - 1 - t`.
fn coefficients<S: Sample>(sinc: &WindowedSinc, phases: usize, taps: usize) -> Vec<S> {
    // One half is enough: the response is symmetrical.
    let half: Vec<S> = (0..=taps / 2 * phases)
        .map(|place| S::from_f64(flushed(sinc.at(place as f64 / phases as f64))))
        .collect();
    let mut coefficients = Vec::with_capacity(phases * taps);
    for phase in 0..phases {
        for tap in 0..taps {
            let place = (phase + taps / 2 * phases).abs_diff((tap + 1) * phases);
            coefficients.push(half[place]);
        }
    }
    coefficients
}

/// A coefficient without what is too small to matter but would make products denormal.
fn flushed(coefficient: f64) -> f64 {
    if coefficient.abs() < 1e-12 { 0.0 } else { coefficient }
}
