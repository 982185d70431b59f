//! Removal of denormal numbers.

use super::lanes::Lanes;

/// Adding and subtracting this value rounds inaudible values to 0. Decaying signals thus end before
/// they become denormal.
const MAGNITUDE_MIN: f32 = 1e-18;

/// Returns the value, or 0 if it is inaudible.
#[inline(always)]
pub(crate) fn flush_denormal(value: f32) -> f32 {
    (value + MAGNITUDE_MIN) - MAGNITUDE_MIN
}

/// Returns the values of [`flush_denormal`].
#[inline(always)]
pub(crate) fn flush_denormal_lanes(values: Lanes) -> Lanes {
    let magnitude_min = Lanes::splat(MAGNITUDE_MIN);
    (values + magnitude_min) - magnitude_min
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inaudible_values_become_0() {
        assert_eq!((flush_denormal(1e-26), flush_denormal(-1e-38), flush_denormal(0.5)), (0.0, 0.0, 0.5));
        assert!((flush_denormal(-1e-10) + 1e-10).abs() < 1e-16);
    }
}
