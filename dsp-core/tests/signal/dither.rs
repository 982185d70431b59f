//! Tests of dither and noise shaping in the quantization to 8, 16 and 24 bits. Errors are in
//! quantization steps (LSB).

use core::f64::consts::TAU;

use assert_no_alloc::assert_no_alloc;
use dsp_core::dither::{NoiseShaping, QuantizerConfig, QuantizerProcessor, full_scale_steps};

use crate::spectrum::{amplitudes, db, power_density, rms, tone};

const BITS: [u32; 3] = [8, 16, 24];
pub(crate) const SHAPINGS: [NoiseShaping; 3] =
    [NoiseShaping::Off, NoiseShaping::Lipshitz, NoiseShaping::Wannamaker];
const SHAPED: [NoiseShaping; 2] = [NoiseShaping::Lipshitz, NoiseShaping::Wannamaker];
const RATE_HZ: u32 = 44_100;

/// The filter H as printed in "Minimally Audible Noise Shaping" (JAES 39-11, 1991) and
/// "Psychoacoustically Optimal Noise Shaping" (JAES 40-7/8, 1992). This copy finds wrong digits in
/// the engine's table.
fn published_taps(shaping: NoiseShaping) -> &'static [f64] {
    match shaping {
        NoiseShaping::Off => &[],
        NoiseShaping::Lipshitz => &[2.033, -2.165, 1.959, -1.590, 0.6149],
        NoiseShaping::Wannamaker => &[2.412, -3.370, 3.937, -4.174, 3.353, -2.205, 1.281, -0.569, 0.0847],
    }
}

/// Returns the expected RMS of the error in steps. The error is white noise with a power of a
/// quarter of a step squared, filtered by 1 - H.
fn expected_rms(shaping: NoiseShaping) -> f64 {
    0.5 * libm::sqrt(1.0 + published_taps(shaping).iter().map(|tap| tap * tap).sum::<f64>())
}

/// Returns the largest possible error of a sample in steps. Rounding adds at most half a step and
/// dither at most one step. The filter adds earlier errors of this size.
pub(crate) fn largest_error(shaping: NoiseShaping) -> f64 {
    1.5 * (1.0 + published_taps(shaping).iter().map(|tap| tap.abs()).sum::<f64>())
}

fn quantizer(bits: u32, shaping: NoiseShaping, seed: u64, channel: u32) -> QuantizerProcessor {
    QuantizerProcessor::new(QuantizerConfig { bits, shaping, sample_rate_hz: RATE_HZ, seed, channel })
}

fn quantized(quantizer: &mut QuantizerProcessor, samples: &[f32]) -> Vec<f64> {
    let mut steps = vec![0; samples.len()];
    assert_no_alloc(|| quantizer.process(samples, &mut steps));
    steps.into_iter().map(f64::from).collect()
}

/// Returns the output for silence in steps, which is the error.
fn errors(shaping: NoiseShaping, frames: usize, seed: u64, channel: u32) -> Vec<f64> {
    quantized(&mut quantizer(16, shaping, seed, channel), &vec![0.0; frames])
}

fn highest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::MIN, f64::max)
}

fn highest_magnitude(values: &[f64]) -> f64 {
    highest(values.iter().map(|value| value.abs()))
}

#[test]
fn errors_have_a_mean_of_0_and_a_power_of_a_quarter_of_a_step_squared_at_every_level() {
    const SAMPLES: usize = 400_000;
    for bits in BITS {
        let mut quantizer = quantizer(bits, NoiseShaping::Off, 7, 0);
        let (mut worst_mean, mut worst_variance) = (0.0_f64, 0.0_f64);
        let (mut lowest_dither, mut highest_dither) = (0.0_f64, 0.0_f64);
        for sixty_fourths in -64..=64 {
            let level = f64::from(sixty_fourths) / 64.0;
            let sample = (level / f64::from(full_scale_steps(bits))) as f32;
            let errors = quantized(&mut quantizer, &vec![sample; SAMPLES]);
            let errors = errors.into_iter().map(|step| step - level);
            let (mut sum, mut power) = (0.0, 0.0);
            for error in errors {
                sum += error;
                power += error * error;
                // Rounding changes a value by at most half a step. The remaining error is dither.
                lowest_dither = lowest_dither.min(error + 0.5);
                highest_dither = highest_dither.max(error - 0.5);
            }
            let (mean, power) = (sum / SAMPLES as f64, power / SAMPLES as f64);
            worst_mean = worst_mean.max(mean.abs());
            worst_variance = worst_variance.max((power - mean * mean - 0.25).abs());
        }
        println!(
            "{bits} bits: mean at most {worst_mean:.5}, variance at most {worst_variance:.5} from 0.25; \
             dither from {lowest_dither:.4} to {highest_dither:.4} LSB"
        );
        // These limits are five standard deviations of the measured mean and variance.
        assert!(worst_mean < 0.004);
        assert!(worst_variance < 0.003);
        // The dither reaches almost one step. The levels are 1/64 of a step apart, so an excess of
        // 1/64 of a step would be found.
        assert_eq!((lowest_dither, highest_dither), (-63.0 / 64.0, 63.0 / 64.0));
    }
}

