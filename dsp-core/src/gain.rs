//! Conversion of levels in decibels and of pan to linear gains.

/// Converts a level in decibels to a linear gain: `10^(db / 20)`.
///
/// At and below -144 dB, the noise floor of 24-bit audio, the gain is exactly 0.
///
/// ```
/// assert_eq!(dsp_core::gain::from_db(0.0), 1.0);
/// assert_eq!(dsp_core::gain::from_db(-144.0), 0.0);
/// ```
pub fn from_db(level_db: f64) -> f32 {
    if level_db <= FADER_FLOOR_DB { 0.0 } else { libm::exp10(level_db / 20.0) as f32 }
}

/// The level at and below which a fader is closed, in decibels.
pub const FADER_FLOOR_DB: f64 = -144.0;

/// Converts a linear amplitude to a level in decibels: `20 log10 |amplitude|`. The level of 0 is
/// minus infinity.
pub fn to_db(amplitude: f64) -> f64 {
    20.0 * libm::log10(libm::fabs(amplitude))
}

/// Returns the gains of the left and right channel of a stereo signal, for a pan of -1 (left) to 1
/// (right).
///
/// The gains follow a balance law: both are 1 at the centre. Panning to one side fades the opposite
/// side along a quarter of a cosine. The signal thus never gets louder.
pub fn balance(pan: f64) -> (f32, f32) {
    let pan = pan.clamp(-1.0, 1.0);
    let fade = |turn: f64| libm::cos(turn * core::f64::consts::FRAC_PI_2);
    let left = if pan > 0.0 { fade(pan) } else { 1.0 };
    let right = if pan < 0.0 { fade(-pan) } else { 1.0 };
    (snap_to_zero(left), snap_to_zero(right))
}

/// Replaces the rounded cosine at a hard pan, about 6e-17, by exactly 0.
fn snap_to_zero(gain: f64) -> f32 {
    if gain < 1e-9 { 0.0 } else { gain as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_convert_in_both_directions() {
        for level_db in [-120.0, -20.0, -6.0, 0.0, 12.0] {
            let error_db = to_db(f64::from(from_db(level_db))) - level_db;
            assert!(
                error_db.abs() < 1e-5,
                "{level_db} dB became a gain and a level again, with an error of {error_db} dB"
            );
        }
    }

    #[test]
    fn the_centre_changes_nothing_and_a_hard_pan_closes_one_side() {
        assert_eq!(balance(0.0), (1.0, 1.0));
        assert_eq!(balance(1.0), (0.0, 1.0));
        assert_eq!(balance(-1.0), (1.0, 0.0));
        let (left, right) = balance(0.5);
        assert!((to_db(f64::from(left)) + 3.01).abs() < 0.01, "the gain of left at a pan of 0.5 is {left}");
        assert_eq!(right, 1.0);
    }
}
