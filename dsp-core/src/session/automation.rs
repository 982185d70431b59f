//! Values that change over time.

use alloc::vec::Vec;

use crate::effects::CONTROL_FRAMES;

/// Something of a track, or of the master, that follows a line.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomationLane {
    /// What moves.
    pub target: AutomationTarget,
    /// The line, by ascending frame. Before the first point the value is that of the first, behind
    /// the last that of the last. Of two points at one frame the later one holds from there on.
    pub points: Vec<AutomationPoint>,
}

/// What a lane moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AutomationTarget {
    /// The fader, in decibels: the line is straight there.
    Volume,
    /// The pan, -1 to 1.
    Pan,
    /// The level of a send, in decibels, by its place among the track's.
    Send(u32),
    /// A parameter of an effect, in its own unit.
    Effect {
        /// Place of the effect among the track's.
        effect: u32,
        /// Place of the parameter in the table of the effect's kind.
        parameter: u32,
    },
}

/// A value that a line goes through.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutomationPoint {
    /// Frames from the start of the session.
    pub frame: u64,
    /// The value from this frame on.
    pub value: f64,
    /// How it goes on to the next point.
    pub curve: Curve,
}

/// The way from one point to the next.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Curve {
    /// Straight.
    #[default]
    Linear,
    /// The value stays, and jumps at the next point.
    Step,
    /// An arc by its curvature `c`, -1 to 1: at the share `x` of the time the value has gone the
    /// share `x / (x + (1 - x) (1 + c) / (1 - c))` of its way (the bias curve of C. Schlick, "Fast
    /// alternatives to Perlin's bias and gain functions", Graphics Gems IV, 1994); half-way through
    /// the time that is `(1 - c) / 2`. 0 is straight; above it the value moves late, at 1 only at
    /// the next point; below it moves early, at -1 at once.
    Arc(f64),
}