#[test]
fn shaped_errors_have_the_same_mean_and_power_at_every_level() {
    const SAMPLES: usize = 200_000;
    for shaping in SHAPED {
        let mut quantizer = quantizer(16, shaping, 8, 0);
        let (mut worst_mean, mut worst_rms) = (0.0_f64, 0.0_f64);
        for sixteenths in -16..=16 {
            let level = f64::from(sixteenths) / 16.0;
            let steps = quantized(&mut quantizer, &vec![(level / 32_768.0) as f32; SAMPLES]);
            let errors: Vec<f64> = steps.iter().map(|step| step - level).collect();
            worst_mean = worst_mean.max((errors.iter().sum::<f64>() / SAMPLES as f64).abs());
            worst_rms = worst_rms.max((rms(&errors) / expected_rms(shaping) - 1.0).abs());
        }
        println!(
            "{shaping:?}: mean at most {worst_mean:.5}; RMS differs from {:.3} LSB by at most {:.2} %",
            expected_rms(shaping),
            100.0 * worst_rms
        );
        // The limit is five standard deviations of the mean of white noise, times 0.25: at 0 Hz,
        // the gain of the filters is at most a fourth.
        assert!(worst_mean < 0.25 * 5.0 * 0.5 / libm::sqrt(SAMPLES as f64));
        assert!(worst_rms < 0.02);
    }
}

#[test]
fn dither_adds_5_db_to_the_noise_of_rounding_and_each_filter_adds_its_gain() {
    const FRAMES: usize = 1_000_000;
    let measured_rms = SHAPINGS.map(|shaping| rms(&errors(shaping, FRAMES, 9, 0)));
    for (shaping, measured) in SHAPINGS.into_iter().zip(measured_rms) {
        let over_rounding_db = db(measured * libm::sqrt(12.0));
        println!(
            "{shaping:?}: {measured:.4} LSB RMS, expected {:.4}; {over_rounding_db:.2} dB above rounding",
            expected_rms(shaping)
        );
        assert!((measured / expected_rms(shaping) - 1.0).abs() < 0.01);
        // No measurement would find a wrong last digit of a tap, so the taps are compared, too.
        let all_taps = shaping.taps();
        let (taps, unused_taps) = all_taps.split_at(published_taps(shaping).len());
        assert!(taps == published_taps(shaping) && unused_taps.iter().all(|tap| *tap == 0.0));
    }
    let [white, lipshitz, wannamaker] = measured_rms;
    assert!((db(white * libm::sqrt(12.0)) - 4.77).abs() < 0.05);
    // These rounded figures are independent of the published taps.
    assert!((1.95..=2.1).contains(&lipshitz), "{lipshitz} LSB RMS instead of about 2");
    assert!((3.9..=4.3).contains(&wannamaker), "{wannamaker} LSB RMS instead of about 4");
}

/// Levels of the second to the twentieth harmonic relative to the noise around them, and the level
/// of this noise.
struct Harmonics {
    over_noise_db: Vec<f64>,
    /// RMS of the spectral lines around a harmonic in steps: that of the quietest noise and that of
    /// the loudest.
    noise: [f64; 2],
}

impl Harmonics {
    /// Measures the harmonics of the tone in the spectral line `line`.
    fn of(spectrum: &[f64], line: usize) -> Self {
        let noise_around = |harmonic: usize| {
            let centre = harmonic * line;
            let around = (centre - 200..centre - 10).chain(centre + 10..centre + 200);
            rms(&around.map(|line| spectrum[line]).collect::<Vec<f64>>())
        };
        let noise: Vec<f64> = (2..=20).map(noise_around).collect();
        let over_noise_db =
            (2..=20).zip(&noise).map(|(harmonic, noise)| db(spectrum[harmonic * line] / noise)).collect();
        let lowest = noise.iter().copied().fold(f64::MAX, f64::min);
        Self { over_noise_db, noise: [lowest, highest(noise)] }
    }

    fn loudest_db(&self) -> f64 {
        highest(self.over_noise_db.iter().copied())
    }
}

