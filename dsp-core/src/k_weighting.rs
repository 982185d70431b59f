//! K-weighting (ITU-R BS.1770-4, annex 1): a high shelf that models the head, then a high-pass.
//!
//! The recommendation lists coefficients for 48 kHz. For other sample rates, the bilinear transform
//! converts the filters to analogue filters and then to digital filters at the other rate. The
//! frequency of the poles stays the same.

use core::f64::consts::PI;

use wide::f64x2;

/// Sample rate of the coefficients in BS.1770-4, in hertz.
const TABLE_RATE_HZ: f64 = 48_000.0;

/// Coefficients of the high shelf (BS.1770-4, annex 1, table 1).
const SHELF: Coefficients = Coefficients {
    b: [1.535_124_859_586_97, -2.691_696_189_406_38, 1.198_392_810_852_85],
    a: [-1.690_659_293_182_41, 0.732_480_774_215_85],
};

/// Coefficients of the high-pass (BS.1770-4, annex 1, table 2).
const HIGH_PASS: Coefficients =
    Coefficients { b: [1.0, -2.0, 1.0], a: [-1.990_047_454_833_98, 0.990_072_250_366_21] };

/// Filter states below this magnitude (-600 dBFS) become 0.
const FLUSH_THRESHOLD: f64 = 1e-30;

/// Coefficients of a second-order filter, `(b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)`. `b` starts
/// with `b0`, `a` starts with `a1`.
#[derive(Debug, Clone, Copy)]
struct Coefficients {
    b: [f64; 3],
    a: [f64; 2],
}

impl Coefficients {
    /// Converts the filter from [`TABLE_RATE_HZ`] to another sample rate.
    fn at_rate(self, sample_rate_hz: f64) -> Self {
        if sample_rate_hz == TABLE_RATE_HZ {
            return self;
        }
        let numerator = bilinear(self.b);
        let denominator = bilinear([1.0, self.a[0], self.a[1]]);
        // `pole_tangent` is `tan(PI * frequency_hz / TABLE_RATE_HZ)` for the frequency of the
        // poles.
        let pole_tangent = libm::sqrt(denominator[0] / denominator[2]);
        let frequency_hz = libm::atan(pole_tangent) * TABLE_RATE_HZ / PI;
        let scale = pole_tangent / libm::tan(PI * frequency_hz / sample_rate_hz);
        let transform_scaled = |[c0, c1, c2]: [f64; 3]| bilinear([c0, c1 * scale, c2 * scale * scale]);
        let (b, [a0, a1, a2]) = (transform_scaled(numerator), transform_scaled(denominator));
        Self { b: b.map(|b| b / a0), a: [a1 / a0, a2 / a0] }
    }
}

/// Converts a polynomial in `1/z` to a polynomial in `p = (1 - 1/z) / (1 + 1/z)`, or back. The
/// result lacks a constant factor, which cancels between numerator and denominator.
fn bilinear([c0, c1, c2]: [f64; 3]) -> [f64; 3] {
    [c0 + c1 + c2, 2.0 * (c0 - c2), c0 - c1 + c2]
}

/// A second-order filter for two channels, in the transposed direct form II.
#[derive(Debug, Clone)]
struct Section {
    coefficients: Coefficients,
    state: [f64x2; 2],
}

impl Section {
    fn new(coefficients: Coefficients) -> Self {
        Self { coefficients, state: [f64x2::ZERO; 2] }
    }

    #[inline(always)]
    fn next(&mut self, input: f64x2) -> f64x2 {
        let Coefficients { b: [b0, b1, b2], a: [a1, a2] } = self.coefficients;
        let [first, second] = self.state;
        let output = input * f64x2::splat(b0) + first;
        self.state = [
            input * f64x2::splat(b1) - output * f64x2::splat(a1) + second,
            input * f64x2::splat(b2) - output * f64x2::splat(a2),
        ];
        output
    }

    fn flush(&mut self) {
        for state in &mut self.state {
            *state = f64x2::new(
                state.to_array().map(|value| if value.abs() < FLUSH_THRESHOLD { 0.0 } else { value }),
            );
        }
    }
}

