//! Measurements: decibels, cents, seconds.

use crate::rig::RATE_HZ;

/// The frame at a time in seconds.
pub(crate) fn frame(secs: f64) -> usize {
    libm::round(secs * RATE_HZ) as usize
}

/// The section of a signal between two times in seconds.
pub(crate) fn part(signal: &[f64], from_secs: f64, to_secs: f64) -> &[f64] {
    &signal[frame(from_secs)..frame(to_secs)]
}

/// A ratio of amplitudes in decibels.
pub(crate) fn db(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

/// The interval between two frequencies in cents.
pub(crate) fn cents(higher_hz: f64, lower_hz: f64) -> f64 {
    1_200.0 * libm::log2(higher_hz / lower_hz)
}

pub(crate) fn rms(signal: &[f64]) -> f64 {
    libm::sqrt(signal.iter().map(|value| value * value).sum::<f64>() / signal.len() as f64)
}

/// The frequency of a tone between two times, by its positive zero crossings.
pub(crate) fn pitch_hz(signal: &[f64], from_secs: f64, to_secs: f64) -> f64 {
    let part = part(signal, from_secs, to_secs);
    let crossings: Vec<f64> = (1..part.len())
        .filter(|&n| part[n - 1] < 0.0 && part[n] >= 0.0)
        .map(|n| n as f64 - part[n] / (part[n] - part[n - 1]))
        .collect();
    let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else { return f64::NAN };
    (crossings.len() - 1) as f64 / (last - first) * RATE_HZ
}

/// The pitch around a time, over 25 ms, relative to a frequency, in cents.
pub(crate) fn cents_at(signal: &[f64], secs: f64, reference_hz: f64) -> f64 {
    cents(pitch_hz(signal, secs - 0.0125, secs + 0.0125), reference_hz)
}

/// Level of the residue of a tone after subtracting the best-fitting sine, in decibels below that
/// sine. `angle` is the phase increment of a frame in radians.
pub(crate) fn residue_db(signal: &[f64], angle: f64) -> f64 {
    let waves = |n: usize| [libm::sin(angle * n as f64), libm::cos(angle * n as f64)];
    // Normal equations of the least-squares fit.
    let (mut products, mut sums) = ([0.0; 3], [0.0; 2]);
    for (n, value) in signal.iter().enumerate() {
        let [sine, cosine] = waves(n);
        products = [products[0] + sine * sine, products[1] + sine * cosine, products[2] + cosine * cosine];
        sums = [sums[0] + value * sine, sums[1] + value * cosine];
    }
    let [sines, mixed, cosines] = products;
    let determinant = sines * cosines - mixed * mixed;
    let of_sine = (sums[0] * cosines - sums[1] * mixed) / determinant;
    let of_cosine = (sums[1] * sines - sums[0] * mixed) / determinant;
    let residue: Vec<f64> = signal
        .iter()
        .enumerate()
        .map(|(n, value)| {
            let [sine, cosine] = waves(n);
            value - (of_sine * sine + of_cosine * cosine)
        })
        .collect();
    db(rms(&residue) / (libm::hypot(of_sine, of_cosine) / libm::sqrt(2.0)))
}

/// Asserts that a value is within a tolerance of the expected one.
#[track_caller]
pub(crate) fn assert_near(label: &str, measured: f64, expected: f64, tolerance: f64) {
    assert!(
        (measured - expected).abs() <= tolerance,
        "{label}: {measured:.4}, not {expected:.4} +- {tolerance}"
    );
}
