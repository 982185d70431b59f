//! Tests of the phaser: notches, feedback and modulation.

use std::f64::consts::{PI, TAU};

use crate::measure::{
    RATE_HZ, chain_of, check, check_start_position, db, delays_ms, impulse, largest_step, mean_period, noise,
    peak, process, response_db, rms, sine,
};
use dsp_core::effects::effect_kind;

const STAGES: [i32; 5] = [4, 6, 8, 10, 12];

fn warped(frequency_hz: f64) -> f64 {
    (PI * frequency_hz / f64::from(RATE_HZ)).tan()
}

/// Returns the magnitude in decibels of a mix of the input and a series of all-pass filters. The
/// feedback around the filters has a delay of one frame.
fn formula_db(frequency_hz: f64, stages: i32, all_pass_hz: f64, feedback: f64, mix: f64) -> f64 {
    let phase_shift = -2.0 * f64::from(stages) * (warped(frequency_hz) / warped(all_pass_hz)).atan();
    let frame = -TAU * frequency_hz / f64::from(RATE_HZ);
    let (denominator_re, denominator_im) =
        (1.0 - feedback * (phase_shift + frame).cos(), -feedback * (phase_shift + frame).sin());
    let square = denominator_re * denominator_re + denominator_im * denominator_im;
    let (re, im) = (phase_shift.cos(), phase_shift.sin());
    let (wet_re, wet_im) = (
        (re * denominator_re + im * denominator_im) / square,
        (im * denominator_re - re * denominator_im) / square,
    );
    db((1.0 - mix + mix * wet_re).hypot(mix * wet_im))
}

#[test]
fn the_response_matches_the_formula() {
    for (choice, stages) in STAGES.into_iter().enumerate() {
        for (feedback, mix) in [(0.0, 0.5), (0.7, 0.5), (-0.9, 0.4), (0.95, 1.0)] {
            let parameters = [
                ("stages", choice as f64),
                ("depth_octaves", 0.0),
                ("frequency_hz", 900.0),
                ("feedback", feedback),
                ("mix", mix),
            ];
            let [left, _] = process(&mut chain_of("phaser", &parameters), &impulse(24_000));
            let mut max_error = 0.0_f64;
            for step in 0..60 {
                let frequency_hz = 30.0 * 2f64.powf(f64::from(step) * 0.15);
                let expected = formula_db(frequency_hz, stages, 900.0, feedback, mix);
                if expected > -25.0 {
                    max_error = max_error.max((response_db(&left, frequency_hz) - expected).abs());
                }
            }
            check(&format!("{stages} stages, feedback {feedback}, maximum error, dB"), max_error, 0.0, 0.05);
        }
    }
}

#[test]
fn notches_are_at_a_phase_shift_of_half_a_period() {
    for (choice, stages) in STAGES.into_iter().enumerate() {
        let parameters = [
            ("stages", choice as f64),
            ("depth_octaves", 0.0),
            ("frequency_hz", 1_000.0),
            ("feedback", 0.0),
            ("mix", 0.5),
        ];
        let [left, _] = process(&mut chain_of("phaser", &parameters), &impulse(9_600));
        for notch in 0..stages / 2 {
            let angle = f64::from(2 * notch + 1) * PI / (2.0 * f64::from(stages));
            let expected = (warped(1_000.0) * angle.tan()).atan() * f64::from(RATE_HZ) / PI;
            let near_frequencies = (-100..=100).map(|step| expected * (1.0 + f64::from(step) * 1e-4));
            let lowest = near_frequencies
                .min_by(|a, b| response_db(&left, *a).total_cmp(&response_db(&left, *b)))
                .unwrap();
            check(&format!("notch {notch} of {stages} stages, Hz"), lowest, expected, 0.001 * expected);
            assert!(response_db(&left, lowest) < -50.0, "{} dB", response_db(&left, lowest));
        }
    }
}

