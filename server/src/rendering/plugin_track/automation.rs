//! Automation of a plugin's parameters. A plugin gets each point at its frame, so steps are exact.
//! Between points, the value of a ramp changes on a grid of frames, because each change divides a
//! block.

use std::ops::Range;

use dsp_core::session::{AutomationPoint, Curve};
use schemas::project::AutomationPoint as PointOfProject;
use serde::Serialize;
use songfoundry_bridge_protocol::host::{Event, EventKind, PARAMETERS_MAX, ParameterValue};

/// Interval of the changes of a ramp, in frames from the start of the song.
const STEP_FRAMES: u64 = 64;

/// Maximum number of curves with ramps that change at every [`STEP_FRAMES`]. With more, the
/// interval of all ramps is longer, so that the number of changes has the same limit.
const FINE_RAMPS_MAX: usize = 64;

/// Maximum number of automated parameters: as many as a plugin may have.
pub const CURVES_MAX: usize = PARAMETERS_MAX;

/// Version of the rules in this file and in the helper that determine when a parameter changes. It
/// belongs to the key of each stored sound with automation.
pub const AUTOMATION_VERSION: u32 = 2;

/// Returns the interval of the changes of all ramps, in frames.
pub(super) fn ramp_step_frames(curves: &[CurveReader<'_>]) -> u64 {
    let ramps = curves.iter().filter(|curve| curve.points.windows(2).any(is_ramp)).count();
    STEP_FRAMES * ramps.div_ceil(FINE_RAMPS_MAX).max(1) as u64
}

/// Whether the value changes between two points.
fn is_ramp(points: &[AutomationPoint]) -> bool {
    let [start, end] = points else { return false };
    start.curve != Curve::Step && start.value != end.value && start.frame < end.frame
}

/// The automation of one parameter. Before the first point, the value is that of the first point;
/// after the last point, it is that of the last point.
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
        let compiled_point = |point: &PointOfProject| AutomationPoint {
            frame: frame_at(point.tick),
            value: point.value.clamp(0.0, 1.0),
            curve: point.curve.into(),
        };
        let mut points: Vec<AutomationPoint> = points.iter().map(compiled_point).collect();
        points.sort_by_key(|point| point.frame);
        Self { parameter, points }
    }
}

/// Reads the automation of a parameter of an open plugin in the order of the song.
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

    /// Returns the maximum number of changes in a range of frames, which must follow those of the
    /// last call of [`Self::changes`]. Ramps change every `step_frames`.
    pub(super) fn changes_max(&self, frames: &Range<u64>, step_frames: u64) -> usize {
        let first = usize::from(self.last_value.is_none());
        let later_points = &self.points[self.next..];
        let points = later_points.partition_point(|point| point.frame < frames.end);
        let segments =
            &self.points[self.next.saturating_sub(1)..(self.next + points + 1).min(self.points.len())];
        let steps = match segments.windows(2).any(is_ramp) {
            true => (frames.end.div_ceil(step_frames) - frames.start.div_ceil(step_frames)) as usize,
            false => 0,
        };
        first + points + steps
    }

    /// Adds the changes in a range of frames, which must follow those of the last call. Ramps
    /// change every `step_frames`.
    pub(super) fn changes(&mut self, frames: &Range<u64>, step_frames: u64, events: &mut Vec<Event>) {
        let mut frame = frames.start;
        while let Some(next) = self.next_change(frame, step_frames).filter(|next| *next < frames.end) {
            if let Some(value) = self.value_at(next)
                && self.last_value != Some(value)
            {
                self.last_value = Some(value);
                let kind = EventKind::Parameter(ParameterValue { id: self.parameter_id, value });
                events.push(Event { frame: (next - frames.start) as u32, kind });
            }
            frame = next + 1;
        }
    }

    /// Returns the first frame from `frame` on at which the value may change.
    fn next_change(&self, frame: u64, step_frames: u64) -> Option<u64> {
        let next_point = self.points.get(self.next)?;
        if self.last_value.is_none() {
            return Some(frame);
        }
        let segment = &self.points[self.next.saturating_sub(1)..=self.next];
        let step = frame.next_multiple_of(step_frames);
        // A point is before `frame` only if the plugin was not sent the frames before `frame`.
        Some(if is_ramp(segment) { step.min(next_point.frame) } else { next_point.frame }.max(frame))
    }

    /// Returns the value at a frame; `None` without points.
    fn value_at(&mut self, frame: u64) -> Option<f64> {
        while self.points.get(self.next).is_some_and(|point| point.frame <= frame) {
            self.next += 1;
        }
        let previous_point = self.next.checked_sub(1).map(|index| &self.points[index]);
        match (previous_point, self.points.get(self.next)) {
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
    use schemas::Extra;
    use schemas::project::AutomationCurve as CurveOfProject;

    use super::*;

    /// Returns the changes in the first 300 frames, in requests of `request_frames`.
    fn changes(points: &[AutomationPoint], request_frames: u32) -> Vec<(u64, f64)> {
        let mut reader = CurveReader::new(7, points);
        let mut changes = Vec::new();
        for start in (0..300).step_by(request_frames as usize) {
            let mut events = Vec::new();
            let frames = start..start + u64::from(request_frames);
            let changes_max = reader.changes_max(&frames, STEP_FRAMES);
            reader.changes(&frames, STEP_FRAMES, &mut events);
            assert!(events.len() <= changes_max, "{} of {changes_max} changes", events.len());
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
        let compiled_point = |frame, value, curve| AutomationPoint { frame, value, curve };
        let expected = [
            compiled_point(0, 0.0, Curve::Step),
            compiled_point(100, 0.5, Curve::Arc(0.5)),
            compiled_point(260, 1.0, Curve::Linear),
        ];
        assert_eq!(curve.points, expected);
    }

    #[test]
    fn many_ramps_change_at_longer_intervals() {
        let point = |frame, value, curve| AutomationPoint { frame, value, curve };
        let ramp = [point(0, 0.0, Curve::Linear), point(9_000, 1.0, Curve::Linear)];
        let step = [point(0, 0.0, Curve::Step), point(9_000, 1.0, Curve::Linear)];
        let step_frames = |ramps, steps| {
            let ramps = std::iter::repeat_n(&ramp, ramps).chain(std::iter::repeat_n(&step, steps));
            ramp_step_frames(&ramps.map(|points| CurveReader::new(0, points)).collect::<Vec<_>>())
        };
        assert_eq!([step_frames(0, 500), step_frames(64, 500)], [STEP_FRAMES; 2]);
        assert_eq!([step_frames(65, 0), step_frames(1_000, 0)], [2 * STEP_FRAMES, 16 * STEP_FRAMES]);
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
            check(&[(0, 1.0), (100, 1.0), (100, 0.0)], &[(0, 1.0), (100, 0.0)]);
            // Points are exact, even between the frames of the grid.
            check(&[(10, 0.0), (74, 0.5), (75, 0.25)], &[(0, 0.0), (64, 27.0 / 64.0), (74, 0.5), (75, 0.25)]);
            check_curve(
                Curve::Step,
                &[(3, 0.0), (77, 1.0), (78, 0.5), (299, 0.75)],
                &[(0, 0.0), (77, 1.0), (78, 0.5), (299, 0.75)],
            );
        }
    }
}
