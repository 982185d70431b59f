//! The gain of a limiter that sees ahead.
//!
//! The gain that each frame needs is held at its minimum over a window and then averaged over the
//! look-ahead. The average of minima that all include a peak is never above what the peak needs, so
//! a ceiling holds by construction, and the averaging makes the gain move smoothly (Signalsmith's
//! and Giannoulis' descriptions of peak limiting both build on this). The gains that are averaged
//! are multiples of 2^-32, of which sums are exact: a running sum cannot drift.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Next to this number doubles lie 2^-32 apart.
const COARSE: f64 = 1_048_576.0;

/// Half the distance of gains that are averaged.
const HALF_A_STEP: f64 = 1.0 / 8_589_934_592.0;

/// The next lower multiple of 2^-32; 1 is one.
fn coarse(gain: f64) -> f64 {
    // Adding rounds to the nearest, which is to be the lower one, so that a ceiling still holds.
    // Half a step below 1 the nearest is 1, whose last digit is even.
    (gain - HALF_A_STEP + COARSE) - COARSE
}

/// Turns gains that frames need into one that is low enough for all of them and moves smoothly.
///
/// What is needed at a frame holds from `average_frames - 1` frames later until `hold_frames - 1`
/// frames later.
#[derive(Debug, Clone)]
pub(crate) struct LookaheadGain {
    average_frames: usize,
    hold_frames: usize,
    /// Gains that are averaged, multiples of 2^-32.
    held_gains: Vec<f64>,
    held_sum: f64,
    /// `1 / average_frames`.
    share: f64,
    /// Place of the oldest of `held_gains`.
    place: usize,
    /// Candidates for the minimum of the window, rising: frame number and needed gain.
    minima: VecDeque<(u64, f32)>,
    frame: u64,
    /// In double precision: close to 1 the steps of a slow recovery vanish in an f32.
    released_gain: f64,
}

impl LookaheadGain {
    /// A gain of 1, which is averaged over so many frames and held for so many.
    pub(crate) fn new(average_frames: usize, hold_frames: usize) -> Self {
        Self {
            average_frames,
            hold_frames,
            held_gains: vec![1.0; average_frames],
            held_sum: average_frames as f64,
            share: 1.0 / average_frames as f64,
            place: 0,
            minima: VecDeque::with_capacity(hold_frames + 1),
            frame: 0,
            released_gain: 1.0,
        }
    }

    /// Back to a gain of 1.
    pub(crate) fn reset(&mut self) {
        self.held_gains.fill(1.0);
        self.held_sum = self.average_frames as f64;
        self.place = 0;
        self.minima.clear();
        self.frame = 0;
        self.released_gain = 1.0;
    }

    /// Whether every gain in memory is 1, so that nothing happens until a frame needs less.
    fn is_at_rest(&self) -> bool {
        self.minima.is_empty() && self.held_sum == self.average_frames as f64
    }

    /// Turns the gains that frames need (0 to 1) into those that they get, in place, recovering by
    /// this share of its way with each frame.
    pub(crate) fn process(&mut self, gains: &mut [f32], release_per_frame: f64) {
        if self.is_at_rest() && gains.iter().fold(true, |rests, needed| rests & (*needed >= 1.0)) {
            return;
        }
        let kept = 1.0 - release_per_frame;
        let (mut released, mut sum, mut place) = (self.released_gain, self.held_sum, self.place);
        for gain in gains {
            let minimum = f64::from(self.next_minimum(*gain));
            // Falls at once, recovers exponentially; ends exactly at 1. The short way from one gain
            // to the next: its length is what the speed of a recovery hangs on.
            let risen = released * kept + minimum * release_per_frame;
            released = if minimum < released || minimum - risen < 1e-6 { minimum } else { risen };
            let held = coarse(released);
            let oldest = &mut self.held_gains[place];
            sum += held - *oldest;
            *oldest = held;
            place = if place + 1 == self.average_frames { 0 } else { place + 1 };
            *gain = (sum * self.share) as f32;
        }
        (self.released_gain, self.held_sum, self.place) = (released, sum, place);
    }

    /// The minimum of the gains that the last `hold_frames` frames need, of which this is the
    /// newest. `minima` is a list of which the front is the minimum; a gain of 1 limits nothing and
    /// is left out.
    fn next_minimum(&mut self, needed: f32) -> f32 {
        if needed < 1.0 {
            while self.minima.back().is_some_and(|&(_, gain)| gain >= needed) {
                self.minima.pop_back();
            }
            self.minima.push_back((self.frame, needed));
        }
        if self.minima.front().is_some_and(|&(frame, _)| frame + (self.hold_frames as u64) <= self.frame) {
            self.minima.pop_front();
        }
        self.frame += 1;
        self.minima.front().map_or(1.0, |(_, gain)| *gain)
    }
}
