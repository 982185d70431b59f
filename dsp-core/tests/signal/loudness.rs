//! Loudness: the cases of EBU Tech 3341 (table 1) and Tech 3342, each made here as it is described.
//! Tones are 1 kHz, in phase on all channels; levels are peaks in dBFS.

use dsp_core::loudness::{ChannelLayout, Loudness, LoudnessMeter};

use crate::spectrum::tone;

const RATE_HZ: u32 = 48_000;
/// What Tech 3341 allows, in LU.
pub(crate) const TOLERANCE_LU: f64 = 0.1;

pub(crate) fn frames(secs: f64) -> usize {
    libm::round(secs * f64::from(RATE_HZ)) as usize
}

/// One channel of parts: seconds and dBFS; minus infinity is silence.
pub(crate) fn parts(parts: &[(f64, f64)]) -> Vec<f32> {
    let total: usize = parts.iter().map(|(secs, _)| frames(*secs)).sum();
    let mut signal = tone(1_000.0 / f64::from(RATE_HZ), 0.0, total);
    let mut at = 0;
    for (secs, level_dbfs) in parts {
        let end = at + frames(*secs);
        for value in &mut signal[at..end] {
            *value *= libm::exp10(level_dbfs / 20.0);
        }
        at = end;
    }
    signal.into_iter().map(|value| value as f32).collect()
}

pub(crate) const SILENCE: f64 = f64::NEG_INFINITY;

fn measured(channel: &[f32]) -> Loudness {
    let mut meter = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
    meter.add(&[channel, channel]);
    meter.loudness()
}

#[track_caller]
pub(crate) fn assert_lufs(case: &str, measured: f64, expected: f64) {
    println!("{case}: {measured:.3} LUFS");
    assert!((measured - expected).abs() <= TOLERANCE_LU, "{case}: {measured}, not {expected} LUFS");
}

#[test]
fn cases_1_and_2_steady_tones() {
    for (case, level) in [(1, -23.0), (2, -33.0)] {
        let signal = parts(&[(20.0, level)]);
        let mut meter = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
        meter.add(&[&signal, &signal]);
        assert_lufs(&format!("3341-{case} M"), meter.momentary_lufs(), level);
        assert_lufs(&format!("3341-{case} S"), meter.short_term_lufs(), level);
        assert_lufs(&format!("3341-{case} I"), meter.loudness().integrated_lufs, level);
    }
}

#[test]
fn the_first_case_at_other_rates() {
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
fn cases_3_to_5_gates() {
    let case_3 = [(10.0, -36.0), (60.0, -23.0), (10.0, -36.0)];
    let case_4 = [(10.0, -72.0), (10.0, -36.0), (60.0, -23.0), (10.0, -36.0), (10.0, -72.0)];
    let case_5 = [(20.0, -26.0), (20.1, -20.0), (20.0, -26.0)];
    for (case, signal) in [(3, &case_3[..]), (4, &case_4), (5, &case_5)] {
        assert_lufs(&format!("3341-{case} I"), measured(&parts(signal)).integrated_lufs, -23.0);
    }
}

#[test]
fn case_6_surround() {
    let [front, centre, back] = [-28.0, -24.0, -30.0].map(|level| parts(&[(20.0, level)]));
    let loud = parts(&[(20.0, 0.0)]);
    let mut five = LoudnessMeter::new(RATE_HZ, ChannelLayout::FiveZero).unwrap();
    five.add(&[&front, &front, &centre, &back, &back]);
    assert_lufs("3341-6 I, 5.0", five.loudness().integrated_lufs, -23.0);
    // What is below the range of hearing's centre does not count, however loud.
    let mut six = LoudnessMeter::new(RATE_HZ, ChannelLayout::FiveOne).unwrap();
    six.add(&[&front, &front, &centre, &loud, &back, &back]);
    assert_lufs("3341-6 I, 5.1", six.loudness().integrated_lufs, -23.0);
    assert!(six.true_peak_dbtp(3).is_some_and(|peak| peak.abs() < 0.01));
    assert!(six.true_peak_dbtp(2).is_some_and(|peak| (peak + 24.0).abs() < 0.01));
    assert_eq!(six.true_peak_dbtp(6), None);
}

/// The lowest and highest of a reading every 10 ms from a time in seconds on.
fn readings(channel: &[f32], from_secs: f64, read: impl Fn(&LoudnessMeter) -> f64) -> (f64, f64) {
    let mut meter = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
    let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
    let step = frames(0.01);
    for (number, piece) in channel.chunks(step).enumerate() {
        meter.add(&[piece, piece]);
        if (number + 1) * step >= frames(from_secs) {
            lowest = lowest.min(read(&meter));
            highest = highest.max(read(&meter));
        }
    }
    (lowest, highest)
}

#[test]
fn cases_9_and_12_alternating_levels() {
    let case_9 = parts(&[(1.34, -20.0), (1.66, -30.0)].repeat(5));
    let (lowest, highest) = readings(&case_9, 3.0, LoudnessMeter::short_term_lufs);
    assert_lufs("3341-9 lowest S", lowest, -23.0);
    assert_lufs("3341-9 highest S", highest, -23.0);
    let case_12 = parts(&[(0.18, -20.0), (0.22, -30.0)].repeat(25));
    let (lowest, highest) = readings(&case_12, 1.0, LoudnessMeter::momentary_lufs);
    assert_lufs("3341-12 lowest M", lowest, -23.0);
    assert_lufs("3341-12 highest M", highest, -23.0);
}

#[test]
fn cases_10_and_13_a_tone_after_silence_of_any_length() {
    for i in 0..20 {
        let signal = parts(&[(f64::from(i) * 0.15, SILENCE), (3.0, -23.0), (1.0, SILENCE)]);
        assert_lufs(&format!("3341-10-{i} max S"), measured(&signal).max_short_term_lufs, -23.0);
        let signal = parts(&[(f64::from(i) * 0.02, SILENCE), (0.4, -23.0), (1.0, SILENCE)]);
        assert_lufs(&format!("3341-13-{i} max M"), measured(&signal).max_momentary_lufs, -23.0);
    }
}

#[test]
fn cases_11_and_14_rising_tones_between_silences() {
    let mut short_term = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
    let mut momentary = LoudnessMeter::new(RATE_HZ, ChannelLayout::Stereo).unwrap();
    for i in 0..20 {
        let (before, level) = (f64::from(i), -38.0 + f64::from(i));
        let signal = parts(&[(before * 0.15, SILENCE), (3.0, level), (3.0 - before * 0.15, SILENCE)]);
        short_term.add(&[&signal, &signal]);
        assert_lufs(&format!("3341-11-{i} max S"), short_term.loudness().max_short_term_lufs, level);
        let signal = parts(&[(before * 0.02, SILENCE), (0.4, level), (0.4 - before * 0.02, SILENCE)]);
        momentary.add(&[&signal, &signal]);
        assert_lufs(&format!("3341-14-{i} max M"), momentary.loudness().max_momentary_lufs, level);
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
        let range_lu = measured(&parts(&segments)).range_lu;
        println!("3342-{case}: LRA {range_lu:.2} LU");
        assert!((range_lu - expected).abs() <= 1.0, "case {case}");
    }
}
