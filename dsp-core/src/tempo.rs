//! Conversion of ticks to frames and back, in integers.
//!
//! No other module converts ticks to frames. A tempo is an integer number of nanoseconds per
//! quarter note, which makes every sum exact and equal on every machine. The tempi of MIDI files
//! are whole microseconds and have no error. Other tempi are rounded by at most 0.5 ns per quarter
//! note.

use alloc::vec::Vec;

/// Number of ticks per quarter note.
pub const TICKS_PER_QUARTER: u64 = 960;

/// Tempo of a project without tempo changes, in quarter notes per minute.
pub const DEFAULT_BPM: f64 = 120.0;

const NANOS_PER_MINUTE: f64 = 60e9;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// Number of units per frame. A position in units is a time in 1/960 ns, multiplied by the sample
/// rate in hertz.
const UNITS_PER_FRAME: u128 = TICKS_PER_QUARTER as u128 * NANOS_PER_SECOND;

/// The reason why tempo changes are invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TempoError {
    /// The first tempo change is not at tick 0.
    #[error("the first tempo must be at tick 0, not at tick {tick}")]
    FirstNotAtZero {
        /// Tick of the first tempo change.
        tick: u64,
    },
    /// A tempo change is not after the tempo change before it.
    #[error("tempo changes must be in ascending order: tick {tick} comes after tick {previous}")]
    NotAscending {
        /// Tick of the previous tempo change.
        previous: u64,
        /// Tick of the invalid tempo change.
        tick: u64,
    },
    /// A tempo is outside 1 to 100,000 quarter notes per minute.
    #[error("the tempo at tick {tick} is {bpm} BPM; it must be 1 to 100000")]
    OutOfRange {
        /// Tick of the tempo change.
        tick: u64,
        /// The invalid tempo in quarter notes per minute.
        bpm: f64,
    },
}

/// A segment of constant tempo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    start_tick: u64,
    nanos_per_quarter: u64,
    /// Time at `start_tick` in units of 1/960 ns. In this unit the time is always an integer.
    start_units: u128,
}

/// The tempo changes of a project, with which ticks are converted to frames and back.
///
/// ```
/// use dsp_core::tempo::TempoMap;
/// let map = TempoMap::from_bpm(&[(0, 120.0), (960, 60.0)]).unwrap();
/// assert_eq!(map.frame_at(960, 48_000), 24_000);
/// assert_eq!(map.frame_at(1920, 48_000), 72_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TempoMap {
    segments: Vec<Segment>,
}

impl TempoMap {
    /// Builds a map from `(tick, bpm)` pairs in ascending order. The first pair is at tick 0. An
    /// empty slice gives a constant tempo of [`DEFAULT_BPM`].
    ///
    /// # Errors
    ///
    /// [`TempoError`] if the order is wrong or a tempo is outside 1 to 100,000 BPM.
    pub fn from_bpm(changes: &[(u64, f64)]) -> Result<Self, TempoError> {
        let changes = if changes.is_empty() { &[(0, DEFAULT_BPM)] } else { changes };
        let mut segments: Vec<Segment> = Vec::with_capacity(changes.len());
        for &(tick, bpm) in changes {
            if !(1.0..=100_000.0).contains(&bpm) {
                return Err(TempoError::OutOfRange { tick, bpm });
            }
            let start = match segments.last() {
                None if tick != 0 => return Err(TempoError::FirstNotAtZero { tick }),
                None => 0,
                Some(last) if tick <= last.start_tick => {
                    return Err(TempoError::NotAscending { previous: last.start_tick, tick });
                }
                Some(last) => last.time_at(tick),
            };
            let nanos_per_quarter = libm::round(NANOS_PER_MINUTE / bpm) as u64;
            segments.push(Segment { start_tick: tick, nanos_per_quarter, start_units: start });
        }
        Ok(Self { segments })
    }

    /// Returns the frame nearest to a tick, at a sample rate in hertz.
    pub fn frame_at(&self, tick: u64, sample_rate_hz: u32) -> u64 {
        let units = self.units_at(tick, sample_rate_hz);
        ((units + UNITS_PER_FRAME / 2) / UNITS_PER_FRAME) as u64
    }

    /// Returns the duration in frames of a number of ticks in the tempo that is in force at a tick.
    pub(crate) fn frames_of_ticks_at(&self, tick: u64, ticks: u64, sample_rate_hz: u32) -> u64 {
        let next_segment = self.segments.partition_point(|segment| segment.start_tick <= tick);
        let Segment { nanos_per_quarter, .. } = self.segments[next_segment.max(1) - 1];
        let units = u128::from(ticks) * u128::from(nanos_per_quarter) * u128::from(sample_rate_hz);
        ((units + UNITS_PER_FRAME / 2) / UNITS_PER_FRAME) as u64
    }

