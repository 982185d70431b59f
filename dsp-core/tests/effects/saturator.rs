//! Tests of the saturator: curves, harmonics, aliases and latency.

use std::f64::consts::TAU;

use dsp_core::effects::effect_kind;
use dsp_core::mixer::EffectChain;

use crate::measure::{
    amplitude, chain_at, chain_of, check, constant, db, impulse, noise, peak, process, response_at_db,
    response_db, sine, tone,
};

const TYPES: [&str; 5] = ["tape", "tube", "soft", "hard", "fold"];
const LATENCY_FRAMES: usize = 48;

/// Returns the output of the documented curve for an input value `x`.
fn curve(kind: &str, drive_db: f64, bias: f64, x: f64) -> f64 {
    let d = 10_f64.powf(drive_db / 20.0);
    let bias = if kind == "tube" { bias + 0.4 } else { bias };
    let shape = |x: f64| match kind {
        "tape" => {
            let u = (x / 1.875).clamp(-1.0, 1.0);
            (15.0 * u - 10.0 * u.powi(3) + 3.0 * u.powi(5)) / 8.0
        }
        "tube" | "soft" => {
            let u = (x / 1.5).clamp(-1.0, 1.0);
            (3.0 * u - u.powi(3)) / 2.0
        }
        "hard" => x.clamp(-1.0, 1.0),
        _ => x.sin(),
    };
    let driven_value = x * if kind == "fold" { d.sqrt() } else { d };
    (shape(driven_value + bias) - shape(bias)) / d.sqrt()
}

fn index_of(kind: &str) -> f64 {
    TYPES.iter().position(|name| *name == kind).unwrap() as f64
}

#[test]
fn the_output_for_constants_matches_the_curve() {
    for kind in ["tape", "soft", "hard", "fold"] {
        for drive_db in [0.0, 12.0, 36.0] {
            for level in [-1.0_f32, -0.4, 0.01, 0.1, 0.8] {
                let input = [vec![level; 400], vec![level; 400]];
                let [left, _] = process(
                    &mut chain_of("saturator", &[("type", index_of(kind)), ("drive_db", drive_db)]),
                    &input,
                );
                let expected = curve(kind, drive_db, 0.0, f64::from(level));
                check(&format!("{kind}, {drive_db} dB, {level}"), f64::from(left[399]), expected, 2e-6);
            }
        }
    }
}

#[test]
fn the_output_level_is_the_gain_of_the_wet_signal() {
    for output_db in [-36.0, -6.5, 0.0, 3.0, 12.0] {
        for (kind, mix) in [("hard", 1.0), ("tape", 1.0), ("fold", 0.5)] {
            let parameters =
                [("type", index_of(kind)), ("drive_db", 12.0), ("output_db", output_db), ("mix", mix)];
            let [left, _] = process(&mut chain_of("saturator", &parameters), &constant(-10.0, 400));
            let dry = amplitude(-10.0);
            let expected = (1.0 - mix) * dry + mix * amplitude(output_db) * curve(kind, 12.0, 0.0, dry);
            let label = format!("{kind}, output {output_db} dB, mix {mix}, dBFS");
            check(&label, db(f64::from(left[399])), db(expected), 1e-4);
        }
    }
}

#[test]
fn harmonics_match_the_curve() {
    // The expected amplitudes are Fourier coefficients of the curve applied to a sine.
    for kind in TYPES {
        for (drive_db, bias) in [(12.0, 0.0), (24.0, 0.3)] {
            let parameters = [("type", index_of(kind)), ("drive_db", drive_db), ("bias", bias)];
            let [left, _] = process(&mut chain_of("saturator", &parameters), &sine(200.0, 0.5, 48_000));
            for harmonic in 1..=5 {
                let points = 20_000;
                let (mut re, mut im) = (0.0, 0.0);
                for point in 0..points {
                    let angle = TAU * (f64::from(point) + 0.5) / f64::from(points);
                    let y = curve(kind, drive_db, bias, 0.5 * angle.sin());
                    re += y * (f64::from(harmonic) * angle).cos();
                    im += y * (f64::from(harmonic) * angle).sin();
                }
                let expected = 2.0 * f64::hypot(re, im) / f64::from(points);
                let measured_amplitude = tone(&left[24_000..], 200.0 * f64::from(harmonic)).0;
                check(
                    &format!("{kind}, {drive_db} dB, harmonic {harmonic}"),
                    measured_amplitude,
                    expected,
                    5e-4,
                );
            }
        }
    }
}

