//! Tests of the de-esser: its reduction, its frequency range, and signals that it does not change.

use std::f64::consts::PI;

use crate::measure::{
    RATE_HZ, Stereo, amplitude, chain_at, chain_of, check, db, frames_to_63, impulse, noise, process,
    response_at_db, sine, sine_at, tone, tone_at, warped_ratio,
};

/// Returns a tone at half the sample rate. Its magnitude is constant, and a high-pass filter does
/// not change it.
fn highest_tone(level_db: f64, frames: usize) -> Stereo {
    let value = amplitude(level_db) as f32;
    let values: Vec<f32> = (0..frames).map(|frame| if frame % 2 == 0 { value } else { -value }).collect();
    [values.clone(), values]
}

#[test]
fn the_reduction_matches_the_formula() {
    for (threshold_db, range_db) in [(-30.0, 24.0), (-30.0, 6.0), (-50.0, 12.0), (-10.0, 24.0)] {
        for level_db in [-60.0, -40.0, -33.0, -31.0, -30.0, -28.0, -27.0, -20.0, -10.0, 0.0] {
            let mut chain = chain_of("de_esser", &[("threshold_db", threshold_db), ("range_db", range_db)]);
            let output = process(&mut chain, &highest_tone(level_db, 9_600));
            // The reduction is one decibel per decibel, with a knee 6 dB wide.
            let over_db: f64 = level_db - threshold_db;
            let unlimited_db =
                if over_db.abs() <= 3.0 { (over_db + 3.0).powi(2) / 12.0 } else { over_db.max(0.0) };
            let label =
                format!("{level_db} dBFS at a threshold of {threshold_db} and a range of {range_db} dB");
            let reduction_db = f64::from(chain.gain_reduction_db(0).unwrap());
            check(&format!("{label}: reduction, dB"), reduction_db, unlimited_db.min(range_db), 2e-3);
            let gain_db = db(f64::from(output[0][9_599])) - level_db;
            check(&format!("{label}: gain, dB"), gain_db, -unlimited_db.min(range_db), 2e-3);
        }
    }
}

#[test]
fn split_mode_is_a_high_shelf() {
    // A loud tone at half the sample rate keeps the gain constant, while a quiet tone measures the
    // response.
    for (rate_hz, range_db) in [(44_100, 12.0), (48_000, 6.0), (48_000, 24.0), (96_000, 12.0)] {
        let settings = [("frequency_hz", 5_000.0), ("threshold_db", -60.0), ("range_db", range_db)];
        let g = amplitude(-range_db);
        for frequency_hz in [50.0, 200.0, 1_000.0, 2_000.0, 4_000.0, 5_000.0, 7_000.0, 10_000.0, 16_000.0] {
            let mut input = highest_tone(-6.0, 48_000);
            let measured_signal = sine_at(rate_hz, frequency_hz, 0.1, 48_000);
            for (input, measured_signal) in input.iter_mut().zip(&measured_signal) {
                input
                    .iter_mut()
                    .zip(measured_signal)
                    .for_each(|(input, measured_signal)| *input += measured_signal);
            }
            let output = process(&mut chain_at(rate_hz, "de_esser", &settings), &input);
            let gain_db = db(tone_at(rate_hz, &output[0][24_000..], frequency_hz).0 / 0.1);
            let w4 = warped_ratio(rate_hz, frequency_hz, 5_000.0).powi(4);
            let expected_db = 0.5 * db((1.0 + g * g * w4) / (1.0 + w4));
            let label = format!("{frequency_hz} Hz at a range of {range_db} dB, {rate_hz} Hz, dB");
            check(&label, gain_db, expected_db, 0.01);
        }
    }
}

#[test]
fn sibilance_is_attenuated_and_vowels_are_not() {
    let settings = [("frequency_hz", 5_000.0), ("threshold_db", -40.0), ("range_db", 24.0)];
    let vowel = sine(200.0, 0.5, 48_000);
    // The comparison skips the start of the tone, which is abrupt and thus has high frequencies.
    let output = process(&mut chain_of("de_esser", &settings), &vowel);
    assert_eq!(output[0][24_000..], vowel[0][24_000..], "a loud low tone changes");

    // The tone of 9 kHz is 20 dB above the threshold, minus the attenuation of the detector's
    // high-pass filter.
    let mut both = sine(9_000.0, 0.1, 48_000);
    let high_pass = warped_ratio(RATE_HZ, 9_000.0, 5_000.0).powi(2)
        / (1.0 + warped_ratio(RATE_HZ, 9_000.0, 5_000.0).powi(4)).sqrt();
    let over_db = 20.0 + db(high_pass);
    for (both, vowel) in both.iter_mut().zip(&vowel) {
        both.iter_mut().zip(vowel).for_each(|(both, vowel)| *both += vowel);
    }
    let mut chain = chain_of("de_esser", &settings);
    let output = process(&mut chain, &both);
    // A peak detector measures slightly less than the peak of a tone.
    check("reduction of 9 kHz, dB", f64::from(chain.gain_reduction_db(0).unwrap()), over_db - 0.3, 0.4);
    let end = &output[0][24_000..];
    let w4 = warped_ratio(RATE_HZ, 9_000.0, 5_000.0).powi(4);
    let g = amplitude(-f64::from(chain.gain_reduction_db(0).unwrap()));
    let expected_db = 0.5 * db((1.0 + g * g * w4) / (1.0 + w4));
    check("gain at 9 kHz, dB", db(tone(end, 9_000.0).0 / 0.1), expected_db, 0.3);
    check("gain at 200 Hz, dB", db(tone(end, 200.0).0 / 0.5), 0.0, 1e-3);
}