#[test]
fn modulation_has_the_set_octaves_in_both_channels() {
    for (period, stereo_degrees) in [(0.0, 0.0), (0.25, 0.0), (0.25, 180.0), (0.125, 90.0), (0.75, 60.0)] {
        let parameters = [
            ("stages", 0.0),
            ("rate_hz", 0.02),
            ("frequency_hz", 1_000.0),
            ("depth_octaves", 1.5),
            ("feedback", 0.0),
            ("stereo_degrees", stereo_degrees),
        ];
        let mut chain = chain_of("phaser", &parameters);
        chain.reset((period * 50.0 * f64::from(RATE_HZ)) as u64);
        let output = process(&mut chain, &impulse(4_800));
        for (side, phase_offset) in output.iter().zip([0.0, stereo_degrees / 360.0]) {
            let all_pass_hz = 1_000.0 * 2f64.powf(1.5 * (TAU * (period + phase_offset)).sin());
            for frequency_hz in [300.0, 1_000.0, 4_000.0] {
                let expected = formula_db(frequency_hz, 4, all_pass_hz, 0.0, 0.5);
                let label = format!("{period} periods, {stereo_degrees} degrees, at {frequency_hz} Hz, dB");
                check(&label, response_db(side, frequency_hz).max(-25.0), expected.max(-25.0), 0.3);
            }
        }
    }
}

#[test]
fn the_period_matches_the_rate() {
    for rate_hz in [0.5, 3.0, 10.0] {
        let parameters = [
            ("stages", 0.0),
            ("rate_hz", rate_hz),
            ("frequency_hz", 1_000.0),
            ("depth_octaves", 1.0),
            ("feedback", 0.0),
            ("mix", 1.0),
        ];
        let input = sine(1_000.0, 0.5, 5 * RATE_HZ as usize);
        let [left, _] = process(&mut chain_of("phaser", &parameters), &input);
        // The phase shift of 1 kHz by the all-pass filters, in periods.
        let phase_shifts = &delays_ms(&left)[10..];
        let [lowest, highest] =
            [f64::min, f64::max].map(|choose| phase_shifts.iter().copied().reduce(choose).unwrap());
        let secs = 0.01 * mean_period(phase_shifts, 0.5 * (lowest + highest));
        check(&format!("period at {rate_hz} Hz, s"), secs, 1.0 / rate_hz, 1e-3 / rate_hz);
        let shift_at = |all_pass_hz| 4.0 / PI * (warped(1_000.0) / warped(all_pass_hz)).atan();
        let expected = shift_at(500.0) - shift_at(2_000.0);
        // The extremes of the phase shift may lie between the centres of two measuring windows.
        let max_missed = expected * (1.0 - (0.005 * TAU * rate_hz).cos());
        check(&format!("sweep at {rate_hz} Hz, periods"), highest - lowest, expected, 0.002 + max_missed);
    }
}

#[test]
fn the_output_at_maximum_feedback_is_bounded_and_the_defaults_keep_the_level() {
    for feedback in [-0.95, 0.95] {
        let parameters = [
            ("feedback", feedback),
            ("rate_hz", 10.0),
            ("depth_octaves", 4.0),
            ("mix", 1.0),
            ("stages", 4.0),
        ];
        let [left, _] = process(&mut chain_of("phaser", &parameters), &noise(0.5, 4 * RATE_HZ as usize));
        println!("peak at feedback {feedback}: {}", peak(&left));
        assert!(peak(&left) < 10.0);
    }
    let input = noise(0.5, 2 * RATE_HZ as usize);
    let [left, _] = process(&mut chain_of("phaser", &[]), &input);
    check("level at the defaults, dB", db(rms(&left) / rms(&input[0])), -2.0, 2.0);
}

#[test]
fn changes_do_not_click() {
    let kind = effect_kind("phaser").unwrap();
    let [input, _] = sine(300.0, 0.5, RATE_HZ as usize);
    for (id, value) in [
        ("stages", 0.0),
        ("stages", 4.0),
        ("stereo_degrees", 180.0),
        ("frequency_hz", 300.0),
        ("feedback", -0.3),
    ] {
        let mut chain = chain_of("phaser", &[]);
        let first_output = process(&mut chain, &[input[..24_007].to_vec(), input[..24_007].to_vec()]);
        chain.set_parameter(0, kind.parameter_index(id).unwrap(), value);
        let second_output = process(&mut chain, &[input[24_007..].to_vec(), input[24_007..].to_vec()]);
        let ratio =
            largest_step(&[&first_output[0][2_000..], &second_output[0]].concat()) / largest_step(&input);
        println!("largest step after {id} = {value}: {ratio:.3} of the sine's");
        assert!(ratio < 2.0);
    }
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    check_start_position("phaser", &[]);
    check_start_position("phaser", &[("stages", 4.0), ("rate_hz", 7.7), ("feedback", -0.9)]);
}
