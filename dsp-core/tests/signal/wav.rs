//! Tests of the dither in a written WAV file, after the limiter of the mix.

use std::io::Cursor;

use dsp_core::dither::NoiseShaping;
use dsp_core::limiter::{LimiterConfig, LimiterProcessor, MIX_CEILING_DBFS};
use dsp_core::resample::resample;
use dsp_core::wav::{SampleEncoder, SampleFormat, WavWriter};

use crate::dither::{SHAPINGS, correlation, largest_error};
use crate::spectrum::{db, rms, tone};

/// Integer sample formats and the number of steps of their full scale.
const INTEGERS: [(SampleFormat, f64); 3] =
    [(SampleFormat::Pcm8, 128.0), (SampleFormat::Pcm16, 32_768.0), (SampleFormat::Pcm24, 8_388_608.0)];

/// The content of a stereo file, with samples in quantization steps.
struct WrittenFile {
    steps: [Vec<f64>; 2],
    clipped_samples: u64,
}

/// Writes a stereo file and reads it again.
fn write_and_read(
    rate_hz: u32,
    format: SampleFormat,
    shaping: NoiseShaping,
    [left, right]: [&[f32]; 2],
) -> WrittenFile {
    let mut file = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut file, rate_hz, format, shaping, 1).unwrap();
    assert_eq!(SampleEncoder::new(format, rate_hz, shaping, 1).shaping(), shaping);
    for (left, right) in left.chunks(512).zip(right.chunks(512)) {
        writer.write(left, right).unwrap();
    }
    let clipped_samples = writer.clipped_samples();
    writer.finish().unwrap();
    let mut reader = hound::WavReader::new(Cursor::new(file.into_inner())).unwrap();
    let samples: Vec<f64> = reader.samples::<i32>().map(|step| f64::from(step.unwrap())).collect();
    let steps = [0, 1].map(|channel| samples.iter().skip(channel).step_by(2).copied().collect());
    WrittenFile { steps, clipped_samples }
}

fn errors(steps: &[f64], samples: &[f32], full_scale: f64) -> Vec<f64> {
    let exact_values = samples.iter().map(|sample| f64::from(*sample) * full_scale);
    steps.iter().zip(exact_values).map(|(step, exact_values)| step - exact_values).collect()
}

/// Returns noise, a slow tone with long peaks and a square wave. All are 12 dB above full scale,
/// and limited by the limiter of the mix.
fn limited(rate_hz: u32) -> [Vec<f32>; 2] {
    let mut state = 1_u32;
    let noise = core::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / 8_388_608.0 - 1.0
    });
    let tone = tone(0.000_7, 0.0, 100_000);
    let square = tone.iter().map(|value| value.signum());
    let signal = noise.take(100_000).chain(tone.iter().copied()).chain(square);
    let mut left: Vec<f32> = signal.map(|value| (4.0 * value) as f32).collect();
    let mut right: Vec<f32> = left.iter().map(|value| -value).collect();
    LimiterProcessor::new(LimiterConfig::for_mix(rate_hz)).process(&mut left, &mut right);
    [left, right]
}

#[test]
fn the_ceiling_of_the_mix_leaves_headroom_for_shaped_dither() {
    for rate_hz in [44_100, 48_000] {
        let channels = limited(rate_hz);
        let ceiling = channels.iter().flatten().fold(0.0_f64, |peak, value| peak.max(f64::from(value.abs())));
        for (format, full_scale) in INTEGERS {
            for shaping in SHAPINGS {
                let file = write_and_read(rate_hz, format, shaping, [&channels[0], &channels[1]]);
                let peak = file.steps.iter().flatten().fold(0.0_f64, |peak, step| peak.max(step.abs()));
                let largest = [0, 1]
                    .map(|channel| errors(&file.steps[channel], &channels[channel], full_scale))
                    .iter()
                    .flatten()
                    .fold(0.0_f64, |largest, error| largest.max(error.abs()));
                println!(
                    "{format:?}, {shaping:?} at {rate_hz} Hz: limited to {:.2} dBFS, {:.1} LSB; peak in the file {peak} \
                     of {full_scale}; largest error {largest:.1} of {:.1} LSB; {} clipped samples",
                    db(ceiling),
                    ceiling * full_scale,
                    largest_error(shaping),
                    file.clipped_samples
                );
                assert!((db(ceiling) + 3.0).abs() < 0.001);
                assert_eq!(file.clipped_samples, 0);
                assert!(largest <= largest_error(shaping));
                assert!(peak <= ceiling * full_scale + largest_error(shaping));
                // Even the worst possible signal does not clip, even with 8 bits.
                assert!(ceiling * full_scale + largest_error(shaping) < full_scale - 1.0);
                // The signal in the file reaches the ceiling.
                assert!(peak >= ceiling * full_scale - 1.5);
            }
        }
    }
}

