//! Tests of the bit crusher: quantization and sample rate reduction.

use std::f64::consts::PI;

use crate::measure::{
    RATE_HZ, Stereo, chain_of, check, db, noise, peak, process, response_db, rms, sine, tone, warped_ratio,
};

/// Processes input with a number of bits at the full sample rate, so that only quantization changes
/// the signal.
fn crushed(bits: f64, more_parameters: &[(&str, f64)], input: &Stereo) -> Stereo {
    let parameters = [&[("bits", bits), ("rate_hz", 48_000.0)], more_parameters].concat();
    process(&mut chain_of("bit_crusher", &parameters), input)
}

#[test]
fn quantization_steps_match_the_bits() {
    let input = noise(1.0, 10_000);
    for bits in [1.0, 2.5, 4.0, 8.0, 12.0, 16.0] {
        let step = 2_f64.powf(1.0 - bits);
        let output = crushed(bits, &[], &input);
        for (input, output) in input.iter().flatten().zip(output.iter().flatten()) {
            let steps = f64::from(*output) / step;
            assert!((steps - steps.round()).abs() < 1e-2, "{bits} bits: {output} is not a step");
            assert!((f64::from(*input) - f64::from(*output)).abs() <= step * 0.500_1, "{bits} bits");
        }
        let error: Vec<f32> = input[0].iter().zip(&output[0]).map(|(input, output)| input - output).collect();
        if bits > 3.0 {
            // The error is uniformly distributed over a step, so its RMS is the step / sqrt(12).
            let expected = db(step / 12_f64.sqrt());
            check(&format!("noise of {bits} bits, dBFS"), db(rms(&error)), expected, 0.2);
        }
    }
}

#[test]
fn dither_keeps_the_mean_and_is_independent_in_both_channels() {
    // With triangular dither, the mean of the output equals the input, and the power of the error
    // is a quarter of a step squared.
    let input = [vec![0.3 / 128.0; 96_000], vec![0.3 / 128.0; 96_000]];
    let [left, right] = crushed(8.0, &[("dither", 1.0)], &input);
    let mean = left.iter().map(|value| f64::from(*value)).sum::<f64>() / 96_000.0;
    check("mean, steps", mean * 128.0, 0.3, 0.01);
    let error: Vec<f32> = left.iter().map(|value| value - 0.3 / 128.0).collect();
    check("error, steps", rms(&error) * 128.0, 0.5, 0.01);
    let both: f64 =
        left.iter().zip(&right).map(|(l, r)| f64::from(l - 0.3 / 128.0) * f64::from(r - 0.3 / 128.0)).sum();
    check("correlation of the channels", both / 96_000.0 * 128.0 * 128.0 / 0.25, 0.0, 0.02);
}

#[test]
fn silence_has_no_dither() {
    let mut input = noise(0.5, 9_600);
    input.iter_mut().for_each(|side| side[4_800..].fill(0.0));
    let [left, _] = crushed(1.0, &[("dither", 1.0)], &input);
    assert!(peak(&left[..4_800]) > 0.5);
    assert_eq!(peak(&left[4_810..]), 0.0);
}

#[test]
fn samples_are_held_for_a_period_of_the_rate() {
    let input = noise(1.0, 48_000);
    for rate_hz in [12_000.0, 16_000.0, 1_000.0, 10_000.0] {
        let parameters = [("bits", 24.0), ("rate_hz", rate_hz)];
        let [left, _] = process(&mut chain_of("bit_crusher", &parameters), &input);
        let mut held_frame = 0;
        for (frame, value) in left.iter().enumerate() {
            // The bit crusher samples the input at frame 0 and at each frame in which a period
            // ends.
            let periods = |frame: f64| (frame * rate_hz / 48_000.0 + 1e-9).floor();
            if frame == 0 || periods(frame as f64) > periods(frame as f64 - 1.0) {
                held_frame = frame;
            }
            assert!((value - input[0][held_frame]).abs() < 2e-7, "{rate_hz} Hz: frame {frame}");
        }
        let changes = left.windows(2).filter(|pair| pair[0] != pair[1]).count();
        println!("{rate_hz} Hz: {changes} changes in a second");
        assert!((changes as f64 + 1.0 - rate_hz).abs() <= 1.0);
    }
}

