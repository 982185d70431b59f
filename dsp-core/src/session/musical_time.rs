//! Where the music is at a frame.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::effects::MusicalTime;
use crate::tempo::DEFAULT_BPM;

/// A tempo and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TempoChange {
    /// Frames from the start of the session.
    pub frame: u64,
    /// Quarter notes a minute from here on, 1 to 100,000.
    pub bpm: f64,
    /// Quarter notes from the start of the session to here.
    pub beat: f64,
}

impl TempoChange {
    fn is_sound(&self) -> bool {
        (1.0..=100_000.0).contains(&self.bpm) && self.beat.is_finite() && self.frame <= i64::MAX as u64
    }
}

/// The tempo of a session: at least one change, ascending. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tempo {
    changes: Arc<[TempoChange]>,
    sample_rate_hz: f64,
}

impl Tempo {
    /// Takes the changes that make sense, in the order of their frames; 120 bpm where there are
    /// none.
    pub(super) fn new(changes: &[TempoChange], sample_rate_hz: u32) -> Self {
        let mut sound: Vec<TempoChange> =
            changes.iter().filter(|change| change.is_sound()).copied().collect();
        sound.sort_by_key(|change| change.frame);
        if sound.is_empty() {
            sound.push(TempoChange { frame: 0, bpm: DEFAULT_BPM, beat: 0.0 });
        }
        Self { changes: sound.into(), sample_rate_hz: f64::from(sample_rate_hz) }
    }

    /// The time at a frame, which may be before the start.
    pub(super) fn at(&self, frame: i64) -> MusicalTime {
        let after = self.changes.partition_point(|change| change.frame as i64 <= frame);
        let change = self.changes[after.max(1) - 1];
        let frames = (frame - change.frame as i64) as f64;
        let beat = change.beat + frames * change.bpm / (60.0 * self.sample_rate_hz);
        MusicalTime { bpm: change.bpm, beat }
    }

    /// The first change behind a frame.
    pub(super) fn next_change(&self, frame: i64) -> Option<i64> {
        let after = self.changes.partition_point(|change| change.frame as i64 <= frame);
        self.changes.get(after).map(|change| change.frame as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_are_counted_through_changes_and_nonsense_is_passed_over() {
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
        let check =
            |frame, bpm, beat| assert_eq!(tempo.at(frame), MusicalTime { bpm, beat }, "frame {frame}");
        check(-24_000, 120.0, -1.0);
        check(24_000, 120.0, 1.0);
        check(48_000, 60.0, 2.0);
        check(96_000, 60.0, 3.0);
        assert_eq!((tempo.next_change(-1), tempo.next_change(0)), (Some(0), Some(48_000)));
        assert_eq!(tempo.next_change(48_000), None);
        assert_eq!(Tempo::new(&[], 48_000).at(24_000), MusicalTime { bpm: 120.0, beat: 1.0 });
    }
}
