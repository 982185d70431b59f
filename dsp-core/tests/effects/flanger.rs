//! Tests of the flanger: comb filter, modulation and stereo phase.

use std::f64::consts::TAU;

use crate::measure::{
    RATE_HZ, chain_at, chain_of, check, check_start_position, db, delays_ms, impulse, largest_step,
    mean_period, noise, peak, process, response_db, rms, sine,
};
use dsp_core::effects::effect_kind;

/// Returns the magnitude in decibels of a mix of the input and a delay with feedback.
fn comb_db(frequency_hz: f64, delay_ms: f64, feedback: f64, mix: f64) -> f64 {
    let angle = TAU * frequency_hz * delay_ms / 1e3;
    let (re, im) = (angle.cos(), -angle.sin());
    // The wet signal is D / (1 - feedback D), where D is the delay.
    let (denominator_re, denominator_im) = (1.0 - feedback * re, -feedback * im);
    let square = denominator_re * denominator_re + denominator_im * denominator_im;
    let (wet_re, wet_im) = (
        (re * denominator_re + im * denominator_im) / square,
        (im * denominator_re - re * denominator_im) / square,
    );
    db((1.0 - mix + mix * wet_re).hypot(mix * wet_im))
}

#[test]
fn the_comb_filter_matches_the_formula() {
    for feedback in [-0.8, 0.0, 0.5, 0.95] {
        for (delay_ms, mix) in [(1.0, 0.5), (2.5, 0.3), (0.73, 0.5), (10.0, 1.0)] {
            let parameters =
                [("depth_ms", 0.0), ("delay_ms", delay_ms), ("feedback", feedback), ("mix", mix)];
            let [left, _] = process(&mut chain_of("flanger", &parameters), &impulse(48_000));
            let mut max_error = 0.0_f64;
            for step in 1..60 {
                let frequency_hz = 50.0 * f64::from(step);
                let expected = comb_db(frequency_hz, delay_ms, feedback, mix);
                if expected > -25.0 {
                    max_error = max_error.max((response_db(&left, frequency_hz) - expected).abs());
                }
            }
            check(&format!("{delay_ms} ms, feedback {feedback}, maximum error, dB"), max_error, 0.0, 0.15);
        }
    }
}

#[test]
fn notches_are_at_odd_multiples_of_half_the_inverse_delay() {
    for delay_ms in [0.5, 1.0, 2.77] {
        let parameters = [("depth_ms", 0.0), ("delay_ms", delay_ms), ("feedback", 0.0), ("mix", 0.5)];
        let [left, _] = process(&mut chain_of("flanger", &parameters), &impulse(4_800));
        for notch in 0..3 {
            let expected = (f64::from(notch) + 0.5) * 1e3 / delay_ms;
            let near_frequencies = (-200..=200).map(|step| expected * (1.0 + f64::from(step) * 1e-4));
            let lowest = near_frequencies
                .min_by(|a, b| response_db(&left, *a).total_cmp(&response_db(&left, *b)))
                .unwrap();
            check(&format!("notch {notch} of {delay_ms} ms, Hz"), lowest, expected, 0.002 * expected);
        }
    }
}

#[test]
fn modulation_has_the_set_depth_in_both_channels() {
    let parameters = |stereo_degrees| {
        let settings =
            [("rate_hz", 0.02), ("delay_ms", 1.0), ("depth_ms", 4.0), ("feedback", 0.0), ("mix", 1.0)];
        [&settings[..], &[("stereo_degrees", stereo_degrees)]].concat()
    };
    for (rate_hz, stereo_degrees) in [(48_000, 0.0), (44_100, 90.0), (48_000, 90.0), (96_000, 180.0)] {
        for period in [0.0, 0.25, 0.4, 0.5, 0.75] {
            let mut chain = chain_at(rate_hz, "flanger", &parameters(stereo_degrees));
            chain.reset((period * 50.0 * f64::from(rate_hz)) as u64);
            let output = process(&mut chain, &impulse(2_400));
            for (side, phase_offset) in output.iter().zip([0.0, stereo_degrees / 360.0]) {
                let (moment, sum) =
                    side.iter().enumerate().fold((0.0, 0.0), |(moment, sum), (frame, value)| {
                        (moment + frame as f64 * f64::from(*value), sum + f64::from(*value))
                    });
                let expected = 1.0 + 4.0 * 0.5 * (1.0 - (TAU * (period + phase_offset)).cos());
                let label =
                    format!("delay after {period} periods, {stereo_degrees} degrees, {rate_hz} Hz, ms");
                check(&label, moment / sum * 1e3 / f64::from(rate_hz), expected, 0.01);
            }
        }
    }
}

