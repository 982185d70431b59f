//! A gain that users and automation change without clicks.

use super::reader::RampStep;
use crate::dsp::smoothed_value::SmoothedValue;

/// Ramp time of a gain that a user changes, in seconds.
const RAMP_SECS: f64 = 0.02;

/// A linear gain with ramps. Targets that are not finite are ignored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmoothedGain {
    value: SmoothedValue,
    ramp_frames: u32,
}

impl SmoothedGain {
    /// Creates a steady gain, which is 0 if `gain` is not finite.
    pub(crate) fn new(gain: f32, sample_rate_hz: u32) -> Self {
        let gain = if gain.is_finite() { gain } else { 0.0 };
        let ramp_frames = libm::round(RAMP_SECS * f64::from(sample_rate_hz)) as u32;
        Self { value: SmoothedValue::new(f64::from(gain)), ramp_frames }
    }

    /// Ramps to a gain within 20 ms, for changes by a user.
    pub(crate) fn set_target(&mut self, gain: f32) {
        if gain.is_finite() {
            self.value.set_if_new(f64::from(gain), self.ramp_frames);
        }
    }

    /// Follows a step of an automation reader. `gain_of` converts the step's values to linear
    /// gains.
    pub(crate) fn follow(&mut self, step: RampStep, gain_of: impl Fn(f64) -> f32) {
        let reset = step.reset_to.map(|value| (value, 0));
        for (value, ramp_frames) in reset.into_iter().chain(step.ramp) {
            let gain = gain_of(value);
            if gain.is_finite() {
                self.value.set_target(f64::from(gain), ramp_frames);
            }
        }
    }

    /// Skips to the end of the ramp.
    pub(crate) fn finish(&mut self) {
        self.value.finish();
    }

    /// Returns the gain at the end of the ramp.
    pub(crate) fn target(&self) -> f32 {
        self.value.target() as f32
    }

    pub(crate) fn is_steady(&self) -> bool {
        self.value.is_steady()
    }

    /// Writes the gains of the next frames into `gains` and advances by as many frames.
    pub(crate) fn fill(&mut self, gains: &mut [f32]) {
        self.value.fill(gains);
    }

    /// Advances by `frames` frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        self.value.advance(frames);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_follows_automation_exactly_and_a_user_overrides_its_ramp() {
        let mut gain = SmoothedGain::new(1.0, 200);
        gain.follow(RampStep { reset_to: None, ramp: Some((0.5, 4)) }, |value| value as f32);
        let mut gains = [0.0; 6];
        gain.fill(&mut gains);
        assert_eq!(gains, [1.0, 0.875, 0.75, 0.625, 0.5, 0.5]);
        gain.follow(RampStep { reset_to: Some(0.25), ramp: Some((1.25, 100)) }, |value| value as f32);
        gain.advance(50);
        gain.set_target(0.5);
        gain.set_target(f32::NAN);
        gain.fill(&mut gains);
        assert_eq!(gains, [0.75, 0.6875, 0.625, 0.5625, 0.5, 0.5]);
        assert!(gain.is_steady());
    }
}
