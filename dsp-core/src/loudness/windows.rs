//! Measures the momentary and the short-term loudness: their maxima, and the blocks for the
//! integrated loudness and the loudness range.
//!
//! Both are means over a sliding window. The power is measured in intervals of 10 ms. The windows
//! consist of the last 40 and 300 intervals. A window that starts between two intervals could be
//! louder by at most 0.06 LU. EBU Tech 3341 defines full windows only. A signal that is shorter
//! than a window is measured over its own length, because padding it with silence would lower its
//! loudness.

use super::gated_blocks::GatedBlocks;
use crate::meters::gating::lufs;

/// Number of intervals per second.
const INTERVALS_PER_SEC: u32 = 100;

/// Number of intervals of the momentary loudness: 400 ms.
const MOMENTARY_INTERVALS: usize = 40;
/// Number of intervals of the short-term loudness: 3 s.
const SHORT_TERM_INTERVALS: usize = 300;

/// Number of intervals from one block of the integrated loudness to the next: 100 ms (BS.1770-4,
/// annex 1), and of the loudness range: 1 s (EBU Tech 3342).
const MOMENTARY_STEP_INTERVALS: usize = 10;
const SHORT_TERM_STEP_INTERVALS: usize = 100;

/// The momentary and the short-term loudness of a signal so far.
pub(super) struct Windows {
    interval_frames: usize,
    /// Number of frames in the incomplete interval.
    pending_frames: usize,
    /// Powers of the last intervals. Interval `n` is at index `n` modulo the length.
    powers: [f64; SHORT_TERM_INTERVALS],
    interval_count: usize,
    /// Highest mean power of a momentary window.
    max_momentary_power: f64,
    /// Highest mean power of a short-term window.
    max_short_term_power: f64,
    /// Mean power of the last short-term window.
    latest_short_term_power: f64,
    /// The windows of 400 ms, every 100 ms.
    momentary_blocks: GatedBlocks,
    /// The windows of 3 s, every second.
    short_term_blocks: GatedBlocks,
}

impl Windows {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            interval_frames: (sample_rate_hz / INTERVALS_PER_SEC).max(1) as usize,
            pending_frames: 0,
            powers: [0.0; SHORT_TERM_INTERVALS],
            interval_count: 0,
            max_momentary_power: 0.0,
            max_short_term_power: 0.0,
            latest_short_term_power: 0.0,
            momentary_blocks: GatedBlocks::default(),
            short_term_blocks: GatedBlocks::default(),
        }
    }

    /// Returns how many frames are missing in the current interval.
    pub(super) fn missing_frames(&self) -> usize {
        self.interval_frames - self.pending_frames
    }

    /// Counts frames of the current interval, at most those that are missing. Returns whether the
    /// interval is complete.
    pub(super) fn count(&mut self, frames: usize) -> bool {
        self.pending_frames += frames;
        let is_complete = self.pending_frames == self.interval_frames;
        if is_complete {
            self.pending_frames = 0;
        }
        is_complete
    }

    /// Ends an interval. `sum` is the sum of the squares of all channels, weighted.
    pub(super) fn end_interval(&mut self, sum: f64) {
        let power = sum / self.interval_frames as f64;
        self.powers[self.interval_count % SHORT_TERM_INTERVALS] = power;
        self.interval_count += 1;
        let momentary_power = self.mean(MOMENTARY_INTERVALS);
        self.max_momentary_power = self.max_momentary_power.max(momentary_power);
        self.latest_short_term_power = self.mean(SHORT_TERM_INTERVALS);
        self.max_short_term_power = self.max_short_term_power.max(self.latest_short_term_power);
        if self.ends_block(MOMENTARY_INTERVALS, MOMENTARY_STEP_INTERVALS) {
            self.momentary_blocks.add(momentary_power);
        }
        if self.ends_block(SHORT_TERM_INTERVALS, SHORT_TERM_STEP_INTERVALS) {
            self.short_term_blocks.add(self.latest_short_term_power);
        }
    }

    /// Whether the last interval ends a full block of `intervals` intervals. A block begins every
    /// `step` intervals.
    fn ends_block(&self, intervals: usize, step: usize) -> bool {
        self.interval_count >= intervals && (self.interval_count - intervals).is_multiple_of(step)
    }

    /// Returns the gated loudness of the whole signal in LUFS; minus infinity for silence.
    pub(super) fn integrated_lufs(&self) -> f64 {
        self.momentary_blocks.integrated_lufs()
    }

    /// Returns the loudness range in LU.
    pub(super) fn range_lu(&self) -> f64 {
        self.short_term_blocks.range_lu()
    }

    /// Returns the mean power of the last intervals. They are summed again each time, because a
    /// running sum would keep the rounding errors of loud intervals.
    fn mean(&self, intervals: usize) -> f64 {
        let end = self.interval_count % SHORT_TERM_INTERVALS;
        let newest_powers = &self.powers[end.saturating_sub(intervals)..end];
        let oldest = &self.powers[SHORT_TERM_INTERVALS - (intervals - newest_powers.len())..];
        (newest_powers.iter().sum::<f64>() + oldest.iter().sum::<f64>()) / intervals as f64
    }

    /// Returns the loudness of the 400 ms until the last complete interval in LUFS; minus infinity
    /// for silence. The time before the signal counts as silence.
    pub(super) fn momentary_lufs(&self) -> f64 {
        lufs(self.mean(MOMENTARY_INTERVALS))
    }

    /// Returns the highest momentary loudness in LUFS; minus infinity for silence.
    pub(super) fn max_momentary_lufs(&self) -> f64 {
        lufs(self.max_momentary_power * self.window_ratio(MOMENTARY_INTERVALS))
    }

    /// Returns the highest short-term loudness in LUFS; minus infinity for silence.
    pub(super) fn max_short_term_lufs(&self) -> f64 {
        lufs(self.max_short_term_power * self.window_ratio(SHORT_TERM_INTERVALS))
    }

    /// Returns the short-term loudness of the last complete interval in LUFS; minus infinity for
    /// silence.
    pub(super) fn short_term_lufs(&self) -> f64 {
        lufs(self.latest_short_term_power * self.window_ratio(SHORT_TERM_INTERVALS))
    }

    /// Returns the length of a window divided by the length of the signal, at least 1. It corrects
    /// the means of signals that are shorter than the window.
    fn window_ratio(&self, intervals: usize) -> f64 {
        intervals as f64 / self.interval_count.clamp(1, intervals) as f64
    }
}
