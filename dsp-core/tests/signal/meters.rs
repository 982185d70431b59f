//! Tests of the master meter with known signals, and a comparison with the loudness meter for
//! rendered files.

use core::f64::consts::TAU;

use assert_no_alloc::assert_no_alloc;
use dsp_core::loudness::{ChannelLayout, LoudnessMeter};
use dsp_core::meters::{MasterMeter, MasterReadings, SPECTRUM_BANDS};
use realfft::RealFftPlanner;

use crate::ebu::{self, RATE_HZ, TOLERANCE_LU, WatchedMasterMeter, assert_dbtp, assert_lufs, frames, parts};
use crate::spectrum::tone;

fn stereo(left: &[f32], right: &[f32]) -> MasterReadings {
    let mut meter = MasterMeter::new(RATE_HZ);
    assert_no_alloc(|| meter.process([left, right], true));
    meter.read()
}

fn mono(channel: &[f32]) -> MasterReadings {
    stereo(channel, channel)
}

fn sine(frequency_hz: f64, amplitude: f64, rate_hz: u32, secs: f64) -> Vec<f32> {
    let frames = (secs * f64::from(rate_hz)) as usize;
    let signal = tone(frequency_hz / f64::from(rate_hz), 0.0, frames);
    signal.iter().map(|value| (amplitude * value) as f32).collect()
}

/// Returns noise between -1 and 1 from a linear congruential generator.
fn noise(frames: usize, mut state: u64) -> Vec<f64> {
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / 8_388_608.0 - 1.0
    };
    core::iter::repeat_with(next).take(frames).collect()
}

#[test]
fn steady_tones_at_every_rate() {
    for rate_hz in [44_100, 48_000, 96_000, 192_000] {
        for (frequency_hz, level_lufs) in [(1_000.0, -23.0), (1_000.0, -33.0)] {
            let signal = sine(frequency_hz, libm::exp10(level_lufs / 20.0), rate_hz, 10.0);
            let mut meter = MasterMeter::new(rate_hz);
            meter.process([&signal, &signal], true);
            let readings = meter.read();
            assert_lufs(&format!("M at {rate_hz} Hz"), readings.momentary_lufs, level_lufs);
            assert_lufs(&format!("S at {rate_hz} Hz"), readings.short_term_lufs, level_lufs);
            assert_lufs(&format!("I at {rate_hz} Hz"), readings.integrated_lufs, level_lufs);
            assert!((readings.true_peak_dbtp - level_lufs).abs() < 0.05, "{readings:?}");
            assert!((readings.sample_peak_dbfs - level_lufs).abs() < 0.05, "{readings:?}");
            assert!(readings.rms_db.iter().all(|db| (db - level_lufs + 3.01).abs() < 0.02), "{readings:?}");
        }
    }
}

#[test]
fn cases_1_and_2_of_tech_3341_steady_tones() {
    ebu::steady_tones::<WatchedMasterMeter>();
}

#[test]
fn cases_3_to_5_of_tech_3341_gates() {
    ebu::gates::<WatchedMasterMeter>();
}

#[test]
fn cases_9_and_12_of_tech_3341_alternating_levels() {
    ebu::alternating_levels::<WatchedMasterMeter>();
}

#[test]
fn cases_10_and_13_of_tech_3341_a_tone_after_silence_of_any_length() {
    ebu::tones_after_silence::<WatchedMasterMeter>();
}

#[test]
fn cases_11_and_14_of_tech_3341_rising_tones_between_silences() {
    ebu::rising_tones::<WatchedMasterMeter>();
}

#[test]
fn noise_with_changing_levels_has_the_same_loudness_as_in_the_loudness_meter() {
    for (rate_hz, seed) in [(44_100, 1), (48_000, 2), (88_200, 3), (96_000, 4)] {
        // The level of the noise changes between -60 and 0 dB. The channels have different
        // envelopes and spectra.
        let count = 30 * rate_hz as usize;
        let mut last = 0.0;
        let left: Vec<f32> = noise(count, seed)
            .iter()
            .enumerate()
            .map(|(frame, value)| {
                let swell_db = -30.0 - 30.0 * libm::cos(TAU * 0.21 * frame as f64 / f64::from(rate_hz));
                last += 0.05 * (value - last);
                (last * libm::exp10(swell_db / 20.0)) as f32
            })
            .collect();
        let right: Vec<f32> = noise(count, seed + 10)
            .iter()
            .zip(&left)
            .map(|(value, left)| (0.3 * value) as f32 * left.abs())
            .collect();
        let mut reference = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo).unwrap();
        let mut meter = MasterMeter::new(rate_hz);
        let step = rate_hz as usize / 10;
        let (mut worst_momentary, mut worst_short_term) = (0.0_f64, 0.0_f64);
        for (tenth, (left, right)) in left.chunks(step).zip(right.chunks(step)).enumerate() {
            reference.add(&[left, right]);
            meter.process([left, right], true);
            let readings = meter.read();
            if reference.momentary_lufs() > -90.0 {
                worst_momentary =
                    worst_momentary.max((readings.momentary_lufs - reference.momentary_lufs()).abs());
            }
            // In the first 3 s, the reference measures only the signal, and the meter also the
            // silence before it.
            if tenth >= 30 && reference.short_term_lufs() > -90.0 {
                worst_short_term =
                    worst_short_term.max((readings.short_term_lufs - reference.short_term_lufs()).abs());
            }
        }
        let (readings, expected) = (meter.read(), reference.loudness());
        let worst_integrated = (readings.integrated_lufs - expected.integrated_lufs).abs();
        println!(
            "{rate_hz} Hz: difference of M {worst_momentary:.4}, S {worst_short_term:.4}, I {worst_integrated:.4} LU"
        );
        assert!(worst_momentary.max(worst_short_term).max(worst_integrated) < TOLERANCE_LU);
        assert_eq!(readings.true_peak_dbtp, expected.true_peak_dbtp);
        assert_eq!(readings.sample_peak_dbfs, expected.sample_peak_dbfs);
    }
}