#[test]
fn a_tone_below_a_step_has_no_harmonics_in_16_bits() {
    const FRAMES: usize = 1 << 20;
    for rate_hz in [44_100, 48_000] {
        let line = (997.0 / f64::from(rate_hz) * FRAMES as f64).round() as usize;
        let amplitude = libm::exp10(-100.0 / 20.0);
        let samples: Vec<f32> = tone(line as f64 / FRAMES as f64, 0.0, FRAMES)
            .iter()
            .map(|value| (amplitude * value) as f32)
            .collect();
        for shaping in SHAPINGS {
            let bits = 16;
            let config = QuantizerConfig { bits, shaping, sample_rate_hz: rate_hz, seed: 1, channel: 0 };
            let mut quantizer = QuantizerProcessor::new(config);
            assert_eq!(quantizer.shaping(), shaping);
            let spectrum = amplitudes(&quantized(&mut quantizer, &samples));
            let level_dbfs = db(spectrum[line] / 32_768.0);
            let harmonics = Harmonics::of(&spectrum, line);
            let [floor, highest_floor] = harmonics.noise.map(|noise| db(noise / 32_768.0));
            println!(
                "{shaping:?} at {rate_hz} Hz: tone {level_dbfs:.2} dBFS; floor {floor:.1} to {highest_floor:.1} \
                 dBFS in a line of {:.3} Hz; harmonics 2 to 20 over it {:.1?} dB",
                f64::from(rate_hz) / FRAMES as f64,
                harmonics.over_noise_db
            );
            assert!((level_dbfs + 100.0).abs() < 0.5);
            // A spectral line of noise exceeds this limit with a probability of 1 in 10,000.
            assert!(harmonics.loudest_db() < 9.7);
        }
        // This checks the measurement itself: without dither, rounding turns the tone at twice the
        // level into a square wave, which has harmonics.
        let rounded_values: Vec<f64> =
            samples.iter().map(|value| (f64::from(*value) * 32_768.0 * 2.0).round()).collect();
        let harmonics = Harmonics::of(&amplitudes(&rounded_values), line);
        println!("rounded at {rate_hz} Hz: loudest harmonic {:.1} dB over the floor", harmonics.loudest_db());
        assert!(harmonics.loudest_db() > 40.0);
    }
}

/// Returns the largest magnitude of the normalized cross-correlation at lags of up to `max_lag`
/// frames.
pub(crate) fn correlation(left: &[f64], right: &[f64], max_lag: usize) -> f64 {
    let scale = left.len() as f64 * rms(left) * rms(right);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let products = (0..=max_lag)
        .flat_map(|lag| [product(&left[lag..], right), product(left, &right[lag..])])
        .collect::<Vec<f64>>();
    highest_magnitude(&products) / scale
}

#[test]
fn the_errors_of_the_channels_are_not_correlated_and_depend_only_on_the_seed() {
    const FRAMES: usize = 1_000_000;
    for shaping in SHAPINGS {
        let (left, right) = (errors(shaping, FRAMES, 0, 0), errors(shaping, FRAMES, 0, 1));
        let correlation = correlation(&left, &right, 0);
        println!(
            "{shaping:?}: correlation of left and right {correlation:.5}, noise {:.3} LSB RMS",
            rms(&left)
        );
        assert!(correlation < 0.01);
        assert!(left == errors(shaping, FRAMES, 0, 0));
        assert!(left != errors(shaping, FRAMES, 1, 0));
    }
}

/// Returns |1 - H|^2 at a frequency in cycles per frame.
fn noise_gain(shaping: NoiseShaping, cycles: f64) -> f64 {
    let (mut real, mut imaginary) = (1.0, 0.0);
    for (delay, tap) in (1..).zip(published_taps(shaping)) {
        let angle = TAU * cycles * f64::from(delay);
        real -= tap * libm::cos(angle);
        imaginary += tap * libm::sin(angle);
    }
    real * real + imaginary * imaginary
}

