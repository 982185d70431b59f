//! Designs the low-pass filter of a voice (section 8.1.2, generators 8 and 9).

use super::units::{centibels_to_gain, cents_to_ratio, lower};

/// Range of the cutoff in absolute cents (section 8.1.3).
const CUTOFF_CENTS: core::ops::RangeInclusive<f32> = 1_500.0..=13_500.0;

/// Highest resonance in centibels (section 8.1.3).
pub(super) const RESONANCE_MAX_CB: f32 = 960.0;

/// Highest cutoff as a fraction of the sample rate. Above it, the range up to the Nyquist frequency
/// is too narrow for a slope.
const CUTOFF_MAX_CYCLES_PER_FRAME: f32 = 0.45;

/// Frequency of 0 absolute cents (section 9.1.1, "absolute cents"), in hertz.
pub(super) const CENT_ZERO_HZ: f32 = 8.175_799;

/// Cutoff and resonance of a filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FilterParams {
    cutoff_cents: f32,
    resonance_cb: f32,
}

impl FilterParams {
    /// Parameters of a filter that leaves its input unchanged.
    pub(super) const OPEN: Self = Self { cutoff_cents: *CUTOFF_CENTS.end(), resonance_cb: 0.0 };

    /// Creates parameters that are clamped to their ranges.
    pub(super) fn new(cutoff_cents: f32, resonance_cb: f32) -> Self {
        Self {
            cutoff_cents: cutoff_cents.clamp(*CUTOFF_CENTS.start(), *CUTOFF_CENTS.end()),
            resonance_cb: resonance_cb.clamp(0.0, RESONANCE_MAX_CB),
        }
    }

    /// Whether the filter leaves its input unchanged. It does so with the highest cutoff (20 kHz)
    /// and without resonance (section 8.1.2, generator 8).
    pub(super) fn is_open(self) -> bool {
        self.cutoff_cents >= *CUTOFF_CENTS.end() && self.resonance_cb <= 0.0
    }

    /// Computes the coefficients of the second-order low-pass of the bilinear transform
    /// (Bristow-Johnson, "Audio EQ Cookbook", in terms of the tangent of half the angle).
    /// `resonance` caches the last resonance.
    ///
    /// The gain at DC is below unity gain by half the resonance. The peak is above the gain at DC
    /// by the resonance (section 8.1.2, generator 9).
    pub(super) fn coefficients(self, sample_rate_hz: f32, resonance: &mut Resonance) -> Coefficients {
        if self.is_open() {
            return Coefficients::OPEN;
        }
        if self.resonance_cb != resonance.resonance_cb {
            *resonance = Resonance::new(self.resonance_cb);
        }
        let cutoff_hz = CENT_ZERO_HZ * cents_to_ratio(self.cutoff_cents);
        let cycles_per_frame = lower(cutoff_hz / sample_rate_hz, CUTOFF_MAX_CYCLES_PER_FRAME);
        let tangent = f64::from(libm::tanf(core::f32::consts::PI * cycles_per_frame));
        let square = tangent * tangent;
        let damping = tangent / resonance.quality;
        let norm = 1.0 / (1.0 + damping + square);
        let a1 = (2.0 * (square - 1.0) * norm) as f32;
        let a2 = ((1.0 - damping + square) * norm) as f32;
        // Computed from the rounded a1 and a2. The gain at DC is then exact even for the lowest
        // cutoff.
        let unity = (1.0 + f64::from(a1) + f64::from(a2)) / 4.0;
        let b0 = (unity * resonance.gain) as f32;
        Coefficients { b0, b1: 2.0 * b0, b2: b0, a1, a2 }
    }
}

/// Quality and gain of the last resonance. They are cached, because often only the cutoff changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resonance {
    resonance_cb: f32,
    /// Quality factor (Q) of the filter.
    quality: f64,
    /// Linear gain at DC.
    gain: f64,
}

impl Resonance {
    pub(super) const NONE: Self =
        Self { resonance_cb: 0.0, quality: core::f64::consts::FRAC_1_SQRT_2, gain: 1.0 };

    /// Computes the quality `q` of a low-pass whose peak has a given ratio to the gain at DC. The
    /// ratio is `q / sqrt(1 - 1 / (4 q^2))`, which is solved for `q`. Without a peak, the filter is
    /// a Butterworth filter.
    fn new(centibels: f32) -> Self {
        if centibels <= 0.0 {
            return Self::NONE;
        }
        let peak = 1.0 / f64::from(centibels_to_gain(centibels));
        let quality = libm::sqrt((peak * peak + peak * libm::sqrt(peak * peak - 1.0)) / 2.0);
        Self { resonance_cb: centibels, quality, gain: f64::from(centibels_to_gain(centibels / 2.0)) }
    }
}

/// Coefficients of a second-order filter, whose output is
/// `y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coefficients {
    pub(super) b0: f32,
    pub(super) b1: f32,
    pub(super) b2: f32,
    pub(super) a1: f32,
    pub(super) a2: f32,
}

impl Coefficients {
    /// Coefficients that leave the input unchanged.
    pub(super) const OPEN: Self = Self { b0: 1.0, b1: 0.0, b2: 0.0, a1: 0.0, a2: 0.0 };

    /// Returns b0, b1, b2, a1 and a2.
    pub(super) fn to_array(self) -> [f32; 5] {
        [self.b0, self.b1, self.b2, self.a1, self.a2]
    }

    /// Creates coefficients from b0, b1, b2, a1 and a2.
    pub(super) fn from_array([b0, b1, b2, a1, a2]: [f32; 5]) -> Self {
        Self { b0, b1, b2, a1, a2 }
    }

    /// Interpolates linearly between these coefficients (`fraction` 0) and `target` (`fraction` 1).
    pub(super) fn interpolated(self, target: Self, fraction: f32) -> Self {
        let (start_values, target_values) = (self.to_array(), target.to_array());
        Self::from_array(core::array::from_fn(|index| {
            start_values[index] + (target_values[index] - start_values[index]) * fraction
        }))
    }
}
