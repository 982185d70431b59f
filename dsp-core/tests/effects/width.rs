//! Tests of the width effect, which scales the side signal.

use crate::measure::{chain_at, chain_of, check, db, impulse, noise, process, response_at_db, warped_ratio};

#[test]
fn outputs_match_mid_side_processing() {
    let input = noise(0.5, 1_000);
    for width in [0.0, 0.5, 1.3, 2.0] {
        let [left, right] = process(&mut chain_of("width", &[("width", width)]), &input);
        for frame in 0..1_000 {
            let (l, r) = (f64::from(input[0][frame]), f64::from(input[1][frame]));
            let (middle, side) = ((l + r) / 2.0, (l - r) / 2.0);
            assert!((f64::from(left[frame]) - (middle + width * side)).abs() < 1e-7, "width {width}");
            assert!((f64::from(right[frame]) - (middle - width * side)).abs() < 1e-7, "width {width}");
        }
    }
}

#[test]
fn the_sum_of_both_channels_does_not_change() {
    let input = noise(0.5, 48_000);
    for parameters in [
        &[("width", 0.0)][..],
        &[("width", 2.0)],
        &[("width", 1.5), ("mono_below_on", 1.0), ("mono_below_hz", 300.0)],
    ] {
        let [left, right] = process(&mut chain_of("width", parameters), &input);
        let worst_error = (0..48_000)
            .map(|frame| (left[frame] + right[frame] - (input[0][frame] + input[1][frame])).abs())
            .fold(0.0, f32::max);
        println!("{parameters:?}: the sum differs by {:.1} dBFS", db(f64::from(worst_error)));
        assert!(worst_error < 3e-7, "{parameters:?}: {worst_error}");
    }
}

#[test]
fn a_width_of_1_does_not_change_the_signal() {
    let input = noise(1.0, 1_000);
    assert_eq!(process(&mut chain_of("width", &[]), &input), input);
}

#[test]
fn mono_below_is_a_high_pass_of_the_side_signal() {
    // The input has only a side signal, so the output is the response of the side signal's filter.
    let [left, right] = impulse(1 << 15);
    let input = [left, right.into_iter().map(|value| -value).collect()];
    for rate_hz in [44_100, 48_000, 96_000] {
        for below_hz in [20.0, 47.0, 200.0, 500.0] {
            let parameters = [("mono_below_on", 1.0), ("mono_below_hz", below_hz), ("width", 1.0)];
            let [left, right] = process(&mut chain_at(rate_hz, "width", &parameters), &input);
            assert!(left.iter().zip(&right).all(|(left, right)| *left == -*right));
            for octaves in [-2.0, -1.0, 0.0, 1.0, 3.3_f64] {
                let frequency_hz = below_hz * octaves.exp2();
                let expected = -10.0 * (1.0 + warped_ratio(rate_hz, below_hz, frequency_hz).powi(8)).log10();
                let label = format!(
                    "side signal at {frequency_hz:.0} Hz, mono below {below_hz} Hz, {rate_hz} Hz, dB"
                );
                check(&label, response_at_db(rate_hz, &left, frequency_hz), expected, 0.02);
            }
        }
    }
}

#[test]
fn changes_of_the_width_do_not_click() {
    let mut chain = chain_of("width", &[]);
    let mut left = vec![0.25; 9_600];
    let mut right = vec![-0.25; 9_600];
    for (number, (left, right)) in left.chunks_mut(2_400).zip(right.chunks_mut(2_400)).enumerate() {
        chain.set_parameter(0, 0, if number % 2 == 0 { 2.0 } else { 0.0 });
        chain.process(left, right, &[]);
    }
    // A change of the width by 2 takes 20 ms.
    let max_step = 0.25 * 2.0 / 960.0 * 1.01;
    assert!(left.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= max_step));
}
