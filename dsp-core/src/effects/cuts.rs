//! A low cut and a high cut of 6 dB an octave, for what goes around in delays and reverbs.
//!
//! One-pole filters in the trapezoidal form, which stays stable and quiet while its frequency moves (V. Zavalishin, "The
//! Art of VA Filter Design", 2012, chapter 3). In double precision: the state of a low cut moves by little each frame.

use super::control::{Ramp, aim_all, jump_all};

/// What is left in a filter counts as silence below this.
const SILENCE: f64 = 1e-30;

/// A low cut and then a high cut, on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuts {
    sample_rate_hz: f64,
    /// Share of the way that a state goes towards its input in half a frame: of the low cut, of the high cut.
    shares: [Ramp; 2],
    low: [f64; 2],
    high: [f64; 2],
}

impl Cuts {
    /// Filters at rest.
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            shares: [Ramp::default(); 2],
            low: [0.0; 2],
            high: [0.0; 2],
        }
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        (self.low, self.high) = ([0.0; 2], [0.0; 2]);
    }

    /// At a control place: goes on to cut-off frequencies (-3 dB) in hertz; they count as at most 49 % of the sample
    /// rate. `None`: they are as they were.
    pub(crate) fn step(&mut self, cuts_hz: Option<[f64; 2]>) {
        let rate_hz = self.sample_rate_hz;
        aim_all(&mut self.shares, cuts_hz.map(|cuts_hz| cuts_hz.map(|cut_hz| share(rate_hz, cut_hz))));
        for state in self.low.iter_mut().chain(&mut self.high) {
            *state = if state.abs() < SILENCE { 0.0 } else { *state };
        }
    }

    /// Has cut-off frequencies at once.
    pub(crate) fn jump(&mut self, cuts_hz: [f64; 2]) {
        let rate_hz = self.sample_rate_hz;
        jump_all(&mut self.shares, cuts_hz.map(|cut_hz| share(rate_hz, cut_hz)));
    }

    /// Filters left and right in place, from an offset after the control place on.
    #[inline(always)]
    pub(crate) fn process(&mut self, offset: usize, [left, right]: [&mut [f32]; 2]) {
        let (mut low, mut high) = (self.low, self.high);
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let [low_share, high_share] =
                [self.shares[0].at(offset + frame), self.shares[1].at(offset + frame)];
            let input = [f64::from(*left), f64::from(*right)];
            let cut = pass(&mut low, input, low_share);
            let cut = [input[0] - cut[0], input[1] - cut[1]];
            let cut = pass(&mut high, cut, high_share);
            (*left, *right) = (cut[0] as f32, cut[1] as f32);
        }
        (self.low, self.high) = (low, high);
    }
}

/// What passes below a cut-off frequency.
#[inline(always)]
fn pass(state: &mut [f64; 2], input: [f64; 2], share: f64) -> [f64; 2] {
    let [a, b] = *state;
    let (keep, twice) = (1.0 - 2.0 * share, 2.0 * share);
    // The short way from one state to the next: its length is what the speed of the loop hangs on.
    *state = [a * keep + input[0] * twice, b * keep + input[1] * twice];
    [a + (input[0] - a) * share, b + (input[1] - b) * share]
}

/// The share of [`Cuts::shares`] that belongs to a cut-off frequency.
fn share(sample_rate_hz: f64, cut_hz: f64) -> f64 {
    let half_step = libm::tan(core::f64::consts::PI * (cut_hz / sample_rate_hz).min(0.49));
    half_step / (1.0 + half_step)
}
