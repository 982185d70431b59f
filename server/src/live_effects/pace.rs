//! Limits how fast a client may send blocks, so that a flood delays only its sender.

use std::time::Duration;

/// A stream may be ahead of real time by this much before it is delayed.
const AHEAD_MAX: Duration = Duration::from_secs(2);

/// How much faster than real time a stream may run in the long term.
const SPEED_MAX: u32 = 2;

/// The pace of one stream.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Time since the start of the stream at which all blocks so far would have played at
    /// [`SPEED_MAX`].
    played_at: Duration,
}

impl Pace {
    /// Counts a block of a duration that arrived `now` after the start of the stream. Returns how
    /// long the next block must wait.
    pub(super) fn count(&mut self, duration: Duration, now: Duration) -> Duration {
        self.played_at = self.played_at.max(now) + duration / SPEED_MAX;
        self.played_at.saturating_sub(now + AHEAD_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stream_faster_than_twice_real_time_waits() {
        let second = Duration::from_secs(1);
        let mut pace = Pace::default();
        for n in 0..100 {
            assert_eq!(pace.count(2 * second, n * second), Duration::ZERO, "second {n}");
        }
        let mut flood = Pace::default();
        let waits = [0, 1, 2, 3, 4].map(|_| flood.count(second, Duration::ZERO));
        assert_eq!(waits.map(|wait| wait.as_millis()), [0, 0, 0, 0, 500]);
        // A pause is no credit for a later flood.
        let waits = [0, 1, 2, 3, 4].map(|_| flood.count(second, 60 * second));
        assert_eq!(waits.map(|wait| wait.as_millis()), [0, 0, 0, 0, 500]);
    }
}
