//! All-passes in series, which make many echoes of one before the late sound begins (M. R.
//! Schroeder, "Natural Sounding Artificial Reverberation", JAES 10-3, 1962).

use super::network::prime_from;
use super::ring::Ring;
use crate::effects::CONTROL_FRAMES;
use crate::effects::control::Ramp;
use crate::effects::mixing::flush;

/// Highest coefficient: beyond it an all-pass rings by itself.
pub(super) const STRONGEST: f64 = 0.7;

/// Delays in milliseconds, left and right: none a multiple of another.
const DELAY_MS: [[f64; 4]; 2] = [[4.7, 7.3, 10.9, 13.9], [5.3, 6.7, 11.9, 12.7]];

/// Four all-passes of one side.
#[derive(Debug, Clone)]
pub(super) struct Diffuser {
    lines: [Ring; 4],
}

impl Diffuser {
    pub(super) fn new(side: usize, sample_rate_hz: f64) -> Self {
        Self { lines: Self::frames_of(side, sample_rate_hz).map(Ring::new) }
    }

    /// Frames of the all-passes of a side.
    pub(super) fn frames_of(side: usize, sample_rate_hz: f64) -> [usize; 4] {
        DELAY_MS[side].map(|ms| prime_from((1e-3 * ms * sample_rate_hz) as usize))
    }

    /// Frames of its delays together, which is how late it is where its coefficient is 0.
    pub(super) fn frames(&self) -> usize {
        self.lines.iter().map(Ring::frames).sum()
    }

    pub(super) fn clear(&mut self) {
        self.lines.iter_mut().for_each(Ring::clear);
    }

    /// Passes values in place.
    #[inline(always)]
    pub(super) fn process(&mut self, offset: usize, coefficient: &Ramp, values: &mut [f32]) {
        let mut coefficients = [0.0; CONTROL_FRAMES];
        let coefficients = &mut coefficients[..values.len()];
        coefficient.fill(offset, coefficients);
        for line in &mut self.lines {
            let row = if values.len() == CONTROL_FRAMES { line.next_row() } else { None };
            if let Some(row) = row {
                pass(coefficients, values, row);
            } else {
                let mut row = [0.0; CONTROL_FRAMES];
                let row = &mut row[..values.len()];
                line.read(line.frames(), row);
                pass(coefficients, values, row);
                line.write(row);
            }
        }
    }
}

/// Passes values through an all-pass: what comes out of its line becomes what goes into it.
#[inline(always)]
fn pass(coefficients: &[f32], values: &mut [f32], line: &mut [f32]) {
    for ((value, coefficient), line) in values.iter_mut().zip(coefficients).zip(line) {
        let delayed = *line;
        *line = flush(*value + coefficient * delayed);
        *value = delayed - coefficient * *line;
    }
}
