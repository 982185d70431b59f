//! A split of a signal into three bands at a smoothed frequency.

use core::f64::consts::{PI, SQRT_2};

use wide::f64x2;

use super::control::CONTROL_FRAMES;
use super::control_block::ControlBlock;
use super::smoothed_value::SmoothedValue;

/// A stereo Butterworth filter of second order whose three outputs add up to its input.
///
/// The filter is the trapezoidal state-variable filter of V. Zavalishin, "The Art of VA Filter
/// Design", 2012, section 4.4. Both states advance in one matrix step. A frame thus depends on the
/// previous frame only through a product and two sums, which makes the filter fast. The frequency
/// ramps linearly, as `tan(pi f / rate)`, from one control point to the next.
pub(crate) struct BandSplit {
    sample_rate_hz: f64,
    frequency_hz: SmoothedValue,
    /// The frequency at the end of the ramp to the next control point.
    ramp_target_hz: f64,
    tangent: SmoothedValue,
    step: StateStep,
    states: [f64x2; 2],
}

/// The band-pass and the high-pass output, left and right. The low-pass output is the input minus
/// both.
pub(crate) struct Bands<const FRAMES: usize = CONTROL_FRAMES> {
    pub(crate) middle: [ControlBlock<FRAMES>; 2],
    pub(crate) high: [ControlBlock<FRAMES>; 2],
}

/// Highest frequency, as a proportion of the sample rate.
const MAX_FREQUENCY_RATIO: f64 = 0.45;

/// A state below this magnitude counts as silent.
const SILENT_MAGNITUDE: f64 = 1e-30;

impl BandSplit {
    pub(crate) fn new(frequency_hz: f64, sample_rate_hz: u32) -> Self {
        let mut filter = Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            frequency_hz: SmoothedValue::new(frequency_hz),
            ramp_target_hz: 0.0,
            tangent: SmoothedValue::new(0.0),
            step: StateStep::new(0.0),
            states: [f64x2::ZERO; 2],
        };
        filter.reset();
        filter
    }

    pub(crate) fn set_frequency_hz(&mut self, frequency_hz: f64, ramp_frames: u32) {
        self.frequency_hz.set_target(frequency_hz, ramp_frames);
    }

    /// Returns the target of the frequency.
    pub(crate) fn target_hz(&self) -> f64 {
        self.frequency_hz.target()
    }

    /// Ends all ramps and clears the states.
    pub(crate) fn reset(&mut self) {
        self.frequency_hz.finish();
        self.ramp_to(self.frequency_hz.target(), 0);
        self.clear();
    }

    /// Clears the states.
    pub(crate) fn clear(&mut self) {
        self.states = [f64x2::ZERO; 2];
    }

    /// Whether the frequency is steady and the states are silent.
    pub(crate) fn is_idle(&self) -> bool {
        let is_steady = self.frequency_hz.is_steady() && self.tangent.is_steady();
        is_steady && self.states.iter().all(|state| state.to_array() == [0.0; 2])
    }

    /// Starts the ramp to the next control point. The caller calls this at every control point.
    pub(crate) fn refresh(&mut self) {
        let mut next_frequency_hz = self.frequency_hz;
        next_frequency_hz.advance(CONTROL_FRAMES);
        // The last ramp has reached its target.
        let tangent = self.tangent.value();
        if tangent != self.step.tangent {
            self.step = StateStep::new(tangent);
        }
        if next_frequency_hz.value() != self.ramp_target_hz {
            self.ramp_to(next_frequency_hz.value(), CONTROL_FRAMES as u32);
        }
    }

    /// Whether [`Self::refresh`] would change nothing.
    pub(crate) fn is_steady(&self) -> bool {
        self.frequency_hz.is_steady()
            && self.ramp_target_hz == self.frequency_hz.target()
            && self.tangent.is_steady()
            && self.tangent.target() == self.step.tangent
    }

    /// Clears states that would become denormal. The caller calls this at fixed frames of the
    /// clock.
    pub(crate) fn flush_denormals(&mut self) {
        for state in &mut self.states {
            let magnitudes = state.to_array().map(f64::abs);
            if magnitudes[0] < SILENT_MAGNITUDE && magnitudes[1] < SILENT_MAGNITUDE {
                *state = f64x2::ZERO;
            }
        }
    }

    fn ramp_to(&mut self, frequency_hz: f64, frames: u32) {
        self.ramp_target_hz = frequency_hz;
        let ratio = (frequency_hz / self.sample_rate_hz).min(MAX_FREQUENCY_RATIO);
        self.tangent.set_target(libm::tan(PI * ratio), frames);
        self.step = StateStep::new(self.tangent.value());
    }

    /// Splits left and right, at most `FRAMES` frames.
    #[inline(always)]
    pub(crate) fn split<const FRAMES: usize>(&mut self, [left, right]: [&[f32]; 2]) -> Bands<FRAMES> {
        let mut bands = Bands { middle: [[0.0; FRAMES]; 2], high: [[0.0; FRAMES]; 2] };
        let is_ramping = !self.tangent.is_steady();
        let (mut step, mut states) = (self.step, self.states);
        for (frame, (left, right)) in left.iter().zip(right).enumerate().take(FRAMES) {
            if is_ramping {
                step = StateStep::new(self.tangent.next());
            }
            let [middle, high] = step.next(&mut states, f64x2::from([f64::from(*left), f64::from(*right)]));
            let ([middle_left, middle_right], [high_left, high_right]) = (middle.to_array(), high.to_array());
            (bands.middle[0][frame], bands.middle[1][frame]) = (middle_left as f32, middle_right as f32);
            (bands.high[0][frame], bands.high[1][frame]) = (high_left as f32, high_right as f32);
        }
        (self.step, self.states) = (step, states);
        self.frequency_hz.advance(left.len());
        bands
    }
}