#[test]
fn the_period_matches_the_rate() {
    for rate_hz in [0.5, 3.0, 5.0] {
        let parameters =
            [("rate_hz", rate_hz), ("delay_ms", 1.0), ("depth_ms", 2.0), ("feedback", 0.0), ("mix", 1.0)];
        let input = sine(1_000.0, 0.5, 5 * RATE_HZ as usize);
        let [left, _] = process(&mut chain_of("flanger", &parameters), &input);
        let delays = &delays_ms(&left)[10..];
        let [lowest, highest] =
            [f64::min, f64::max].map(|choose| delays.iter().copied().reduce(choose).unwrap());
        let secs = 0.01 * mean_period(delays, 0.5 * (lowest + highest));
        check(&format!("period at {rate_hz} Hz, s"), secs, 1.0 / rate_hz, 1e-3 / rate_hz);
        // The extremes of the delay may lie between the centres of two measuring windows.
        let max_missed_ms = 2.0 * (1.0 - (0.005 * TAU * rate_hz).cos());
        check(&format!("sweep at {rate_hz} Hz, ms"), highest - lowest, 2.0, 0.01 + max_missed_ms);
    }
}

#[test]
fn the_output_at_maximum_feedback_is_bounded_and_the_defaults_keep_the_level() {
    for feedback in [-0.95, 0.95] {
        let parameters = [("feedback", feedback), ("rate_hz", 10.0), ("depth_ms", 10.0), ("mix", 1.0)];
        let [left, _] = process(&mut chain_of("flanger", &parameters), &noise(0.5, 4 * RATE_HZ as usize));
        println!("peak at feedback {feedback}: {}", peak(&left));
        assert!(peak(&left) < 0.5 / (1.0 - 0.95));
    }
    let input = noise(0.5, 2 * RATE_HZ as usize);
    let [left, _] = process(&mut chain_of("flanger", &[]), &input);
    check("level at the defaults, dB", db(rms(&left) / rms(&input[0])), -2.0, 2.0);
}

#[test]
fn changes_do_not_click() {
    let kind = effect_kind("flanger").unwrap();
    let [input, _] = sine(300.0, 0.5, RATE_HZ as usize);
    for (id, value) in
        [("rate_hz", 5.0), ("stereo_degrees", 180.0), ("feedback", -0.4), ("mix", 1.0), ("delay_ms", 1.5)]
    {
        let mut chain = chain_of("flanger", &[]);
        let first_output = process(&mut chain, &[input[..24_000].to_vec(), input[..24_000].to_vec()]);
        chain.set_parameter(0, kind.parameter_index(id).unwrap(), value);
        let second_output = process(&mut chain, &[input[24_000..].to_vec(), input[24_000..].to_vec()]);
        let ratio =
            largest_step(&[&first_output[0][2_000..], &second_output[0]].concat()) / largest_step(&input);
        println!("largest step after {id} = {value}: {ratio:.3} of the sine's");
        assert!(ratio < 2.5);
    }
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    check_start_position("flanger", &[]);
    check_start_position("flanger", &[("rate_hz", 3.3), ("feedback", -0.9), ("stereo_degrees", 180.0)]);
}
