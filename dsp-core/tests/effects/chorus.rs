//! Tests of the chorus: delays, modulation, panning and level.

use std::f64::consts::TAU;

use crate::measure::{
    RATE_HZ, chain_of, check, check_start_position, db, delays_ms, impulse, largest_step, noise, peak,
    process, response_db, rms, sine,
};
use dsp_core::effects::effect_kind;

/// Settings for two voices, each in one channel only.
const SEPARATE_VOICES: [(&str, f64); 3] = [("voices", 0.0), ("spread", 1.0), ("feedback", 0.0)];

fn with_separate_voices<'a>(more_parameters: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
    [&SEPARATE_VOICES[..], more_parameters].concat()
}

#[test]
fn voices_without_modulation_make_a_comb_filter() {
    for delay_ms in [5.0, 7.3, 20.01] {
        let parameters = with_separate_voices(&[("depth_ms", 0.0), ("delay_ms", delay_ms), ("mix", 0.5)]);
        let [left, right] = process(&mut chain_of("chorus", &parameters), &impulse(4_800));
        for tooth in 0..8 {
            let zero_hz = (f64::from(tooth) + 0.5) * 1e3 / delay_ms;
            let peak_hz = f64::from(tooth) * 1e3 / delay_ms;
            assert!(response_db(&left, zero_hz) < -50.0, "{}", response_db(&left, zero_hz));
            check("peak of the comb, dB", response_db(&right, peak_hz), 0.0, 0.01);
        }
    }
}

#[test]
fn the_two_voices_are_modulated_in_opposite_phases() {
    // After a quarter of a slow period, the first voice has its longest delay and the second voice
    // its shortest.
    let parameters =
        with_separate_voices(&[("rate_hz", 0.02), ("depth_ms", 3.0), ("delay_ms", 10.0), ("mix", 1.0)]);
    for (period, delay_ms) in [(0.0, [10.0, 10.0]), (0.25, [13.0, 7.0]), (0.75, [7.0, 13.0])] {
        let mut chain = chain_of("chorus", &parameters);
        chain.reset((period * 50.0 * f64::from(RATE_HZ)) as u64);
        let output = process(&mut chain, &impulse(4_800));
        for (side, delay_ms) in output.iter().zip(delay_ms) {
            // The centroid of the pulse measures the delay, which hardly changes during the pulse.
            let (moment, sum) = side.iter().enumerate().fold((0.0, 0.0), |(moment, sum), (frame, value)| {
                (moment + frame as f64 * f64::from(*value), sum + f64::from(*value))
            });
            check("echo, ms", moment / sum / 48.0, delay_ms, 0.01);
        }
    }
}

#[test]
fn voices_divide_the_period_and_the_stereo_field() {
    let period = 0.05;
    for voices in 2..=4 {
        for spread in [0.0, 0.5, 0.8, 1.0] {
            let parameters = [
                ("voices", f64::from(voices - 2)),
                ("spread", spread),
                ("rate_hz", 0.02),
                ("delay_ms", 20.0),
                ("depth_ms", 8.0),
                ("mix", 1.0),
            ];
            let mut chain = chain_of("chorus", &parameters);
            chain.reset((period * 50.0 * f64::from(RATE_HZ)) as u64);
            let output = process(&mut chain, &impulse(2_400));
            for (side, sign) in output.iter().zip([-1.0, 1.0]) {
                // A voice has less gain in the channel away from which it is panned. The power of
                // all voices together is 1.
                let pan = |voice: i32| spread * (2.0 * f64::from(voice) / f64::from(voices - 1) - 1.0);
                let gain = |voice: i32| (1.0 + sign * pan(voice)).min(1.0);
                let power: f64 = (0..voices).map(|voice| gain(voice).powi(2)).sum();
                for voice in 0..voices {
                    let phase_offset = f64::from(voice) / f64::from(voices);
                    let delay_at =
                        |secs: f64| 20.0 + 8.0 * (TAU * (period + phase_offset + 0.02 * secs)).sin();
                    // The modulation continues during the delay.
                    let delay_ms = delay_at(1e-3 * delay_at(0.02));
                    let near_range = (delay_ms * 48.0) as usize - 48..(delay_ms * 48.0) as usize + 48;
                    let (moment, sum) = near_range.fold((0.0, 0.0), |(moment, sum), frame| {
                        let value = f64::from(side[frame]);
                        (moment + frame as f64 * value, sum + value)
                    });
                    let label = format!("voice {voice} of {voices}, spread {spread}");
                    // While the delay changes, the pulse is up to a thousandth longer or shorter.
                    check(&format!("{label}, gain"), sum, gain(voice) / power.sqrt(), 2e-3);
                    if sum > 0.1 {
                        check(&format!("{label}, ms"), moment / sum / 48.0, delay_ms, 0.002);
                    }
                }
            }
        }
    }
}

