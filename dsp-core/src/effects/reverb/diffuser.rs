//! All-pass filters in series, which raise the number of echoes before the feedback delay network
//! (M. R. Schroeder, "Natural Sounding Artificial Reverberation", JAES 10-3, 1962).

use super::room::prime_from;
use crate::dsp::compact_delay_line::CompactDelayLine;
use crate::dsp::control::{CONTROL_FRAMES, ControlRamp};
use crate::dsp::denormals::flush_denormal;

/// Highest coefficient. With a higher coefficient, the all-pass filters would ring audibly.
pub(super) const MAX_COEFFICIENT: f64 = 0.7;

/// Delays of the filters in milliseconds, left and right. No delay is a multiple of another.
const DELAY_MS: [[f64; 4]; 2] = [[4.7, 7.3, 10.9, 13.9], [5.3, 6.7, 11.9, 12.7]];

/// Four all-pass filters of one channel.
#[derive(Debug, Clone)]
pub(super) struct Diffuser {
    delay_lines: [CompactDelayLine; 4],
}

impl Diffuser {
    pub(super) fn new(side: usize, sample_rate_hz: f64) -> Self {
        Self { delay_lines: Self::delays_frames(side, sample_rate_hz).map(CompactDelayLine::new) }
    }

    /// Returns the delays of a channel's all-pass filters in frames.
    pub(super) fn delays_frames(side: usize, sample_rate_hz: f64) -> [usize; 4] {
        DELAY_MS[side].map(|ms| prime_from((1e-3 * ms * sample_rate_hz) as usize))
    }

    /// Returns the sum of the delays in frames, which is the diffuser's delay at a coefficient of
    /// 0.
    pub(super) fn frames(&self) -> usize {
        self.delay_lines.iter().map(CompactDelayLine::frames).sum()
    }

    pub(super) fn clear(&mut self) {
        self.delay_lines.iter_mut().for_each(CompactDelayLine::clear);
    }

    /// Filters samples in place, from `offset` frames after the control point on.
    #[inline(always)]
    pub(super) fn process(&mut self, offset: usize, coefficient: &ControlRamp, values: &mut [f32]) {
        let mut coefficients = [0.0; CONTROL_FRAMES];
        let coefficients = &mut coefficients[..values.len()];
        coefficient.fill(offset, coefficients);
        for delay_line in &mut self.delay_lines {
            let contiguous =
                if values.len() == CONTROL_FRAMES { delay_line.next_contiguous_samples() } else { None };
            if let Some(samples) = contiguous {
                process_all_pass(coefficients, values, samples);
            } else {
                let mut samples = [0.0; CONTROL_FRAMES];
                let samples = &mut samples[..values.len()];
                delay_line.read(delay_line.frames(), samples);
                process_all_pass(coefficients, values, samples);
                delay_line.write(samples);
            }
        }
    }
}

/// Filters samples with one all-pass filter. `delay_values` holds the delayed samples, which are
/// replaced by the samples to delay.
#[inline(always)]
fn process_all_pass(coefficients: &[f32], values: &mut [f32], delay_values: &mut [f32]) {
    for ((value, coefficient), delay_value) in values.iter_mut().zip(coefficients).zip(delay_values) {
        let delayed_value = *delay_value;
        *delay_value = flush_denormal(*value + coefficient * delayed_value);
        *value = delayed_value - coefficient * *delay_value;
    }
}
