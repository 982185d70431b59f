//! Makes tones and measures spectra in double precision.

use core::f64::consts::{PI, TAU};

use realfft::RealFftPlanner;

/// Returns a sine of amplitude 1. The frequency is in cycles per frame, the phase in cycles.
pub(crate) fn tone(cycles: f64, phase: f64, frames: usize) -> Vec<f64> {
    (0..frames)
        .map(|frame| {
            let turns = cycles * frame as f64 + phase;
            libm::sin(TAU * (turns - libm::floor(turns)))
        })
        .collect()
}

/// Converts a ratio of amplitudes to decibels.
pub(crate) fn db(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

pub(crate) fn rms(signal: &[f64]) -> f64 {
    libm::sqrt(signal.iter().map(|value| value * value).sum::<f64>() / signal.len() as f64)
}

/// Subtracts the best-fitting sine of a frequency from a signal and returns the amplitude of the
/// sine.
pub(crate) fn subtract_sine(signal: &mut [f64], cycles: f64) -> f64 {
    let frames = signal.len();
    let (sines, cosines) = (tone(cycles, 0.0, frames), tone(cycles, 0.25, frames));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (ss, cc, sc) = (product(&sines, &sines), product(&cosines, &cosines), product(&sines, &cosines));
    let (sx, cx) = (product(&sines, signal), product(&cosines, signal));
    let determinant = ss * cc - sc * sc;
    let (sine, cosine) = ((sx * cc - cx * sc) / determinant, (cx * ss - sx * sc) / determinant);
    for ((value, s), c) in signal.iter_mut().zip(&sines).zip(&cosines) {
        *value -= sine * s + cosine * c;
    }
    libm::hypot(sine, cosine)
}

/// Returns the Blackman-Harris window of seven terms, whose side lobes are below -180 dB (H.-H.
/// Albrecht, "A family of cosine-sum windows for high-resolution measurements", ICASSP 2001).
fn window(frames: usize) -> Vec<f64> {
    const TERMS: [f64; 7] = [
        0.271_220_360_585_039,
        0.433_444_612_327_442,
        0.218_004_122_892_930,
        0.065_785_343_295_606,
        0.010_761_867_305_342,
        0.000_770_012_710_581,
        0.000_013_680_883_060,
    ];
    (0..frames)
        .map(|frame| {
            let turn = TAU * frame as f64 / frames as f64;
            let term = |(k, a): (usize, &f64)| {
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                sign * a * libm::cos(k as f64 * turn)
            };
            TERMS.iter().enumerate().map(term).sum()
        })
        .collect()
}

/// Returns the amplitudes of the spectral lines from 0 to the Nyquist frequency. They are scaled so
/// that the line of a sine has the sine's amplitude.
pub(crate) fn amplitudes(signal: &[f64]) -> Vec<f64> {
    let window = window(signal.len());
    let mut weighted_signal: Vec<f64> =
        signal.iter().zip(&window).map(|(value, weight)| value * weight).collect();
    let scale = 2.0 / window.iter().sum::<f64>();
    transform(&mut weighted_signal).iter().map(|power| libm::sqrt(*power) * scale).collect()
}

/// Returns the squared magnitudes of a signal's discrete Fourier transform.
fn transform(signal: &mut [f64]) -> Vec<f64> {
    let plan = RealFftPlanner::<f64>::new().plan_fft_forward(signal.len());
    let mut spectrum = plan.make_output_vec();
    plan.process(signal, &mut spectrum).expect("lengths fit");
    spectrum.iter().map(|line| line.norm_sqr()).collect()
}

/// Returns the mean power density of a signal over segments of `segment` frames that overlap by
/// half, with a Hann window. It is scaled so that white noise of power 1 has 1 in every line.
pub(crate) fn power_density(signal: &[f64], segment: usize) -> Vec<f64> {
    let hann: Vec<f64> =
        (0..segment).map(|n| libm::pow(libm::sin(PI * n as f64 / segment as f64), 2.0)).collect();
    let energy: f64 = hann.iter().map(|weight| weight * weight).sum();
    let mut density = vec![0.0; segment / 2 + 1];
    let starts: Vec<usize> = (0..=signal.len() - segment).step_by(segment / 2).collect();
    for start in &starts {
        let mut weighted_signal: Vec<f64> =
            signal[*start..][..segment].iter().zip(&hann).map(|(value, weight)| value * weight).collect();
        for (sum, power) in density.iter_mut().zip(transform(&mut weighted_signal)) {
            *sum += power / energy / starts.len() as f64;
        }
    }
    density
}
