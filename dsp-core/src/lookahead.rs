//! The gain of a look-ahead limiter.
//!
//! The required gain of each frame is replaced by the minimum over a window of frames. The minima
//! are then averaged over the look-ahead. When a peak is output, every averaged minimum is at most
//! the gain that the peak requires. The average is then at most that gain, too, so the ceiling
//! holds by construction. The average also smooths the gain (Giannoulis, Massberg and Reiss,
//! "Digital Dynamic Range Compressor Design", JAES 60-6, 2012; Signalsmith Audio). Averaged gains
//! are multiples of 2^-32, whose sums are exact, so the running sum does not drift.

use alloc::vec;
use alloc::vec::Vec;

use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::sliding_minimum::SlidingMinimum;

/// Doubles at this magnitude have a spacing of 2^-32.
const ROUNDING_SCALE: f64 = 1_048_576.0;

/// Half of the spacing of averaged gains: 2^-33.
const HALF_STEP: f64 = 1.0 / 8_589_934_592.0;

/// Rounds a gain down to a multiple of 2^-32.
fn rounded_down(gain: f64) -> f64 {
    // The addition rounds to the nearest multiple. Subtracting half a step first makes it round
    // down, so no gain rises. A gain of 1 stays 1, because ties round to even.
    (gain - HALF_STEP + ROUNDING_SCALE) - ROUNDING_SCALE
}

/// Turns the required gains of frames into smooth gains. Each smooth gain is low enough for all
/// frames that it affects.
///
/// The smooth gain is at most the required gain of a frame from `average_frames - 1` to
/// `hold_frames - 1` frames after that frame.
#[derive(Debug, Clone)]
pub(crate) struct LookaheadGain {
    average_frames: usize,
    /// Ring buffer of the gains that are averaged. They are multiples of 2^-32.
    averaged_gains: Vec<f64>,
    averaged_sum: f64,
    /// `1 / average_frames`.
    weight: f64,
    /// Index of the oldest gain in `averaged_gains`.
    index: usize,
    /// The lowest required gain of the last `hold_frames` frames.
    minimum: SlidingMinimum,
    /// Gain after the release. Close to 1, the steps of a slow release are too small for an `f32`.
    released_gain: f64,
}

impl LookaheadGain {
    /// Creates a gain of 1. The average covers `average_frames` frames, and the minimum
    /// `hold_frames` frames.
    pub(crate) fn new(average_frames: usize, hold_frames: usize) -> Self {
        Self {
            average_frames,
            averaged_gains: vec![1.0; average_frames],
            averaged_sum: average_frames as f64,
            weight: 1.0 / average_frames as f64,
            index: 0,
            minimum: SlidingMinimum::new(hold_frames),
            released_gain: 1.0,
        }
    }

    /// Resets to a gain of 1.
    pub(crate) fn reset(&mut self) {
        self.averaged_gains.fill(1.0);
        self.averaged_sum = self.average_frames as f64;
        self.index = 0;
        self.minimum.reset();
        self.released_gain = 1.0;
    }

    /// Whether all stored gains are 1.
    fn is_idle(&self) -> bool {
        self.minimum.minimum() == 1.0 && self.averaged_sum == self.average_frames as f64
    }

    /// Replaces the required gains of frames, 0 to 1, by smooth gains. `release_per_frame` is the
    /// fraction of the remaining distance by which the gain recovers per frame.
    pub(crate) fn process(&mut self, gains: &mut [f32], release_per_frame: f64) {
        if self.is_idle() && gains.iter().fold(true, |is_so_far, gain| is_so_far & (*gain >= 1.0)) {
            return;
        }
        for gains in gains.chunks_mut(CONTROL_FRAMES) {
            let mut released_gains = [0.0; CONTROL_FRAMES];
            self.release(gains, release_per_frame, &mut released_gains);
            self.average(&released_gains, gains);
        }
    }

    /// Writes the released gains of frames, rounded down, from their required gains.
    #[inline(always)]
    fn release(&mut self, required_gains: &[f32], release_per_frame: f64, released_gains: &mut [f64]) {
        let decay = 1.0 - release_per_frame;
        let mut released_gain = self.released_gain;
        for (required_gain, rounded_gain) in required_gains.iter().zip(released_gains) {
            let minimum = f64::from(self.minimum.next(*required_gain));
            // The released gain falls immediately, recovers exponentially and ends exactly at the
            // minimum. Each frame waits for the result of the previous frame here, so few
            // operations make the loop fast.
            let recovered_gain = released_gain * decay + minimum * release_per_frame;
            released_gain = if minimum < released_gain || minimum - recovered_gain < 1e-6 {
                minimum
            } else {
                recovered_gain
            };
            *rounded_gain = rounded_down(released_gain);
        }
        self.released_gain = released_gain;
    }

    /// Writes the averages of the released gains.
    #[inline(always)]
    fn average(&mut self, mut released_gains: &[f64], mut averages: &mut [f32]) {
        let mut sum = self.averaged_sum;
        while !averages.is_empty() {
            let oldest = &mut self.averaged_gains[self.index..];
            let frames = averages.len().min(oldest.len());
            let (part, remaining) = averages.split_at_mut(frames);
            for ((average, oldest), released_gain) in part.iter_mut().zip(oldest).zip(released_gains) {
                sum += released_gain - *oldest;
                *oldest = *released_gain;
                *average = (sum * self.weight) as f32;
            }
            (averages, released_gains) = (remaining, &released_gains[frames..]);
            self.index = (self.index + frames) % self.average_frames;
        }
        self.averaged_sum = sum;
    }
}
