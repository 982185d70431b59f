//! Stores the means of the signal over intervals of 10 ms, for the last 3 s.

/// Number of intervals per second.
pub(super) const INTERVALS_PER_SEC: u32 = 100;

/// Number of intervals of the momentary loudness and of a gating block: 400 ms.
pub(super) const MOMENTARY_INTERVALS: usize = 40;

/// Number of intervals of the short-term loudness: 3 s.
pub(super) const SHORT_TERM_INTERVALS: usize = 300;

/// Number of intervals of RMS and correlation: 300 ms.
pub(super) const SIGNAL_INTERVALS: usize = 30;

/// Mean square below which a channel counts as silent and the correlation is 0: -100 dB.
const SILENT_SQUARE: f64 = 1e-10;

/// Means of a stereo signal over an interval of 10 ms, or over several intervals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Interval {
    /// Sum of the K-weighted mean squares of both channels: the power of the loudness.
    pub(super) loudness_power: f64,
    /// Mean squares of left and right.
    pub(super) squares: [f64; 2],
    /// Mean of left times right.
    pub(super) product: f64,
}

impl Interval {
    /// Computes the means of an interval from its samples. `loudness_power` is
    /// [`Self::loudness_power`].
    pub(super) fn measure(loudness_power: f64, left: &[f32], right: &[f32]) -> Self {
        let frames = left.len().max(1) as f64;
        let mean = |a: &[f32], b: &[f32]| f64::from(sum_of_products(a, b)) / frames;
        Self { loudness_power, squares: [mean(left, left), mean(right, right)], product: mean(left, right) }
    }

    /// Returns the correlation of left and right, -1 to 1. Signals that differ only by a positive
    /// gain have 1, signals of opposite polarity -1, and unrelated signals 0. If a channel is
    /// silent, the correlation is 0.
    pub(super) fn correlation(&self) -> f64 {
        let [left, right] = self.squares;
        if left < SILENT_SQUARE || right < SILENT_SQUARE {
            return 0.0;
        }
        (self.product / libm::sqrt(left * right)).clamp(-1.0, 1.0)
    }
}

fn sum_of_products(a: &[f32], b: &[f32]) -> f32 {
    const LANE_COUNT: usize = 8;
    let ((a_wide, a_remainder), (b_wide, b_remainder)) =
        (a.as_chunks::<LANE_COUNT>(), b.as_chunks::<LANE_COUNT>());
    let mut sums = [0.0; LANE_COUNT];
    for (a, b) in a_wide.iter().zip(b_wide) {
        for lane in 0..LANE_COUNT {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_remainder.iter().zip(b_remainder).map(|(a, b)| a * b).sum::<f32>()
}

/// Ring buffer of the last intervals. All of them are silent at first.
#[derive(Debug, Clone)]
pub(super) struct Intervals {
    intervals: [Interval; SHORT_TERM_INTERVALS],
    /// Index of the oldest interval. [`Self::push`] replaces it.
    oldest: usize,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { intervals: [Interval::default(); SHORT_TERM_INTERVALS], oldest: 0 }
    }
}

impl Intervals {
    pub(super) fn push(&mut self, interval: Interval) {
        self.intervals[self.oldest] = interval;
        self.oldest = (self.oldest + 1) % SHORT_TERM_INTERVALS;
    }

    /// Returns the means over the last `count` intervals. The intervals are summed again each time,
    /// because a running sum would keep the rounding errors of loud intervals.
    pub(super) fn mean(&self, count: usize) -> Interval {
        let after_wrap = &self.intervals[self.oldest.saturating_sub(count)..self.oldest];
        let before_wrap = &self.intervals[SHORT_TERM_INTERVALS - (count - after_wrap.len())..];
        let mut mean = Interval::default();
        let weight = 1.0 / count as f64;
        for interval in before_wrap.iter().chain(after_wrap) {
            mean.loudness_power += interval.loudness_power * weight;
            mean.product += interval.product * weight;
            for (mean, square) in mean.squares.iter_mut().zip(interval.squares) {
                *mean += square * weight;
            }
        }
        mean
    }
}