#[test]
fn cases_15_to_23_of_tech_3341_true_peaks() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for case in ebu::peak_cases(rate_hz) {
            let signal: Vec<f32> = case.signal.iter().map(|value| *value as f32).collect();
            let silent_input = vec![0.0; signal.len()];
            for (channel, audio) in [("left", [&signal, &silent_input]), ("right", [&silent_input, &signal])]
            {
                let mut meter = MasterMeter::new(rate_hz);
                assert_no_alloc(|| meter.process(audio.map(Vec::as_slice), true));
                let name = format!("3341-{} at {rate_hz} Hz, master, {channel}", case.number);
                assert_dbtp(&name, meter.read().true_peak_dbtp, case.expected_dbtp);
            }
        }
    }
}

#[test]
fn the_correlation_is_1_for_equal_and_minus_1_for_inverted_channels() {
    let [left, right] =
        [1, 2].map(|seed| noise(frames(1.0), seed).iter().map(|value| *value as f32).collect::<Vec<_>>());
    let opposed: Vec<f32> = left.iter().map(|value| -0.3 * value).collect();
    let half: Vec<f32> = left.iter().zip(&right).map(|(left, right)| left + right).collect();
    let silent_input = vec![0.0; left.len()];
    let correlation = |left: &[f32], right: &[f32]| stereo(left, right).correlation;
    assert!((correlation(&left, &left) - 1.0).abs() < 1e-5);
    assert!((correlation(&left, &opposed) + 1.0).abs() < 1e-5);
    // Over 14,400 frames, the correlation of independent noise has a standard deviation of about
    // 0.8 %.
    assert!(correlation(&left, &right).abs() < 0.04);
    assert!((correlation(&left, &half) - libm::sqrt(0.5)).abs() < 0.04);
    assert_eq!(correlation(&left, &silent_input), 0.0);
}

#[test]
fn rms_and_correlation_are_those_of_the_last_300_ms() {
    let signal = parts(&[(1.0, -10.0), (0.29, -30.0)]);
    let readings = mono(&signal);
    let square = (0.01 * 0.1 + 0.29 * 0.001) / 0.3 / 2.0;
    assert!((readings.rms_db[0] - 10.0 * libm::log10(square)).abs() < 0.01, "{readings:?}");
    let later_part = mono(&parts(&[(1.0, -10.0), (0.3, -30.0)]));
    assert!((later_part.rms_db[1] + 33.01).abs() < 0.01, "{later_part:?}");
}

/// Returns the centre frequency of a third-octave band in hertz.
fn center_hz(band: usize) -> f64 {
    1_000.0 * libm::exp10((band as f64 - 17.0) / 10.0)
}

#[test]
fn a_sine_has_its_level_in_one_band_of_the_spectrum() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for band in [0, 1, 3, 9, 10, 11, 17, 24, 30] {
            let signal = sine(center_hz(band), 0.5, rate_hz, 3.0);
            let mut meter = MasterMeter::new(rate_hz);
            meter.process([&signal, &signal], true);
            let levels_db = meter.read().spectrum_db;
            assert!((levels_db[band] + 6.02).abs() < 0.1, "{} Hz: {} dB", center_hz(band), levels_db[band]);
            let other_bands =
                levels_db.iter().enumerate().filter(|(other_band, _)| other_band.abs_diff(band) > 1);
            let loudest_db = other_bands.map(|(_, db)| *db).fold(f64::NEG_INFINITY, f64::max);
            assert!(
                loudest_db < -50.0,
                "{} Hz at {rate_hz} Hz: another band has {loudest_db} dB",
                center_hz(band)
            );
        }
    }
}

