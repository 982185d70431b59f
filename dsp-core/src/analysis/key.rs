//! Estimates the key from the strengths of the twelve pitch classes.
//!
//! Spectral peaks between 55 Hz and 2 kHz are assigned to the nearest semitone at A = 440 Hz. The
//! twelve sums are correlated with the probe-tone profile of each key. The best of the 24
//! correlations is the key (Krumhansl and Kessler 1982, as in Krumhansl, *Cognitive Foundations of
//! Musical Pitch*, 1990, chapter 2).

/// Probe-tone ratings of a major and a minor key (Krumhansl and Kessler 1982). The first value is
/// the tonic's, the next ones are those of the semitones above it.
const MAJOR_PROFILE: [f64; 12] = [6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88];
const MINOR_PROFILE: [f64; 12] = [6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17];

/// Range of the frequencies in which peaks count as tones, in hertz.
const LOWEST_HZ: f64 = 55.0;
const HIGHEST_HZ: f64 = 2_000.0;

/// Minimum power of a peak relative to the highest bin of its window: -50 dB.
const PEAK_FLOOR: f64 = 1e-5;

/// Minimum fraction of a window's power between [`LOWEST_HZ`] and [`HIGHEST_HZ`]. A smaller
/// fraction is leakage of the window or a rounding error.
const TONES_FRACTION_MIN: f64 = 0.01;

/// Minimum correlation of a key. Twelve random values reach about this correlation by chance.
const CORRELATION_MIN: f64 = 0.5;

/// Whether a key is major or minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A major key.
    Major,
    /// A minor key.
    Minor,
}

/// A musical key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Pitch class of the tonic: 0 is C, 9 is A.
    pub tonic: u8,
    /// Major or minor.
    pub mode: Mode,
    /// Correlation with the key's profile, 0.5 to 1.
    pub correlation: f64,
}

/// Sum of the amplitudes of the spectral peaks of each pitch class.
#[derive(Debug, Clone)]
pub(super) struct Chroma {
    bin_hz: f64,
    classes: [f64; 12],
}

impl Chroma {
    pub(super) fn new(bin_hz: f64) -> Self {
        Self { bin_hz, classes: [0.0; 12] }
    }

    /// Adds the peaks of a window. `power` is the power of each bin.
    pub(super) fn add(&mut self, power: &[f64]) {
        let first_bin = ((LOWEST_HZ / self.bin_hz) as usize).max(1);
        let last_bin = ((HIGHEST_HZ / self.bin_hz) as usize).min(power.len().saturating_sub(2));
        if last_bin <= first_bin {
            return;
        }
        let highest_power = power[first_bin..=last_bin].iter().copied().fold(0.0, f64::max);
        let floor_power = highest_power * PEAK_FLOOR;
        let tones_power: f64 = power[first_bin..=last_bin].iter().sum();
        if highest_power <= 0.0 || tones_power < TONES_FRACTION_MIN * power.iter().sum::<f64>() {
            return;
        }
        for bin in first_bin..=last_bin {
            let center = power[bin];
            if center < floor_power || center < power[bin - 1] || center <= power[bin + 1] {
                continue;
            }
            let frequency_hz =
                (bin as f64 + peak_offset(power[bin - 1], center, power[bin + 1])) * self.bin_hz;
            // `semitones` counts from A. The index of a pitch class counts from C, and A is 9.
            let semitones = libm::round(12.0 * libm::log2(frequency_hz / 440.0)) as i32;
            self.classes[(semitones + 9).rem_euclid(12) as usize] += libm::sqrt(center);
        }
    }

    /// Returns the key with the highest correlation; `None` below [`CORRELATION_MIN`].
    pub(super) fn key(&self) -> Option<Key> {
        let mut best_key: Option<Key> = None;
        for tonic in 0..12_u8 {
            for (mode, profile) in [(Mode::Major, &MAJOR_PROFILE), (Mode::Minor, &MINOR_PROFILE)] {
                let mut rotated_classes = self.classes;
                rotated_classes.rotate_left(usize::from(tonic));
                let correlation = correlation(&rotated_classes, profile);
                if best_key.is_none_or(|best_key| correlation > best_key.correlation) {
                    best_key = Some(Key { tonic, mode, correlation });
                }
            }
        }
        best_key.filter(|key| key.correlation >= CORRELATION_MIN)
    }
}

/// Returns the offset of a peak from its bin, -0.5 to 0.5 bins: the vertex of the parabola through
/// the logarithms of the three powers.
fn peak_offset(previous_value: f64, center: f64, next_value: f64) -> f64 {
    let [previous_value, center, next_value] =
        [previous_value, center, next_value].map(|power| libm::log(power.max(f64::MIN_POSITIVE)));
    let curvature = previous_value - 2.0 * center + next_value;
    if curvature < 0.0 { (0.5 * (previous_value - next_value) / curvature).clamp(-0.5, 0.5) } else { 0.0 }
}

/// Returns Pearson's correlation coefficient; 0 if `values` or `profile` is constant.
fn correlation(values: &[f64; 12], profile: &[f64; 12]) -> f64 {
    let mean = |values: &[f64; 12]| values.iter().sum::<f64>() / 12.0;
    let (mean_value, mean_profile) = (mean(values), mean(profile));
    let (mut covariance, mut value_variance, mut profile_variance) = (0.0, 0.0, 0.0);
    for (value, weight) in values.iter().zip(profile) {
        covariance += (value - mean_value) * (weight - mean_profile);
        value_variance += (value - mean_value) * (value - mean_value);
        profile_variance += (weight - mean_profile) * (weight - mean_profile);
    }
    let scale = libm::sqrt(value_variance * profile_variance);
    if scale > 0.0 { covariance / scale } else { 0.0 }
}
