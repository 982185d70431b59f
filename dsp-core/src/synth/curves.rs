//! The concave and convex curves of controllers (section 9.5.3), from 0..=1 to 0..=1.

/// Full scale of the curves in decibels.
const RANGE_DB: f32 = 96.0;

/// Rises slowly, then fast, up to 96 dB at 1. As an attenuation it is the square of the distance
/// from 1.
pub(super) fn concave(value: f32) -> f32 {
    if value >= 1.0 {
        return 1.0;
    }
    (-40.0 / RANGE_DB * libm::log10f(1.0 - value.max(0.0))).min(1.0)
}

/// The mirror image of [`concave`]: rises fast, then slowly.
pub(super) fn convex(value: f32) -> f32 {
    1.0 - concave(1.0 - value)
}
