//! SoundFont's units (section 9.1.1) as numbers to calculate with.

/// The frequency ratio of an interval: `2^(cents / 1200)`.
pub(super) fn cents_to_ratio(cents: f32) -> f32 {
    libm::exp2f(cents * (1.0 / 1_200.0))
}

/// The frequency ratio of an interval, to a millionth of a cent.
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

/// The time of a number of timecents in frames: `2^(timecents / 1200)` seconds. The lowest
/// value that a file can hold means no time at all.
pub(super) fn timecents_to_frames(timecents: f32, sample_rate_hz: f32) -> f32 {
    if timecents <= f32::from(i16::MIN) {
        return 0.0;
    }
    cents_to_ratio(timecents.clamp(-12_000.0, 8_000.0)) * sample_rate_hz
}

/// The larger of two numbers; the second if the first is none. On WebAssembly `f32::max` is a call.
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers; the second if the first is none.
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// An attenuation and its gain, so that what stands still is not computed again.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownGain {
    attenuation_cb: f32,
    gain: f32,
}

impl KnownGain {
    pub(super) const UNITY: Self = Self { attenuation_cb: 0.0, gain: 1.0 };

    /// The linear gain of an attenuation.
    pub(super) fn of(&mut self, attenuation_cb: f32) -> f32 {
        if attenuation_cb != self.attenuation_cb {
            *self = Self { attenuation_cb, gain: centibels_to_gain(attenuation_cb) };
        }
        self.gain
    }
}
