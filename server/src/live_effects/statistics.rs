//! How long the blocks of a stream take.

use std::time::Duration;

use serde::Serialize;

/// Time from a block's arrival to its answer above which the block counts as late.
const LATE_AFTER: Duration = Duration::from_millis(5);

/// Counts of one stream since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Statistics {
    /// Number of processed blocks.
    pub(super) blocks: u64,
    /// Number of blocks that were answered more than 5 ms after they arrived.
    pub(super) late_blocks: u64,
    /// Longest time from a block's arrival to its answer, in milliseconds.
    pub(super) longest_ms: f64,
    /// Mean time from a block's arrival to its answer, in milliseconds.
    pub(super) mean_ms: f64,
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
        is_late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_after_five_milliseconds_are_late() {
        let mut statistics = Statistics::default();
        assert_eq!([4, 5, 6].map(|ms| statistics.count(Duration::from_millis(ms))), [false, false, true]);
        assert_eq!(statistics, Statistics { blocks: 3, late_blocks: 1, longest_ms: 6.0, mean_ms: 5.0 });
    }
}
