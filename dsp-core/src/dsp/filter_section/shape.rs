//! The response of a second-order section.

/// The response of a section. With `s = j tan(pi f / rate) / g`, the response is `H = input + (band
/// s + low) / (s^2 + damping s + 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// `tan(pi f0 / rate)`, above 0.
    pub(crate) g: f64,
    /// `1 / Q`, above 0.
    pub(crate) damping: f64,
    /// Linear gain of the input in the output.
    pub(crate) input: f64,
    /// Linear gain of the band-pass output in the output.
    pub(crate) band: f64,
    /// Linear gain of the low-pass output in the output.
    pub(crate) low: f64,
}

impl Shape {
    /// Creates a response that leaves the signal unchanged. Crossfades to another response start
    /// with the frequency and damping `g` and `damping`.
    pub(crate) fn passthrough(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: 0.0, low: 0.0 }
    }

    /// Creates a low-pass filter of 12 dB per octave.
    pub(crate) fn low_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 0.0, band: 0.0, low: 1.0 }
    }

    /// Creates a high-pass filter of 12 dB per octave.
    pub(crate) fn high_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: -damping, low: -1.0 }
    }

    /// Creates a band-pass filter with 0 dB at its centre.
    pub(crate) fn band_pass(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 0.0, band: damping, low: 0.0 }
    }

    /// Creates a notch filter.
    pub(crate) fn notch(g: f64, damping: f64) -> Self {
        Self { g, damping, input: 1.0, band: -damping, low: 0.0 }
    }

    /// Creates a bell with a gain of `a * a` (Cookbook: peakingEQ; `a = 10^(dB / 40)`).
    pub(crate) fn bell(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / (q * a);
        Self { g, damping, input: 1.0, band: damping * (a * a - 1.0), low: 0.0 }
    }

    /// Creates a low shelf with a gain of `a * a` (Cookbook: lowShelf).
    pub(crate) fn low_shelf(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / q;
        Self { g: g / libm::sqrt(a), damping, input: 1.0, band: damping * (a - 1.0), low: a * a - 1.0 }
    }

    /// Creates a high shelf with a gain of `a * a` (Cookbook: highShelf).
    pub(crate) fn high_shelf(g: f64, q: f64, a: f64) -> Self {
        let damping = 1.0 / q;
        Self { g: g * libm::sqrt(a), damping, input: a * a, band: damping * (1.0 - a) * a, low: 1.0 - a * a }
    }

    /// Returns a linear mix of the input and the filter. With a fraction of 1, the result is the
    /// filter alone.
    pub(crate) fn blend(self, fraction: f64) -> Self {
        Self {
            input: 1.0 + (self.input - 1.0) * fraction,
            band: self.band * fraction,
            low: self.low * fraction,
            ..self
        }
    }

    /// Whether the response is 1 at all frequencies.
    pub(crate) fn is_passthrough(&self) -> bool {
        self.input == 1.0 && self.band == 0.0 && self.low == 0.0
    }

    /// Returns the squared magnitude of the transfer function at `warped = tan(pi f / rate)`.
    pub(crate) fn power_at(&self, warped_frequency: f64) -> f64 {
        let s = warped_frequency / self.g;
        let (re, im) = (1.0 - s * s, self.damping * s);
        let (numerator_re, numerator_im) = (self.input * re + self.low, self.input * im + self.band * s);
        (numerator_re * numerator_re + numerator_im * numerator_im) / (re * re + im * im)
    }

    /// Returns the linear interpolation of two responses. With a fraction of 0, the result is
    /// `self`.
    pub(super) fn interpolate(&self, target: &Self, fraction: f64) -> Self {
        let between =
            |start_value: f64, target_value: f64| start_value + (target_value - start_value) * fraction;
        Self {
            g: between(self.g, target.g),
            damping: between(self.damping, target.damping),
            input: between(self.input, target.input),
            band: between(self.band, target.band),
            low: between(self.low, target.low),
        }
    }
}

/// Returns `tan(pi f / rate)`, the warped frequency of the bilinear transform. Frequencies are
/// limited to 0.49 times the sample rate.
pub(crate) fn warp(frequency_hz: f64, sample_rate_hz: f64) -> f64 {
    libm::tan(core::f64::consts::PI * (frequency_hz / sample_rate_hz).min(0.49))
}
