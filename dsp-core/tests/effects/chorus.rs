//! Delays, swing, sides and level of the chorus.

use std::f64::consts::TAU;

use crate::measure::{
    RATE_HZ, chain_of, check, check_started_anywhere, db, impulse, lateness_ms, noise, peak, response_db,
    rms, sine, steepest, through,
};
use dsp_core::effects::effect_kind;

/// Two voices, of which each side hears one.
const APART: [(&str, f64); 3] = [("voices", 0.0), ("spread", 1.0), ("feedback", 0.0)];

fn apart<'a>(more: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
    [&APART[..], more].concat()
}

#[test]
fn voices_at_rest_make_a_comb() {
    for delay_ms in [5.0, 7.3, 20.01] {
        let parameters = apart(&[("depth_ms", 0.0), ("delay_ms", delay_ms), ("mix", 0.5)]);
        let [left, right] = through(&mut chain_of("chorus", &parameters), &impulse(4_800));
        for tooth in 0..8 {
            let zero_hz = (f64::from(tooth) + 0.5) * 1e3 / delay_ms;
            let peak_hz = f64::from(tooth) * 1e3 / delay_ms;
            assert!(response_db(&left, zero_hz) < -50.0, "{}", response_db(&left, zero_hz));
            check("tooth, dB", response_db(&right, peak_hz), 0.0, 0.01);
        }
    }
}

#[test]
fn each_voice_stands_where_its_phase_says() {
    // Half-way through a slow turn's first half, the first voice is at its latest, the second at
    // its earliest.
    let parameters = apart(&[("rate_hz", 0.02), ("depth_ms", 3.0), ("delay_ms", 10.0), ("mix", 1.0)]);
    for (turn, late_ms) in [(0.0, [10.0, 10.0]), (0.25, [13.0, 7.0]), (0.75, [7.0, 13.0])] {
        let mut chain = chain_of("chorus", &parameters);
        chain.reset((turn * 50.0 * f64::from(RATE_HZ)) as u64);
        let output = through(&mut chain, &impulse(4_800));
        for (side, late_ms) in output.iter().zip(late_ms) {
            // A pulse's centre, as far as a hundred times slower swing lets it be one.
            let (moment, sum) = side.iter().enumerate().fold((0.0, 0.0), |(moment, sum), (frame, value)| {
                (moment + frame as f64 * f64::from(*value), sum + f64::from(*value))
            });
            check("echo, ms", moment / sum / 48.0, late_ms, 0.01);
        }
    }
}

#[test]
fn voices_divide_a_turn_and_the_way_from_side_to_side() {
    let turn = 0.05;
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
            chain.reset((turn * 50.0 * f64::from(RATE_HZ)) as u64);
            let output = through(&mut chain, &impulse(2_400));
            for (side, sign) in output.iter().zip([-1.0, 1.0]) {
                // A side loses a voice by as much as that moves away from it; together they have a
                // power of 1.
                let place = |voice: i32| spread * (2.0 * f64::from(voice) / f64::from(voices - 1) - 1.0);
                let gain = |voice: i32| (1.0 + sign * place(voice)).min(1.0);
                let power: f64 = (0..voices).map(|voice| gain(voice).powi(2)).sum();
                for voice in 0..voices {
                    let ahead = f64::from(voice) / f64::from(voices);
                    let late_at = |secs: f64| 20.0 + 8.0 * (TAU * (turn + ahead + 0.02 * secs)).sin();
                    // It swings on while the pulse is on its way.
                    let late_ms = late_at(1e-3 * late_at(0.02));
                    let near = (late_ms * 48.0) as usize - 48..(late_ms * 48.0) as usize + 48;
                    let (moment, sum) = near.fold((0.0, 0.0), |(moment, sum), frame| {
                        let value = f64::from(side[frame]);
                        (moment + frame as f64 * value, sum + value)
                    });
                    let what = format!("voice {voice} of {voices}, spread {spread}");
                    // A delay that moves by a thousandth makes a pulse that much longer or shorter.
                    check(&format!("{what}, gain"), sum, gain(voice) / power.sqrt(), 2e-3);
                    if sum > 0.1 {
                        check(&format!("{what}, ms"), moment / sum / 48.0, late_ms, 0.002);
                    }
                }
            }
        }
    }
}

