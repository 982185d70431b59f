//! Automation of a plugin's parameters.

use dsp_core::session::AutomationPoint;
use schemas::project::AutomationPoint as PointOfProject;
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
    /// Points with normalized values, by ascending frame.
    pub points: Vec<AutomationPoint>,
}

impl AutomationCurve {
    /// Returns the curve through the points of a project's automation lane. `frame_at` returns the
    /// frame of a tick.
    pub fn of_points(parameter: String, points: &[PointOfProject], frame_at: &dyn Fn(u32) -> u64) -> Self {
        let compiled = |point: &PointOfProject| AutomationPoint {
            frame: frame_at(point.tick),
            value: point.value.clamp(0.0, 1.0),
            curve: point.curve.into(),
        };
        let mut points: Vec<AutomationPoint> = points.iter().map(compiled).collect();
        points.sort_by_key(|point| point.frame);
        Self { parameter, points }
    }
}

/// The automation of a parameter of an open plugin, while the song plays.
#[derive(Debug)]
pub(super) struct CurveReader<'s> {
    parameter_id: u32,
    points: &'s [AutomationPoint],
    /// Index of the first point after the last frame that was read.
    next: usize,
    last_value: Option<f64>,
}

impl<'s> CurveReader<'s> {
    pub(super) fn new(parameter_id: u32, points: &'s [AutomationPoint]) -> Self {
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
        while self.points.get(self.next).is_some_and(|point| point.frame <= frame) {
            self.next += 1;
        }
        let before = self.next.checked_sub(1).map(|index| &self.points[index]);
        match (before, self.points.get(self.next)) {
            (Some(start), Some(end)) => {
                let time = (frame - start.frame) as f64 / (end.frame - start.frame) as f64;
                Some(start.value + (end.value - start.value) * start.curve.fraction(time))
            }
            (Some(only_point), None) | (None, Some(only_point)) => Some(only_point.value),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dsp_core::session::Curve;
    use schemas::Extra;
    use schemas::project::AutomationCurve as CurveOfProject;

    use super::*;

    /// Returns the changes in the first 300 frames, in requests of `request_frames`.
    fn changes(points: &[AutomationPoint], request_frames: u32) -> Vec<(u64, f64)> {
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
    fn points_of_a_project_are_sorted_and_their_values_limited() {
        let point = |tick, value, curve| PointOfProject { tick, value, curve, extra: Extra::default() };
        let points = [
            point(26, 1.5, CurveOfProject::Linear),
            point(0, 0.0, CurveOfProject::Step),
            point(10, 0.5, CurveOfProject::Curvature(0.5)),
        ];
        let curve = AutomationCurve::of_points("7".to_owned(), &points, &|tick| u64::from(tick) * 10);
        let compiled = |frame, value, curve| AutomationPoint { frame, value, curve };
        let expected = [
            compiled(0, 0.0, Curve::Step),
            compiled(100, 0.5, Curve::Arc(0.5)),
            compiled(260, 1.0, Curve::Linear),
        ];
        assert_eq!(curve.points, expected);
    }

    #[test]
    fn values_follow_the_curve_whatever_the_length_of_requests() {
        for request_frames in [1, 50, 64, 100, 300] {
            let check_curve = |curve: Curve, points: &[(u64, f64)], expected: &[(u64, f64)]| {
                let point = |&(frame, value)| AutomationPoint { frame, value, curve };
                let points: Vec<_> = points.iter().map(point).collect();
                assert_eq!(changes(&points, request_frames), expected, "{request_frames} frames");
            };
            let check = |points: &[(u64, f64)], expected: &[(u64, f64)]| {
                check_curve(Curve::Linear, points, expected);
            };
            check_curve(Curve::Step, &[(0, 0.0), (128, 1.0)], &[(0, 0.0), (128, 1.0)]);
            // At half of its length, an arc of curvature 0.5 has made a quarter of its change.
            check_curve(Curve::Arc(0.5), &[(0, 0.0), (128, 1.0)], &[(0, 0.0), (64, 0.25), (128, 1.0)]);
            check(&[], &[]);
            check(&[(200, 0.5)], &[(0, 0.5)]);
            check(&[(0, 0.0), (128, 1.0)], &[(0, 0.0), (64, 0.5), (128, 1.0)]);
            check(&[(64, 0.25), (64, 0.75)], &[(0, 0.25), (64, 0.75)]);
            check(&[(0, 1.0), (100, 1.0), (100, 0.0)], &[(0, 1.0), (128, 0.0)]);
        }
    }
}
