//! The curve of an automation lane.

use alloc::vec::Vec;

use crate::effects::CONTROL_FRAMES;
use crate::session::{AutomationPoint, Curve};

impl Curve {
    /// Returns the fraction of the change at a fraction of the time, both from 0 to 1.
    pub fn fraction(self, time: f64) -> f64 {
        match self {
            Self::Linear => time,
            Self::Step => 0.0,
            // The values at both ends are exact for any curvature.
            Self::Arc(_) if time <= 0.0 => 0.0,
            Self::Arc(_) if time >= 1.0 => 1.0,
            Self::Arc(curvature) if curvature >= 1.0 => 0.0,
            Self::Arc(curvature) if curvature <= -1.0 => 1.0,
            Self::Arc(curvature) if curvature.is_finite() => {
                time / (time + (1.0 - time) * (1.0 + curvature) / (1.0 - curvature))
            }
            Self::Arc(_) => time,
        }
    }

    /// Returns the integral of [`Self::fraction`] from 0 to a fraction of the time.
    fn area(self, time: f64) -> f64 {
        match self {
            Self::Step => 0.0,
            Self::Arc(curvature) if curvature >= 1.0 => 0.0,
            Self::Arc(curvature) if curvature <= -1.0 => time,
            Self::Arc(curvature) if curvature.is_finite() => {
                // With k = `ratio`, d = `complement` and x = `time`, the fraction is x / (k + d x).
                let ratio = (1.0 + curvature) / (1.0 - curvature);
                let complement = 1.0 - ratio;
                if complement.abs() < 1e-3 {
                    // The exact integral below would lose precision here, so two terms of its
                    // series replace it.
                    time * time / (2.0 * ratio) - complement * time * time * time / (3.0 * ratio * ratio)
                } else {
                    (time - ratio / complement * libm::log1p(complement * time / ratio)) / complement
                }
            }
            Self::Linear | Self::Arc(_) => 0.5 * time * time,
        }
    }
}

/// Magnitudes of values are clamped to this limit.
const MAX_MAGNITUDE: f64 = 1e9;

/// A frame that no session reaches, for curves without a further control point.
const NEVER_FRAME: i64 = i64::MAX;

/// The curve of an automation lane, evaluated on the clock of the mix.
///
/// The signal that the parameter processes has a latency, and the curve gets the same delay. The
/// curve is evaluated at *control points*. These are the points of the curve and, in segments that
/// are not constant, the multiples of [`CONTROL_FRAMES`] of the clock. Between two control points,
/// the parameter ramps linearly.
pub(crate) struct AutomationCurve {
    points: Vec<AutomationPoint>,
    latency_frames: i64,
    /// Whether the multiples of [`CONTROL_FRAMES`] are also delayed by the latency.
    delays_control_points: bool,
    /// Range of the values and integral from the first point to each point, for [`Self::sum`].
    range: [f64; 2],
    areas: Vec<f64>,
}

impl AutomationCurve {
    /// Creates a curve through `points`, which may be in any order. Points with a value that is not
    /// finite are ignored. Returns `None` if no point is usable.
    pub(crate) fn new(points: &[AutomationPoint]) -> Option<Self> {
        let is_usable =
            |point: &&AutomationPoint| point.value.is_finite() && point.frame < NEVER_FRAME as u64 / 2;
        let clamped = |point: &AutomationPoint| AutomationPoint {
            value: point.value.clamp(-MAX_MAGNITUDE, MAX_MAGNITUDE),
            ..*point
        };
        let mut points: Vec<AutomationPoint> = points.iter().filter(is_usable).map(clamped).collect();
        points.sort_by_key(|point| point.frame);
        let range = [-MAX_MAGNITUDE, MAX_MAGNITUDE];
        (!points.is_empty()).then_some(Self {
            points,
            latency_frames: 0,
            delays_control_points: false,
            range,
            areas: Vec::new(),
        })
    }