    /// Returns the offset of a tick from its nearest frame, in frames, from -0.5 to 0.5. The offset
    /// is positive if the tick is after the frame.
    pub fn offset_frames(&self, tick: u64, sample_rate_hz: u32) -> f64 {
        let nearest_units = u128::from(self.frame_at(tick, sample_rate_hz)) * UNITS_PER_FRAME;
        let beyond = self.units_at(tick, sample_rate_hz) as i128 - nearest_units as i128;
        beyond as f64 / UNITS_PER_FRAME as f64
    }

    /// Returns the position of a tick in units of 1 / [`UNITS_PER_FRAME`] frames.
    fn units_at(&self, tick: u64, sample_rate_hz: u32) -> u128 {
        let next_segment = self.segments.partition_point(|segment| segment.start_tick <= tick);
        self.segments[next_segment.max(1) - 1].time_at(tick) * u128::from(sample_rate_hz)
    }

    /// Returns the last tick whose nearest frame is not after `frame`.
    pub fn tick_at(&self, frame: u64, sample_rate_hz: u32) -> u64 {
        let time = u128::from(frame) * UNITS_PER_FRAME / u128::from(sample_rate_hz);
        let next_segment = self.segments.partition_point(|segment| segment.start_units <= time);
        let segment = &self.segments[next_segment.max(1) - 1];
        let mut tick = segment.start_tick
            + ((time - segment.start_units) / u128::from(segment.nanos_per_quarter)) as u64;
        while self.frame_at(tick + 1, sample_rate_hz) <= frame {
            tick += 1;
        }
        while tick > 0 && self.frame_at(tick, sample_rate_hz) > frame {
            tick -= 1;
        }
        tick
    }
}

impl Default for TempoMap {
    /// Returns a map with a constant tempo of [`DEFAULT_BPM`].
    fn default() -> Self {
        let nanos_per_quarter = (NANOS_PER_MINUTE / DEFAULT_BPM) as u64;
        Self { segments: alloc::vec![Segment { start_tick: 0, nanos_per_quarter, start_units: 0 }] }
    }
}

impl Segment {
    fn time_at(&self, tick: u64) -> u128 {
        self.start_units + u128::from(tick - self.start_tick) * u128::from(self.nanos_per_quarter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_without_changes_has_120_bpm() {
        assert_eq!(TempoMap::from_bpm(&[]).unwrap(), TempoMap::default());
        assert_eq!(TempoMap::default().frame_at(1920, 44_100), 44_100);
    }

    #[test]
    fn a_tempo_of_a_midi_file_does_not_drift() {
        // The tempo is 333,333 microseconds per quarter note. After a million quarter notes, the
        // frame is exact.
        let map = TempoMap::from_bpm(&[(0, 60e6 / 333_333.0)]).unwrap();
        assert_eq!(map.frame_at(960_000_000, 48_000), 333_333 * 48_000);
    }

    #[test]
    fn converting_a_tick_to_a_frame_and_back_gives_the_same_tick() {
        let map = TempoMap::from_bpm(&[(0, 97.3), (1_000, 211.7), (1_001, 3.6), (9_999, 140.0)]).unwrap();
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            for tick in (0..20_000).step_by(7) {
                let frame = map.frame_at(tick, sample_rate_hz);
                let round_trip_tick = map.tick_at(frame, sample_rate_hz);
                assert_eq!(
                    map.frame_at(round_trip_tick, sample_rate_hz),
                    frame,
                    "tick {tick} at {sample_rate_hz} Hz"
                );
                assert!(round_trip_tick >= tick);
            }
        }
    }

    #[test]
    fn the_offset_of_a_tick_from_its_frame_is_exact() {
        let map = TempoMap::default();
        let beyond = [0, 1, 2, 49, 50].map(|tick| map.offset_frames(tick, 44_100));
        assert_eq!(beyond, [0.0, -0.031_25, -0.062_5, 0.468_75, 0.437_5]);
        // Half a frame is rounded up.
        assert_eq!((map.frame_at(16, 44_100), map.offset_frames(16, 44_100)), (368, -0.5));
    }

    #[test]
    fn errors_name_the_invalid_change() {
        let check = |changes: &[(u64, f64)], expected: &str| {
            assert_eq!(TempoMap::from_bpm(changes).unwrap_err().to_string(), expected);
        };
        check(&[(5, 120.0)], "the first tempo must be at tick 0, not at tick 5");
        let problem = "tempo changes must be in ascending order: tick 0 comes after tick 0";
        check(&[(0, 120.0), (0, 90.0)], problem);
        check(&[(0, f64::NAN)], "the tempo at tick 0 is NaN BPM; it must be 1 to 100000");
        check(&[(0, 0.5)], "the tempo at tick 0 is 0.5 BPM; it must be 1 to 100000");
    }
}
