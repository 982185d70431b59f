//! How effects put what they made beside what came in.

use core::f64::consts::FRAC_PI_2;

/// Gains of the dry and of the wet signal for a mix of 0 to 1, of equal power: for echoes and
/// rooms, which have little in common with what came in. Exactly one of the two at both ends.
pub(crate) fn equal_power(mix: f64) -> [f64; 2] {
    [libm::sin((1.0 - mix) * FRAC_PI_2), libm::sin(mix * FRAC_PI_2)]
}

/// Added and taken away again, it rounds what is far below hearing to 0, so that tails never reach
/// denormal numbers.
const FLOOR: f32 = 1e-18;

/// The value, or 0 where it is far below hearing.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    (value + FLOOR) - FLOOR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_keeps_the_power_and_its_ends_are_pure() {
        assert_eq!((equal_power(0.0), equal_power(1.0)), ([1.0, 0.0], [0.0, 1.0]));
        for mix in [0.1, 0.25, 0.5, 0.9] {
            let [dry, wet] = equal_power(mix);
            assert!((dry * dry + wet * wet - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn only_what_is_far_below_hearing_goes() {
        assert_eq!((flush(1e-26), flush(-1e-38), flush(0.5)), (0.0, 0.0, 0.5));
        assert!((flush(-1e-10) + 1e-10).abs() < 1e-16);
    }
}