    /// Evaluates the curve at multiples of [`CONTROL_FRAMES`] of the delayed signal instead of the
    /// clock. The output is then the same at any latency.
    pub(crate) fn with_delayed_control_points(self) -> Self {
        Self { delays_control_points: true, ..self }
    }

    /// Prepares [`Self::sum`]. In the sums, the values of points are clamped to the range.
    pub(crate) fn prepare_sums(&mut self, range: [f64; 2]) {
        self.range = range;
        let mut area = 0.0;
        let segments = self.points.windows(2).map(|pair| (&pair[0], &pair[1]));
        let ends = segments.map(|(start, end)| {
            area += self.segment_area(start, end, end.frame as i64);
            area
        });
        self.areas = core::iter::once(0.0).chain(ends).collect();
    }

    /// Whether both curves have the same points and range. Their latencies may differ.
    pub(crate) fn is_same_as(&self, curve: &Self) -> bool {
        (&self.points, self.range) == (&curve.points, curve.range)
    }

    /// Sets the latency in frames of the signal that the parameter processes. Returns whether the
    /// latency has changed.
    pub(crate) fn set_latency(&mut self, frames: usize) -> bool {
        core::mem::replace(&mut self.latency_frames, frames as i64) != frames as i64
    }

    /// Returns the last point at or before a frame of the curve, and the next point after the
    /// frame.
    fn points_around(&self, frame: i64) -> (Option<&AutomationPoint>, Option<&AutomationPoint>) {
        let next_index = self.points.partition_point(|point| point.frame as i64 <= frame);
        (next_index.checked_sub(1).map(|index| &self.points[index]), self.points.get(next_index))
    }

    /// Returns the value at `frame` of the segment that contains `segment_frame`. The segment is
    /// extrapolated if it does not contain `frame`.
    fn extrapolated_value(&self, segment_frame: i64, frame: i64) -> f64 {
        match self.points_around(segment_frame) {
            (Some(start), Some(end)) => {
                let time = (frame - start.frame as i64) as f64 / (end.frame - start.frame) as f64;
                start.value + (end.value - start.value) * start.curve.fraction(time)
            }
            (Some(only_point), None) | (None, Some(only_point)) => only_point.value,
            (None, None) => 0.0,
        }
    }

    /// Returns the value at a frame of the clock.
    pub(crate) fn value(&self, clock: u64) -> f64 {
        let frame = clock as i64 - self.latency_frames;
        self.extrapolated_value(frame, frame)
    }

    /// Returns the sum of the values from frame 0 of the clock to the frame `clock`.
    /// [`Self::prepare_sums`] must have been called.
    pub(crate) fn sum(&self, clock: u64) -> f64 {
        self.area(clock as i64 - self.latency_frames) - self.area(-self.latency_frames)
    }

    /// Returns the integral of the values from the first point to a frame of the curve.
    fn area(&self, frame: i64) -> f64 {
        let constant_area =
            |point: &AutomationPoint| (frame - point.frame as i64) as f64 * self.clamped_value(point);
        match self.points_around(frame) {
            (Some(start), next_point) => {
                let index = self.points.partition_point(|point| point.frame as i64 <= frame) - 1;
                let area = next_point
                    .map_or_else(|| constant_area(start), |end| self.segment_area(start, end, frame));
                self.areas.get(index).unwrap_or(&0.0) + area
            }
            (None, first) => first.map_or(0.0, constant_area),
        }
    }

    /// Returns the integral of the values from one point to a frame before the next point.
    fn segment_area(&self, start: &AutomationPoint, end: &AutomationPoint, frame: i64) -> f64 {
        let frames = (end.frame - start.frame) as f64;
        if frames == 0.0 {
            return 0.0;
        }
        let time = (frame - start.frame as i64) as f64 / frames;
        let change = self.clamped_value(end) - self.clamped_value(start);
        frames * (time * self.clamped_value(start) + change * start.curve.area(time))
    }

