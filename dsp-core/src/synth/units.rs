//! Conversions from the units of SoundFont files (section 9.1.1).

/// The frequency ratio of an interval in cents: `2^(cents / 1200)`.
pub(super) fn cents_to_ratio(cents: f32) -> f32 {
    libm::exp2f(cents * (1.0 / 1_200.0))
}

/// The frequency ratio of an interval in cents, exact to a millionth of a cent.
pub(super) fn cents_to_exact_ratio(cents: f64) -> f64 {
    libm::exp2(cents / 1_200.0)
}

/// The linear gain of an attenuation: `10^(-centibels / 200)`.
pub(super) fn centibels_to_gain(attenuation_cb: f32) -> f32 {
    /// `log2(10) / 200`
    const OCTAVES: f32 = 0.016_609_64;
    libm::exp2f(-attenuation_cb * OCTAVES)
}

/// The attenuation of a linear gain above 0: `-200 log10(gain)`.
pub(super) fn gain_to_centibels(gain: f32) -> f32 {
    -200.0 * libm::log10f(gain)
}

/// A time of `2^(timecents / 1200)` seconds, in frames. The lowest value of a file, -32768, means
/// no time at all (section 8.1.2, generator 33).
pub(super) fn timecents_to_frames(timecents: f32, sample_rate_hz: f32) -> f32 {
    if timecents <= f32::from(i16::MIN) {
        return 0.0;
    }
    cents_to_ratio(timecents.clamp(-12_000.0, 8_000.0)) * sample_rate_hz
}

/// The higher of two numbers; the second if the first is not a number. On WebAssembly `f32::max` is
/// a call.
pub(super) fn higher(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The lower of two numbers; the second if the first is not a number.
pub(super) fn lower(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}
