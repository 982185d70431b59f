//! Converts an automation curve to ramps of a parameter.

use super::AutomationCurve;
use crate::session::{AutomationLane, AutomationTarget};

/// Ramp time of an audible parameter to a new or changed curve, in seconds.
const APPROACH_SECS: f64 = 0.01;

/// An automation curve, and the state of the parameter that follows it.
pub(crate) struct AutomationReader {
    curve: AutomationCurve,
    state: ReaderState,
    /// Frame of the clock at which the next ramp starts.
    next_control_point: u64,
    approach_frames: u32,
}

/// The state of the parameter relative to its curve.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReaderState {
    /// The parameter is not yet audible and may change without a ramp.
    New,
    /// The parameter is audible and has another value than the curve.
    Off,
    /// The parameter follows the curve, and has this value at the next control point.
    On(f64),
}

/// The change of a parameter at a control point: first the reset, then the ramp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RampStep {
    /// The value to which the parameter is set without a ramp.
    pub(crate) reset_to: Option<f64>,
    /// The value to which the parameter ramps, and the length of the ramp in frames.
    pub(crate) ramp: Option<(f64, u32)>,
}

impl AutomationReader {
    /// Creates a reader. A new parameter is set to the curve without a ramp. An audible parameter,
    /// for which `is_new` is false, ramps to the curve.
    pub(crate) fn new(curve: AutomationCurve, is_new: bool, sample_rate_hz: u32) -> Self {
        let approach_frames = libm::round(APPROACH_SECS * f64::from(sample_rate_hz)) as u32;
        let state = if is_new { ReaderState::New } else { ReaderState::Off };
        Self { curve, state, next_control_point: 0, approach_frames }
    }

    /// Returns `old` if it reads the same curve, otherwise a reader of [`Self::new`].
    pub(crate) fn replace(
        old: Option<Self>,
        curve: AutomationCurve,
        is_new: bool,
        sample_rate_hz: u32,
    ) -> Self {
        let matching_reader = old.filter(|old| old.curve.is_same_as(&curve));
        matching_reader.unwrap_or_else(|| Self::new(curve, is_new, sample_rate_hz))
    }

    /// Calls [`Self::replace`] with the curve of the last lane for `target`, which is a gain or
    /// pan. Returns `None` if no lane has this target. The control points are those of the delayed
    /// signal.
    pub(crate) fn for_target(
        old: Option<Self>,
        lanes: &[AutomationLane],
        target: AutomationTarget,
        is_new: bool,
        sample_rate_hz: u32,
    ) -> Option<Self> {
        let lane = lanes.iter().rfind(|lane| lane.target == target)?;
        let curve = AutomationCurve::new(&lane.points)?.with_delayed_control_points();
        Some(Self::replace(old, curve, is_new, sample_rate_hz))
    }

    pub(crate) fn curve(&self) -> &AutomationCurve {
        &self.curve
    }

    /// Returns the value at the next control point, or `None` if the parameter does not follow the
    /// curve.
    pub(crate) fn ramp_target(&self) -> Option<f64> {
        if let ReaderState::On(value) = self.state { Some(value) } else { None }
    }

    /// Sets the latency in frames of the signal that the parameter processes.
    pub(crate) fn set_latency(&mut self, frames: usize) {
        if self.curve.set_latency(frames) && self.state != ReaderState::New {
            self.leave_curve();
        }
    }

    /// Stops following the curve. The next [`Self::step`] ramps to the curve.
    pub(crate) fn leave_curve(&mut self) {
        (self.state, self.next_control_point) = (ReaderState::Off, 0);
    }

    /// Stops following the curve. Returns the curve's value at `frame`, to which the parameter
    /// ramps.
    pub(crate) fn stop(&mut self, frame: u64) -> f64 {
        self.leave_curve();
        self.curve.value_when_stopped(frame)
    }

    /// Resets to a frame of the clock. Returns the curve's value at this frame.
    pub(crate) fn reset(&mut self, clock: u64) -> f64 {
        let value = self.curve.value(clock);
        (self.state, self.next_control_point) = (ReaderState::On(value), 0);
        value
    }

