//! Tests of the loudness meter for rendered files, with the cases of EBU Tech 3341 (table 1) and
//! Tech 3342. The signals are generated from their descriptions.

use dsp_core::loudness::{ChannelLayout, LoudnessMeter};

use ebur128::{EbuR128, Mode};

use crate::ebu::{self, RATE_HZ, assert_dbtp, assert_lufs, parts};
use crate::spectrum::tone;

#[test]
fn cases_1_and_2_steady_tones() {
    ebu::steady_tones::<LoudnessMeter>();
}

#[test]
fn case_1_at_other_sample_rates() {
    for rate_hz in [44_100, 96_000] {
        let signal: Vec<f32> = tone(1_000.0 / f64::from(rate_hz), 0.0, 20 * rate_hz as usize)
            .iter()
            .map(|value| (libm::exp10(-23.0 / 20.0) * value) as f32)
            .collect();
        let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo).unwrap();
        meter.add(&[&signal, &signal]);
        let loudness = meter.loudness();
        assert_lufs(&format!("3341-1 I at {rate_hz} Hz"), loudness.integrated_lufs, -23.0);
        assert_lufs(&format!("3341-1 max S at {rate_hz} Hz"), loudness.max_short_term_lufs, -23.0);
        assert!((loudness.sample_peak_dbfs + 23.0).abs() < 0.01 && loudness.range_lu < 0.2, "{loudness:?}");
    }
}

#[test]
fn cases_3_to_5_gate_the_integrated_loudness() {
    ebu::gates::<LoudnessMeter>();
}

#[test]
fn case_6_weights_the_channels_of_surround_sound() {
    let [front, centre, back] = [-28.0, -24.0, -30.0].map(|level| parts(&[(20.0, level)]));
    let loud = parts(&[(20.0, 0.0)]);
    let mut five = LoudnessMeter::new(RATE_HZ, ChannelLayout::FiveZero).unwrap();
    five.add(&[&front, &front, &centre, &back, &back]);
    assert_lufs("3341-6 I, 5.0", five.loudness().integrated_lufs, -23.0);
    // The loud LFE channel does not change the loudness.
    let mut six = LoudnessMeter::new(RATE_HZ, ChannelLayout::FiveOne).unwrap();
    six.add(&[&front, &front, &centre, &loud, &back, &back]);
    assert_lufs("3341-6 I, 5.1", six.loudness().integrated_lufs, -23.0);
    assert!(six.true_peak_dbtp(3).is_some_and(|peak| peak.abs() < 0.01));
    assert!(six.true_peak_dbtp(2).is_some_and(|peak| (peak + 24.0).abs() < 0.01));
    assert_eq!(six.true_peak_dbtp(6), None);
}

#[test]
fn cases_9_and_12_alternating_levels() {
    ebu::alternating_levels::<LoudnessMeter>();
}

#[test]
fn cases_10_and_13_a_tone_after_silence_of_any_length() {
    ebu::tones_after_silence::<LoudnessMeter>();
}

#[test]
fn cases_11_and_14_rising_tones_between_silences() {
    ebu::rising_tones::<LoudnessMeter>();
}

#[test]
fn cases_15_to_23_true_peaks() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for case in ebu::peak_cases(rate_hz) {
            let signal: Vec<f32> = case.signal.iter().map(|value| *value as f32).collect();
            let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo).unwrap();
            meter.add(&[&signal, &signal]);
            let name = format!("3341-{} at {rate_hz} Hz, finished", case.number);
            assert_dbtp(&name, meter.loudness().true_peak_dbtp, case.expected_dbtp);
        }
    }
}

#[test]
fn loudness_ranges_of_tech_3342() {
    let cases: [(&[f64], f64); 4] = [
        (&[-20.0, -30.0], 10.0),
        (&[-20.0, -15.0], 5.0),
        (&[-40.0, -20.0], 20.0),
        (&[-50.0, -35.0, -20.0, -35.0, -50.0], 15.0),
    ];
    for (case, (levels, expected)) in (1..).zip(cases) {
        let segments: Vec<(f64, f64)> = levels.iter().map(|level| (20.0, *level)).collect();
        let signal = parts(&segments);
        let mut meter = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
        meter.add(&[&signal, &signal]);
        let range_lu = meter.loudness().range_lu;
        println!("3342-{case}: LRA {range_lu:.2} LU");
        assert!((range_lu - expected).abs() <= 1.0, "3342-{case}: {range_lu} LU instead of {expected} LU");
    }
}

#[test]
fn the_loudness_is_that_of_the_ebur128_crate() {
    for (rate_hz, seed) in [(44_100, 1_u32), (48_000, 2), (96_000, 3)] {
        // Noise in steps of half a second, at levels between -40 and 0 dB that differ by channel.
        let mut state = seed;
        let mut noise = |gain: f32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            gain * ((state >> 8) as f32 / 8_388_608.0 - 1.0)
        };
        let gain = |step: u32, factor: u32| libm::exp10f(-2.0 * ((step * factor) % 11) as f32 / 10.0);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for step in 0..60 {
            for _ in 0..rate_hz / 2 {
                left.push(noise(gain(step, 3)));
                right.push(noise(gain(step, 5)));
            }
        }
        let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo).unwrap();
        let modes = Mode::I | Mode::LRA;
        let mut reference = EbuR128::new(2, rate_hz, modes).unwrap();
        let (mut momentary, mut short_term) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let tenth = rate_hz as usize / 100;
        for (left, right) in left.chunks(tenth).zip(right.chunks(tenth)) {
            meter.add(&[left, right]);
            reference.add_frames_planar_f32(&[left, right]).unwrap();
            momentary = momentary.max(reference.loudness_momentary().unwrap());
            short_term = short_term.max(reference.loudness_shortterm().unwrap());
        }
        let measured_loudness = meter.loudness();
        for (name, measured_loudness, expected, tolerance) in [
            ("integrated", measured_loudness.integrated_lufs, reference.loudness_global().unwrap(), 1e-6),
            ("range", measured_loudness.range_lu, reference.loudness_range().unwrap(), 1e-6),
            ("momentary", measured_loudness.max_momentary_lufs, momentary, 1e-6),
            ("short-term", measured_loudness.max_short_term_lufs, short_term, 1e-6),
        ] {
            println!("{name} at {rate_hz} Hz: {measured_loudness}, {expected}");
            assert!(
                (measured_loudness - expected).abs() < tolerance,
                "{name} at {rate_hz} Hz: {measured_loudness}, {expected}"
            );
        }
    }
}
