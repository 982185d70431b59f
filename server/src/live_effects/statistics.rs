//! How long the blocks of a stream take.

use std::time::Duration;

use serde::Serialize;

use super::time_histogram::TimeHistogram;

/// Time from a block's arrival to its answer above which the block counts as late.
const LATE_AFTER: Duration = Duration::from_millis(5);

/// Counts of one stream since it began.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Statistics {
    /// Number of processed blocks.
    pub(super) blocks: u64,
    /// Number of blocks that were answered more than 5 ms after they arrived.
    pub(super) late_blocks: u64,
    /// Longest time from a block's arrival to its answer, in milliseconds.
    pub(super) longest_ms: f64,
    /// Mean time from a block's arrival to its answer, in milliseconds.
    pub(super) mean_ms: f64,
    #[serde(skip)]
    times: TimeHistogram,
}

/// Counts of one plugin since it entered the chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct PluginStatistics {
    /// Id of the effect.
    pub(super) effect: String,
    /// Whether the plugin is open.
    pub(super) is_ready: bool,
    /// Number of blocks that were due while the plugin was open.
    pub(super) blocks: u64,
    /// Number of these blocks that the plugin did not answer in time.
    pub(super) late_blocks: u64,
    /// Number of blocks that wait for the plugin now.
    pub(super) waiting_blocks: u32,
    /// Median time from sending a block to its answer, in milliseconds.
    pub(super) round_trip_p50_ms: f64,
    /// Time from sending a block to its answer that 99 of 100 blocks do not exceed, in
    /// milliseconds.
    pub(super) round_trip_p99_ms: f64,
    /// How often the plugin was started again.
    pub(super) restarts: u32,
}

impl Statistics {
    /// Counts a block. Returns whether it was late.
    pub(super) fn count(&mut self, time: Duration) -> bool {
        let is_late = time > LATE_AFTER;
        let time_ms = 1e3 * time.as_secs_f64();
        self.blocks += 1;
        self.late_blocks += u64::from(is_late);
        self.longest_ms = self.longest_ms.max(time_ms);
        self.mean_ms += (time_ms - self.mean_ms) / self.blocks as f64;
        self.times.count(time);
        is_late
    }

    /// Returns a time in milliseconds from a block's arrival to its answer, which this part of the
    /// blocks, 0 to 1, do not exceed.
    pub(super) fn quantile_ms(&self, part: f64) -> f64 {
        self.times.quantile_ms(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_after_five_milliseconds_are_late() {
        let mut statistics = Statistics::default();
        assert_eq!([4, 5, 6].map(|ms| statistics.count(Duration::from_millis(ms))), [false, false, true]);
        let Statistics { blocks, late_blocks, longest_ms, mean_ms, .. } = statistics;
        assert_eq!((blocks, late_blocks, longest_ms, mean_ms), (3, 1, 6.0, 5.0));
    }
}