#[test]
fn modulation_has_the_set_rate_and_depth() {
    for (rate_hz, depth_ms) in [(0.5, 2.0), (1.0, 5.0), (4.0, 0.5)] {
        let parameters = with_separate_voices(&[
            ("rate_hz", rate_hz),
            ("depth_ms", depth_ms),
            ("delay_ms", 12.0),
            ("mix", 1.0),
        ]);
        let input = sine(1_000.0, 0.5, 2 * RATE_HZ as usize);
        let [left, _] = process(&mut chain_of("chorus", &parameters), &input);
        let delays = delays_ms(&left);
        let (mut max_error, mut max_slope) = (0.0_f64, 0.0_f64);
        for (window, pair) in delays.windows(2).enumerate().skip(10) {
            let middle_secs = (window as f64 + 0.5) / 100.0;
            let expected = 12.0 + depth_ms * (TAU * rate_hz * middle_secs).sin();
            // A delay measured with a 1 kHz sine is ambiguous by whole milliseconds.
            let error = pair[0] - expected;
            max_error = max_error.max((error - error.round()).abs());
            max_slope = max_slope.max((pair[1] - pair[0]).abs() / 10.0);
        }
        check(&format!("delay at {rate_hz} Hz, ms"), max_error, 0.0, 0.01 * depth_ms + 0.01);
        let cents = 1_200.0 * (1.0 + max_slope).log2();
        let expected = 1_200.0 * (1.0 + TAU * rate_hz * depth_ms / 1e3).log2();
        check("largest detuning, cents", cents, expected, 0.02 * expected + 0.1);
    }
}

#[test]
fn the_voices_have_the_power_of_the_input() {
    let input = noise(0.5, RATE_HZ as usize);
    for voices in 0..3 {
        for spread in [0.0, 0.5, 1.0] {
            let parameters =
                [("voices", f64::from(voices)), ("spread", spread), ("depth_ms", 4.0), ("mix", 1.0)];
            let output = process(&mut chain_of("chorus", &parameters), &input);
            for (output, input) in output.iter().zip(&input) {
                let level_db = db(rms(&output[4_800..]) / rms(input));
                // Interpolation attenuates the highest octave.
                check(&format!("{} voices, spread {spread}, dB", voices + 2), level_db, -0.9, 0.6);
            }
        }
    }
    let [left, _] = process(&mut chain_of("chorus", &[]), &input);
    check("level at the defaults, dB", db(rms(&left) / rms(&input[0])), -2.0, 2.0);
}

#[test]
fn the_feedback_is_the_gain_from_one_echo_to_the_next() {
    let parameters =
        with_separate_voices(&[("depth_ms", 0.0), ("delay_ms", 10.0), ("mix", 1.0), ("feedback", 0.5)]);
    let [left, _] = process(&mut chain_of("chorus", &parameters), &impulse(4_800));
    for repeat in 1..6 {
        check(&format!("echo {repeat}"), f64::from(left[480 * repeat]), 0.5f64.powi(repeat as i32 - 1), 1e-6);
    }
}

#[test]
fn changes_do_not_click() {
    let kind = effect_kind("chorus").unwrap();
    let [input, _] = sine(300.0, 0.5, RATE_HZ as usize);
    for (id, value) in [("voices", 0.0), ("voices", 2.0), ("rate_hz", 5.0), ("spread", 0.0), ("mix", 1.0)] {
        let mut chain = chain_of("chorus", &[]);
        let first_output = process(&mut chain, &[input[..24_000].to_vec(), input[..24_000].to_vec()]);
        chain.set_parameter(0, kind.parameter_index(id).unwrap(), value);
        let second_output = process(&mut chain, &[input[24_000..].to_vec(), input[24_000..].to_vec()]);
        let ratio =
            largest_step(&[&first_output[0][2_000..], &second_output[0]].concat()) / largest_step(&input);
        println!("largest step after {id} = {value}: {ratio:.3} of the sine's");
        assert!(ratio < 2.0 && peak(&second_output[0]) < 1.0);
    }
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    check_start_position("chorus", &[]);
    check_start_position("chorus", &[("voices", 2.0), ("rate_hz", 7.7), ("feedback", 0.5)]);
}
