//! How long a glide from note to note takes.

use super::channel::{Channel, controller};
use super::voice::Glide;

/// Time of a glide at controller 5's least value above 0, in seconds. It doubles every octave of
/// the controller: 20 ms at 32, 0.12 s at 64, 4.6 s at 127. MIDI leaves the law open.
const BASE_SECS: f32 = 0.003;
const DOUBLING: f32 = 12.0;

/// The glide from a key to another in the time that the channel says.
pub(super) fn glide(channel: &Channel, from_key: u8, to_key: u8, sample_rate_hz: f32) -> Glide {
    let msb = f32::from(channel.controller(controller::PORTAMENTO_TIME_MSB));
    let position = msb + f32::from(channel.controller(controller::PORTAMENTO_TIME_LSB)) / 128.0;
    let cents = 100.0 * (f32::from(from_key) - f32::from(to_key));
    if position == 0.0 || cents == 0.0 {
        return Glide::NONE;
    }
    let frames = BASE_SECS * libm::exp2f(position / DOUBLING) * sample_rate_hz;
    Glide { cents, cents_per_frame: cents.abs() / frames }
}
