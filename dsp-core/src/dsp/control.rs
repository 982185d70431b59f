//! Control rate: a clock that determines the control points, and linear ramps between control
//! points.
//!
//! At a control point, a processor advances its parameters and oscillators to the next control
//! point and computes the coefficients there. Until then, the coefficients ramp linearly. After a
//! reset, the processor first computes the coefficients at the current control point.

use super::lanes::Lanes;

/// Distance between two control points, in frames of the clock. Automation, low-frequency
/// oscillators and filter coefficients are computed only at control points.
pub const CONTROL_FRAMES: usize = 32;

/// Maximum number of frames of one call, a multiple of [`CONTROL_FRAMES`]. No call crosses a
/// multiple of this number on the clock.
pub(crate) const LONGEST_FRAMES: usize = 128;

/// Returns the number of frames from `clock` to the first multiple of `frames` after it.
pub(crate) fn frames_to_multiple(clock: u64, frames: usize) -> usize {
    frames - (clock % frames as u64) as usize
}

/// A position on the clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ControlClock {
    frame: u64,
    was_reset: bool,
}

/// The work that is due before the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlWork {
    /// No work is due.
    Nothing,
    /// The processor advances to the next control point.
    Step,
    /// The processor resets to the control point at or before the next frame, then advances to the
    /// control point after it.
    Start,
}

impl ControlClock {
    /// Creates a clock at frame 0.
    pub(crate) const fn new() -> Self {
        Self { frame: 0, was_reset: true }
    }

    /// Moves the clock to a frame.
    pub(crate) fn reset(&mut self, frame: u64) {
        *self = Self { frame, was_reset: true };
    }

    /// Returns the work that is due before the next frame. The processor calls this once at the
    /// start of each processing call.
    pub(crate) fn take_due_work(&mut self) -> ControlWork {
        if core::mem::take(&mut self.was_reset) {
            ControlWork::Start
        } else if self.offset() == 0 {
            ControlWork::Step
        } else {
            ControlWork::Nothing
        }
    }

    /// Returns the next frame.
    pub(crate) fn frame(&self) -> u64 {
        self.frame
    }

    /// Returns the number of frames from the last control point to the next frame.
    pub(crate) fn offset(&self) -> usize {
        (self.frame % CONTROL_FRAMES as u64) as usize
    }

    /// Returns the control point at or before the next frame.
    pub(crate) fn control_point(&self) -> u64 {
        self.frame - self.offset() as u64
    }

    /// Advances by `frames` frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        self.frame += frames as u64;
    }
}

/// A value that ramps linearly from one control point to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ControlRamp {
    start: f64,
    target: f64,
    step: f64,
}

impl ControlRamp {
    /// Sets the value immediately, without a ramp.
    pub(crate) fn reset_to(&mut self, value: f64) {
        *self = Self { start: value, target: value, step: 0.0 };
    }

    /// Ramps from the end of the last ramp to a value at the next control point.
    pub(crate) fn ramp_to(&mut self, value: f64) {
        self.start = self.target;
        self.target = value;
        self.step = (value - self.start) * (1.0 / CONTROL_FRAMES as f64);
    }

    /// Returns the value `offset` frames after the control point.
    #[inline(always)]
    pub(crate) fn value_at(&self, offset: usize) -> f64 {
        self.start + self.step * f64::from(offset as u32)
    }

    /// Returns the value of [`Self::value_at`], computed in single precision.
    #[inline(always)]
    pub(crate) fn value_f32_at(&self, offset: usize) -> f32 {
        self.start as f32 + self.step as f32 * offset as u16 as f32
    }

    /// Returns the values of [`Self::value_f32_at`] for successive frames.
    #[inline(always)]
    pub(crate) fn lanes_at(&self, offset: usize) -> Lanes {
        let frames = Lanes::new(core::array::from_fn(|lane| (offset + lane) as u16 as f32));
        Lanes::splat(self.start as f32) + Lanes::splat(self.step as f32) * frames
    }

    /// Whether the value does not change.
    pub(crate) fn is_steady(&self) -> bool {
        self.step == 0.0
    }

    /// Whether the value is `value` and does not change.
    pub(crate) fn is_steady_at(&self, value: f64) -> bool {
        self.is_steady() && self.start == value
    }

    /// Fills `values` with consecutive values of the ramp. The first is `offset` frames after the
    /// control point.
    #[inline(always)]
    pub(crate) fn fill(&self, offset: usize, values: &mut [f32]) {
        for (frame, value) in values.iter_mut().enumerate() {
            *value = self.value_f32_at(offset + frame);
        }
    }
}

/// Ramps several values to targets at the next control point. With `None`, the values stay at the
/// end of their last ramps.
pub(crate) fn ramp_all<const N: usize>(ramps: &mut [ControlRamp; N], values: Option<[f64; N]>) {
    for (index, ramp) in ramps.iter_mut().enumerate() {
        match values {
            Some(values) => ramp.ramp_to(values[index]),
            None => ramp.reset_to(ramp.target),
        }
    }
}

/// Sets each ramp to its value immediately, without ramping.
pub(crate) fn reset_all<const N: usize>(ramps: &mut [ControlRamp], values: [f64; N]) {
    for (ramp, value) in ramps.iter_mut().zip(values) {
        ramp.reset_to(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_starts_and_ends_exactly_at_its_targets() {
        let mut ramp = ControlRamp::default();
        ramp.reset_to(3.0);
        assert!(ramp.is_steady());
        ramp.ramp_to(0.1);
        ramp.ramp_to(0.7);
        assert_eq!(ramp.value_at(0), 0.1);
        assert!((ramp.value_at(16) - 0.4).abs() < 1e-15);
        ramp.ramp_to(0.7);
        assert_eq!((ramp.value_at(0), ramp.value_at(31)), (0.7, 0.7));
    }

    #[test]
    fn a_clock_starts_once_and_steps_at_every_control_point() {
        let mut clock = ControlClock::new();
        clock.reset(70);
        assert_eq!(
            (clock.take_due_work(), clock.control_point(), clock.offset()),
            (ControlWork::Start, 64, 6)
        );
        clock.advance(10);
        assert_eq!(clock.take_due_work(), ControlWork::Nothing);
        clock.advance(16);
        assert_eq!((clock.take_due_work(), clock.frame()), (ControlWork::Step, 96));
    }
}