impl Curve {
    /// Share of the way at a share of the time, both 0 to 1.
    fn share(self, time: f64) -> f64 {
        match self {
            Self::Linear => time,
            Self::Step => 0.0,
            // At both ends exactly, whatever the curvature.
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

    /// The integral of [`Self::share`] from 0 to a share of the time.
    fn area(self, time: f64) -> f64 {
        match self {
            Self::Step => 0.0,
            Self::Arc(curvature) if curvature >= 1.0 => 0.0,
            Self::Arc(curvature) if curvature <= -1.0 => time,
            Self::Arc(curvature) if curvature.is_finite() => {
                // With k as the ratio and d = 1 - k, the share is x / (k + d x).
                let ratio = (1.0 + curvature) / (1.0 - curvature);
                let rest = 1.0 - ratio;
                if rest.abs() < 1e-3 {
                    // The difference below would lose its digits: two terms of its series.
                    time * time / (2.0 * ratio) - rest * time * time * time / (3.0 * ratio * ratio)
                } else {
                    (time - ratio / rest * libm::log1p(rest * time / ratio)) / rest
                }
            }
            Self::Linear | Self::Arc(_) => 0.5 * time * time,
        }
    }
}

/// Values beyond this, to either side, count as this.
const HIGHEST: f64 = 1e9;

/// Far behind the end of every session.
const NEVER: i64 = i64::MAX;

/// The line of a lane, followed on the clock of the mix.
///
/// What it moves hears the session late by the latency of what comes before: the line waits for it.
/// Values are asked for at *places*: multiples of [`CONTROL_FRAMES`] of the clock where the line is
/// not level, and the points themselves. Between two places they go straight.
pub(super) struct Line {
    points: Vec<AutomationPoint>,
    lag_frames: i64,
    /// Whether its places wait, too.
    places_wait: bool,
    /// Of a line that is counted: the range of its values, and the integral from the first point to
    /// each.
    range: [f64; 2],
    areas: Vec<f64>,
}

impl Line {
    /// `None` without a point. Points that make no sense are passed over, and order is made.
    pub(super) fn new(points: &[AutomationPoint]) -> Option<Self> {
        let is_sound = |point: &&AutomationPoint| point.value.is_finite() && point.frame < NEVER as u64 / 2;
        let clamped = |point: &AutomationPoint| AutomationPoint {
            value: point.value.clamp(-HIGHEST, HIGHEST),
            ..*point
        };
        let mut points: Vec<AutomationPoint> = points.iter().filter(is_sound).map(clamped).collect();
        points.sort_by_key(|point| point.frame);
        let range = [-HIGHEST, HIGHEST];
        (!points.is_empty()).then_some(Self {
            points,
            lag_frames: 0,
            places_wait: false,
            range,
            areas: Vec::new(),
        })
    }

    /// Its places are multiples of [`CONTROL_FRAMES`] of the session as what it moves hears it:
    /// then that is moved the same way however late it is. For what needs no places of the clock.
    pub(super) fn with_waiting_places(self) -> Self {
        Self { places_wait: true, ..self }
    }

    /// Lets it be counted: see [`Self::sum`]. A value counts as the nearer end of the range where
    /// its point lies outside.
    pub(super) fn count_within(&mut self, range: [f64; 2]) {
        self.range = range;
        let mut area = 0.0;
        let stretches = self.points.windows(2).map(|pair| (&pair[0], &pair[1]));
        let ends = stretches.map(|(start, end)| {
            area += self.stretch_area(start, end, end.frame as i64);
            area
        });
        self.areas = core::iter::once(0.0).chain(ends).collect();
    }

    /// Whether it goes through the same points as another one, and is counted as that is, wherever
    /// the two lag.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        (&self.points, self.range) == (&other.points, other.range)
    }

    /// By how many frames what it moves lags the clock. Says whether that is new.
    pub(super) fn set_lag(&mut self, frames: usize) -> bool {
        core::mem::replace(&mut self.lag_frames, frames as i64) != frames as i64
    }

    /// The points around a frame of the line: the last one at or before it, and the one behind.
    fn around(&self, frame: i64) -> (Option<&AutomationPoint>, Option<&AutomationPoint>) {
        let after = self.points.partition_point(|point| point.frame as i64 <= frame);
        (after.checked_sub(1).map(|before| &self.points[before]), self.points.get(after))
    }

    /// The value of the stretch that holds at one frame of the line, as it would go on to another.
    fn extended(&self, stretch: i64, frame: i64) -> f64 {
        match self.around(stretch) {
            (Some(start), Some(end)) => {
                let time = (frame - start.frame as i64) as f64 / (end.frame - start.frame) as f64;
                start.value + (end.value - start.value) * start.curve.share(time)
            }
            (Some(only), None) | (None, Some(only)) => only.value,
            (None, None) => 0.0,
        }
    }

    /// The value at a place.
    pub(super) fn value(&self, clock: u64) -> f64 {
        let frame = clock as i64 - self.lag_frames;
        self.extended(frame, frame)
    }

    /// The sum of the values from the start of the clock to a place, of a line that
    /// [`Self::count_within`] prepared.
    pub(super) fn sum(&self, clock: u64) -> f64 {
        self.area(clock as i64 - self.lag_frames) - self.area(-self.lag_frames)
    }

    /// The integral of the values from the first point to a frame of the line.
    fn area(&self, frame: i64) -> f64 {
        let level = |point: &AutomationPoint| (frame - point.frame as i64) as f64 * self.counted(point);
        match self.around(frame) {
            (Some(start), after) => {
                let before = self.points.partition_point(|point| point.frame as i64 <= frame) - 1;
                let area = after.map_or_else(|| level(start), |end| self.stretch_area(start, end, frame));
                self.areas.get(before).unwrap_or(&0.0) + area
            }
            (None, first) => first.map_or(0.0, level),
        }
    }

    /// The integral of the values from one point to a frame before the next.
    fn stretch_area(&self, start: &AutomationPoint, end: &AutomationPoint, frame: i64) -> f64 {
        let frames = (end.frame - start.frame) as f64;
        if frames == 0.0 {
            return 0.0;
        }
        let time = (frame - start.frame as i64) as f64 / frames;
        let way = self.counted(end) - self.counted(start);
        frames * (time * self.counted(start) + way * start.curve.area(time))
    }

    /// The value of a point, as it is counted.
    fn counted(&self, point: &AutomationPoint) -> f64 {
        let [min, max] = self.range;
        point.value.clamp(min, max)
    }

    /// The value to which it goes from a place until just before the next one.
    pub(super) fn value_before(&self, clock: u64, next: u64) -> f64 {
        self.extended(clock as i64 - self.lag_frames, next as i64 - self.lag_frames)
    }

    /// The next place behind one.
    pub(super) fn next_place(&self, clock: u64) -> u64 {
        let (start, end) = self.around(clock as i64 - self.lag_frames);
        let Some(end) = end else { return NEVER as u64 };
        let point = (end.frame as i64 + self.lag_frames) as u64;
        let is_level = start.is_none_or(|start| start.value == end.value || start.curve == Curve::Step);
        if is_level {
            return point;
        }
        let waits =
            if self.places_wait { self.lag_frames.rem_euclid(CONTROL_FRAMES as i64) as u64 } else { 0 };
        // As if the clock ran late by the wait; a step is added first, for a clock is never
        // below 0.
        point.min(next_control(clock + CONTROL_FRAMES as u64 - waits) + waits - CONTROL_FRAMES as u64)
    }

    /// The value where the session stands still at a frame.
    pub(super) fn value_at_rest(&self, frame: u64) -> f64 {
        self.extended(frame as i64, frame as i64)
    }
}

/// The control place at or before a place.
pub(super) fn control_place(clock: u64) -> u64 {
    clock - clock % CONTROL_FRAMES as u64
}

/// The control place behind a place.
pub(super) fn next_control(clock: u64) -> u64 {
    control_place(clock) + CONTROL_FRAMES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(frame: u64, value: f64, curve: Curve) -> AutomationPoint {
        AutomationPoint { frame, value, curve }
    }

    #[test]
    fn a_line_goes_through_its_points_as_their_curves_say() {
        let line = Line::new(&[
            point(200, 4.0, Curve::Step),
            point(100, 0.0, Curve::Linear),
            point(150, f64::NAN, Curve::Linear),
            point(300, 1.0, Curve::Arc(0.5)),
            point(400, 3.0, Curve::Linear),
            point(400, -1.0, Curve::Linear),
        ])
        .unwrap();
        let check = |frame, expected: f64| assert_eq!(line.value(frame), expected, "frame {frame}");
        check(0, 0.0);
        check(150, 2.0);
        check(200, 4.0);
        check(299, 4.0);
        check(300, 1.0);
        check(350, 1.0 + 2.0 * 0.25);
        check(400, -1.0);
        check(9_000, -1.0);
        assert_eq!(line.value_before(390, 400), 3.0);
        assert_eq!(line.value_before(290, 300), 4.0);
        let places = |from| (line.next_place(from), line.next_place(line.next_place(from)));
        assert_eq!(places(0), (100, 128));
        assert_eq!(places(199), (200, 300));
        assert_eq!(line.next_place(400), NEVER as u64);
    }

    #[test]
    fn a_line_waits_for_what_it_moves() {
        let mut line = Line::new(&[point(0, 0.0, Curve::Linear), point(100, 100.0, Curve::Linear)]).unwrap();
        line.set_lag(10);
        assert_eq!([line.value(0), line.value(10), line.value(60), line.value(110)], [0.0, 0.0, 50.0, 100.0]);
        assert_eq!([line.next_place(0), line.next_place(10), line.next_place(100)], [10, 32, 110]);
        assert_eq!(line.value_at_rest(50), 50.0);
    }

    #[test]
    fn places_that_wait_are_those_of_a_line_that_does_not() {
        let points = [point(0, 0.0, Curve::Linear), point(100, 100.0, Curve::Linear)];
        for lag in [0, 5, 31, 32, 70] {
            let mut line = Line::new(&points).unwrap().with_waiting_places();
            line.set_lag(lag);
            let from = lag as u64;
            let places = core::iter::successors(Some(from), |place| Some(line.next_place(*place)));
            assert!(places.take(5).eq([0, 32, 64, 96, 100].map(|place| from + place)), "lag {lag}");
        }
        let mut line = Line::new(&points).unwrap().with_waiting_places();
        line.set_lag(37);
        assert_eq!([line.next_place(38), line.next_place(68), line.next_place(69)], [69, 69, 101]);
    }

    #[test]
    fn arcs_bend_and_end_where_they_should() {
        for curvature in [-2.0, -1.0, -0.3, 0.0, 0.9, 1.0, f64::NAN, f64::INFINITY] {
            let curve = Curve::Arc(curvature);
            assert_eq!((curve.share(0.0), curve.share(1.0)), (0.0, 1.0), "{curvature}");
            let way: Vec<f64> = (0..=50).map(|step| curve.share(f64::from(step) / 50.0)).collect();
            assert!(way.is_sorted() && way.iter().all(|share| (0.0..=1.0).contains(share)), "{curvature}");
        }
        for curvature in [-0.9, -0.5, 0.0, 0.3, 0.99] {
            let half = Curve::Arc(curvature).share(0.5);
            assert!((half - (1.0 - curvature) / 2.0).abs() < 1e-12, "{curvature}: {half}");
        }
    }

    #[test]
    fn sums_are_what_single_values_add_up_to() {
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
            .map(|(place, curve)| point(5_000 + place * 3_000, f64::from(place as u32 * 7 % 5), curve))
            .collect();
        let mut line = Line::new(&points).unwrap();
        line.set_lag(1_234);
        line.count_within([-10.0, 10.0]);
        let mut added = 0.0;
        for clock in 0..60_000_u64 {
            if clock % 777 == 0 {
                let sum = line.sum(clock);
                // Half a frame of each jump.
                assert!((sum - added).abs() < 30.0, "{sum} at {clock}, expected {added}");
            }
            added += 0.5 * (line.value(clock) + line.value_before(clock, clock + 1));
        }
        // What lies outside counts as the end of the range.
        line.count_within([1.5, 1.5]);
        assert_eq!(line.sum(60_000), 90_000.0);
    }

    #[test]
    fn no_point_is_no_line() {
        assert!(Line::new(&[]).is_none());
        assert!(Line::new(&[point(u64::MAX, 1.0, Curve::Linear), point(0, f64::NAN, Curve::Step)]).is_none());
    }
}
