//! The curves by which controllers act (section 9.5.3), over 0 to 1.

/// Full scale of the concave and convex curves in decibels.
const RANGE_DB: f32 = 96.0;

/// Rises slowly, then fast: 96 dB at 1. An attenuation by it is the square of the distance from 1.
pub(super) fn concave(value: f32) -> f32 {
    if value >= 1.0 {
        return 1.0;
    }
    (-40.0 / RANGE_DB * libm::log10f(1.0 - value.max(0.0))).min(1.0)
}

/// The mirror of [`concave`]: rises fast, then slowly.
pub(super) fn convex(value: f32) -> f32 {
    1.0 - concave(1.0 - value)
}
