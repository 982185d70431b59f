//! Portamento: a pitch ramp from the key of one note to the key of the next.

use super::channel::Channel;
use super::controllers;

/// Duration of a portamento in seconds, in the limit of small values of controller 5. MIDI does not
/// define the scale.
const BASE_SECS: f32 = 0.003;

/// Increase of controller 5 that doubles the duration. A value of 32 is 20 ms, 64 is 0.12 s, and
/// 127 is 4.6 s.
const DOUBLING_STEPS: f32 = 12.0;

/// A pitch offset that ramps linearly to 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Portamento {
    /// Current offset from the note's pitch, in cents.
    pub(super) offset_cents: f32,
    /// Decrease of the offset's magnitude per frame.
    cents_per_frame: f32,
}

impl Portamento {
    pub(super) const NONE: Self = Self { offset_cents: 0.0, cents_per_frame: 0.0 };

    /// Creates the ramp from one key to another. The channel specifies the portamento time.
    pub(super) fn between(channel: &Channel, from_key: u8, to_key: u8, sample_rate_hz: f32) -> Self {
        let msb = f32::from(channel.controller(controllers::PORTAMENTO_TIME_MSB));
        let steps = msb + f32::from(channel.controller(controllers::PORTAMENTO_TIME_LSB)) / 128.0;
        let offset_cents = 100.0 * (f32::from(from_key) - f32::from(to_key));
        if steps == 0.0 || offset_cents == 0.0 {
            return Self::NONE;
        }
        let frames = BASE_SECS * libm::exp2f(steps / DOUBLING_STEPS) * sample_rate_hz;
        Self { offset_cents, cents_per_frame: offset_cents.abs() / frames }
    }

    pub(super) fn advance(&mut self, frames: f32) {
        let step = self.cents_per_frame * frames;
        self.offset_cents = if self.offset_cents > 0.0 {
            (self.offset_cents - step).max(0.0)
        } else {
            (self.offset_cents + step).min(0.0)
        };
    }
}