#[test]
fn the_ceiling_leaves_headroom_after_a_rate_conversion() {
    // A render is limited at the engine's rate and converted. Because the conversion raises peaks,
    // it is limited again before dithering.
    for (engine_hz, file_hz) in [(44_100, 48_000), (48_000, 44_100), (96_000, 44_100), (96_000, 48_000)] {
        let [left, right] = limited(engine_hz);
        let mut resampled_channels = resample(engine_hz, file_hz, &[&left, &right]).unwrap();
        let peak_dbfs =
            |values: &[f32]| db(values.iter().fold(0.0, |peak: f64, value| peak.max(f64::from(value.abs()))));
        let raised_dbfs = peak_dbfs(&resampled_channels[0]);
        let [left, right] = &mut resampled_channels[..] else { unreachable!("two channels") };
        LimiterProcessor::new(LimiterConfig::for_mix(file_hz)).process(left, right);
        let limited_dbfs = peak_dbfs(&resampled_channels[0]);
        println!(
            "{engine_hz} to {file_hz} Hz: {raised_dbfs:.2} dBFS converted, {limited_dbfs:.2} dBFS limited"
        );
        assert!(raised_dbfs > MIX_CEILING_DBFS + 0.5 && limited_dbfs <= MIX_CEILING_DBFS + 1e-5);
        for shaping in SHAPINGS {
            let file = write_and_read(
                file_hz,
                SampleFormat::Pcm16,
                shaping,
                [&resampled_channels[0], &resampled_channels[1]],
            );
            assert_eq!(file.clipped_samples, 0, "{engine_hz} to {file_hz} Hz, {shaping:?}");
        }
    }
}

#[test]
fn a_signal_at_full_scale_clips_when_it_is_dithered() {
    // This checks that the tests above would find clipped samples.
    let ceiling = dsp_core::gain::from_db(MIX_CEILING_DBFS);
    let channels =
        limited(48_000).map(|channel| channel.iter().map(|value| value / ceiling).collect::<Vec<_>>());
    for shaping in SHAPINGS {
        let file = write_and_read(48_000, SampleFormat::Pcm16, shaping, [&channels[0], &channels[1]]);
        println!("{shaping:?} at full scale: {} clipped samples", file.clipped_samples);
        assert!(file.clipped_samples > 0);
    }
}

#[test]
fn the_errors_of_left_and_right_in_a_file_are_not_correlated() {
    const FRAMES: usize = 500_000;
    // Both channels have the same signal, so only the dither differs.
    let samples: Vec<f32> = tone(0.017, 0.0, FRAMES).iter().map(|value| (0.1 * value) as f32).collect();
    for (format, full_scale) in INTEGERS {
        for shaping in SHAPINGS {
            let file = write_and_read(44_100, format, shaping, [&samples, &samples]);
            let [left, right] = file.steps.map(|steps| errors(&steps, &samples, full_scale));
            let without_lag = correlation(&left, &right, 0);
            let with_lag = correlation(&left, &right, 16);
            println!(
                "{format:?}, {shaping:?}: correlation of the errors of left and right {without_lag:.5}, \
                 {with_lag:.5} at lags of up to 16 frames; {:.3} and {:.3} LSB RMS",
                rms(&left),
                rms(&right)
            );
            // A limit of 0.01 is seven standard deviations of the correlation of white noise.
            assert!(without_lag < 0.01 && with_lag < 0.02);
        }
    }
}