    /// Returns the frame of the clock at which [`Self::step`] next returns a step.
    pub(crate) fn next_control_point(&self) -> u64 {
        self.next_control_point
    }

    /// Returns the parameter's change at a frame of the clock, or `None` before the next control
    /// point.
    pub(crate) fn step(&mut self, clock: u64) -> Option<RampStep> {
        if clock < self.next_control_point {
            return None;
        }
        if self.state == ReaderState::Off {
            return Some(self.approach(clock));
        }
        let value = self.curve.value(clock);
        self.next_control_point = self.curve.next_control_point(clock);
        let next_value = self.curve.value_before(clock, self.next_control_point);
        let reset_to = (self.state != ReaderState::On(value)).then_some(value);
        self.state = ReaderState::On(next_value);
        let frames = u32::try_from(self.next_control_point - clock).unwrap_or(u32::MAX);
        Some(RampStep { reset_to, ramp: (next_value != value).then_some((next_value, frames)) })
    }

    /// Returns a ramp to the curve. It always has the same length, which is long enough not to
    /// click.
    fn approach(&mut self, clock: u64) -> RampStep {
        self.next_control_point = clock + u64::from(self.approach_frames);
        let next_value = self.curve.value_before(self.next_control_point - 1, self.next_control_point);
        self.state = ReaderState::On(next_value);
        RampStep { reset_to: None, ramp: Some((next_value, self.approach_frames)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{AutomationPoint, Curve};

    fn curve(points: &[(u64, f64)]) -> AutomationCurve {
        let point = |&(frame, value): &(u64, f64)| AutomationPoint { frame, value, curve: Curve::Linear };
        AutomationCurve::new(&points.iter().map(point).collect::<Vec<_>>()).unwrap()
    }

    fn step(reset_to: Option<f64>, ramp: Option<(f64, u32)>) -> Option<RampStep> {
        Some(RampStep { reset_to, ramp })
    }

    #[test]
    fn an_audible_parameter_ramps_to_the_curve_within_10_ms_from_any_frame() {
        for clock in [0, 31, 32] {
            let mut reader = AutomationReader::new(curve(&[(0, 0.0), (48_000, 48_000.0)]), false, 48_000);
            assert_eq!(reader.step(clock), step(None, Some((clock as f64 + 480.0, 480))));
            assert_eq!(reader.step(clock + 479), None);
            let next = (clock + 480) / 32 * 32 + 32;
            let ramp = (next as f64, (next - clock - 480) as u32);
            assert_eq!(reader.step(clock + 480), step(None, Some(ramp)));
        }
    }

    #[test]
    fn a_new_parameter_starts_at_the_curve_and_follows_its_steps() {
        let mut reader = AutomationReader::new(curve(&[(0, 5.0), (100, 5.0), (100, 7.0)]), true, 48_000);
        assert_eq!(reader.step(50), step(Some(5.0), None));
        assert_eq!(reader.step(99), None);
        assert_eq!(reader.step(100), step(Some(7.0), None));
        assert_eq!(reader.reset(20), 5.0);
        assert_eq!(reader.step(20), step(None, None));
    }

    #[test]
    fn a_reader_continues_while_the_points_stay_the_same() {
        let points = [(0, 0.0), (100, 5.0)];
        let replace =
            |points: &[(u64, f64)], old| AutomationReader::replace(old, curve(points), false, 48_000);
        let mut reader = replace(&points, None);
        reader.reset(10);
        let mut reader = replace(&points, Some(reader));
        assert_eq!(reader.ramp_target(), Some(0.5));
        reader.set_latency(0);
        assert_eq!(reader.ramp_target(), Some(0.5));
        reader.set_latency(3);
        assert_eq!(reader.ramp_target(), None);
        reader.reset(10);
        assert_eq!(replace(&[(0, 1.0)], Some(reader)).ramp_target(), None);
    }
}
