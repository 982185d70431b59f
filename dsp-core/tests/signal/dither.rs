//! Quantisation to 8, 16 and 24 bits. Errors are in steps (LSB).

use core::f64::consts::TAU;

use assert_no_alloc::assert_no_alloc;
use dsp_core::dither::{BitDepth, NoiseShaping, QuantizerConfig, QuantizerProcessor};

use crate::spectrum::{amplitudes, db, power_density, rms, tone};

const DEPTHS: [BitDepth; 3] = [BitDepth::Eight, BitDepth::Sixteen, BitDepth::TwentyFour];
const SHAPED: [NoiseShaping; 2] = [NoiseShaping::Lipshitz, NoiseShaping::Wannamaker];
const RATE_HZ: u32 = 44_100;

fn quantizer(depth: BitDepth, shaping: NoiseShaping, seed: u64, channel: u32) -> QuantizerProcessor {
    QuantizerProcessor::new(QuantizerConfig { depth, shaping, sample_rate_hz: RATE_HZ, seed, channel })
}

fn quantized(quantizer: &mut QuantizerProcessor, samples: &[f32]) -> Vec<f64> {
    let mut steps = vec![0; samples.len()];
    assert_no_alloc(|| quantizer.process(samples, &mut steps));
    steps.into_iter().map(f64::from).collect()
}

/// What silence becomes.
fn errors(shaping: NoiseShaping, frames: usize, seed: u64, channel: u32) -> Vec<f64> {
    quantized(&mut quantizer(BitDepth::Sixteen, shaping, seed, channel), &vec![0.0; frames])
}

#[test]
fn errors_have_mean_zero_and_a_quarter_of_a_step_squared_at_every_level() {
    const ROUNDS: usize = 400_000;
    for depth in DEPTHS {
        let mut quantizer = quantizer(depth, NoiseShaping::Off, 7, 0);
        let (mut worst_mean, mut worst_variance) = (0.0_f64, 0.0_f64);
        for sixty_fourths in 0..=64 {
            let level = f64::from(sixty_fourths) / 64.0;
            let sample = (level / f64::from(depth.full_scale())) as f32;
            let steps = quantized(&mut quantizer, &vec![sample; ROUNDS]);
            let mean = steps.iter().map(|step| step - level).sum::<f64>() / ROUNDS as f64;
            let power = steps.iter().map(|step| (step - level) * (step - level)).sum::<f64>() / ROUNDS as f64;
            worst_mean = worst_mean.max(mean.abs());
            worst_variance = worst_variance.max((power - mean * mean - 0.25).abs());
        }
        println!("{depth:?}: mean off by at most {worst_mean:.5}, variance off 0.25 by {worst_variance:.5}");
        // Five standard deviations of either figure over so many rounds.
        assert!(worst_mean < 0.004);
        assert!(worst_variance < 0.003);
    }
}

/// The loudest harmonic of the second to the twentieth over the noise around it, in decibels.
fn loudest_harmonic_db(spectrum: &[f64], line: usize) -> f64 {
    let over_noise = |harmonic: usize| {
        let at = harmonic * line;
        let around = (at - 200..at - 10).chain(at + 10..at + 200);
        let noise = rms(&around.map(|line| spectrum[line]).collect::<Vec<f64>>());
        db(spectrum[at] / noise)
    };
    (2..=20).map(over_noise).fold(f64::MIN, f64::max)
}

