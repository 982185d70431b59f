//! Automation of a plugin's parameters: straight lines between points.

use schemas::project::{AutomationCurve as ShapeOfProject, AutomationPoint};
use serde::Serialize;
use songfoundry_bridge_protocol::host::{Event, EventKind, ParameterValue};

/// Interval of the parameter changes, in frames from the start of the song.
pub(super) const STEP_FRAMES: u64 = 64;

/// Maximum number of automated parameters. A request to the plugin then has fewer changes than
/// [`songfoundry_bridge_protocol::host::EVENTS_MAX`].
pub const CURVES_MAX: usize = 64;

/// The automation of one parameter. Before the first point the value is that of the first point,
/// and after the last point that of the last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutomationCurve {
    /// Id or name of the parameter.
    pub parameter: String,
    /// Frames and normalized values, by ascending frame.
    pub points: Vec<(u64, f64)>,
}

/// Number of straight lines that replace the arc between two points.
const LINES_OF_ARC: u32 = 16;

impl AutomationCurve {
    /// Returns the curve through the points of a project's automation lane. `frame_at` returns the
    /// frame of a tick.
    pub fn of_points(parameter: String, points: &[AutomationPoint], frame_at: &dyn Fn(u32) -> u64) -> Self {
        let mut lines: Vec<(u64, f64)> = Vec::with_capacity(points.len());
        for (index, point) in points.iter().enumerate() {
            let (frame, value) = (frame_at(point.tick), point.value.clamp(0.0, 1.0));
            lines.push((frame, value));
            let Some(next) = points.get(index + 1) else { break };
            let (end, next_value) = (frame_at(next.tick), next.value.clamp(0.0, 1.0));
            match point.curve {
                ShapeOfProject::Linear => {}
                ShapeOfProject::Step => lines.push((end, value)),
                ShapeOfProject::Curvature(curvature) => lines.extend((1..LINES_OF_ARC).map(|step| {
                    let share = f64::from(step) / f64::from(LINES_OF_ARC);
                    let at = frame + ((end - frame) as f64 * share) as u64;
                    (at, value + (next_value - value) * arc(share, curvature))
                })),
            }
        }
        Self { parameter, points: lines }
    }
}

/// Returns the fraction of the change after a fraction of the length of an arc, as
/// [`dsp_core::session::Curve::Arc`] defines it.
fn arc(share: f64, curvature: f64) -> f64 {
    if curvature >= 1.0 {
        return 0.0;
    }
    share / (share + (1.0 - share) * (1.0 + curvature) / (1.0 - curvature))
}

/// The automation of a parameter of an open plugin, while the song plays.
#[derive(Debug)]
pub(super) struct CurveReader<'s> {
    parameter_id: u32,
    points: &'s [(u64, f64)],
    /// Index of the first point after the last frame that was read.
    next: usize,
    last_value: Option<f64>,
}

impl<'s> CurveReader<'s> {
    pub(super) fn new(parameter_id: u32, points: &'s [(u64, f64)]) -> Self {
        Self { parameter_id, points, next: 0, last_value: None }
    }

    /// Adds the changes in the `frames` frames from `start`, which must follow those of the last
    /// call.
    pub(super) fn changes(&mut self, start: u64, frames: u32, events: &mut Vec<Event>) {
        let end = start + u64::from(frames);
        let mut frame = start.next_multiple_of(STEP_FRAMES);
        while frame < end {
            if let Some(value) = self.value_at(frame)
                && self.last_value != Some(value)
            {
                self.last_value = Some(value);
                let kind = EventKind::Parameter(ParameterValue { id: self.parameter_id, value });
                events.push(Event { frame: (frame - start) as u32, kind });
            }
            if self.next == self.points.len() {
                return;
            }
            frame += STEP_FRAMES;
        }
    }

    /// Returns the value at a frame; `None` without points.
    fn value_at(&mut self, frame: u64) -> Option<f64> {
        while self.points.get(self.next).is_some_and(|(at, _)| *at <= frame) {
            self.next += 1;
        }
        let before = self.next.checked_sub(1).map(|index| self.points[index]);
        match (before, self.points.get(self.next)) {
            (Some((start, from)), Some((end, to))) => {
                let share = (frame - start) as f64 / (end - start) as f64;
                Some(from + (to - from) * share)
            }
            (Some((_, value)), None) => Some(value),
            (None, next) => next.map(|(_, value)| *value),
        }
    }
}

#[cfg(test)]
mod tests {
    use schemas::Extra;

    use super::*;

    /// Returns the changes in the first 300 frames, in requests of `request_frames`.
    fn changes(points: &[(u64, f64)], request_frames: u32) -> Vec<(u64, f64)> {
        let mut reader = CurveReader::new(7, points);
        let mut changes = Vec::new();
        for start in (0..300).step_by(request_frames as usize) {
            let mut events = Vec::new();
            reader.changes(start, request_frames, &mut events);
            changes.extend(events.into_iter().map(|event| match event.kind {
                EventKind::Parameter(ParameterValue { id: 7, value }) => {
                    (start + u64::from(event.frame), value)
                }
                other => panic!("{other:?}"),
            }));
        }
        changes
    }

    #[test]
    fn steps_and_arcs_become_straight_lines() {
        let point = |tick, value, curve| AutomationPoint { tick, value, curve, extra: Extra::default() };
        let curve = AutomationCurve::of_points(
            "7".to_owned(),
            &[
                point(0, 0.0, ShapeOfProject::Step),
                point(10, 0.5, ShapeOfProject::Curvature(0.5)),
                point(26, 1.5, ShapeOfProject::Linear),
            ],
            &|tick| u64::from(tick) * 10,
        );
        let lines = &curve.points;
        assert_eq!(lines[..3], [(0, 0.0), (100, 0.0), (100, 0.5)]);
        assert_eq!(lines.last(), Some(&(260, 1.0)), "values are limited");
        // At half of the length, an arc has made (1 - curvature) / 2 of its change.
        assert_eq!(lines[2 + 8], (180, 0.5 + 0.5 * 0.25));
        assert!(lines.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
    }

    #[test]
    fn values_change_in_straight_lines_whatever_the_length_of_requests() {
        for request_frames in [1, 50, 64, 100, 300] {
            let check = |points: &[(u64, f64)], expected: &[(u64, f64)]| {
                assert_eq!(changes(points, request_frames), expected, "{request_frames} frames");
            };
            check(&[], &[]);
            check(&[(200, 0.5)], &[(0, 0.5)]);
            check(&[(0, 0.0), (128, 1.0)], &[(0, 0.0), (64, 0.5), (128, 1.0)]);
            check(&[(64, 0.25), (64, 0.75)], &[(0, 0.25), (64, 0.75)]);
            check(&[(0, 1.0), (100, 1.0), (100, 0.0)], &[(0, 1.0), (128, 0.0)]);
        }
    }
}