#[test]
fn aliases_are_80_db_below_the_fundamental_at_full_drive() {
    // All harmonics and aliases of 5,001 Hz are multiples of 3 Hz, and 16,000 frames have a whole
    // number of periods of 3 Hz.
    let f = 5_001_i64;
    for kind in TYPES {
        for level in [1.0, 0.3] {
            let parameters = [("type", index_of(kind)), ("drive_db", 36.0)];
            let [left, _] = process(&mut chain_of("saturator", &parameters), &sine(f as f64, level, 20_000));
            let steady = &left[4_000..];
            let fundamental = tone(steady, f as f64).0;
            let (mut worst_db, mut worst) = (f64::MIN, (0, 0));
            for harmonic in 1..300 {
                let folded_frequency = (harmonic * f + 24_000).rem_euclid(48_000) - 24_000;
                let is_harmonic = |hz: i64| (0..5).any(|harmonic| (hz - harmonic * f).abs() < 9);
                if folded_frequency.abs() > 20_000 || is_harmonic(folded_frequency.abs()) {
                    continue;
                }
                let alias_db = db(tone(steady, folded_frequency.abs() as f64).0 / fundamental);
                if alias_db > worst_db {
                    (worst_db, worst) = (alias_db, (harmonic, folded_frequency.abs()));
                }
            }
            let (harmonic, alias_hz) = worst;
            println!("{kind} at {level}: alias of harmonic {harmonic} at {alias_hz} Hz, {worst_db:.1} dB");
            assert!(worst_db < -80.0, "{kind}: an alias of {worst_db} dB");
        }
    }
}

#[test]
fn an_impulse_is_delayed_by_the_stated_latency() {
    let kind = effect_kind("saturator").unwrap();
    for parameters in [&[("drive_db", 0.0), ("type", 3.0)][..], &[("drive_db", 0.0), ("type", 4.0)]] {
        let mut chain = chain_of(kind.id, parameters);
        assert_eq!(chain.latency_frames(), LATENCY_FRAMES);
        // The impulse is so quiet that the curve is linear.
        let quiet: Vec<f32> = impulse(200)[0].iter().map(|value| value * 1e-3).collect();
        let [left, _] = process(&mut chain, &[quiet.clone(), quiet]);
        let highest = (0..200).max_by(|a, b| left[*a].total_cmp(&left[*b])).unwrap();
        assert_eq!(highest, LATENCY_FRAMES);
        // Because the phase is linear, the impulse response is symmetric.
        let asymmetry = (1..48).map(|d| (left[48 + d] - left[48 - d]).abs()).fold(0.0, f32::max);
        println!("asymmetry of the impulse response: {:.1} dB", db(f64::from(asymmetry) / 1e-3));
        assert!(asymmetry < 1e-8);
    }
}

#[test]
fn the_linear_response_is_flat_to_20_khz() {
    let [left, _] = process(&mut chain_of("saturator", &[("drive_db", 0.0), ("type", 3.0)]), &impulse(400));
    for frequency_hz in [20.0, 1_000.0, 5_000.0, 10_000.0, 15_000.0, 19_000.0, 20_000.0] {
        // The antialiasing of the curve acts like a filter with the weights 1/6, 4/6 and 1/6.
        let expected = db((2.0 + (TAU * frequency_hz / 384_000.0).cos()) / 3.0);
        check(&format!("{frequency_hz} Hz, dB"), response_db(&left, frequency_hz), expected, 0.01);
    }
}

