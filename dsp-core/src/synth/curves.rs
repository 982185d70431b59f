//! The concave and the convex curve of controllers (section 9.5.3). Both map 0..=1 to 0..=1.

/// Attenuation in decibels that a value of 1 stands for.
const RANGE_DB: f32 = 96.0;

/// Applies the concave curve, which rises slowly, then fast. As an attenuation of [`RANGE_DB`], it
/// is the gain `(1 - value)^2`.
pub(super) fn concave(value: f32) -> f32 {
    if value >= 1.0 {
        return 1.0;
    }
    (-40.0 / RANGE_DB * libm::log10f(1.0 - value.max(0.0))).min(1.0)
}

/// Applies the convex curve, which rises fast, then slowly. It is the mirror image of [`concave`].
pub(super) fn convex(value: f32) -> f32 {
    1.0 - concave(1.0 - value)
}
