//! What moves between control places: the clock that finds them, settings on their way, and
//! straight lines.
//!
//! At a control place an effect steps its settings and oscillators on to the next place, computes
//! its coefficients for there, and lets each go straight from where it is. After a reset it
//! computes them for the place itself first.

use super::{CONTROL_FRAMES, Glide};

/// Where an effect stands on the session's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ControlClock {
    frame: u64,
    was_reset: bool,
}

/// What is to be done before the next frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing.
    Nothing,
    /// Everything goes on to the next control place.
    Step,
    /// Everything starts anew at the control place at or before the next frame, and goes on from
    /// there.
    Start,
}

impl ControlClock {
    /// A clock at the session's start.
    pub(crate) const fn new() -> Self {
        Self { frame: 0, was_reset: true }
    }

    /// Stands at a frame.
    pub(crate) fn reset(&mut self, frame: u64) {
        *self = Self { frame, was_reset: true };
    }

    /// What is to be done before the next frame; asked once for each call.
    pub(crate) fn due(&mut self) -> Due {
        if core::mem::take(&mut self.was_reset) {
            Due::Start
        } else if self.offset() == 0 {
            Due::Step
        } else {
            Due::Nothing
        }
    }

    /// The next frame.
    pub(crate) fn frame(&self) -> u64 {
        self.frame
    }

    /// Frames from the control place to the next frame.
    pub(crate) fn offset(&self) -> usize {
        (self.frame % CONTROL_FRAMES as u64) as usize
    }

    /// The control place at or before the next frame.
    pub(crate) fn place(&self) -> u64 {
        self.frame - self.offset() as u64
    }

    /// Lets frames pass.
    pub(crate) fn pass(&mut self, frames: usize) {
        self.frame += frames as u64;
    }
}

/// A value that goes straight from one control place to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ramp {
    from: f64,
    to: f64,
    step: f64,
}

impl Ramp {
    /// Is there at once.
    pub(crate) fn jump(&mut self, value: f64) {
        *self = Self { from: value, to: value, step: 0.0 };
    }

    /// Goes from where it has arrived to a value at the next control place.
    pub(crate) fn aim(&mut self, value: f64) {
        self.from = self.to;
        self.to = value;
        self.step = (value - self.from) * (1.0 / CONTROL_FRAMES as f64);
    }

    /// Where it is so many frames after the control place.
    #[inline(always)]
    pub(crate) fn at(&self, offset: usize) -> f64 {
        self.from + self.step * f64::from(offset as u32)
    }

    /// As [`Self::at`], for what single precision is enough for.
    #[inline(always)]
    pub(crate) fn gain_at(&self, offset: usize) -> f32 {
        self.from as f32 + self.step as f32 * offset as u16 as f32
    }

    /// Whether it stays where it is.
    pub(crate) fn is_level(&self) -> bool {
        self.step == 0.0
    }

    /// Its values from an offset on, as many as there are places in `values`.
    #[inline(always)]
    pub(crate) fn fill(&self, offset: usize, values: &mut [f32]) {
        for (frame, value) in values.iter_mut().enumerate() {
            *value = self.gain_at(offset + frame);
        }
    }
}

/// Several ramps go to values at the next control place; `None`: they stay where they have arrived.
pub(crate) fn aim_all<const N: usize>(ramps: &mut [Ramp; N], values: Option<[f64; N]>) {
    for (place, ramp) in ramps.iter_mut().enumerate() {
        match values {
            Some(values) => ramp.aim(values[place]),
            None => ramp.jump(ramp.to),
        }
    }
}

/// Several ramps are there at once.
pub(crate) fn jump_all<const N: usize>(ramps: &mut [Ramp], values: [f64; N]) {
    for (ramp, value) in ramps.iter_mut().zip(values) {
        ramp.jump(value);
    }
}

/// The parameters of an effect on their way, as they are at the control place that was stepped to
/// last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<const N: usize> {
    glides: [Glide; N],
    changed: bool,
}

impl<const N: usize> Settings<N> {
    /// Parameters at rest.
    pub(crate) fn new(parameters: &[super::Parameter]) -> Self {
        debug_assert_eq!(parameters.len(), N, "a glide for every parameter");
        Self { glides: core::array::from_fn(|place| Glide::new(parameters[place].default)), changed: true }
    }

    /// Sends a parameter to a value in so many frames from the next control place; 0: at once.
    pub(crate) fn set(&mut self, place: usize, value: f64, glide_frames: u32) {
        self.glides[place].set(value, glide_frames);
        self.changed = true;
    }

    /// All go to their targets.
    pub(crate) fn jump(&mut self) {
        self.glides.iter_mut().for_each(Glide::jump);
        self.changed = true;
    }

    /// Goes on to the next control place. Whether anything may have changed since the last step.
    pub(crate) fn step(&mut self) -> bool {
        let moves = self.glides.iter().any(|glide| !glide.is_at_rest());
        self.glides.iter_mut().for_each(|glide| glide.pass(CONTROL_FRAMES));
        core::mem::take(&mut self.changed) || moves
    }

    /// A parameter where it is.
    pub(crate) fn get(&self, place: usize) -> f64 {
        self.glides[place].value()
    }

    /// A choice, counted from 0.
    pub(crate) fn choice(&self, place: usize) -> usize {
        self.glides[place].target() as usize
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, place: usize) -> bool {
        self.glides[place].target() >= 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_are_at_both_ends_what_was_asked_for() {
        let mut ramp = Ramp::default();
        ramp.jump(3.0);
        assert!(ramp.is_level());
        ramp.aim(0.1);
        ramp.aim(0.7);
        assert_eq!(ramp.at(0), 0.1);
        assert!((ramp.at(16) - 0.4).abs() < 1e-15);
        ramp.aim(0.7);
        assert_eq!((ramp.at(0), ramp.at(31)), (0.7, 0.7));
    }

    #[test]
    fn a_clock_asks_for_a_start_once_and_for_a_step_at_every_place() {
        let mut clock = ControlClock::new();
        clock.reset(70);
        assert_eq!((clock.due(), clock.place(), clock.offset()), (Due::Start, 64, 6));
        clock.pass(10);
        assert_eq!(clock.due(), Due::Nothing);
        clock.pass(16);
        assert_eq!((clock.due(), clock.frame()), (Due::Step, 96));
    }
}