/// Coefficients of the equations that compute the output and the next states from the input and the
/// states.
#[derive(Clone, Copy)]
struct StateStep {
    tangent: f64,
    input_to_high: f64,
    states_to_high: [f64; 2],
    input_to_states: [f64; 2],
    states_to_states: [[f64; 2]; 2],
}

impl StateStep {
    /// Computes the coefficients for a tangent `g` and a damping `k = sqrt 2`, with the input `x`
    /// and the states `s1` and `s2`:
    ///
    /// - `high = (x - (k + g) s1 - s2) / (1 + g (k + g))`
    /// - `middle / k = s1 + g high`
    ///
    /// The state `s1` increases by `2 g high`, and `s2` by `2 g middle / k`.
    fn new(g: f64) -> Self {
        let damping_plus_g = SQRT_2 + g;
        let input_to_high = 1.0 / (1.0 + g * damping_plus_g);
        let states_to_high = [-damping_plus_g * input_to_high, -input_to_high];
        let double_g = 2.0 * g;
        Self {
            tangent: g,
            input_to_high,
            states_to_high,
            input_to_states: [double_g * input_to_high, double_g * g * input_to_high],
            states_to_states: [
                [1.0 + double_g * states_to_high[0], double_g * states_to_high[1]],
                [double_g * (1.0 + g * states_to_high[0]), 1.0 + double_g * g * states_to_high[1]],
            ],
        }
    }

    /// Returns the band-pass and the high-pass output of a frame.
    #[inline(always)]
    fn next(&self, states: &mut [f64x2; 2], input: f64x2) -> [f64x2; 2] {
        let [first, second] = *states;
        let high =
            input * self.input_to_high + (first * self.states_to_high[0] + second * self.states_to_high[1]);
        let middle = (high * self.tangent + first) * SQRT_2;
        let [to_first, to_second] = self.states_to_states;
        *states = [
            input * self.input_to_states[0] + second * to_first[1] + first * to_first[0],
            input * self.input_to_states[1] + second * to_second[1] + first * to_second[0],
        ];
        [middle, high]
    }
}
