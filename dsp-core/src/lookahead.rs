//! The gain of a look-ahead limiter.
//!
//! The required gain of each frame is held at its minimum over a window and then averaged over the
//! look-ahead. Every averaged minimum includes a peak's gain, so the average never exceeds it and
//! the ceiling holds by construction. The average also smooths the gain (Giannoulis, Massberg and
//! Reiss, "Digital Dynamic Range Compressor Design", JAES 60-6, 2012; Signalsmith). Averaged gains
//! are multiples of 2^-32, whose sums are exact, so the running sum does not drift.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// The spacing of doubles at this number is 2^-32.
const ROUNDING: f64 = 1_048_576.0;

/// Half the spacing of averaged gains.
const HALF_STEP: f64 = 1.0 / 8_589_934_592.0;

/// The gain rounded down to a multiple of 2^-32.
fn rounded_down(gain: f64) -> f64 {
    // The addition rounds to nearest, so half a step is subtracted to round down and keep the
    // ceiling. A gain of 1 stays 1, because ties round to even.
    (gain - HALF_STEP + ROUNDING) - ROUNDING
}

/// Turns the required gains of frames into smooth gains that are low enough for all of them.
///
/// The required gain of a frame holds from `average_frames - 1` frames later until `hold_frames -
/// 1` frames later.
#[derive(Debug, Clone)]
pub(crate) struct LookaheadGain {
    average_frames: usize,
    hold_frames: usize,
    /// The averaged gains, multiples of 2^-32.
    held_gains: Vec<f64>,
    held_sum: f64,
    /// `1 / average_frames`.
    weight: f64,
    /// Index of the oldest of `held_gains`.
    index: usize,
    /// Candidates for the minimum of the window in ascending order: frame and required gain.
    minima: VecDeque<(u64, f32)>,
    frame: u64,
    /// Gain after the release. In f32 the steps of a slow release would vanish close to 1.
    released_gain: f64,
}

impl LookaheadGain {
    /// A gain of 1 that averages over `average_frames` and holds for `hold_frames`.
    pub(crate) fn new(average_frames: usize, hold_frames: usize) -> Self {
        Self {
            average_frames,
            hold_frames,
            held_gains: vec![1.0; average_frames],
            held_sum: average_frames as f64,
            weight: 1.0 / average_frames as f64,
            index: 0,
            minima: VecDeque::with_capacity(hold_frames + 1),
            frame: 0,
            released_gain: 1.0,
        }
    }

    /// Resets to a gain of 1.
    pub(crate) fn reset(&mut self) {
        self.held_gains.fill(1.0);
        self.held_sum = self.average_frames as f64;
        self.index = 0;
        self.minima.clear();
        self.frame = 0;
        self.released_gain = 1.0;
    }

    /// Whether all stored gains are 1.
    fn is_idle(&self) -> bool {
        self.minima.is_empty() && self.held_sum == self.average_frames as f64
    }

    /// Replaces the required gains of frames, 0 to 1, by the smooth ones. `release_per_frame` is
    /// the fraction of the remaining distance by which the gain recovers per frame.
    pub(crate) fn process(&mut self, gains: &mut [f32], release_per_frame: f64) {
        if self.is_idle() && gains.iter().fold(true, |all, gain| all & (*gain >= 1.0)) {
            return;
        }
        let decay = 1.0 - release_per_frame;
        let (mut released, mut sum, mut index) = (self.released_gain, self.held_sum, self.index);
        for gain in gains {
            let minimum = f64::from(self.next_minimum(*gain));
            // Falls at once, recovers exponentially and ends exactly at 1. This is the critical
            // path of the loop, so it has few operations.
            let risen = released * decay + minimum * release_per_frame;
            released = if minimum < released || minimum - risen < 1e-6 { minimum } else { risen };
            let held = rounded_down(released);
            let oldest = &mut self.held_gains[index];
            sum += held - *oldest;
            *oldest = held;
            index = if index + 1 == self.average_frames { 0 } else { index + 1 };
            *gain = (sum * self.weight) as f32;
        }
        (self.released_gain, self.held_sum, self.index) = (released, sum, index);
    }

    /// The minimum of the required gains of the last `hold_frames` frames, including `required`.
    /// The front of `minima` is the minimum. Gains of 1 are not stored.
    fn next_minimum(&mut self, required: f32) -> f32 {
        if required < 1.0 {
            while self.minima.back().is_some_and(|&(_, gain)| gain >= required) {
                self.minima.pop_back();
            }
            self.minima.push_back((self.frame, required));
        }
        if self.minima.front().is_some_and(|&(frame, _)| frame + (self.hold_frames as u64) <= self.frame) {
            self.minima.pop_front();
        }
        self.frame += 1;
        self.minima.front().map_or(1.0, |(_, gain)| *gain)
    }
}
