//! Tests of the frequency responses of the equalizer's bands.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use dsp_core::effects::{effect_kind, equalizer};
use dsp_core::mixer::EffectChain;

use crate::measure::{
    RATE_HZ, chain_at, chain_of, check, db, impulse, noise, peak, process, response_db, sine,
};

const RATE: f64 = RATE_HZ as f64;

/// Returns a biquad's magnitude in decibels. The coefficients are in the order of the "Audio EQ
/// Cookbook" (R. Bristow-Johnson).
fn biquad_db(b: [f64; 3], a: [f64; 3], frequency_hz: f64) -> f64 {
    let w = 2.0 * PI * frequency_hz / RATE;
    let magnitude = |c: [f64; 3]| {
        let re = c[0] + c[1] * w.cos() + c[2] * (2.0 * w).cos();
        let im = c[1] * w.sin() + c[2] * (2.0 * w).sin();
        re.hypot(im)
    };
    db(magnitude(b)) - db(magnitude(a))
}

/// Returns the magnitude in decibels of a filter of the "Audio EQ Cookbook" with the frequency `f0`
/// at a frequency `f`, both in hertz.
fn cookbook_db(kind: &str, f0: f64, gain_db: f64, q: f64, f: f64) -> f64 {
    let (a, w0) = (10_f64.powf(gain_db / 40.0), 2.0 * PI * f0 / RATE);
    let (sin, cos) = w0.sin_cos();
    let alpha = sin / (2.0 * q);
    let root = 2.0 * a.sqrt() * alpha;
    let (upper, lower) = (a + 1.0, a - 1.0);
    let (numerator, denominator) = match kind {
        "bell" => {
            ([1.0 + alpha * a, -2.0 * cos, 1.0 - alpha * a], [1.0 + alpha / a, -2.0 * cos, 1.0 - alpha / a])
        }
        "low_shelf" => (
            [
                a * (upper - lower * cos + root),
                2.0 * a * (lower - upper * cos),
                a * (upper - lower * cos - root),
            ],
            [upper + lower * cos + root, -2.0 * (lower + upper * cos), upper + lower * cos - root],
        ),
        "high_shelf" => (
            [
                a * (upper + lower * cos + root),
                -2.0 * a * (lower + upper * cos),
                a * (upper + lower * cos - root),
            ],
            [upper - lower * cos + root, 2.0 * (lower - upper * cos), upper - lower * cos - root],
        ),
        "low_pass" => {
            ([(1.0 - cos) / 2.0, 1.0 - cos, (1.0 - cos) / 2.0], [1.0 + alpha, -2.0 * cos, 1.0 - alpha])
        }
        _ => ([(1.0 + cos) / 2.0, -(1.0 + cos), (1.0 + cos) / 2.0], [1.0 + alpha, -2.0 * cos, 1.0 - alpha]),
    };
    biquad_db(numerator, denominator, f)
}

/// Returns the impulse response of the equalizer, which is long enough for every filter in these
/// tests.
fn impulse_response(parameters: &[(&str, f64)]) -> Vec<f32> {
    let [left, right] = process(&mut chain_of("equalizer", parameters), &impulse(1 << 17));
    assert_eq!(left, right);
    left
}

/// Compares the response of the output, and the response that the page draws, with a formula.
#[track_caller]
fn check_curve(parameters: &[(&str, f64)], expected_db: &dyn Fn(f64) -> f64) {
    let response = impulse_response(parameters);
    let kind = effect_kind("equalizer").unwrap();
    let mut values: Vec<f64> = kind.parameters.iter().map(|parameter| parameter.default).collect();
    for (id, value) in parameters {
        values[kind.parameter_index(id).unwrap()] = *value;
    }
    let mut worst_error = (0.0_f64, 0.0_f64);
    for step in 0..60 {
        let f = 20.0 * 1_100_f64.powf(f64::from(step) / 59.0);
        let expected = expected_db(f);
        // Below -100 dB, the rounding noise of single precision dominates.
        if expected > -100.0 {
            worst_error.0 = worst_error.0.max((response_db(&response, f) - expected).abs());
        }
        worst_error.1 = worst_error.1.max((equalizer::response_db(&values, f, RATE) - expected).abs());
    }
    println!(
        "{parameters:?}: error of {:.5} dB in the output, of {:e} dB in the drawn curve",
        worst_error.0, worst_error.1
    );
    assert!(worst_error.0 < 0.02 && worst_error.1 < 1e-6, "{parameters:?}: {worst_error:?}");
}

