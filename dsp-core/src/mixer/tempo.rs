//! The musical time at each frame of a session.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::effects::MusicalTime;
use crate::session::TempoChange;
use crate::tempo::DEFAULT_BPM;

/// The tempo changes of a session in ascending order, at least one. A clone shares the list.
#[derive(Clone)]
pub(crate) struct Tempo {
    changes: Arc<[TempoChange]>,
    sample_rate_hz: f64,
}

impl Tempo {
    /// Creates the tempo of a session. Ignores changes with a tempo outside 1 to 100,000 BPM, with
    /// a beat that is not finite, or with a frame above 2^63 - 1. Without a usable change, the
    /// tempo is 120 BPM.
    pub(crate) fn new(changes: &[TempoChange], sample_rate_hz: u32) -> Self {
        let is_usable = |change: &&TempoChange| {
            (1.0..=100_000.0).contains(&change.bpm)
                && change.beat.is_finite()
                && change.frame <= i64::MAX as u64
        };
        let mut usable: Vec<TempoChange> = changes.iter().filter(is_usable).copied().collect();
        usable.sort_by_key(|change| change.frame);
        if usable.is_empty() {
            usable.push(TempoChange { frame: 0, bpm: DEFAULT_BPM, beat: 0.0 });
        }
        Self { changes: usable.into(), sample_rate_hz: f64::from(sample_rate_hz) }
    }

    /// Returns the musical time at a frame, which may be before the start of the session.
    pub(crate) fn time_at(&self, frame: i64) -> MusicalTime {
        let next_index = self.changes.partition_point(|change| change.frame as i64 <= frame);
        let change = self.changes[next_index.max(1) - 1];
        let frames = (frame - change.frame as i64) as f64;
        let beat = change.beat + frames * change.bpm / (60.0 * self.sample_rate_hz);
        MusicalTime { bpm: change.bpm, beat }
    }

    /// Returns the frame of the first tempo change after a frame.
    pub(crate) fn next_change(&self, frame: i64) -> Option<i64> {
        let next_index = self.changes.partition_point(|change| change.frame as i64 <= frame);
        self.changes.get(next_index).map(|change| change.frame as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_counted_across_changes_and_unusable_changes_are_ignored() {
        let change = |frame, bpm, beat| TempoChange { frame, bpm, beat };
        let tempo = Tempo::new(
            &[
                change(48_000, 60.0, 2.0),
                change(0, 120.0, 0.0),
                change(7, f64::NAN, 1.0),
                change(8, 1e9, 1.0),
            ],
            48_000,
        );
        let check = |frame, bpm, beat| {
            assert_eq!(tempo.time_at(frame), MusicalTime { bpm, beat }, "musical time at frame {frame}");
        };
        check(-24_000, 120.0, -1.0);
        check(24_000, 120.0, 1.0);
        check(48_000, 60.0, 2.0);
        check(96_000, 60.0, 3.0);
        assert_eq!((tempo.next_change(-1), tempo.next_change(0)), (Some(0), Some(48_000)));
        assert_eq!(tempo.next_change(48_000), None);
        assert_eq!(Tempo::new(&[], 48_000).time_at(24_000), MusicalTime { bpm: 120.0, beat: 1.0 });
    }
}