#[test]
fn a_tone_below_a_step_has_no_harmonics_in_16_bits() {
    const FRAMES: usize = 1 << 21;
    let line = (997.0 / f64::from(RATE_HZ) * FRAMES as f64).round() as usize;
    let amplitude = libm::exp10(-100.0 / 20.0);
    let samples: Vec<f32> = tone(line as f64 / FRAMES as f64, 0.0, FRAMES)
        .iter()
        .map(|value| (amplitude * value) as f32)
        .collect();
    for shaping in [NoiseShaping::Off, NoiseShaping::Lipshitz, NoiseShaping::Wannamaker] {
        let steps = quantized(&mut quantizer(BitDepth::Sixteen, shaping, 1, 0), &samples);
        let spectrum = amplitudes(&steps);
        let level_dbfs = db(spectrum[line] / 32_768.0);
        let harmonic_db = loudest_harmonic_db(&spectrum, line);
        println!(
            "{shaping:?}: tone {level_dbfs:.2} dBFS, loudest harmonic {harmonic_db:.1} dB over the noise"
        );
        assert!((level_dbfs + 100.0).abs() < 0.5);
        // A line of noise alone is higher once in 10 000.
        assert!(harmonic_db < 9.7);
    }
    // The measure finds what it looks for: twice as loud and only rounded, the tone is a square.
    let rounded: Vec<f64> =
        samples.iter().map(|value| (f64::from(*value) * 32_768.0 * 2.0).round()).collect();
    assert!(loudest_harmonic_db(&amplitudes(&rounded), line) > 40.0);
}

#[test]
fn channels_are_not_correlated_and_a_seed_repeats() {
    const FRAMES: usize = 1_000_000;
    for shaping in [NoiseShaping::Off, NoiseShaping::Lipshitz, NoiseShaping::Wannamaker] {
        let (left, right) = (errors(shaping, FRAMES, 0, 0), errors(shaping, FRAMES, 0, 1));
        let product: f64 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
        let correlation = product / (FRAMES as f64 * rms(&left) * rms(&right));
        println!(
            "{shaping:?}: correlation of left and right {correlation:.5}, noise {:.3} LSB rms",
            rms(&left)
        );
        assert!(correlation.abs() < 0.01);
        assert!(left == errors(shaping, FRAMES, 0, 0));
        assert!(left != errors(shaping, FRAMES, 1, 0));
    }
}

/// |1 - H|^2 at a frequency in cycles per frame.
fn noise_gain(shaping: NoiseShaping, cycles: f64) -> f64 {
    let (mut real, mut imaginary) = (1.0, 0.0);
    for (delay, tap) in (1..).zip(shaping.taps()) {
        let turn = TAU * cycles * f64::from(delay);
        real -= tap * libm::cos(turn);
        imaginary += tap * libm::sin(turn);
    }
    real * real + imaginary * imaginary
}

#[test]
fn the_spectrum_of_the_error_is_the_filters() {
    const SEGMENT: usize = 1_024;
    for shaping in SHAPED {
        let density = power_density(&errors(shaping, 4_000_000, 3, 0), SEGMENT);
        let (mut worst_db, mut lowest_db, mut highest_db) = (0.0_f64, f64::MAX, f64::MIN);
        for (line, power) in density.iter().enumerate().take(SEGMENT / 2 - 2).skip(3) {
            let expected = 0.25 * noise_gain(shaping, line as f64 / SEGMENT as f64);
            worst_db = worst_db.max((10.0 * libm::log10(power / expected)).abs());
            lowest_db = lowest_db.min(10.0 * libm::log10(expected / 0.25));
            highest_db = highest_db.max(10.0 * libm::log10(expected / 0.25));
        }
        println!(
            "{shaping:?}: within {worst_db:.2} dB of |1 - H|^2, which goes from {lowest_db:.1} to {highest_db:.1} dB"
        );
        assert!(worst_db <= 1.0);
    }
}

#[test]
fn overload_passes_without_a_trace() {
    for depth in DEPTHS {
        for shaping in SHAPED {
            let mut quantizer = quantizer(depth, shaping, 5, 0);
            let loud: Vec<f32> = tone(0.013, 0.0, 100_000).iter().map(|value| (8.0 * value) as f32).collect();
            let clipped = quantized(&mut quantizer, &loud);
            let full_scale = f64::from(depth.full_scale());
            assert!(clipped.iter().all(|step| (-full_scale..full_scale).contains(step)));
            let after = rms(&quantized(&mut quantizer, &vec![0.0; 100_000]));
            let expected = 0.5 * libm::sqrt(1.0 + shaping.taps().iter().map(|tap| tap * tap).sum::<f64>());
            println!("{depth:?}, {shaping:?}: {after:.3} LSB rms after an overload, {expected:.3} expected");
            assert!((after / expected - 1.0).abs() < 0.02);
        }
    }
}