#[test]
fn dry_and_wet_are_aligned() {
    let input = noise(0.1, 2_000);
    let dry = process(&mut chain_of("saturator", &[("mix", 0.0)]), &input);
    assert_eq!(dry[0][LATENCY_FRAMES..], input[0][..2_000 - LATENCY_FRAMES]);
    // The hard curve is linear up to 1. If dry and wet are aligned, their sum has no comb filter.
    let parameters = [("mix", 0.5), ("drive_db", 0.0), ("type", 3.0)];
    let [half, _] = process(&mut chain_of("saturator", &parameters), &impulse(400));
    for frequency_hz in [100.0, 3_000.0, 12_000.0, 18_000.0] {
        check(&format!("{frequency_hz} Hz, dB"), response_db(&half, frequency_hz), 0.0, 0.08);
    }
}

#[test]
fn a_bias_leaves_no_dc_offset() {
    let mut chain = chain_of("saturator", &[("bias", 0.5), ("drive_db", 24.0)]);
    let [left, _] = process(&mut chain, &sine(500.0, 0.5, 96_000));
    let mean: f64 = left[48_000..].iter().map(|value| f64::from(*value)).sum::<f64>() / 48_000.0;
    println!("mean {:.1} dBFS", db(mean));
    assert!(mean.abs() < 1e-4);
    // With a bias, too, silent input has a silent output.
    let silent_output =
        process(&mut chain_of("saturator", &[("bias", 0.5)]), &[vec![0.0; 4_800], vec![0.0; 4_800]]);
    assert!(peak(&silent_output[0]) < 1e-7);
}

#[test]
fn the_dc_filter_is_a_high_pass_at_5_hz() {
    // The input is so quiet that the biased curve is linear. The response is thus that of the DC
    // filter.
    for rate_hz in [44_100, 48_000, 96_000] {
        let parameters = [("type", index_of("hard")), ("drive_db", 0.0), ("bias", 0.5)];
        let quiet: Vec<f32> = impulse(1 << 17)[0].iter().map(|value| value * 0.25).collect();
        let [left, _] = process(&mut chain_at(rate_hz, "saturator", &parameters), &[quiet.clone(), quiet]);
        for frequency_hz in [0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 200.0] {
            let w: f64 = frequency_hz / 5.0;
            let label = format!("{frequency_hz} Hz at a rate of {rate_hz} Hz, dB");
            let response_db = response_at_db(rate_hz, &left, frequency_hz) - db(0.25);
            check(&label, response_db, db(w / w.hypot(1.0)), 0.01);
        }
    }
}

fn set(chain: &mut EffectChain, id: &str, value: f64) {
    chain.set_parameter(0, effect_kind("saturator").unwrap().parameter_index(id).unwrap(), value);
}

#[test]
fn changes_do_not_click() {
    // The harmonics of the tone end far below 6 kHz, so energy above 6 kHz is a click.
    let mut chain = chain_of("saturator", &[("drive_db", 0.0)]);
    let [mut left, mut right] = sine(60.0, 0.25, 96_000);
    for (number, (left, right)) in left.chunks_mut(4_000).zip(right.chunks_mut(4_000)).enumerate() {
        set(&mut chain, "type", (number % 5) as f64);
        set(&mut chain, "bias", 0.1 * (number % 3) as f64);
        chain.process(left, right, &[]);
    }
    let mut high_pass = chain_of(
        "equalizer",
        &[("low_cut_on", 1.0), ("low_cut_frequency_hz", 6_000.0), ("low_cut_slope", 2.0)],
    );
    high_pass.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[480..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -66.0);
}

#[test]
fn input_after_long_silence_is_processed_as_after_a_reset() {
    for kind in TYPES {
        let parameters = [("type", index_of(kind))];
        let start = 9_000;
        let mut input = noise(0.5, 12_000);
        input.iter_mut().for_each(|side| side[1_000..start].fill(0.0));
        let whole_output = process(&mut chain_of("saturator", &parameters), &input);
        let mut fresh_chain = chain_of("saturator", &parameters);
        fresh_chain.reset(start as u64);
        let later_output =
            process(&mut fresh_chain, &[input[0][start..].to_vec(), input[1][start..].to_vec()]);
        let difference = whole_output[0][start..]
            .iter()
            .zip(&later_output[0])
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        println!("{kind}: difference of {difference:e}");
        // The state of the tube's DC filter decays slowly, so its output differs more.
        assert!(difference < if kind == "tube" { 1e-3 } else { 1e-9 });
    }
}
