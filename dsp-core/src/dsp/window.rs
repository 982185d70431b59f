//! The Kaiser window and windowed-sinc low-pass filters (J. F. Kaiser, "Nonrecursive digital filter
//! design using the I0-sinh window function", IEEE ISCAS 1974).

use core::f64::consts::PI;

/// Returns the modified Bessel function of the first kind of order 0, by its power series.
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

/// Returns the Kaiser window with the shape parameter `beta` at `window_position`: -1 is the start
/// of the window, 0 the centre and 1 the end. The value at the centre is 1.
pub(crate) fn kaiser(beta: f64, window_position: f64) -> f64 {
    bessel_i0(beta * libm::sqrt(1.0 - window_position * window_position)) / bessel_i0(beta)
}

/// Returns `sin(pi x) / (pi x)`, which is exactly 1 at 0 and exactly 0 at other whole numbers.
pub(crate) fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x == libm::trunc(x) {
        0.0
    } else {
        libm::sin(PI * x) / (PI * x)
    }
}

/// Returns the beta of the Kaiser window for a stop-band attenuation in decibels, above 50.
fn kaiser_beta(attenuation_db: f64) -> f64 {
    0.1102 * (attenuation_db - 8.7)
}

/// The impulse response of a low-pass filter: a sinc of unity gain with a Kaiser window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowedSinc {
    /// Frequency at which the response is halved, as a fraction of the sample rate.
    cutoff: f64,
    /// Distance from the centre to either end of the window, in samples.
    half_width: f64,
    beta: f64,
    /// `bessel_i0(beta)`: the centre of the window before normalization.
    peak: f64,
}

impl WindowedSinc {
    /// Creates a filter whose stop-band attenuation is `attenuation_db`, which must be above 50.
    pub(crate) fn new(attenuation_db: f64, cutoff: f64, half_width: f64) -> Self {
        let beta = kaiser_beta(attenuation_db);
        Self { cutoff, half_width, beta, peak: bessel_i0(beta) }
    }

    /// Returns the impulse response at `time`, in samples from its centre.
    pub(crate) fn value_at(&self, time: f64) -> f64 {
        let window_position = time / self.half_width;
        if window_position.abs() >= 1.0 {
            return 0.0;
        }
        let window = bessel_i0(self.beta * libm::sqrt(1.0 - window_position * window_position)) / self.peak;
        window * 2.0 * self.cutoff * sinc(2.0 * self.cutoff * time)
    }
}

/// Returns the width of the transition from pass band to stop band of a filter with `taps` taps, as
/// a fraction of the sample rate.
pub(crate) fn transition_width(attenuation_db: f64, taps: usize) -> f64 {
    (attenuation_db - 7.95) / (2.285 * 2.0 * PI * (taps as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bessel_function_agrees_with_published_tables() {
        // Abramowitz and Stegun, tables 9.8 and 9.11.
        for (x, expected) in [(0.0, 1.0), (1.0, 1.266_065_877_752_008_4), (10.0, 2_815.716_628_466_254)] {
            let value = bessel_i0(x);
            assert!((value / expected - 1.0).abs() < 1e-14, "I0({x}) = {value}");
        }
    }

    #[test]
    fn a_filter_that_passes_everything_is_a_unit_impulse() {
        let filter = WindowedSinc::new(120.0, 0.5, 8.0);
        assert_eq!([-2.0, -1.0, 0.0, 1.0].map(|time| filter.value_at(time)), [0.0, 0.0, 1.0, 0.0]);
    }
}