#[test]
fn bells_match_the_cookbook() {
    for (f0, gain_db, q) in [
        (50.0, 12.0, 1.0),
        (1_000.0, -12.0, 4.0),
        (1_000.0, 24.0, 0.3),
        (9_000.0, 6.0, 0.7),
        (18_000.0, -24.0, 10.0),
    ] {
        for bell in 1..=4 {
            let id = |name: &str| format!("bell_{bell}_{name}");
            let (frequency, gain, width) = (id("frequency_hz"), id("gain_db"), id("q"));
            check_curve(&[(&frequency, f0), (&gain, gain_db), (&width, q)], &|f| {
                cookbook_db("bell", f0, gain_db, q, f)
            });
        }
    }
}

#[test]
fn a_bell_matches_its_analogue_prototype_at_low_frequencies() {
    // H(s) = (s^2 + s A/Q + 1) / (s^2 + s/(A Q) + 1) at s = j f / f0.
    let (f0, gain_db, q) = (300.0, 12.0, 1.4);
    let response =
        impulse_response(&[("bell_2_frequency_hz", f0), ("bell_2_gain_db", gain_db), ("bell_2_q", q)]);
    let a = 10_f64.powf(gain_db / 40.0);
    for step in 0..40 {
        let f = 20.0 * 600_f64.powf(f64::from(step) / 39.0);
        let s = f / f0;
        let analogue = db((1.0 - s * s).hypot(s * a / q)) - db((1.0 - s * s).hypot(s / (a * q)));
        check(&format!("bell at {f:.0} Hz, dB"), response_db(&response, f), analogue, 0.1);
    }
}

#[test]
fn shelves_match_the_cookbook() {
    for (kind, f0) in
        [("low_shelf", 120.0), ("low_shelf", 3_000.0), ("high_shelf", 800.0), ("high_shelf", 12_000.0)]
    {
        for (gain_db, q) in [(12.0, FRAC_1_SQRT_2), (-24.0, 0.3), (6.0, 2.0)] {
            let id = |name: &str| format!("{kind}_{name}");
            let (frequency, gain, width) = (id("frequency_hz"), id("gain_db"), id("q"));
            check_curve(&[(&frequency, f0), (&gain, gain_db), (&width, q)], &|f| {
                cookbook_db(kind, f0, gain_db, q, f)
            });
        }
    }
}

/// Returns the magnitude in decibels of a Butterworth filter. The Q of each section follows from
/// the angle of its poles; `q` replaces that of the section with the highest Q.
fn butterworth_db(kind: &str, order: usize, f0: f64, q: f64, f: f64) -> f64 {
    (0..order / 2)
        .map(|section| {
            let butterworth_q = 0.5 / ((2 * section + 1) as f64 * PI / (2 * order) as f64).cos();
            let has_highest_q = section + 1 == order / 2;
            let section_q = if has_highest_q { butterworth_q * q / FRAC_1_SQRT_2 } else { butterworth_q };
            cookbook_db(kind, f0, 0.0, section_q, f)
        })
        .sum()
}

#[test]
fn cuts_are_butterworth_filters() {
    for (slope, order) in [2, 4, 8].into_iter().enumerate() {
        for (band, kind, f0) in [("low_cut", "high_pass", 200.0), ("high_cut", "low_pass", 5_000.0)] {
            for q in [FRAC_1_SQRT_2, 2.0] {
                let id = |name: &str| format!("{band}_{name}");
                let (on, frequency, width, steepness) = (id("on"), id("frequency_hz"), id("q"), id("slope"));
                let parameters = [(&*on, 1.0), (&*frequency, f0), (&*width, q), (&*steepness, slope as f64)];
                check_curve(&parameters, &|f| butterworth_db(kind, order, f0, q, f));
            }
        }
    }
}

