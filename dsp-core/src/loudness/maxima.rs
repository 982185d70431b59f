//! The highest momentary and short-term loudness.
//!
//! Both are means over a sliding window. The loudness is measured in intervals of 10 ms; the
//! windows are sums of the last 40 and 300 intervals. A window between two intervals would read at
//! most 0.06 LU more. A signal shorter than a window is measured over its length: EBU Tech 3341
//! defines full windows only, and padding with silence would make it quieter.

use ebur128::EbuR128;

use crate::meters::gating::{LOUDNESS_OFFSET_LUFS, lufs};

/// Number of intervals per second.
const INTERVALS_PER_SEC: u32 = 100;
const INTERVAL_MS: u32 = 1_000 / INTERVALS_PER_SEC;

/// Number of intervals in 400 ms.
const MOMENTARY: usize = 40;
/// Number of intervals in 3 s.
const SHORT_TERM: usize = 300;

/// The maxima of a meter.
pub(super) struct Maxima {
    interval_frames: usize,
    /// Number of frames in the incomplete interval.
    pending_frames: usize,
    /// Powers of the last intervals, by their number modulo the length.
    powers: [f64; SHORT_TERM],
    interval_count: usize,
    momentary: f64,
    short_term: f64,
}

impl Maxima {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            interval_frames: (sample_rate_hz / INTERVALS_PER_SEC).max(1) as usize,
            pending_frames: 0,
            powers: [0.0; SHORT_TERM],
            interval_count: 0,
            momentary: 0.0,
            short_term: 0.0,
        }
    }

    /// Adds frames to the meter, interval by interval.
    pub(super) fn add(&mut self, meter: &mut EbuR128, channels: &[&[f32]]) {
        let frames = channels.first().map_or(0, |channel| channel.len());
        assert!(channels.iter().all(|channel| channel.len() == frames), "channels of equal length");
        let mut from = 0;
        while from < frames {
            let count = (frames - from).min(self.interval_frames - self.pending_frames);
            // A layout has at most six channels.
            let mut part: [&[f32]; 6] = [&[]; 6];
            for (part, channel) in part.iter_mut().zip(channels) {
                *part = &channel[from..from + count];
            }
            meter.add_frames_planar_f32(&part[..channels.len()]).expect("a slice for each channel");
            from += count;
            self.pending_frames += count;
            if self.pending_frames == self.interval_frames {
                self.pending_frames = 0;
                self.end_interval(power(meter.loudness_window(INTERVAL_MS).expect("10 ms are kept")));
            }
        }
    }

    fn end_interval(&mut self, power: f64) {
        self.powers[self.interval_count % SHORT_TERM] = power;
        self.interval_count += 1;
        // Summed again each time, because a running sum would keep the rounding errors of loud
        // intervals.
        let mean = |intervals: usize| -> f64 {
            let end = self.interval_count % SHORT_TERM;
            let newest = &self.powers[end.saturating_sub(intervals)..end];
            let oldest = &self.powers[SHORT_TERM - (intervals - newest.len())..];
            (newest.iter().sum::<f64>() + oldest.iter().sum::<f64>()) / intervals as f64
        };
        self.momentary = self.momentary.max(mean(MOMENTARY));
        self.short_term = self.short_term.max(mean(SHORT_TERM));
    }

    /// The highest momentary loudness; minus infinity for silence.
    pub(super) fn momentary_lufs(&self) -> f64 {
        lufs(self.momentary * self.window_ratio(MOMENTARY))
    }

    /// The highest short-term loudness; minus infinity for silence.
    pub(super) fn short_term_lufs(&self) -> f64 {
        lufs(self.short_term * self.window_ratio(SHORT_TERM))
    }

    /// Length of a window divided by that of the signal, at least 1.
    fn window_ratio(&self, intervals: usize) -> f64 {
        intervals as f64 / self.interval_count.clamp(1, intervals) as f64
    }
}

/// The power of a loudness.
fn power(lufs: f64) -> f64 {
    libm::exp10((lufs - LOUDNESS_OFFSET_LUFS) / 10.0)
}
