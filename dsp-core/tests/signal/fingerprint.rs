//! Computes one hash of the output of resampling, dither and the meters. It must be the same on
//! every machine and in a browser, where `dsp-wasm/tests/browser.rs` computes it.

use dsp_core::dither::{NoiseShaping, QuantizerConfig, QuantizerProcessor};
use dsp_core::meters::MasterMeter;
use dsp_core::resample::resample;
use dsp_core::true_peak::TruePeakMeter;

/// The expected hash. Update it when a change of these computations is intended.
pub(crate) const EXPECTED: u64 = 0xe87f_7c25_b160_bab1;

/// Returns noise between -1 and 1 from a linear congruential generator.
fn noise(frames: usize) -> Vec<f32> {
    let mut state = 1_u32;
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// Returns a hash of words: FNV-1a with words instead of bytes.
fn hash_of(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Returns the bits of the master meter's readings for noise that differs between the channels.
fn meter_words(rate_hz: u32, noise: &[f32]) -> Vec<u64> {
    let mut meter = MasterMeter::new(rate_hz);
    for _ in 0..rate_hz / 10_000 {
        let half = noise.len() / 2;
        meter.process([&noise[..half], &noise[half..]], true);
        meter.process([&noise[half..], &noise[100..half + 100]], true);
    }
    let readings = meter.read();
    let loudness = [readings.momentary_lufs, readings.short_term_lufs, readings.integrated_lufs];
    let other_readings = [readings.true_peak_dbtp, readings.sample_peak_dbfs, readings.correlation];
    let all_readings = [&loudness[..], &other_readings, &readings.rms_db, &readings.spectrum_db].concat();
    all_readings.into_iter().map(f64::to_bits).collect()
}

/// Computes the hash of the output of resampling, dither and the meters.
pub(crate) fn computed() -> u64 {
    let single_block = noise(6_000);
    let double: Vec<f64> = single_block.iter().map(|value| f64::from(*value)).collect();
    let mut words = Vec::new();
    for (input_hz, output_hz) in [(44_100, 48_000), (96_000, 44_100), (48_000, 96_000)] {
        let singles = resample(input_hz, output_hz, &[&single_block, &single_block]).unwrap();
        words.extend(singles.iter().flatten().map(|value| u64::from(value.to_bits())));
        let doubles = resample(input_hz, output_hz, &[&double]).unwrap();
        words.extend(doubles.iter().flatten().map(|value| value.to_bits()));
    }
    for rate_hz in [44_100, 96_000] {
        let mut meter = TruePeakMeter::new(rate_hz);
        meter.process(&single_block);
        words.push(u64::from(meter.true_peak().to_bits()));
        words.extend(meter_words(rate_hz, &single_block));
        let mut quantizer = QuantizerProcessor::new(QuantizerConfig {
            bits: 16,
            shaping: NoiseShaping::Wannamaker,
            sample_rate_hz: rate_hz,
            seed: 1,
            channel: 0,
        });
        let mut steps = vec![0; single_block.len()];
        quantizer.process(&single_block, &mut steps);
        words.extend(steps.iter().map(|step| u64::from(step.cast_unsigned())));
    }
    hash_of(words.into_iter())
}