#[test]
fn swings_at_the_rate_and_by_the_depth_that_are_set() {
    for (rate_hz, depth_ms) in [(0.5, 2.0), (1.0, 5.0), (4.0, 0.5)] {
        let parameters =
            apart(&[("rate_hz", rate_hz), ("depth_ms", depth_ms), ("delay_ms", 12.0), ("mix", 1.0)]);
        let input = sine(1_000.0, 0.5, 2 * RATE_HZ as usize);
        let [left, _] = through(&mut chain_of("chorus", &parameters), &input);
        let late = lateness_ms(&left);
        let (mut furthest, mut steepest) = (0.0_f64, 0.0_f64);
        for (window, pair) in late.windows(2).enumerate().skip(10) {
            let middle_secs = (window as f64 + 0.5) / 100.0;
            let expected = 12.0 + depth_ms * (TAU * rate_hz * middle_secs).sin();
            // A sine does not tell whole periods.
            let off = pair[0] - expected;
            furthest = furthest.max((off - off.round()).abs());
            steepest = steepest.max((pair[1] - pair[0]).abs() / 10.0);
        }
        check(&format!("delay at {rate_hz} Hz, ms"), furthest, 0.0, 0.01 * depth_ms + 0.01);
        let cents = 1_200.0 * (1.0 + steepest).log2();
        let expected = 1_200.0 * (1.0 + TAU * rate_hz * depth_ms / 1e3).log2();
        check("widest detuning, cents", cents, expected, 0.02 * expected + 0.1);
    }
}

#[test]
fn the_voices_have_the_power_of_the_input() {
    let input = noise(0.5, RATE_HZ as usize);
    for voices in 0..3 {
        for spread in [0.0, 0.5, 1.0] {
            let parameters =
                [("voices", f64::from(voices)), ("spread", spread), ("depth_ms", 4.0), ("mix", 1.0)];
            let output = through(&mut chain_of("chorus", &parameters), &input);
            for (output, input) in output.iter().zip(&input) {
                let level_db = db(rms(&output[4_800..]) / rms(input));
                // Reading between frames takes some of the highest octave.
                check(&format!("{} voices, spread {spread}, dB", voices + 2), level_db, -0.9, 0.6);
            }
        }
    }
    let [left, _] = through(&mut chain_of("chorus", &[]), &input);
    check("level at the defaults, dB", db(rms(&left) / rms(&input[0])), -2.0, 2.0);
}

#[test]
fn feedback_repeats_by_its_share() {
    let parameters = apart(&[("depth_ms", 0.0), ("delay_ms", 10.0), ("mix", 1.0), ("feedback", 0.5)]);
    let [left, _] = through(&mut chain_of("chorus", &parameters), &impulse(4_800));
    for repeat in 1..6 {
        check("repeat", f64::from(left[480 * repeat]), 0.5f64.powi(repeat as i32 - 1), 1e-6);
    }
}

#[test]
fn changes_do_not_click() {
    let kind = effect_kind("chorus").unwrap();
    let [input, _] = sine(300.0, 0.5, RATE_HZ as usize);
    for (id, value) in [("voices", 0.0), ("voices", 2.0), ("rate_hz", 5.0), ("spread", 0.0), ("mix", 1.0)] {
        let mut chain = chain_of("chorus", &[]);
        let before = through(&mut chain, &[input[..24_000].to_vec(), input[..24_000].to_vec()]);
        chain.set(0, kind.parameter_place(id).unwrap(), value);
        let after = through(&mut chain, &[input[24_000..].to_vec(), input[24_000..].to_vec()]);
        let ratio = steepest(&[&before[0][2_000..], &after[0]].concat()) / steepest(&input);
        println!("steepest step after {id} = {value}: {ratio:.3} of the sine's");
        assert!(ratio < 2.0 && peak(&after[0]) < 1.0);
    }
}

#[test]
fn starts_anywhere() {
    check_started_anywhere("chorus", &[]);
    check_started_anywhere("chorus", &[("voices", 2.0), ("rate_hz", 7.7), ("feedback", 0.5)]);
}