#[test]
fn the_spectrum_of_the_error_has_the_response_of_the_filter() {
    const SEGMENT: usize = 1_024;
    const FRAMES: usize = 4_000_000;
    let sine: Vec<f32> = tone(0.011, 0.0, FRAMES).iter().map(|value| (0.25 * value) as f32).collect();
    for (signal, samples) in [("silence", vec![0.0; FRAMES]), ("a sine of -12 dBFS", sine)] {
        for shaping in SHAPINGS {
            let steps = quantized(&mut quantizer(16, shaping, 3, 0), &samples);
            let exact_values = samples.iter().map(|sample| f64::from(*sample) * 32_768.0);
            let error: Vec<f64> =
                steps.iter().zip(exact_values).map(|(step, exact_values)| step - exact_values).collect();
            let density = power_density(&error, SEGMENT);
            let (mut worst_db, mut lowest_db, mut highest_db) = (0.0_f64, f64::MAX, f64::MIN);
            for (line, power) in density.iter().enumerate() {
                let expected = 0.25 * noise_gain(shaping, line as f64 / SEGMENT as f64);
                worst_db = worst_db.max((10.0 * libm::log10(power / expected)).abs());
                lowest_db = lowest_db.min(10.0 * libm::log10(expected / 0.25));
                highest_db = highest_db.max(10.0 * libm::log10(expected / 0.25));
            }
            println!(
                "{shaping:?}, {signal}: all {} lines within {worst_db:.2} dB of |1 - H|^2, \
                 which goes from {lowest_db:.1} to {highest_db:.1} dB",
                density.len()
            );
            assert!(worst_db <= 1.0);
        }
    }
}

/// Returns signals beyond full scale with their names.
fn overloads() -> Vec<(&'static str, Vec<f32>)> {
    let single = |value| vec![0.0, value, 0.0];
    vec![
        ("a sine of +18 dBFS", tone(0.013, 0.0, 100_000).iter().map(|value| (8.0 * value) as f32).collect()),
        ("a constant of +2", vec![2.0; 100_000]),
        ("a constant of -2", vec![-2.0; 100_000]),
        ("a constant of 1e30", vec![1e30; 100_000]),
        ("one infinity", single(f32::INFINITY)),
        ("one minus infinity", single(f32::NEG_INFINITY)),
        ("one NaN", single(f32::NAN)),
        ("one largest finite value", single(f32::MAX)),
    ]
}

#[test]
fn after_an_overload_the_error_has_its_usual_bounds_from_the_first_frame_on() {
    for bits in BITS {
        for shaping in SHAPINGS {
            let (mut largest, mut worst_rms) = (0.0_f64, expected_rms(shaping));
            for (name, loud) in overloads() {
                let mut quantizer = quantizer(bits, shaping, 5, 0);
                let clipped_values = quantized(&mut quantizer, &loud);
                let full_scale = f64::from(full_scale_steps(bits));
                assert!(
                    clipped_values.iter().all(|step| (-full_scale..full_scale).contains(step)),
                    "{name}: a step is outside the range"
                );
                let clipped_before = quantizer.clipped_samples();
                let silent_output = quantized(&mut quantizer, &vec![0.0; 100_000]);
                largest = largest.max(highest_magnitude(&silent_output));
                assert!(largest <= largest_error(shaping), "{bits} bits, {shaping:?} after {name}");
                let deviation = |rms: f64| (rms / expected_rms(shaping) - 1.0).abs();
                worst_rms = if deviation(rms(&silent_output)) > deviation(worst_rms) {
                    rms(&silent_output)
                } else {
                    worst_rms
                };
                assert!(
                    deviation(worst_rms) < 0.02,
                    "{bits} bits, {shaping:?}: {worst_rms} LSB RMS after {name}"
                );
                assert_eq!(quantizer.clipped_samples(), clipped_before);
            }
            println!(
                "{bits} bits, {shaping:?}: {worst_rms:.3} LSB RMS after the worst overload, expected {:.3}; \
                 largest error {largest:.1} of {:.1} LSB",
                expected_rms(shaping),
                largest_error(shaping)
            );
        }
    }
}

#[test]
fn rates_without_a_filter_have_white_noise_and_report_it() {
    for sample_rate_hz in [32_000, 44_100, 48_000, 88_200, 96_000, 192_000] {
        for requested_shaping in SHAPED {
            let bits = 16;
            let config =
                QuantizerConfig { bits, shaping: requested_shaping, sample_rate_hz, seed: 2, channel: 0 };
            let mut quantizer = QuantizerProcessor::new(config);
            let actual = quantizer.shaping();
            let expected =
                if matches!(sample_rate_hz, 44_100 | 48_000) { requested_shaping } else { NoiseShaping::Off };
            let errors = quantized(&mut quantizer, &vec![0.0; 200_000]);
            let rms = rms(&errors);
            println!("{sample_rate_hz} Hz, {requested_shaping:?} requested: {actual:?}, {rms:.3} LSB RMS");
            assert_eq!(actual, expected);
            assert!((rms / expected_rms(expected) - 1.0).abs() < 0.02);
            let plain_config = QuantizerConfig { shaping: NoiseShaping::Off, ..config };
            let white = quantized(&mut QuantizerProcessor::new(plain_config), &vec![0.0; 200_000]);
            assert_eq!(errors == white, actual == NoiseShaping::Off);
        }
    }
}
