//! Converts between beats and seconds. Positions in a DAWproject file can have either unit, and
//! fractions of ticks. The engine's `TempoMap` converts only whole ticks to whole frames.

use schemas::TICKS_PER_QUARTER;
use schemas::project::TempoPoint;

/// A unit of time in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    /// Quarter notes.
    Beats,
    Seconds,
}

/// A span of constant tempo.
#[derive(Debug, Clone, Copy)]
struct Span {
    start_beats: f64,
    start_secs: f64,
    secs_per_beat: f64,
}

/// The tempo of a project as positions in beats and seconds.
#[derive(Debug)]
pub(super) struct TimeScale(Vec<Span>);

impl TimeScale {
    /// Returns the scale of a tempo map. An empty map has 120 quarter notes per minute.
    pub(super) fn new(tempo_map: &[TempoPoint]) -> Self {
        let mut spans: Vec<Span> = Vec::with_capacity(tempo_map.len().max(1));
        for point in tempo_map {
            let start_beats = beats_of_tick(u64::from(point.tick));
            let start_secs = spans.last().map_or(0.0, |span| span.secs_at(start_beats));
            spans.push(Span { start_beats, start_secs, secs_per_beat: secs_per_beat(point.bpm) });
        }
        if spans.is_empty() {
            spans.push(Span { start_beats: 0.0, start_secs: 0.0, secs_per_beat: secs_per_beat(120.0) });
        }
        Self(spans)
    }

    /// Returns the time of a position in seconds.
    pub(super) fn secs_at(&self, beats: f64) -> f64 {
        self.span(|span| span.start_beats <= beats).secs_at(beats)
    }

    /// Returns the position of a time in beats.
    pub(super) fn beats_at(&self, secs: f64) -> f64 {
        let span = self.span(|span| span.start_secs <= secs);
        span.start_beats + (secs - span.start_secs) / span.secs_per_beat
    }

    /// Returns the position `length` after `beats`.
    pub(super) fn after(&self, beats: f64, length: f64, unit: TimeUnit) -> f64 {
        match unit {
            TimeUnit::Beats => beats + length,
            TimeUnit::Seconds => self.beats_at(self.secs_at(beats) + length),
        }
    }

    /// Returns the length from one position to another.
    pub(super) fn between(&self, from_beats: f64, to_beats: f64, unit: TimeUnit) -> f64 {
        match unit {
            TimeUnit::Beats => to_beats - from_beats,
            TimeUnit::Seconds => self.secs_at(to_beats) - self.secs_at(from_beats),
        }
    }

    fn span(&self, is_before: impl Fn(&Span) -> bool) -> &Span {
        let next = self.0.partition_point(is_before);
        &self.0[next.max(1) - 1]
    }
}

impl Span {
    fn secs_at(&self, beats: f64) -> f64 {
        self.start_secs + (beats - self.start_beats) * self.secs_per_beat
    }
}

/// Returns the length of a quarter note in seconds. As in the engine, it is a whole number of
/// nanoseconds.
fn secs_per_beat(bpm: f64) -> f64 {
    (60e9 / bpm).round() * 1e-9
}

/// Returns the position of a tick in beats.
pub(super) fn beats_of_tick(tick: u64) -> f64 {
    tick as f64 / f64::from(TICKS_PER_QUARTER)
}

/// Returns the tick nearest to a position in beats, at most the latest tick of a project.
pub(super) fn tick_of_beats(beats: f64) -> u32 {
    (beats * f64::from(TICKS_PER_QUARTER)).round().clamp(0.0, f64::from(schemas::limits::MAX_TICK)) as u32
}

#[cfg(test)]
mod tests {
    use schemas::Extra;

    use super::*;

    #[test]
    fn beats_and_seconds_are_inverse_across_tempo_changes() {
        let point = |tick, bpm| TempoPoint { tick, bpm, extra: Extra::default() };
        let scale = TimeScale::new(&[point(0, 120.0), point(960, 60.0), point(4_800, 90.0)]);
        for (beats, secs) in [(0.0, 0.0), (-1.0, -0.5), (1.0, 0.5), (2.0, 1.5), (5.0, 4.5)] {
            assert!((scale.secs_at(beats) - secs).abs() < 1e-9, "{beats}");
            assert!((scale.beats_at(secs) - beats).abs() < 1e-9, "{secs}");
        }
        assert!((scale.after(0.5, 1.25, TimeUnit::Seconds) - 2.0).abs() < 1e-9);
        assert!((scale.between(0.5, 2.0, TimeUnit::Seconds) - 1.25).abs() < 1e-9);
        assert!((TimeScale::new(&[]).secs_at(2.0) - 1.0).abs() < 1e-9);
        for tick in [0, 1, 7, 959, 123_457, schemas::limits::MAX_TICK] {
            assert_eq!(tick_of_beats(beats_of_tick(u64::from(tick))), tick);
        }
    }
}
