//! The low-pass filter of a voice (section 8.1.2, generators 8 and 9).

use super::units::{centibels_to_gain, cents_to_ratio, smaller};

/// Lowest and highest cut-off in absolute cents (section 8.1.3).
const CUTOFF_CENTS: core::ops::RangeInclusive<f32> = 1_500.0..=13_500.0;

/// Highest resonance in centibels (section 8.1.3).
pub(super) const RESONANCE_MAX_CB: f32 = 960.0;

/// Highest cut-off as a share of the sample rate: above, the filter would have no slope left.
const CUTOFF_MAX: f32 = 0.45;

/// The frequency of absolute cent 0 (section 9.1.1, "absolute cents"), in hertz.
pub(super) const CENT_ZERO_HZ: f32 = 8.175_799;

/// What a filter is set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FilterSetting {
    cutoff_cents: f32,
    resonance_cb: f32,
}

impl FilterSetting {
    /// A filter that changes nothing.
    pub(super) const OPEN: Self = Self { cutoff_cents: *CUTOFF_CENTS.end(), resonance_cb: 0.0 };

    pub(super) fn new(cutoff_cents: f32, resonance_cb: f32) -> Self {
        Self {
            cutoff_cents: cutoff_cents.clamp(*CUTOFF_CENTS.start(), *CUTOFF_CENTS.end()),
            resonance_cb: resonance_cb.clamp(0.0, RESONANCE_MAX_CB),
        }
    }

    /// Without resonance and from 20 kHz on, the response is flat.
    pub(super) fn is_open(self) -> bool {
        self.cutoff_cents >= *CUTOFF_CENTS.end() && self.resonance_cb <= 0.0
    }

    /// The second-order low-pass of the bilinear transform (Bristow-Johnson, "Audio EQ Cookbook"),
    /// written with the tangent of half the angle. `resonance` is that of an earlier place.
    ///
    /// The highest point of its response lies the resonance above its gain at DC, which is half
    /// the resonance below unity.
    pub(super) fn coefficients(self, sample_rate_hz: f32, resonance: &mut Resonance) -> Coefficients {
        if self.is_open() {
            return Coefficients::OPEN;
        }
        if self.resonance_cb != resonance.centibels {
            *resonance = Resonance::of(self.resonance_cb);
        }
        let cutoff_hz = CENT_ZERO_HZ * cents_to_ratio(self.cutoff_cents);
        let share = smaller(cutoff_hz / sample_rate_hz, CUTOFF_MAX);
        let tangent = f64::from(libm::tanf(core::f32::consts::PI * share));
        let square = tangent * tangent;
        let damping = tangent / resonance.quality;
        let norm = 1.0 / (1.0 + damping + square);
        let near = (2.0 * (square - 1.0) * norm) as f32;
        let far = ((1.0 - damping + square) * norm) as f32;
        // From the rounded ones, so that the gain at DC is exact however low the cut-off.
        let unity = (1.0 + f64::from(near) + f64::from(far)) / 4.0;
        let outer = (unity * resonance.gain) as f32;
        Coefficients { newest: outer, middle: 2.0 * outer, oldest: outer, near, far }
    }
}

/// What a resonance makes of a filter: kept, so that a cut-off that moves alone does not have it
/// computed again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resonance {
    centibels: f32,
    quality: f64,
    /// At DC.
    gain: f64,
}

impl Resonance {
    pub(super) const NONE: Self =
        Self { centibels: 0.0, quality: core::f64::consts::FRAC_1_SQRT_2, gain: 1.0 };

    /// The quality of a low-pass whose peak is `p` above its DC gain: the peak of a quality `q` is
    /// `q / sqrt(1 - 1 / (4 q^2))`, solved for `q`. Without a peak it is that of Butterworth.
    fn of(centibels: f32) -> Self {
        if centibels <= 0.0 {
            return Self::NONE;
        }
        let peak = 1.0 / f64::from(centibels_to_gain(centibels));
        let quality = libm::sqrt((peak * peak + peak * libm::sqrt(peak * peak - 1.0)) / 2.0);
        Self { centibels, quality, gain: f64::from(centibels_to_gain(centibels / 2.0)) }
    }
}

/// `y[n] = newest x[n] + middle x[n-1] + oldest x[n-2] - near y[n-1] - far y[n-2]`
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coefficients {
    pub(super) newest: f32,
    pub(super) middle: f32,
    pub(super) oldest: f32,
    pub(super) near: f32,
    pub(super) far: f32,
}

impl Coefficients {
    /// Changes nothing.
    pub(super) const OPEN: Self = Self { newest: 1.0, middle: 0.0, oldest: 0.0, near: 0.0, far: 0.0 };

    pub(super) fn as_array(self) -> [f32; 5] {
        [self.newest, self.middle, self.oldest, self.near, self.far]
    }

    pub(super) fn from_array([newest, middle, oldest, near, far]: [f32; 5]) -> Self {
        Self { newest, middle, oldest, near, far }
    }

    /// What lies some of the way to others.
    pub(super) fn toward(self, others: Self, way: f32) -> Self {
        let (from, to) = (self.as_array(), others.as_array());
        Self::from_array(core::array::from_fn(|number| from[number] + (to[number] - from[number]) * way))
    }
}