    fn clamped_value(&self, point: &AutomationPoint) -> f64 {
        let [min, max] = self.range;
        point.value.clamp(min, max)
    }

    /// Returns the value just before `next`, which is the control point after `clock`.
    pub(crate) fn value_before(&self, clock: u64, next: u64) -> f64 {
        self.extrapolated_value(clock as i64 - self.latency_frames, next as i64 - self.latency_frames)
    }

    /// Returns the next control point after a frame of the clock, or [`NEVER_FRAME`] after the last
    /// point.
    pub(crate) fn next_control_point(&self, clock: u64) -> u64 {
        let (start, end) = self.points_around(clock as i64 - self.latency_frames);
        let Some(end) = end else { return NEVER_FRAME as u64 };
        let point = (end.frame as i64 + self.latency_frames) as u64;
        let is_constant = start.is_none_or(|start| start.value == end.value || start.curve == Curve::Step);
        if is_constant {
            return point;
        }
        let offset = if self.delays_control_points {
            self.latency_frames.rem_euclid(CONTROL_FRAMES as i64) as u64
        } else {
            0
        };
        // This is the next multiple of a clock that is late by the offset. `CONTROL_FRAMES` is
        // added first and subtracted again, because the clock is unsigned.
        let multiple = next_multiple(clock + CONTROL_FRAMES as u64 - offset);
        point.min(multiple + offset - CONTROL_FRAMES as u64)
    }

    /// Returns the value at a frame of the session without the latency, for a session that is
    /// stopped.
    pub(crate) fn value_when_stopped(&self, frame: u64) -> f64 {
        self.extrapolated_value(frame as i64, frame as i64)
    }
}

/// Returns the multiple of [`CONTROL_FRAMES`] at or before a frame.
pub(crate) fn multiple_before(clock: u64) -> u64 {
    clock - clock % CONTROL_FRAMES as u64
}

