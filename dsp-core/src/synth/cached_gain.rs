//! Caches the gain of an attenuation. A constant attenuation is converted only once.

use super::units::centibels_to_gain;

/// The last attenuation that was converted to a gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedGain {
    attenuation_cb: f32,
    gain: f32,
}

impl CachedGain {
    pub(super) const UNITY: Self = Self { attenuation_cb: 0.0, gain: 1.0 };

    /// Returns the linear gain of an attenuation in centibels.
    pub(super) fn gain(&mut self, attenuation_cb: f32) -> f32 {
        if attenuation_cb != self.attenuation_cb {
            *self = Self { attenuation_cb, gain: centibels_to_gain(attenuation_cb) };
        }
        self.gain
    }
}
