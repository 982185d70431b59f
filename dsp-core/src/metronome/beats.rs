//! The beats of a session: its tempo changes and time signatures.

use alloc::vec::Vec;

use crate::tempo::{TICKS_PER_QUARTER, TempoMap};

/// A time signature and the tick at which it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSignature {
    /// Ticks from the start of the session.
    pub tick: u64,
    /// Number of beats in a bar, at least 1.
    pub numerator: u16,
    /// Note value of a beat: a power of two up to 128.
    pub denominator: u16,
}

impl TimeSignature {
    fn ticks_per_beat(self) -> u64 {
        4 * TICKS_PER_QUARTER / u64::from(self.denominator)
    }
}

/// The reason why time signatures are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BeatGridError {
    /// A time signature has no beats, or a note value that is not a power of two up to 128.
    #[error(
        "the time signature {numerator}/{denominator} at tick {tick} is invalid: the numerator must be at least 1, and the denominator a power of two up to 128"
    )]
    Invalid {
        /// Tick of the time signature.
        tick: u64,
        /// Its number of beats.
        numerator: u16,
        /// Its note value.
        denominator: u16,
    },
    /// A time signature is not after the one before it.
    #[error("time signatures must be in ascending order: tick {tick} comes after tick {previous}")]
    NotAscending {
        /// Tick of the previous time signature.
        previous: u64,
        /// Tick of the invalid time signature.
        tick: u64,
    },
}

/// A beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beat {
    tick: u64,
    pub(super) frame: u64,
    pub(super) is_first_of_bar: bool,
}

/// The beats of a session. A time signature starts a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeatGrid {
    tempo: TempoMap,
    /// At least one. The first is in force from tick 0 on.
    signatures: Vec<TimeSignature>,
}

impl Default for BeatGrid {
    /// Returns beats in 4/4 at 120 quarter notes per minute.
    fn default() -> Self {
        let signatures = alloc::vec![TimeSignature { tick: 0, numerator: 4, denominator: 4 }];
        Self { tempo: TempoMap::default(), signatures }
    }
}

impl BeatGrid {
    /// Creates a grid. The first time signature is in force from the start on, and without any, it
    /// is 4/4.
    ///
    /// # Errors
    ///
    /// [`BeatGridError`] if a time signature is invalid, or not after the one before it.
    pub fn new(tempo: TempoMap, mut signatures: Vec<TimeSignature>) -> Result<Self, BeatGridError> {
        let mut previous = None;
        for &TimeSignature { tick, numerator, denominator } in &signatures {
            if numerator == 0 || !denominator.is_power_of_two() || denominator > 128 {
                return Err(BeatGridError::Invalid { tick, numerator, denominator });
            }
            if let Some(previous) = previous.filter(|previous| tick <= *previous) {
                return Err(BeatGridError::NotAscending { previous, tick });
            }
            previous = Some(tick);
        }
        match signatures.first_mut() {
            Some(first) => first.tick = 0,
            None => return Ok(Self { tempo, ..Self::default() }),
        }
        Ok(Self { tempo, signatures })
    }

    fn signature_index_at(&self, tick: u64) -> usize {
        self.signatures.partition_point(|signature| signature.tick <= tick).max(1) - 1
    }

    /// Returns the first beat at or after a tick.
    fn beat_from_tick(&self, tick: u64, sample_rate_hz: u32) -> Beat {
        let index = self.signature_index_at(tick);
        let signature = self.signatures[index];
        let beats = (tick - signature.tick).div_ceil(signature.ticks_per_beat());
        let beat_tick = signature.tick + beats * signature.ticks_per_beat();
        let (tick, is_first_of_bar) = match self.signatures.get(index + 1) {
            Some(next) if next.tick <= beat_tick => (next.tick, true),
            _ => (beat_tick, beats.is_multiple_of(u64::from(signature.numerator))),
        };
        Beat { tick, frame: self.tempo.frame_at(tick, sample_rate_hz), is_first_of_bar }
    }

    /// Returns the first beat at or after a frame.
    pub(super) fn first_beat_from(&self, frame: u64, sample_rate_hz: u32) -> Beat {
        let tick = frame
            .checked_sub(1)
            .map_or(0, |previous_frame| self.tempo.tick_at(previous_frame, sample_rate_hz) + 1);
        self.beat_from_tick(tick, sample_rate_hz)
    }

    pub(super) fn beat_after(&self, beat: Beat, sample_rate_hz: u32) -> Beat {
        self.beat_from_tick(beat.tick + 1, sample_rate_hz)
    }

    /// Returns the beats of `bars` bars before a frame, the last of them first, and the duration of
    /// the bars in frames. Frames count from the start of the bars, whose tempo and time signature
    /// are those at the frame.
    pub(super) fn count_in(&self, start_frame: u64, bars: u32, sample_rate_hz: u32) -> (Vec<Beat>, u64) {
        let tick = self.tempo.tick_at(start_frame, sample_rate_hz);
        let signature = self.signatures[self.signature_index_at(tick)];
        let ticks_per_beat = signature.ticks_per_beat();
        let ticks_per_bar = ticks_per_beat * u64::from(signature.numerator);
        // Counting from the start of a bar that is before all of the count-in keeps ticks positive.
        let first_bar_tick = (tick - signature.tick) % ticks_per_bar;
        let frame_at = |ticks| self.tempo.frames_of_ticks_at(tick, ticks, sample_rate_hz);
        let length_ticks = ticks_per_bar * u64::from(bars);
        let first_beat = first_bar_tick.div_ceil(ticks_per_beat);
        let beats = (first_beat..)
            .map(|beat| (beat, beat * ticks_per_beat - first_bar_tick))
            .take_while(|(_, ticks)| *ticks < length_ticks)
            .map(|(beat, ticks)| Beat {
                tick: ticks,
                frame: frame_at(ticks),
                is_first_of_bar: beat.is_multiple_of(u64::from(signature.numerator)),
            });
        let mut beats: Vec<Beat> = beats.collect();
        beats.reverse();
        (beats, frame_at(length_ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_invalid_time_signature() {
        let check = |signatures: &[(u64, u16, u16)], expected: &str| {
            let signatures = signatures.iter().map(|&(tick, numerator, denominator)| TimeSignature {
                tick,
                numerator,
                denominator,
            });
            let error = BeatGrid::new(TempoMap::default(), signatures.collect()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        let rule = "the numerator must be at least 1, and the denominator a power of two up to 128";
        check(&[(7, 0, 4)], &alloc::format!("the time signature 0/4 at tick 7 is invalid: {rule}"));
        check(&[(0, 4, 3)], &alloc::format!("the time signature 4/3 at tick 0 is invalid: {rule}"));
        let problem = "time signatures must be in ascending order: tick 5 comes after tick 5";
        check(&[(5, 4, 4), (5, 3, 4)], problem);
    }
}
