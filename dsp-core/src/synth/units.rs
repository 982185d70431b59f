//! Converts the units of SoundFont files (section 9.1.1).

/// Returns the frequency ratio of an interval in cents: `2^(cents / 1200)`.
pub(super) fn cents_to_ratio(cents: f32) -> f32 {
    libm::exp2f(cents * (1.0 / 1_200.0))
}

/// Returns the frequency ratio of an interval in cents, with an error below a millionth of a cent.
pub(super) fn cents_to_exact_ratio(cents: f64) -> f64 {
    libm::exp2(cents / 1_200.0)
}

/// Returns the linear gain of an attenuation in centibels: `10^(-centibels / 200)`.
pub(super) fn centibels_to_gain(attenuation_cb: f32) -> f32 {
    /// Octaves of gain per centibel: `log2(10) / 200`.
    const OCTAVES_PER_CB: f32 = 0.016_609_64;
    libm::exp2f(-attenuation_cb * OCTAVES_PER_CB)
}

/// Returns the attenuation in centibels of a linear gain above 0: `-200 log10(gain)`.
pub(super) fn gain_to_centibels(gain: f32) -> f32 {
    -200.0 * libm::log10f(gain)
}

/// Converts a time in timecents, `2^(timecents / 1200)` seconds, to frames. The lowest value in a
/// file, -32768, is a time of 0 (section 8.1.2, generator 33). Other values are clamped to -12000
/// to 8000.
pub(super) fn timecents_to_frames(timecents: f32, sample_rate_hz: f32) -> f32 {
    if timecents <= f32::from(i16::MIN) {
        return 0.0;
    }
    cents_to_ratio(timecents.clamp(-12_000.0, 8_000.0)) * sample_rate_hz
}

/// Returns the higher of two numbers; `b` if either is NaN. `f32::max` would be a function call on
/// WebAssembly.
pub(super) fn higher(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns the lower of two numbers; `b` if either is NaN. See [`higher`].
pub(super) fn lower(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}
