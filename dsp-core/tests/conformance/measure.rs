//! Measures levels in decibels, pitches in cents and times in seconds.

use crate::rig::RATE_HZ;

/// Returns the frame at a time in seconds.
pub(crate) fn frame(secs: f64) -> usize {
    libm::round(secs * RATE_HZ) as usize
}

/// Returns the part of a signal between two times in seconds.
pub(crate) fn part(signal: &[f64], from_secs: f64, to_secs: f64) -> &[f64] {
    &signal[frame(from_secs)..frame(to_secs)]
}

/// Converts a ratio of amplitudes to decibels.
pub(crate) fn db(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

/// Returns the interval between two frequencies in cents.
pub(crate) fn cents(higher_hz: f64, lower_hz: f64) -> f64 {
    1_200.0 * libm::log2(higher_hz / lower_hz)
}

pub(crate) fn rms(signal: &[f64]) -> f64 {
    libm::sqrt(signal.iter().map(|value| value * value).sum::<f64>() / signal.len() as f64)
}

/// Measures the frequency of a tone between two times by its rising zero crossings.
pub(crate) fn pitch_hz(signal: &[f64], from_secs: f64, to_secs: f64) -> f64 {
    let part = part(signal, from_secs, to_secs);
    let crossings: Vec<f64> = (1..part.len())
        .filter(|&n| part[n - 1] < 0.0 && part[n] >= 0.0)
        .map(|n| n as f64 - part[n] / (part[n] - part[n - 1]))
        .collect();
    let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else { return f64::NAN };
    (crossings.len() - 1) as f64 / (last - first) * RATE_HZ
}

/// Measures the pitch of a tone over 25 ms around a time, in cents relative to a frequency.
pub(crate) fn cents_at(signal: &[f64], secs: f64, reference_hz: f64) -> f64 {
    cents(pitch_hz(signal, secs - 0.0125, secs + 0.0125), reference_hz)
}

/// Returns the level of the residue that remains after subtracting the best-fitting sine from a
/// signal, in decibels relative to that sine. `angle` is the sine's phase increment per frame in
/// radians.
pub(crate) fn residue_db(signal: &[f64], angle: f64) -> f64 {
    let waves = |n: usize| [libm::sin(angle * n as f64), libm::cos(angle * n as f64)];
    // The sums for the normal equations of the least-squares fit.
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

/// Asserts that a measured value differs from the expected value by at most `tolerance`.
#[track_caller]
pub(crate) fn assert_near(label: &str, measured_value: f64, expected: f64, tolerance: f64) {
    assert!(
        (measured_value - expected).abs() <= tolerance,
        "{label}: measured {measured_value:.4}, expected {expected:.4} +- {tolerance}"
    );
}
