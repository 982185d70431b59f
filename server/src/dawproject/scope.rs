//! Converts the times of a nested timeline to positions in the song.

use super::time_scale::{TimeScale, TimeUnit};

/// Length of a fade, and the position of the clip's edge to which it belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fade {
    pub(super) edge_beats: f64,
    pub(super) secs: f64,
}

/// Position of a timeline in the song, and the properties that the timelines inside it inherit.
#[derive(Debug, Clone)]
pub(super) struct Scope<'s> {
    scale: &'s TimeScale,
    /// Unit of the timeline's times.
    pub(super) unit: TimeUnit,
    /// Position in the song of the time `local_origin`.
    origin_beats: f64,
    local_origin: f64,
    /// The part of the song in which the timeline plays.
    pub(super) start_beats: f64,
    pub(super) end_beats: f64,
    /// Index of the track.
    pub(super) track: Option<usize>,
    /// Name of the innermost clip that has one.
    pub(super) name: String,
    pub(super) fade_in: Option<Fade>,
    pub(super) fade_out: Option<Fade>,
    pub(super) gain_db: f64,
    /// Whether the content starts over at the end of its file.
    pub(super) is_looped: bool,
}

impl<'s> Scope<'s> {
    /// Returns the scope of the song.
    pub(super) fn song(scale: &'s TimeScale, unit: TimeUnit, end_beats: f64) -> Self {
        Self {
            scale,
            unit,
            origin_beats: 0.0,
            local_origin: 0.0,
            start_beats: 0.0,
            end_beats,
            track: None,
            name: String::new(),
            fade_in: None,
            fade_out: None,
            gain_db: 0.0,
            is_looped: false,
        }
    }

    /// Returns the position of a time in the song.
    pub(super) fn beats_at(&self, time: f64) -> f64 {
        self.scale.after(self.origin_beats, time - self.local_origin, self.unit)
    }

    /// Returns the time of a position in the song.
    pub(super) fn time_at(&self, beats: f64) -> f64 {
        self.local_origin + self.scale.between(self.origin_beats, beats, self.unit)
    }

    /// Returns the position that is `length` after `beats`.
    pub(super) fn after(&self, beats: f64, length: f64, unit: TimeUnit) -> f64 {
        self.scale.after(beats, length, unit)
    }

    /// Returns the length of a part of the song in seconds.
    pub(super) fn secs_between(&self, from_beats: f64, to_beats: f64) -> f64 {
        self.scale.between(from_beats, to_beats, TimeUnit::Seconds)
    }

    /// Returns this scope with times in another unit. Time 0 keeps its position.
    pub(super) fn in_unit(mut self, unit: TimeUnit) -> Self {
        if unit != self.unit {
            let zero_beats = self.beats_at(0.0);
            let origin = self.scale.between(zero_beats, self.origin_beats, unit);
            (self.unit, self.local_origin) = (unit, origin);
        }
        self
    }

    /// Returns the scope of content in which the time `time` is at `beats`. The content plays from
    /// there to `end_beats`, but not longer than this scope.
    pub(super) fn content(&self, unit: TimeUnit, time: f64, beats: f64, end_beats: f64) -> Self {
        Self {
            unit,
            origin_beats: beats,
            local_origin: time,
            start_beats: self.start_beats.max(beats),
            end_beats: self.end_beats.min(end_beats),
            ..self.clone()
        }
    }

    /// Whether no part of the timeline plays.
    pub(super) fn is_empty(&self) -> bool {
        self.end_beats <= self.start_beats
    }
}
