//! Equal-power mixing.

use core::f64::consts::FRAC_PI_2;

/// Returns the equal-power gains of the dry and the wet signal, for a mix of 0 to 1. Equal power
/// suits wet signals that do not correlate with the input, such as echoes. At either end, one gain
/// is exactly 1 and the other 0.
pub(crate) fn equal_power(mix: f64) -> [f64; 2] {
    [libm::sin((1.0 - mix) * FRAC_PI_2), libm::sin(mix * FRAC_PI_2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gains_have_a_constant_power_and_are_exact_at_either_end() {
        assert_eq!((equal_power(0.0), equal_power(1.0)), ([1.0, 0.0], [0.0, 1.0]));
        for mix in [0.1, 0.25, 0.5, 0.9] {
            let [dry, wet] = equal_power(mix);
            assert!((dry * dry + wet * wet - 1.0).abs() < 1e-15);
        }
    }
}
