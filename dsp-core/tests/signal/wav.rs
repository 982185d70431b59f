//! Dither in a written file, after the limiter of the mix.

use std::io::Cursor;

use dsp_core::dither::NoiseShaping;
use dsp_core::limiter::{LimiterConfig, LimiterProcessor, MIX_CEILING_DBFS};
use dsp_core::resample::resample;
use dsp_core::wav::{SampleFormat, WavWriter};

use crate::dither::{SHAPINGS, correlation, largest_error};
use crate::spectrum::{db, rms, tone};

const INTEGERS: [(SampleFormat, f64); 3] =
    [(SampleFormat::Pcm8, 128.0), (SampleFormat::Pcm16, 32_768.0), (SampleFormat::Pcm24, 8_388_608.0)];

/// A file of two channels, read back, in steps.
struct Written {
    steps: [Vec<f64>; 2],
    clipped_samples: u64,
}

fn written(rate_hz: u32, format: SampleFormat, shaping: NoiseShaping, [left, right]: [&[f32]; 2]) -> Written {
    let mut file = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut file, rate_hz, format, shaping, 1).unwrap();
    assert_eq!(writer.shaping(), shaping);
    for (left, right) in left.chunks(512).zip(right.chunks(512)) {
        writer.write(left, right).unwrap();
    }
    let clipped_samples = writer.clipped_samples();
    writer.finish().unwrap();
    let mut reader = hound::WavReader::new(Cursor::new(file.into_inner())).unwrap();
    let samples: Vec<f64> = reader.samples::<i32>().map(|step| f64::from(step.unwrap())).collect();
    let steps = [0, 1].map(|channel| samples.iter().skip(channel).step_by(2).copied().collect());
    Written { steps, clipped_samples }
}

fn errors(steps: &[f64], samples: &[f32], full_scale: f64) -> Vec<f64> {
    let wanted = samples.iter().map(|sample| f64::from(*sample) * full_scale);
    steps.iter().zip(wanted).map(|(step, wanted)| step - wanted).collect()
}

/// A signal 12 dB above full scale, limited by the limiter of the mix: noise, a slow tone with long
/// peaks, a square wave.
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
    LimiterProcessor::new(LimiterConfig::mix(rate_hz)).process(&mut left, &mut right);
    [left, right]
}

#[test]
fn the_ceiling_of_the_mix_keeps_head_room_for_dither_and_its_shaping() {
    for rate_hz in [44_100, 48_000] {
        let channels = limited(rate_hz);
        let ceiling = channels.iter().flatten().fold(0.0_f64, |peak, value| peak.max(f64::from(value.abs())));
        for (format, full_scale) in INTEGERS {
            for shaping in SHAPINGS {
                let file = written(rate_hz, format, shaping, [&channels[0], &channels[1]]);
                let peak = file.steps.iter().flatten().fold(0.0_f64, |peak, step| peak.max(step.abs()));
                let largest = [0, 1]
                    .map(|channel| errors(&file.steps[channel], &channels[channel], full_scale))
                    .iter()
                    .flatten()
                    .fold(0.0_f64, |largest, error| largest.max(error.abs()));
                println!(
                    "{format:?}, {shaping:?} at {rate_hz} Hz: limited to {:.2} dBFS, {:.1} LSB; written peak {peak} \
                     of {full_scale}; errors at most {largest:.1} of {:.1} LSB; {} samples clipped",
                    db(ceiling),
                    ceiling * full_scale,
                    largest_error(shaping),
                    file.clipped_samples
                );
                assert!((db(ceiling) + 3.0).abs() < 0.001);
                assert_eq!(file.clipped_samples, 0);
                assert!(largest <= largest_error(shaping));
                assert!(peak <= ceiling * full_scale + largest_error(shaping));
                // Holds for the worst signal too, even in 8 bits.
                assert!(ceiling * full_scale + largest_error(shaping) < full_scale - 1.0);
                // The signal reached the ceiling.
                assert!(peak >= ceiling * full_scale - 1.5);
            }
        }
    }
}

#[test]
fn the_ceiling_keeps_head_room_after_a_rate_conversion() {
    // A render is limited at the engine's rate, converted, and limited again, as conversion raises
    // peaks; then it is dithered.
    for (engine_hz, file_hz) in [(44_100, 48_000), (48_000, 44_100), (96_000, 44_100), (96_000, 48_000)] {
        let [left, right] = limited(engine_hz);
        let mut converted = resample(engine_hz, file_hz, &[&left, &right]).unwrap();
        let peak_dbfs =
            |values: &[f32]| db(values.iter().fold(0.0, |peak: f64, value| peak.max(f64::from(value.abs()))));
        let raised_dbfs = peak_dbfs(&converted[0]);
        let [left, right] = &mut converted[..] else { unreachable!("two channels") };
        LimiterProcessor::new(LimiterConfig::mix(file_hz)).process(left, right);
        let held_dbfs = peak_dbfs(&converted[0]);
        println!("{engine_hz} to {file_hz} Hz: {raised_dbfs:.2}, then {held_dbfs:.2} dBFS");
        assert!(raised_dbfs > MIX_CEILING_DBFS + 0.5 && held_dbfs <= MIX_CEILING_DBFS + 1e-5);
        for shaping in SHAPINGS {
            let file = written(file_hz, SampleFormat::Pcm16, shaping, [&converted[0], &converted[1]]);
            assert_eq!(file.clipped_samples, 0, "{engine_hz} to {file_hz} Hz, {shaping:?}");
        }
    }
}

#[test]
fn without_the_ceiling_there_is_no_head_room() {
    // The same check does find clipped samples in this signal at full scale.
    let ceiling = dsp_core::gain::from_db(MIX_CEILING_DBFS);
    let channels =
        limited(48_000).map(|channel| channel.iter().map(|value| value / ceiling).collect::<Vec<_>>());
    for shaping in SHAPINGS {
        let file = written(48_000, SampleFormat::Pcm16, shaping, [&channels[0], &channels[1]]);
        println!("{shaping:?} at full scale: {} samples clipped", file.clipped_samples);
        assert!(file.clipped_samples > 0);
    }
}

#[test]
fn the_errors_of_left_and_right_in_a_file_are_not_correlated() {
    const FRAMES: usize = 500_000;
    // The same in both channels, so that only the dither differs.
    let samples: Vec<f32> = tone(0.017, 0.0, FRAMES).iter().map(|value| (0.1 * value) as f32).collect();
    for (format, full_scale) in INTEGERS {
        for shaping in SHAPINGS {
            let file = written(44_100, format, shaping, [&samples, &samples]);
            let [left, right] = file.steps.map(|steps| errors(&steps, &samples, full_scale));
            let at_once = correlation(&left, &right, 0);
            let apart = correlation(&left, &right, 16);
            println!(
                "{format:?}, {shaping:?}: correlation of the errors of left and right {at_once:.5}, \
                 {apart:.5} up to 16 frames apart; {:.3} and {:.3} LSB rms",
                rms(&left),
                rms(&right)
            );
            // Seven standard deviations of white noise.
            assert!(at_once < 0.01 && apart < 0.02);
        }
    }
}