#[test]
fn filters_remove_aliases_and_images() {
    let input = sine(7_000.0, 0.5, 48_000);
    let level_db = |anti_alias| {
        let parameters = [("bits", 24.0), ("rate_hz", 8_000.0), ("anti_alias", anti_alias)];
        let [left, _] = process(&mut chain_of("bit_crusher", &parameters), &input);
        db(tone(&left[4_800..], 1_000.0).0 / 0.5)
    };
    // Without filters, 7 kHz has an alias at 1 kHz. With filters, the alias is attenuated by eight
    // poles.
    check("alias without filters, dB", level_db(0.0), -0.22, 0.3);
    let filtered_db = level_db(1.0);
    println!("alias with filters: {filtered_db:.1} dB");
    assert!(filtered_db < -50.0);
    // A tone below half the rate passes, with the sinc response of the sample-and-hold.
    let parameters = [("bits", 24.0), ("rate_hz", 16_000.0), ("anti_alias", 1.0)];
    let [left, _] = process(&mut chain_of("bit_crusher", &parameters), &sine(1_000.0, 0.5, 48_000));
    check("1 kHz at 16 kHz, dB", db(tone(&left[4_800..], 1_000.0).0 / 0.5), -0.056, 0.02);
    println!("its image at 15 kHz: {:.1} dB", db(tone(&left[4_800..], 15_000.0).0 / 0.5));
    assert!(db(tone(&left[4_800..], 15_000.0).0) < -60.0);
}

#[test]
fn filters_are_of_eighth_order_at_two_fifths_of_the_rate() {
    for rate_hz in [8_000.0, 12_000.0, 16_000.0] {
        let filter = |hz: f64| 1.0 / (1.0 + warped_ratio(RATE_HZ, hz, 0.4 * rate_hz).powi(16)).sqrt();
        // The frequency response of the sample-and-hold.
        let held_frames = 48_000.0 / rate_hz;
        let hold = |hz: f64| {
            let angle = PI * hz / 48_000.0;
            (held_frames * angle).sin() / (held_frames * angle.sin())
        };
        let parameters = [("bits", 24.0), ("rate_hz", rate_hz), ("anti_alias", 1.0)];
        for fraction in [0.05, 0.2, 0.35, 0.4, 0.45, 0.55, 0.6] {
            // The output has the tone and its image or alias, mirrored at half the reduced rate.
            let frequency_hz = fraction * rate_hz;
            let input = sine(frequency_hz, 1.0, 48_000);
            let [left, _] = process(&mut chain_of("bit_crusher", &parameters), &input);
            for measured_hz in [frequency_hz, rate_hz - frequency_hz] {
                let expected = filter(frequency_hz) * hold(measured_hz) * filter(measured_hz);
                let label = format!("{frequency_hz} Hz at {rate_hz} Hz, output at {measured_hz} Hz, dB");
                if db(expected) > -90.0 {
                    check(&label, db(tone(&left[4_800..], measured_hz).0), db(expected), 0.02);
                }
            }
        }
    }
}

#[test]
fn mix_is_linear() {
    let input = noise(1.0, 1_000);
    assert_eq!(process(&mut chain_of("bit_crusher", &[("mix", 0.0)]), &input), input);
    let wet = crushed(2.0, &[], &input);
    let half = crushed(2.0, &[("mix", 0.5)], &input);
    for frame in 0..1_000 {
        assert!((half[0][frame] - (wet[0][frame] + input[0][frame]) / 2.0).abs() < 1e-6);
    }
}

#[test]
fn maximum_bits_and_rate_are_transparent() {
    let mut input = vec![0.0; 4_096];
    input[0] = 0.5;
    let [left, _] = crushed(24.0, &[], &[input.clone(), input]);
    check("response at 10 kHz, dB", response_db(&left, 10_000.0), db(0.5), 1e-6);
}
