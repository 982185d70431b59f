//! Tests of the utility effect: gain, balance, polarity and channels.

use std::f64::consts::FRAC_PI_2;

use crate::measure::{amplitude, chain_of, check, constant, db, noise, peak, process, sine, tone};

#[test]
fn gain_matches_its_definition() {
    for gain_db in [-60.0, -6.0, 0.0, 12.0, 36.0] {
        let [left, _] =
            process(&mut chain_of("utility", &[("gain_db", gain_db)]), &sine(1_000.0, 0.01, 9_600));
        check("gain, dB", db(tone(&left, 1_000.0).0 / 0.01), gain_db, 1e-4);
    }
    let silent_output = process(&mut chain_of("utility", &[("gain_db", -144.0)]), &noise(1.0, 100));
    assert_eq!(peak(&silent_output[0]), 0.0);
}

#[test]
fn defaults_do_not_change_the_signal() {
    let input = noise(1.0, 1_000);
    assert_eq!(process(&mut chain_of("utility", &[]), &input), input);
}

#[test]
fn channels_and_polarity_match_their_names() {
    let input = noise(0.5, 64);
    let [left, right] = &input;
    let check = |parameters: &[(&str, f64)], expected: &dyn Fn(f32, f32) -> (f32, f32)| {
        let output = process(&mut chain_of("utility", parameters), &input);
        for frame in 0..64 {
            let expected = expected(left[frame], right[frame]);
            assert_eq!((output[0][frame], output[1][frame]), expected, "{parameters:?}");
        }
    };
    check(&[("channels", 1.0)], &|left, right| (right, left));
    check(&[("channels", 2.0)], &|left, _| (left, left));
    check(&[("channels", 3.0)], &|_, right| (right, right));
    check(&[("channels", 4.0)], &|left, right| {
        let middle = left * 0.5 + right * 0.5;
        (middle, middle)
    });
    check(&[("invert_left", 1.0)], &|left, right| (-left, right));
    check(&[("invert_right", 1.0)], &|left, right| (left, -right));
    check(&[("balance", -1.0)], &|left, _| (left, 0.0));
}

#[test]
fn balance_fades_the_opposite_channel_by_a_quarter_cosine() {
    for balance in [-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0_f64] {
        let [left, right] = process(&mut chain_of("utility", &[("balance", balance)]), &constant(-6.0, 100));
        let expected_gain = |period: f64| (period.max(0.0) * FRAC_PI_2).cos();
        let gain = |value: f32| f64::from(value) / amplitude(-6.0);
        check(&format!("left at {balance}"), gain(left[99]), expected_gain(balance), 1e-6);
        check(&format!("right at {balance}"), gain(right[99]), expected_gain(-balance), 1e-6);
    }
}
