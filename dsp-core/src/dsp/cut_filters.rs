//! A low cut and a high cut of 6 dB per octave, for delays and reverbs.
//!
//! The filters are one-pole filters in trapezoidal form, which is stable and free of noise while
//! the frequency changes (V. Zavalishin, "The Art of VA Filter Design", 2012, chapter 3). They
//! compute in double precision, because the state of a low cut changes little per frame.

use wide::f64x2;

use super::control::{ControlRamp, ramp_all, reset_all};

/// A state below this magnitude counts as silent.
const SILENT_MAGNITUDE: f64 = 1e-30;

/// A low cut followed by a high cut, for left and right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CutFilters {
    sample_rate_hz: f64,
    /// Coefficients `g / (1 + g)` of the low cut and of the high cut, with `g = tan(pi f / rate)`.
    coefficients: [ControlRamp; 2],
    low: f64x2,
    high: f64x2,
}

impl CutFilters {
    /// Creates silent filters.
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            coefficients: [ControlRamp::default(); 2],
            low: f64x2::ZERO,
            high: f64x2::ZERO,
        }
    }

    /// Clears the states.
    pub(crate) fn clear(&mut self) {
        (self.low, self.high) = (f64x2::ZERO, f64x2::ZERO);
    }

    /// Starts ramps at a control point, to cut-off frequencies (-3 dB) in hertz. They are limited
    /// to 49 % of the sample rate. `None` keeps the frequencies.
    pub(crate) fn step(&mut self, cuts_hz: Option<[f64; 2]>) {
        let rate_hz = self.sample_rate_hz;
        ramp_all(
            &mut self.coefficients,
            cuts_hz.map(|cuts_hz| cuts_hz.map(|cut_hz| coefficient(rate_hz, cut_hz))),
        );
        for state in [&mut self.low, &mut self.high] {
            *state = f64x2::new(
                state.to_array().map(|value| if value.abs() < SILENT_MAGNITUDE { 0.0 } else { value }),
            );
        }
    }

    /// Sets the cut-off frequencies immediately, without ramps.
    pub(crate) fn reset_to(&mut self, cuts_hz: [f64; 2]) {
        let rate_hz = self.sample_rate_hz;
        reset_all(&mut self.coefficients, cuts_hz.map(|cut_hz| coefficient(rate_hz, cut_hz)));
    }

    /// Filters left and right in place, from `offset` frames after the control point on.
    #[inline(always)]
    pub(crate) fn process(&mut self, offset: usize, [left, right]: [&mut [f32]; 2]) {
        let (mut low, mut high) = (self.low, self.high);
        // The coefficients stay constant unless a frequency ramps.
        let is_steady = self.coefficients.iter().all(ControlRamp::is_steady);
        let mut factors =
            self.coefficients.each_ref().map(|coefficient| Factors::new(coefficient.value_at(offset)));
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            if !is_steady {
                factors = self
                    .coefficients
                    .each_ref()
                    .map(|coefficient| Factors::new(coefficient.value_at(offset + frame)));
            }
            let input = f64x2::new([f64::from(*left), f64::from(*right)]);
            let cut = input - factors[0].low_pass(&mut low, input);
            let [cut_left, cut_right] = factors[1].low_pass(&mut high, cut).to_array();
            (*left, *right) = (cut_left as f32, cut_right as f32);
        }
        (self.low, self.high) = (low, high);
    }
}

/// Factors of one step of a one-pole filter.
#[derive(Clone, Copy)]
struct Factors {
    coefficient: f64x2,
    state_factor: f64x2,
    input_factor: f64x2,
}

impl Factors {
    #[inline(always)]
    fn new(coefficient: f64) -> Self {
        Self {
            coefficient: f64x2::splat(coefficient),
            state_factor: f64x2::splat(1.0 - 2.0 * coefficient),
            input_factor: f64x2::splat(2.0 * coefficient),
        }
    }

    /// Returns the output of the low-pass filter.
    #[inline(always)]
    fn low_pass(&self, state: &mut f64x2, input: f64x2) -> f64x2 {
        let old_state = *state;
        // In this form, the next state depends on the state through one multiplication and one
        // addition. That dependency limits the speed.
        *state = old_state * self.state_factor + input * self.input_factor;
        old_state + (input - old_state) * self.coefficient
    }
}

/// Returns the coefficient `g / (1 + g)` of a cut-off frequency.
fn coefficient(sample_rate_hz: f64, cut_hz: f64) -> f64 {
    let g = libm::tan(core::f64::consts::PI * (cut_hz / sample_rate_hz).min(0.49));
    g / (1.0 + g)
}