/// The filters for two channels.
#[derive(Debug, Clone)]
pub(crate) struct KWeighting {
    shelf: Section,
    high_pass: Section,
}

impl KWeighting {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        let section = |table: Coefficients| Section::new(table.at_rate(f64::from(sample_rate_hz)));
        Self { shelf: section(SHELF), high_pass: section(HIGH_PASS) }
    }

    /// Creates the filters of libebur128, which ffmpeg also has, and with which people compare the
    /// loudness of files. The numerator of their high-pass is 1, -2, 1 at every sample rate, which
    /// changes the level by up to 0.03 dB.
    #[cfg(feature = "std")]
    pub(crate) fn of_libebur128(sample_rate_hz: u32) -> Self {
        let mut filters = Self::new(sample_rate_hz);
        filters.high_pass.coefficients.b = HIGH_PASS.b;
        filters
    }

    pub(crate) fn reset(&mut self) {
        self.shelf.state = [f64x2::ZERO; 2];
        self.high_pass.state = [f64x2::ZERO; 2];
    }

    /// Filters the next frames, and adds the squares of both channels to `sums`.
    pub(crate) fn add_squares(&mut self, left: &[f32], right: &[f32], sums: &mut [f64; 2]) {
        let (mut shelf, mut high_pass) = (self.shelf.clone(), self.high_pass.clone());
        let mut sum = f64x2::new(*sums);
        for (left, right) in left.iter().zip(right) {
            let weighted_frame =
                high_pass.next(shelf.next(f64x2::new([f64::from(*left), f64::from(*right)])));
            sum += weighted_frame * weighted_frame;
        }
        shelf.flush();
        high_pass.flush();
        (self.shelf, self.high_pass) = (shelf, high_pass);
        *sums = sum.to_array();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the magnitude of the response at a frequency, in decibels.
    fn response_db(sections: &[Coefficients], frequency_hz: f64, sample_rate_hz: f64) -> f64 {
        let angle = 2.0 * PI * frequency_hz / sample_rate_hz;
        let magnitude = |[c0, c1, c2]: [f64; 3]| {
            let re = c0 + c1 * libm::cos(angle) + c2 * libm::cos(2.0 * angle);
            libm::hypot(re, c1 * libm::sin(angle) + c2 * libm::sin(2.0 * angle))
        };
        let gain =
            |section: &Coefficients| magnitude(section.b) / magnitude([1.0, section.a[0], section.a[1]]);
        sections.iter().map(|section| 20.0 * libm::log10(gain(section))).sum()
    }

    #[test]
    fn the_response_at_48_khz_matches_the_recommendation() {
        // 0.691 dB at 997 Hz is the offset of equation 2. The other values are read from figures 2
        // and 4.
        for (frequency_hz, expected_db) in [(997.0, 0.691), (10_000.0, 4.03), (38.0, -6.0)] {
            let level_db = response_db(&[SHELF, HIGH_PASS], frequency_hz, TABLE_RATE_HZ);
            assert!(
                (level_db - expected_db).abs() < 0.06,
                "{frequency_hz} Hz: {level_db} dB, expected {expected_db} dB"
            );
        }
    }

    #[test]
    fn the_response_is_the_same_at_other_sample_rates() {
        for sample_rate_hz in [32_000.0, 44_100.0, 96_000.0, 192_000.0] {
            let sections = [SHELF, HIGH_PASS].map(|table| table.at_rate(sample_rate_hz));
            for frequency_hz in [10.0, 30.0, 100.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0] {
                let expected_db = response_db(&[SHELF, HIGH_PASS], frequency_hz, TABLE_RATE_HZ);
                let level_db = response_db(&sections, frequency_hz, sample_rate_hz);
                let error_db = (level_db - expected_db).abs();
                assert!(error_db < 0.02, "{frequency_hz} Hz at {sample_rate_hz} Hz: {error_db} dB off");
            }
        }
    }
}