#[test]
fn cuts_attenuate_by_3_db_at_the_corner_and_have_their_slopes() {
    for (slope, decibels) in [12.0, 24.0, 48.0].into_iter().enumerate() {
        let response = impulse_response(&[
            ("low_cut_on", 1.0),
            ("low_cut_frequency_hz", 1_000.0),
            ("low_cut_slope", slope as f64),
        ]);
        check("corner, dB", response_db(&response, 1_000.0), -3.0103, 0.01);
        let octave = response_db(&response, 500.0) - response_db(&response, 250.0);
        check("slope, dB/octave", octave, decibels, 0.3);
    }
}

#[test]
fn flat_settings_do_not_change_the_signal() {
    let input = noise(1.0, 4_800);
    assert_eq!(process(&mut chain_of("equalizer", &[]), &input), input);
    let off: &[(&str, f64)] =
        &[("bell_1_gain_db", 12.0), ("bell_1_on", 0.0), ("high_shelf_on", 0.0), ("high_shelf_gain_db", -9.0)];
    assert_eq!(process(&mut chain_of("equalizer", off), &input), input);
}

#[test]
fn the_output_level_is_the_gain_in_decibels() {
    let [left, _] = process(&mut chain_of("equalizer", &[("output_db", -6.0)]), &impulse(4));
    check("output, dB", db(f64::from(left[0])), -6.0, 1e-4);
}

#[test]
fn bands_match_the_formula_at_all_rates() {
    for rate in [44_100, 96_000] {
        let mut chain =
            chain_at(rate, "equalizer", &[("bell_1_frequency_hz", 1_000.0), ("bell_1_gain_db", 6.0)]);
        let [left, _] = process(&mut chain, &impulse(1 << 15));
        // `response_db` assumes 48 kHz, so the frequency is scaled to the same phase angle per
        // frame.
        let scaled_hz = 1_000.0 * RATE / f64::from(rate);
        check("bell at its centre, dB", response_db(&left, scaled_hz), 6.0, 0.01);
    }
}

fn set(chain: &mut EffectChain, id: &str, value: f64) {
    chain.set_parameter(0, effect_kind("equalizer").unwrap().parameter_index(id).unwrap(), value);
}

#[test]
fn switches_and_sweeps_do_not_click() {
    // The tone has no energy above 4 kHz, so energy there is a click.
    let mut chain = chain_of("equalizer", &[]);
    let [mut left, mut right] = sine(100.0, 0.25, 48_000);
    let mut high_pass = chain_of(
        "equalizer",
        &[("low_cut_on", 1.0), ("low_cut_frequency_hz", 4_000.0), ("low_cut_slope", 2.0)],
    );
    for (number, (left, right)) in left.chunks_mut(4_000).zip(right.chunks_mut(4_000)).enumerate() {
        let on = if number % 2 == 0 { 1.0 } else { 0.0 };
        set(&mut chain, "bell_1_on", on);
        set(&mut chain, "bell_1_gain_db", 12.0);
        set(&mut chain, "bell_1_frequency_hz", 100.0 + 900.0 * on);
        set(&mut chain, "low_cut_on", on);
        set(&mut chain, "low_cut_slope", 2.0 * on);
        set(&mut chain, "high_cut_on", 1.0 - on);
        chain.process(left, right, &[]);
    }
    high_pass.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[480..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -70.0, "a click of {click_db} dBFS");
}

#[test]
fn the_fastest_sweeps_are_stable() {
    let mut chain = chain_of("equalizer", &[("bell_1_gain_db", 24.0), ("bell_1_q", 40.0)]);
    let index = effect_kind("equalizer").unwrap().parameter_index("bell_1_frequency_hz").unwrap();
    let [mut left, mut right] = noise(0.25, 48_000);
    for (number, (left, right)) in left.chunks_mut(32).zip(right.chunks_mut(32)).enumerate() {
        chain.automate(0, index, if number % 2 == 0 { 20_000.0 } else { 20.0 }, 32);
        chain.process(left, right, &[]);
    }
    println!("peak during sweeps of ten octaves in 0.67 ms: {:.2}", peak(&left));
    // The limit is that of a tone at the centre of the bell: 0.25 times 24 dB, or 15.8.
    assert!(peak(&left) < 4.0);
}
