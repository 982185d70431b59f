//! A moving split into low, middle and high.

use core::f64::consts::{PI, SQRT_2};

use wide::f64x2;

use super::step::Step;
use super::{CONTROL_FRAMES, Glide};

/// A state-variable filter of second order without resonance (Butterworth), for left and right.
///
/// Its outputs add up to its input. It is the trapezoidal form of V. Zavalishin, "The Art of VA
/// Filter Design", 2012, section 4.4, written as one step of its two states, so that a frame waits
/// for the one before it only for a product and two sums. The frequency goes straight, as
/// `tan(pi f / rate)`, from one control place to the next.
pub(crate) struct Butterworth {
    sample_rate_hz: f64,
    frequency_hz: Glide,
    /// The frequency at which the way to the next control place ends.
    aimed_hz: f64,
    tangent: Glide,
    step: StateStep,
    states: [f64x2; 2],
}

/// What of the frames of a step is in the middle and above, left and right; the rest is below.
pub(crate) struct Bands<const FRAMES: usize = CONTROL_FRAMES> {
    pub(crate) middle: [Step<FRAMES>; 2],
    pub(crate) high: [Step<FRAMES>; 2],
}

/// Highest frequency of a filter, in parts of the sample rate.
const HIGHEST: f64 = 0.45;

/// Below this the memory of a filter is silence.
const SILENCE: f64 = 1e-30;

impl Butterworth {
    pub(crate) fn new(frequency_hz: f64, sample_rate_hz: u32) -> Self {
        let mut filter = Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            frequency_hz: Glide::new(frequency_hz),
            aimed_hz: 0.0,
            tangent: Glide::new(0.0),
            step: StateStep::new(0.0),
            states: [f64x2::ZERO; 2],
        };
        filter.reset();
        filter
    }

    pub(crate) fn set_frequency_hz(&mut self, frequency_hz: f64, glide_frames: u32) {
        self.frequency_hz.set(frequency_hz, glide_frames);
    }

    /// Where the frequency goes.
    pub(crate) fn target_hz(&self) -> f64 {
        self.frequency_hz.target()
    }

    /// Silent, and at the target of its frequency.
    pub(crate) fn reset(&mut self) {
        self.frequency_hz.jump();
        self.aim(self.frequency_hz.target(), 0);
        self.clear();
    }

    /// Silent.
    pub(crate) fn clear(&mut self) {
        self.states = [f64x2::ZERO; 2];
    }

    /// Whether its frequency stays where it is, and nothing is left of what it heard.
    pub(crate) fn rests(&self) -> bool {
        let is_still = self.frequency_hz.is_at_rest() && self.tangent.is_at_rest();
        is_still && self.states.iter().all(|state| state.to_array() == [0.0; 2])
    }

    /// To be called at every control place.
    pub(crate) fn refresh(&mut self) {
        let mut ahead = self.frequency_hz;
        ahead.pass(CONTROL_FRAMES);
        // What moved until here has arrived.
        let tangent = self.tangent.value();
        if tangent != self.step.tangent {
            self.step = StateStep::new(tangent);
        }
        if ahead.value() != self.aimed_hz {
            self.aim(ahead.value(), CONTROL_FRAMES as u32);
        }
    }

    /// Whether [`Self::refresh`] would do nothing.
    pub(crate) fn is_still(&self) -> bool {
        self.frequency_hz.is_at_rest()
            && self.aimed_hz == self.frequency_hz.target()
            && self.tangent.is_at_rest()
            && self.tangent.target() == self.step.tangent
    }

    /// Lets what rings on end before it becomes denormal; to be called at fixed places of the
    /// clock.
    pub(crate) fn hush(&mut self) {
        for state in &mut self.states {
            let magnitudes = state.to_array().map(f64::abs);
            if magnitudes[0] < SILENCE && magnitudes[1] < SILENCE {
                *state = f64x2::ZERO;
            }
        }
    }

    fn aim(&mut self, frequency_hz: f64, frames: u32) {
        self.aimed_hz = frequency_hz;
        let turn = (frequency_hz / self.sample_rate_hz).min(HIGHEST);
        self.tangent.set(libm::tan(PI * turn), frames);
        self.step = StateStep::new(self.tangent.value());
    }

    /// Splits left and right of some frames, at most a step.
    #[inline(always)]
    pub(crate) fn split<const FRAMES: usize>(&mut self, [left, right]: [&[f32]; 2]) -> Bands<FRAMES> {
        let mut bands = Bands { middle: [[0.0; FRAMES]; 2], high: [[0.0; FRAMES]; 2] };
        let moves = !self.tangent.is_at_rest();
        let (mut step, mut states) = (self.step, self.states);
        for (frame, (left, right)) in left.iter().zip(right).enumerate().take(FRAMES) {
            if moves {
                step = StateStep::new(self.tangent.next());
            }
            let [middle, high] = step.next(&mut states, f64x2::from([f64::from(*left), f64::from(*right)]));
            let ([middle_left, middle_right], [high_left, high_right]) = (middle.to_array(), high.to_array());
            (bands.middle[0][frame], bands.middle[1][frame]) = (middle_left as f32, middle_right as f32);
            (bands.high[0][frame], bands.high[1][frame]) = (high_left as f32, high_right as f32);
        }
        (self.step, self.states) = (step, states);
        self.frequency_hz.pass(left.len());
        bands
    }
}

/// The numbers by which states, input and outputs depend on each other.
#[derive(Clone, Copy)]
struct StateStep {
    tangent: f64,
    input_to_high: f64,
    states_to_high: [f64; 2],
    input_to_states: [f64; 2],
    states_to_states: [[f64; 2]; 2],
}

impl StateStep {
    /// With `g` the tangent and damping `k = sqrt 2`:
    /// `high = (x - (k + g) s1 - s2) / (1 + g (k + g))`, `middle / k = s1 + g high`, and both
    /// states go on by `2 g` times the output before them.
    fn new(g: f64) -> Self {
        let damping = SQRT_2 + g;
        let input_to_high = 1.0 / (1.0 + g * damping);
        let states_to_high = [-damping * input_to_high, -input_to_high];
        let twice = 2.0 * g;
        Self {
            tangent: g,
            input_to_high,
            states_to_high,
            input_to_states: [twice * input_to_high, twice * g * input_to_high],
            states_to_states: [
                [1.0 + twice * states_to_high[0], twice * states_to_high[1]],
                [twice * (1.0 + g * states_to_high[0]), 1.0 + twice * g * states_to_high[1]],
            ],
        }
    }

    /// Middle and high of a frame.
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