/// Returns the multiple of [`CONTROL_FRAMES`] after a frame.
pub(crate) fn next_multiple(clock: u64) -> u64 {
    multiple_before(clock) + CONTROL_FRAMES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(frame: u64, value: f64, curve: Curve) -> AutomationPoint {
        AutomationPoint { frame, value, curve }
    }

    #[test]
    fn a_curve_passes_its_points_in_the_shape_of_each_segment() {
        let curve = AutomationCurve::new(&[
            point(200, 4.0, Curve::Step),
            point(100, 0.0, Curve::Linear),
            point(150, f64::NAN, Curve::Linear),
            point(300, 1.0, Curve::Arc(0.5)),
            point(400, 3.0, Curve::Linear),
            point(400, -1.0, Curve::Linear),
        ])
        .unwrap();
        let check = |frame, expected: f64| assert_eq!(curve.value(frame), expected, "value at frame {frame}");
        check(0, 0.0);
        check(150, 2.0);
        check(200, 4.0);
        check(299, 4.0);
        check(300, 1.0);
        check(350, 1.0 + 2.0 * 0.25);
        check(400, -1.0);
        check(9_000, -1.0);
        assert_eq!(curve.value_before(390, 400), 3.0);
        assert_eq!(curve.value_before(290, 300), 4.0);
        let control_points =
            |from| (curve.next_control_point(from), curve.next_control_point(curve.next_control_point(from)));
        assert_eq!(control_points(0), (100, 128));
        assert_eq!(control_points(199), (200, 300));
        assert_eq!(curve.next_control_point(400), NEVER_FRAME as u64);
    }

    #[test]
    fn a_curve_is_delayed_by_the_latency_of_its_parameter() {
        let mut curve =
            AutomationCurve::new(&[point(0, 0.0, Curve::Linear), point(100, 100.0, Curve::Linear)]).unwrap();
        curve.set_latency(10);
        assert_eq!(
            [curve.value(0), curve.value(10), curve.value(60), curve.value(110)],
            [0.0, 0.0, 50.0, 100.0]
        );
        assert_eq!(
            [curve.next_control_point(0), curve.next_control_point(10), curve.next_control_point(100)],
            [10, 32, 110]
        );
        assert_eq!(curve.value_when_stopped(50), 50.0);
    }

    #[test]
    fn delayed_control_points_are_those_of_an_undelayed_curve_plus_the_latency() {
        let points = [point(0, 0.0, Curve::Linear), point(100, 100.0, Curve::Linear)];
        for latency in [0, 5, 31, 32, 70] {
            let mut curve = AutomationCurve::new(&points).unwrap().with_delayed_control_points();
            curve.set_latency(latency);
            let from = latency as u64;
            let control_points =
                core::iter::successors(Some(from), |frame| Some(curve.next_control_point(*frame)));
            assert!(
                control_points.take(5).eq([0, 32, 64, 96, 100].map(|frame| from + frame)),
                "control points at a latency of {latency} frames"
            );
        }
        let mut curve = AutomationCurve::new(&points).unwrap().with_delayed_control_points();
        curve.set_latency(37);
        assert_eq!(
            [curve.next_control_point(38), curve.next_control_point(68), curve.next_control_point(69)],
            [69, 69, 101]
        );
    }

    #[test]
    fn arcs_are_monotonic_and_end_at_their_points() {
        for curvature in [-2.0, -1.0, -0.3, 0.0, 0.9, 1.0, f64::NAN, f64::INFINITY] {
            let curve = Curve::Arc(curvature);
            assert_eq!(
                (curve.fraction(0.0), curve.fraction(1.0)),
                (0.0, 1.0),
                "ends of the arc with curvature {curvature}"
            );
            let values: Vec<f64> = (0..=50).map(|step| curve.fraction(f64::from(step) / 50.0)).collect();
            assert!(values.is_sorted(), "the arc with curvature {curvature} is not monotonic");
            assert!(
                values.iter().all(|value| (0.0..=1.0).contains(value)),
                "the arc with curvature {curvature} leaves 0 to 1"
            );
        }
        for curvature in [-0.9, -0.5, 0.0, 0.3, 0.99] {
            let half = Curve::Arc(curvature).fraction(0.5);
            assert!(
                (half - (1.0 - curvature) / 2.0).abs() < 1e-12,
                "the arc with curvature {curvature} is at {half} after half the time"
            );
        }
    }

    #[test]
    fn a_sum_equals_the_added_values_of_all_frames() {
        let curves = [
            Curve::Linear,
            Curve::Step,
            Curve::Arc(0.7),
            Curve::Arc(-0.7),
            Curve::Arc(1e-4),
            Curve::Arc(1.0),
            Curve::Arc(-1.0),
            Curve::Arc(f64::NAN),
        ];
        let points: Vec<AutomationPoint> = (0..)
            .zip(curves.into_iter().chain(curves))
            .map(|(index, curve)| point(5_000 + index * 3_000, f64::from(index as u32 * 7 % 5), curve))
            .collect();
        let mut curve = AutomationCurve::new(&points).unwrap();
        curve.set_latency(1_234);
        curve.prepare_sums([-10.0, 10.0]);
        let mut added = 0.0;
        for clock in 0..60_000_u64 {
            if clock % 777 == 0 {
                let sum = curve.sum(clock);
                // The tolerance is half a frame for each jump.
                assert!((sum - added).abs() < 30.0, "the sum at frame {clock} is {sum} instead of {added}");
            }
            added += 0.5 * (curve.value(clock) + curve.value_before(clock, clock + 1));
        }
        // Values outside the range are clamped to it.
        curve.prepare_sums([1.5, 1.5]);
        assert_eq!(curve.sum(60_000), 90_000.0);
    }

    #[test]
    fn without_a_usable_point_there_is_no_curve() {
        assert!(AutomationCurve::new(&[]).is_none());
        assert!(
            AutomationCurve::new(&[point(u64::MAX, 1.0, Curve::Linear), point(0, f64::NAN, Curve::Step)])
                .is_none()
        );
    }
}
