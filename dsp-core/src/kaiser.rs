//! The Kaiser window and the low-pass filters it makes (J. F. Kaiser, "Nonrecursive digital filter
//! design using the I0-sinh window function", IEEE ISCAS 1974).

use core::f64::consts::PI;

/// The modified Bessel function of the first kind of order 0, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let quarter_square = x * x / 4.0;
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        term *= quarter_square / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}

/// A sinc of unity gain under a Kaiser window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowedSinc {
    /// Where the response is halved, in parts of the sample rate.
    cutoff: f64,
    /// Where the window ends on either side, in samples.
    half_width: f64,
    beta: f64,
    window_centre: f64,
}

impl WindowedSinc {
    /// A filter with this stop-band attenuation in decibels, above 50.
    pub(crate) fn new(attenuation_db: f64, cutoff: f64, half_width: f64) -> Self {
        let beta = 0.1102 * (attenuation_db - 8.7);
        Self { cutoff, half_width, beta, window_centre: bessel_i0(beta) }
    }

    /// The impulse response at a time in samples from its middle.
    pub(crate) fn at(&self, time: f64) -> f64 {
        let place = time / self.half_width;
        if place.abs() >= 1.0 {
            return 0.0;
        }
        let window = bessel_i0(self.beta * libm::sqrt(1.0 - place * place)) / self.window_centre;
        window * 2.0 * self.cutoff * sinc(2.0 * self.cutoff * time)
    }
}

/// `sin(pi x) / (pi x)`, exact at whole numbers.
fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x == libm::trunc(x) {
        0.0
    } else {
        libm::sin(PI * x) / (PI * x)
    }
}

/// How wide the transition from pass band to stop band is, in parts of the sample rate, for a
/// filter of so many taps.
pub(crate) fn transition_width(attenuation_db: f64, taps: usize) -> f64 {
    (attenuation_db - 7.95) / (2.285 * 2.0 * PI * (taps as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bessel_agrees_with_its_table() {
        // Abramowitz and Stegun, table 9.8 and 9.11.
        for (x, expected) in [(0.0, 1.0), (1.0, 1.266_065_877_752_008_4), (10.0, 2_815.716_628_466_254)] {
            let value = bessel_i0(x);
            assert!((value / expected - 1.0).abs() < 1e-14, "I0({x}) = {value}");
        }
    }

    #[test]
    fn a_full_band_filter_is_a_single_one() {
        let filter = WindowedSinc::new(120.0, 0.5, 8.0);
        assert_eq!([-2.0, -1.0, 0.0, 1.0].map(|time| filter.at(time)), [0.0, 0.0, 1.0, 0.0]);
    }
}
