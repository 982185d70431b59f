//! A low cut and a high cut of 6 dB an octave, for what goes around in delays and reverbs.
//!
//! One-pole filters in the trapezoidal form, which stays stable and quiet while its frequency moves
//! (V. Zavalishin, "The Art of VA Filter Design", 2012, chapter 3). In double precision: the state
//! of a low cut moves by little each frame.

use wide::f64x2;

use super::control::{Ramp, aim_all, jump_all};

/// What is left in a filter counts as silence below this.
const SILENCE: f64 = 1e-30;

/// A low cut and then a high cut, on both sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuts {
    sample_rate_hz: f64,
    /// Share of the way that a state goes towards its input in half a frame: of the low cut, of the
    /// high cut.
    shares: [Ramp; 2],
    low: f64x2,
    high: f64x2,
}

impl Cuts {
    /// Filters at rest.
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz: f64::from(sample_rate_hz),
            shares: [Ramp::default(); 2],
            low: f64x2::ZERO,
            high: f64x2::ZERO,
        }
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        (self.low, self.high) = (f64x2::ZERO, f64x2::ZERO);
    }

    /// At a control place: goes on to cut-off frequencies (-3 dB) in hertz; they count as at most
    /// 49 % of the sample rate. `None`: they are as they were.
    pub(crate) fn step(&mut self, cuts_hz: Option<[f64; 2]>) {
        let rate_hz = self.sample_rate_hz;
        aim_all(&mut self.shares, cuts_hz.map(|cuts_hz| cuts_hz.map(|cut_hz| share(rate_hz, cut_hz))));
        for state in [&mut self.low, &mut self.high] {
            *state =
                f64x2::new(state.to_array().map(|value| if value.abs() < SILENCE { 0.0 } else { value }));
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
        // Where nothing moves, the factors are the same for all frames.
        let level = self.shares.iter().all(Ramp::is_level);
        let mut factors = self.shares.each_ref().map(|share| Factors::of(share.at(offset)));
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            if !level {
                factors = self.shares.each_ref().map(|share| Factors::of(share.at(offset + frame)));
            }
            let input = f64x2::new([f64::from(*left), f64::from(*right)]);
            let cut = input - factors[0].pass(&mut low, input);
            let [cut_left, cut_right] = factors[1].pass(&mut high, cut).to_array();
            (*left, *right) = (cut_left as f32, cut_right as f32);
        }
        (self.low, self.high) = (low, high);
    }
}

/// A share of [`Cuts::shares`], and how a state goes on by it.
#[derive(Clone, Copy)]
struct Factors {
    share: f64x2,
    keep: f64x2,
    twice: f64x2,
}

impl Factors {
    #[inline(always)]
    fn of(share: f64) -> Self {
        Self {
            share: f64x2::splat(share),
            keep: f64x2::splat(1.0 - 2.0 * share),
            twice: f64x2::splat(2.0 * share),
        }
    }

    /// What passes below a cut-off frequency.
    #[inline(always)]
    fn pass(&self, state: &mut f64x2, input: f64x2) -> f64x2 {
        let before = *state;
        // The short way from one state to the next: its length is what the speed of the loop hangs
        // on.
        *state = before * self.keep + input * self.twice;
        before + (input - before) * self.share
    }
}

/// The share of [`Cuts::shares`] that belongs to a cut-off frequency.
fn share(sample_rate_hz: f64, cut_hz: f64) -> f64 {
    let half_step = libm::tan(core::f64::consts::PI * (cut_hz / sample_rate_hz).min(0.49));
    half_step / (1.0 + half_step)
}