/// Returns pink noise from 10 Hz on. Its spectral lines have random phases and amplitudes, and
/// their mean power is inversely proportional to the frequency.
fn pink(seed: u64) -> Vec<f32> {
    const FRAMES: usize = 1 << 22;
    let plan = RealFftPlanner::<f64>::new().plan_fft_inverse(FRAMES);
    let mut spectrum = plan.make_input_vec();
    let random = noise(2 * spectrum.len(), seed);
    let first_bin = 10 * FRAMES / RATE_HZ as usize;
    for (k, (line, random)) in spectrum.iter_mut().zip(random.chunks(2)).enumerate().skip(first_bin) {
        let size = 1.0 / libm::sqrt(k as f64);
        (line.re, line.im) = (size * random[0], size * random[1]);
    }
    // In the spectrum of a real signal, the line at the Nyquist frequency is real.
    spectrum[FRAMES / 2].im = 0.0;
    let mut signal = plan.make_output_vec();
    plan.process(&mut spectrum, &mut signal).expect("lengths fit");
    signal.iter().map(|value| (0.01 * value) as f32).collect()
}

#[test]
fn pink_noise_has_the_same_level_in_all_bands() {
    let signal = [pink(1), pink(2)];
    let mut meter = MasterMeter::new(RATE_HZ);
    let mut powers = [0.0; SPECTRUM_BANDS];
    let step = frames(0.1);
    let mut readings = 0;
    for (left, right) in signal[0].chunks(step).zip(signal[1].chunks(step)) {
        meter.process([left, right], true);
        readings += 1;
        for (sum, db) in powers.iter_mut().zip(meter.read().spectrum_db) {
            *sum += libm::exp10(db / 10.0);
        }
    }
    let levels_db = powers.map(|sum| 10.0 * libm::log10(sum / f64::from(readings)));
    let mean_db = levels_db.iter().sum::<f64>() / SPECTRUM_BANDS as f64;
    let spread_db = levels_db.iter().map(|db| (db - mean_db).abs()).fold(0.0, f64::max);
    println!("pink noise: a mean of {mean_db:.2} dB, with a largest deviation of {spread_db:.2} dB");
    assert!(spread_db < 1.0, "{levels_db:.2?}");
}

#[test]
fn the_spectrum_rises_within_a_quarter_of_a_second_and_falls_within_a_second() {
    let mut meter = MasterMeter::new(RATE_HZ);
    let signal = sine(1_000.0, 1.0, RATE_HZ, 0.25);
    meter.process([&signal, &signal], true);
    let risen_db = meter.read().spectrum_db[17];
    assert!(risen_db > -2.0, "{risen_db} dB after a quarter of a second");
    let silent_input = vec![0.0; frames(1.0)];
    meter.process([&silent_input, &silent_input], true);
    let fallen_db = meter.read().spectrum_db[17];
    assert!(fallen_db < risen_db - 25.0, "{fallen_db} dB a second later");
}

/// Returns the highest true peak read while a signal plays, and checks that it never falls.
fn highest_dbtp(meter: &mut MasterMeter, signal: &[f32]) -> f64 {
    let mut last_dbtp = meter.read().true_peak_dbtp;
    for chunk in signal.chunks(128) {
        meter.process([chunk, chunk], true);
        let read_dbtp = meter.read().true_peak_dbtp;
        assert!(read_dbtp >= last_dbtp, "the true peak falls from {last_dbtp} to {read_dbtp} dBTP");
        last_dbtp = read_dbtp;
    }
    last_dbtp
}

#[test]
fn reading_and_restarting_during_a_tone_do_not_change_the_true_peak() {
    // A meter that treated a reading or a restart as the end of the signal would measure a higher
    // peak.
    for rate_hz in [44_100, 48_000, 96_000] {
        for frequency_hz in [50.0, 100.0, 997.0, 12_000.0] {
            let mut signal = sine(frequency_hz, libm::exp10(-1.0 / 20.0), rate_hz, 2.0);
            let fade_frames = rate_hz as usize / 5;
            for (frame, value) in signal.iter_mut().enumerate().take(fade_frames) {
                *value *= frame as f32 / fade_frames as f32;
            }
            let mut meter = MasterMeter::new(rate_hz);
            let (first_signal, second_signal) = signal.split_at(signal.len() - rate_hz as usize / 2 - 37);
            let mut highest = highest_dbtp(&mut meter, first_signal);
            for chunk in second_signal.chunks(1_013) {
                meter.restart();
                highest = highest.max(highest_dbtp(&mut meter, chunk));
            }
            println!("{frequency_hz} Hz of -1 dBTP at {rate_hz} Hz: at most {highest:.3} dBTP");
            assert!((-1.05..=-0.95).contains(&highest), "{frequency_hz} Hz: {highest} dBTP");
        }
    }
}
