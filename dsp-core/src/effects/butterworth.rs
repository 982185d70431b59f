//! A moving split into low, middle and high.

use core::f64::consts::{PI, SQRT_2};

use wide::f64x2;

use super::{CONTROL_FRAMES, Glide};

/// A state-variable filter of second order without resonance (Butterworth), for left and right.
///
/// Its outputs add up to its input. It is the trapezoidal form of V. Zavalishin, "The Art of VA Filter
/// Design", 2012, section 4.4, written as one step of its two states, so that a frame waits for
/// the one before it only for a product and two sums. The frequency goes straight, as
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

/// What of a frame is in the middle and above; the rest of it is below.
pub(crate) struct Bands {
    pub(crate) middle: f64x2,
    pub(crate) high: f64x2,
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

    /// Whether the frequency is where it goes.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.frequency_hz.is_at_rest()
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

    /// To be called at every control place.
    pub(crate) fn refresh(&mut self) {
        let mut ahead = self.frequency_hz;
        ahead.pass(CONTROL_FRAMES);
        // What moved until here has arrived.
        self.step = StateStep::new(self.tangent.value());
        if ahead.value() != self.aimed_hz {
            self.aim(ahead.value(), CONTROL_FRAMES as u32);
        }
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

    /// Lets frames pass for the frequency; to be called after that many calls of [`Self::next`].
    pub(crate) fn pass(&mut self, frames: usize) {
        self.frequency_hz.pass(frames);
    }

    /// Splits a frame.
    #[inline(always)]
    pub(crate) fn next(&mut self, input: f64x2) -> Bands {
        if !self.tangent.is_at_rest() {
            self.step = StateStep::new(self.tangent.next());
        }
        let StateStep { tangent, input_to_high, states_to_high, input_to_states, states_to_states } =
            self.step;
        let [first, second] = self.states;
        let high = input * input_to_high + (first * states_to_high[0] + second * states_to_high[1]);
        let middle = (high * tangent + first) * SQRT_2;
        self.states = [
            input * input_to_states[0] + second * states_to_states[0][1] + first * states_to_states[0][0],
            input * input_to_states[1] + second * states_to_states[1][1] + first * states_to_states[1][0],
        ];
        Bands { middle, high }
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
    /// With `g` the tangent and damping `k = sqrt 2`: `high = (x - (k + g) s1 - s2) / (1 + g (k + g))`,
    /// `middle / k = s1 + g high`, and both states go on by `2 g` times the output before them.
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
}
