//! Third-octave bands (IEC 61260-1, base ten, with 1000 Hz as reference), and the bins of a Fourier
//! transform in each band.

use core::ops::Range;

/// A band, identified by its number: 0 is the band at 1000 Hz, 10 the band at 10 kHz.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band(pub(crate) i32);

impl Band {
    /// Returns the exact centre of the band in hertz.
    pub(crate) fn center_hz(self) -> f64 {
        self.twentieth_of_a_decade_hz(0)
    }

    /// Returns the lower and the upper band-edge frequency in hertz.
    pub(crate) fn edges_hz(self) -> [f64; 2] {
        [-1, 1].map(|twentieth| self.twentieth_of_a_decade_hz(twentieth))
    }

    fn twentieth_of_a_decade_hz(self, twentieths: i32) -> f64 {
        1_000.0 * libm::exp10(f64::from(2 * self.0 + twentieths) / 20.0)
    }
}

/// The bins of a band. A bin on the border of two bands belongs to each of them by the fraction
/// that is within the band.
#[derive(Debug, Clone)]
pub(crate) struct BandBins {
    first: usize,
    first_fraction: f64,
    whole_bins: Range<usize>,
    last: usize,
    last_fraction: f64,
}

impl BandBins {
    /// Creates the bins of a band, for a transform of `bins` bins that starts at 0 Hz with a
    /// spacing of `bin_hz`.
    pub(crate) fn new(band: Band, bin_hz: f64, bins: usize) -> Self {
        let [low, high] = band.edges_hz().map(|edge_hz| (edge_hz / bin_hz).min(bins as f64 - 0.5));
        // A bin covers half of the spacing on either side of its frequency.
        let [first, last] = [low, high].map(|edge| ((edge + 0.5) as usize).min(bins - 1));
        Self {
            first,
            first_fraction: high.min(first as f64 + 0.5) - low,
            whole_bins: (first + 1).min(last)..last,
            last,
            last_fraction: if last > first { high - (last as f64 - 0.5) } else { 0.0 },
        }
    }

    /// Returns the power of the band. `sum` returns the total power of a range of bins.
    pub(crate) fn power(&self, sum: impl Fn(Range<usize>) -> f64) -> f64 {
        let partial = |bin: usize, fraction: f64| sum(bin..bin + 1) * fraction;
        partial(self.first, self.first_fraction)
            + sum(self.whole_bins.clone())
            + partial(self.last, self.last_fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_have_the_frequencies_of_the_standard() {
        for (number, center_hz) in [(-17, 19.953), (-10, 100.0), (0, 1_000.0), (3, 1_995.3), (13, 19_953.0)] {
            let band = Band(number);
            assert!(
                (band.center_hz() / center_hz - 1.0).abs() < 1e-4,
                "band {number} has its centre at {} Hz",
                band.center_hz()
            );
            let [low_hz, high_hz] = band.edges_hz();
            assert!((libm::log10(high_hz / low_hz) - 0.1).abs() < 1e-12);
            assert_eq!(high_hz, Band(number + 1).edges_hz()[0]);
        }
    }

    #[test]
    fn the_fractions_of_a_bin_add_up_to_one_over_all_bands() {
        for bin_hz in [1.4, 11.7, 300.0] {
            let bins = (24_000.0 / bin_hz) as usize + 1;
            let bins_in_all_bands: f64 = (-17..=14)
                .map(|number| BandBins::new(Band(number), bin_hz, bins).power(|range| range.len() as f64))
                .sum();
            let low_hz = Band(-17).edges_hz()[0];
            let expected = bins as f64 - 0.5 - low_hz / bin_hz;
            assert!(
                (bins_in_all_bands - expected).abs() < 1e-6,
                "spacing of {bin_hz} Hz: {bins_in_all_bands} bins instead of {expected}"
            );
        }
    }
}
