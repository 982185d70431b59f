//! Limits how fast a client may send blocks, so that a flood delays only its sender.

use std::time::Duration;

use super::stream::BLOCK_BYTES;

/// A stream may be ahead of real time by this much before it is delayed.
const AHEAD_MAX: Duration = Duration::from_secs(2);

/// How much faster than real time a stream may run in the long term.
const SPEED_MAX: u32 = 2;

/// A stream may use one part in this many of a processor in the long term.
const SHARE: u32 = 2;

/// Least size that a text counts for, in bytes. Clients send many small ones, such as notes.
const TEXT_MIN_BYTES: usize = BLOCK_BYTES / 4;

/// Returns how many blocks a text counts for.
pub(super) fn text_blocks(bytes: usize) -> f64 {
    bytes.max(TEXT_MIN_BYTES) as f64 / BLOCK_BYTES as f64
}

/// The pace of one stream.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Time since the start of the stream at which all messages so far are due at the highest pace.
    played_at: Duration,
}

impl Pace {
    /// Counts a message that arrived `now` after the start of the stream, whose block has a
    /// duration, and whose processing took `processing`. Returns how long the next message must
    /// wait.
    pub(super) fn count(&mut self, duration: Duration, processing: Duration, now: Duration) -> Duration {
        self.played_at = self.played_at.max(now) + (duration / SPEED_MAX).max(processing * SHARE);
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
            assert_eq!(pace.count(2 * second, Duration::ZERO, n * second), Duration::ZERO, "second {n}");
        }
        let mut flood = Pace::default();
        let waits = [0, 1, 2, 3, 4].map(|_| flood.count(second, Duration::ZERO, Duration::ZERO));
        assert_eq!(waits.map(|wait| wait.as_millis()), [0, 0, 0, 0, 500]);
        // A pause is no credit for a later flood.
        let waits = [0, 1, 2, 3, 4].map(|_| flood.count(second, Duration::ZERO, 60 * second));
        assert_eq!(waits.map(|wait| wait.as_millis()), [0, 0, 0, 0, 500]);
    }

    #[test]
    fn small_texts_are_cheap_and_large_ones_are_not() {
        assert_eq!([0, 512, 2_048, 262_144].map(text_blocks), [0.25, 0.25, 1.0, 128.0]);
    }

    #[test]
    fn a_stream_that_uses_more_than_half_of_a_processor_waits() {
        let (block, mut pace) = (Duration::from_millis(5), Pace::default());
        let waits = [0, 1, 2, 3].map(|n| pace.count(block, 500 * block, n * block));
        assert_eq!(waits.map(|wait| wait.as_millis()), [3_000, 7_995, 12_990, 17_985]);
    }
}
