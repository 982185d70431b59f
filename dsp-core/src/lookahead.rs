//! The gain of a limiter that sees ahead.
//!
//! The gain that each frame needs is held at its minimum over a window and then averaged over the look-ahead.
//! The average of minima that all include a peak is never above what the peak needs, so a ceiling
//! holds by construction, and the averaging makes the gain move smoothly (Signalsmith's and Giannoulis'
//! descriptions of peak limiting both build on this). The running average is kept in integers:
//! it cannot drift, and it is the same on every machine.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Gains are averaged as multiples of 2^-32.
const UNITY: i64 = 1 << 32;

/// Turns gains that frames need into one that is low enough for all of them and moves smoothly.
///
/// What is needed at a frame holds from `average_frames - 1` frames later until `hold_frames - 1` frames later.
#[derive(Debug, Clone)]
pub(crate) struct LookaheadGain {
    average_frames: usize,
    hold_frames: usize,
    /// Averaged gains, as multiples of 1/[`UNITY`].
    held_gains: Vec<i64>,
    held_sum: i64,
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
            held_gains: vec![UNITY; average_frames],
            held_sum: UNITY * average_frames as i64,
            share: 1.0 / average_frames as f64,
            place: 0,
            minima: VecDeque::with_capacity(hold_frames + 1),
            frame: 0,
            released_gain: 1.0,
        }
    }

    /// Back to a gain of 1.
    pub(crate) fn reset(&mut self) {
        self.held_gains.fill(UNITY);
        self.held_sum = UNITY * self.average_frames as i64;
        self.place = 0;
        self.minima.clear();
        self.frame = 0;
        self.released_gain = 1.0;
    }

    /// Whether every gain in memory is 1, so that nothing happens until a frame needs less.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.minima.is_empty() && self.held_sum == UNITY * self.average_frames as i64
    }

    /// The gain after a frame that needs `needed` (0 to 1), recovering by this share of its way.
    pub(crate) fn next(&mut self, needed: f32, release_per_frame: f64) -> f32 {
        self.remember_minimum(needed);
        let minimum = self.minima.front().map_or(1.0, |(_, gain)| f64::from(*gain));
        // Falls at once, recovers exponentially; ends exactly at 1.
        self.released_gain = if minimum < self.released_gain {
            minimum
        } else {
            // The short way from one gain to the next: its length is what the speed of a recovery hangs on.
            let risen = self.released_gain * (1.0 - release_per_frame) + minimum * release_per_frame;
            if minimum - risen < 1e-6 { minimum } else { risen }
        };
        // Truncation rounds the gain down, so the ceiling still holds.
        let held = (self.released_gain * UNITY as f64) as i64;
        self.held_sum = self.held_sum - self.held_gains[self.place] + held;
        self.held_gains[self.place] = held;
        self.place += 1;
        if self.place == self.average_frames {
            self.place = 0;
        }
        self.frame += 1;
        // The integer quotient without a division: half of one is further than rounding reaches.
        let average = ((self.held_sum as f64 + 0.5) * self.share) as i64;
        (average as f64 / UNITY as f64) as f32
    }

    /// Keeps `minima` a list of which the front is the minimum of the last `hold_frames` needed gains. A
    /// gain of 1 limits nothing and is left out.
    fn remember_minimum(&mut self, needed: f32) {
        while needed < 1.0 && self.minima.back().is_some_and(|&(_, gain)| gain >= needed) {
            self.minima.pop_back();
        }
        if self.minima.front().is_some_and(|&(frame, _)| frame + (self.hold_frames as u64) <= self.frame) {
            self.minima.pop_front();
        }
        if needed < 1.0 {
            self.minima.push_back((self.frame, needed));
        }
    }
}
