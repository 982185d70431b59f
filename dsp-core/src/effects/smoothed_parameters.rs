//! Smoothed parameters of an effect.

use core::marker::PhantomData;

use super::params::{ChoiceEnum, ParameterEnum};
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::smoothed_value::SmoothedValue;

/// The smoothed values of the parameters `P` of an effect, at the control point of the last step.
/// `N` is [`ParameterEnum::COUNT`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmoothedParameters<P, const N: usize> {
    parameters: PhantomData<P>,
    values: [SmoothedValue; N],
    has_changed: bool,
}

impl<P: ParameterEnum, const N: usize> SmoothedParameters<P, N> {
    /// Creates the values at the parameters' defaults.
    pub(crate) fn new() -> Self {
        const { assert!(N == P::COUNT, "N must be the number of parameters") };
        Self {
            parameters: PhantomData,
            values: core::array::from_fn(|index| SmoothedValue::new(P::TABLE[index].default)),
            has_changed: true,
        }
    }

    /// Ramps a parameter to a value within `ramp_frames` frames from the next control point on.
    /// With 0 frames, the value changes immediately.
    pub(crate) fn set_target(&mut self, parameter: P, value: f64, ramp_frames: u32) {
        self.values[parameter.index()].set_target(value, ramp_frames);
        self.has_changed = true;
    }

    /// Ends all ramps: each value becomes its target.
    pub(crate) fn finish(&mut self) {
        self.values.iter_mut().for_each(SmoothedValue::finish);
        self.has_changed = true;
    }

    /// Advances to the next control point. Returns whether any value may have changed since the
    /// last step.
    pub(crate) fn step(&mut self) -> bool {
        let is_ramping = self.values.iter().any(|smoothed| !smoothed.is_steady());
        self.values.iter_mut().for_each(|smoothed| smoothed.advance(CONTROL_FRAMES));
        core::mem::take(&mut self.has_changed) || is_ramping
    }

    /// Returns the current value of a parameter.
    pub(crate) fn get(&self, parameter: P) -> f64 {
        self.values[parameter.index()].value()
    }

    /// Returns the choice at the end of a parameter's ramp.
    pub(crate) fn choice<C: ChoiceEnum>(&self, parameter: P) -> C {
        C::from_value(self.target(parameter))
    }

    /// Whether the target of a switch is on.
    pub(crate) fn is_on(&self, parameter: P) -> bool {
        self.target(parameter) >= 0.5
    }

    /// Returns the value at the end of a parameter's ramp.
    pub(crate) fn target(&self, parameter: P) -> f64 {
        self.values[parameter.index()].target()
    }
}