#[test]
fn wide_mode_attenuates_all_frequencies() {
    let settings = [("mode", 1.0), ("threshold_db", -60.0), ("range_db", 12.0)];
    let mut input = highest_tone(-6.0, 48_000);
    let low = sine(200.0, 0.1, 48_000);
    for (input, low) in input.iter_mut().zip(&low) {
        input.iter_mut().zip(low).for_each(|(input, low)| *input += low);
    }
    let output = process(&mut chain_of("de_esser", &settings), &input);
    check("gain at 200 Hz, dB", db(tone(&output[0][24_000..], 200.0).0 / 0.1), -12.0, 2e-3);
}

#[test]
fn listen_outputs_the_detector_input() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let settings = [("listen", 1.0), ("frequency_hz", 5_000.0), ("threshold_db", -60.0)];
        let [response, _] = process(&mut chain_at(rate_hz, "de_esser", &settings), &impulse(9_600));
        for frequency_hz in [100.0, 1_000.0, 5_000.0, 12_000.0] {
            let w = warped_ratio(rate_hz, frequency_hz, 5_000.0);
            let expected_db = db(w * w / (1.0 + w.powi(4)).sqrt());
            let measured_db = response_at_db(rate_hz, &response, frequency_hz);
            check(&format!("{frequency_hz} Hz at {rate_hz} Hz, dB"), measured_db, expected_db, 0.01);
        }
    }
}

#[test]
fn attack_and_release_have_their_time_constants() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let settings = [("threshold_db", -40.0), ("range_db", 24.0)];
        let (start, period, end) = (4_800, 9_600, 105_600);
        let mut input = highest_tone(-60.0, end)[0].clone();
        input[start..period].copy_from_slice(&highest_tone(-25.0, period - start)[0]);
        let mut chain = chain_at(rate_hz, "de_esser", &settings);
        let reductions: Vec<f64> = input
            .iter()
            .map(|value| {
                process(&mut chain, &[vec![*value], vec![*value]]);
                f64::from(chain.gain_reduction_db(0).unwrap())
            })
            .collect();
        let frames = |time_ms: f64| time_ms * f64::from(rate_hz) / 1_000.0;
        let (attack, release) =
            (frames_to_63(&reductions, start, period), frames_to_63(&reductions, period, end));
        check(&format!("at {rate_hz} Hz, frames of 0.5 ms attack"), attack, frames(0.5), 0.5);
        check(&format!("at {rate_hz} Hz, frames of 40 ms release"), release, frames(40.0), 5.0);
    }
}

#[test]
fn quiet_input_passes_unchanged() {
    let mut chain = chain_of("de_esser", &[]);
    assert_eq!(chain.latency_frames(), 0);
    let input = noise(0.01, 48_000);
    assert_eq!(process(&mut chain, &input), input);
}

#[test]
fn a_ramp_of_the_frequency_makes_no_steps() {
    // Steps show in the second difference of the output.
    let settings = [("threshold_db", -60.0), ("range_db", 24.0)];
    let mut chain = chain_of("de_esser", &settings);
    process(&mut chain, &sine(1_000.0, 0.5, 9_600));
    chain.automate(0, 1, 1_000.0, 960);
    let [left, _] = process(&mut chain, &sine(1_000.0, 0.5, 2_400));
    let step = left.windows(3).map(|w| f64::from((w[0] - 2.0 * w[1] + w[2]).abs())).fold(0.0, f64::max);
    // The largest second difference of the tone itself.
    let tone_step = 0.5 * (2.0 * PI * 1_000.0 / f64::from(RATE_HZ)).powi(2);
    println!("second difference: {step:.6} of the output, {tone_step:.6} of the tone");
    assert!(step < 1.2 * tone_step);
}
