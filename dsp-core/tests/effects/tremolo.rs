//! Tests of the tremolo: depth, rate, shapes, stereo phase and synchronization.

use std::f64::consts::TAU;

use crate::measure::{RATE_HZ, chain_of, check, check_start_position, db, largest_step, peak, process};
use dsp_core::effects::{MusicalTime, effect_kind};

const SECOND: usize = RATE_HZ as usize;

/// Returns a constant of 1 in both channels. The output of the tremolo for it is the gain.
fn ones(frames: usize) -> [Vec<f32>; 2] {
    [vec![1.0; frames], vec![1.0; frames]]
}

fn lowest(values: &[f32]) -> f64 {
    values.iter().fold(f64::MAX, |lowest, value| lowest.min(f64::from(*value)))
}

#[test]
fn the_gain_moves_between_1_and_1_minus_the_depth() {
    for depth in [0.0, 0.25, 0.5, 0.9] {
        for shape in 0..5 {
            let parameters = [("depth", depth), ("rate_hz", 2.0), ("shape", f64::from(shape))];
            let [left, _] = process(&mut chain_of("tremolo", &parameters), &ones(SECOND));
            check(&format!("shape {shape}, highest, dB"), db(peak(&left)), 0.0, 0.02);
            check(&format!("shape {shape}, lowest, dB"), db(lowest(&left)), db(1.0 - depth), 0.2);
        }
    }
}

#[test]
fn the_sine_has_the_set_rate_in_both_channels() {
    for (rate_hz, stereo_degrees) in [(0.5, 0.0), (5.0, 90.0), (7.3, 180.0), (20.0, 45.0)] {
        let parameters = [("depth", 1.0), ("rate_hz", rate_hz), ("stereo_degrees", stereo_degrees)];
        let output = process(&mut chain_of("tremolo", &parameters), &ones(2 * SECOND));
        for (side, phase_offset) in output.iter().zip([0.0, stereo_degrees / 360.0]) {
            let max_error = side.iter().enumerate().fold(0.0_f64, |max_error, (frame, value)| {
                let period = rate_hz * frame as f64 / f64::from(RATE_HZ) + phase_offset;
                max_error.max((f64::from(*value) - (0.5 + 0.5 * (TAU * period).cos())).abs())
            });
            // The gain ramps linearly over 32 frames. The error of a linear segment is an eighth of
            // the square of its angle, times the amplitude of 0.5.
            let angle = TAU * rate_hz * 32.0 / f64::from(RATE_HZ);
            check(
                &format!("{rate_hz} Hz, {stereo_degrees} degrees, maximum error"),
                max_error,
                0.0,
                angle * angle / 16.0 + 1e-6,
            );
        }
    }
}

#[test]
fn shapes_match_their_names() {
    let gains = |shape: f64| {
        let [left, _] = process(
            &mut chain_of("tremolo", &[("depth", 1.0), ("rate_hz", 1.0), ("shape", shape)]),
            &ones(SECOND),
        );
        left
    };
    let check_at = |shape: f64, points: &[(f64, f64)]| {
        let values = gains(shape);
        for (period, expected) in points {
            let measured_gain = f64::from(values[(period * f64::from(RATE_HZ)) as usize]);
            check(&format!("shape {shape} after {period} periods"), measured_gain, *expected, 0.01);
        }
    };
    check_at(1.0, &[(0.0, 1.0), (0.25, 0.5), (0.5, 0.0), (0.75, 0.5)]);
    check_at(2.0, &[(0.0, 1.0), (0.25, 1.0), (0.49, 1.0), (0.5, 0.0), (0.75, 0.0), (0.99, 0.0)]);
    check_at(3.0, &[(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (0.99, 0.01)]);
    check_at(4.0, &[(0.0, 1.0), (0.01, 0.0), (0.25, 0.25), (0.5, 0.5), (0.75, 0.75), (0.99, 0.99)]);
    for shape in [2.0, 3.0, 4.0] {
        // Jumps of the shapes are smooth transitions of 6 ms. Their largest slope is 1.5 times that
        // of a linear transition.
        let step = largest_step(&gains(shape)) * 0.006 * f64::from(RATE_HZ);
        println!("shape {shape}: the largest step is {step:.3} of that of a linear transition");
        assert!(step < 1.55);
    }
}

#[test]
fn synchronization_follows_the_tempo() {
    // The note values are 1/8, 1/4D and 1/16T.
    for (note, beats) in [(7.0, 0.5), (12.0, 1.5), (2.0, 0.5 / 3.0)] {
        for bpm in [75.0, 120.0, 171.5] {
            let mut chain = chain_of("tremolo", &[("sync", 1.0), ("note", note), ("depth", 1.0)]);
            chain.reset(77_777);
            chain.set_time(MusicalTime { bpm, beat: 3.21 });
            let [left, _] = process(&mut chain, &ones(2 * SECOND));
            let max_error = left.iter().enumerate().fold(0.0_f64, |max_error, (frame, value)| {
                let beat = 3.21 + bpm / 60.0 * frame as f64 / f64::from(RATE_HZ);
                max_error.max((f64::from(*value) - (0.5 + 0.5 * (TAU * beat / beats).cos())).abs())
            });
            check(&format!("{beats} beats at {bpm} bpm, maximum error"), max_error, 0.0, 1e-3);
        }
    }
}

#[test]
fn changes_of_tempo_and_shape_do_not_click() {
    let kind = effect_kind("tremolo").unwrap();
    let mut chain = chain_of("tremolo", &[("sync", 1.0), ("depth", 1.0)]);
    let first_output = process(&mut chain, &ones(30_011));
    let beat = 2.0 * 30_011.0 / f64::from(RATE_HZ);
    chain.set_time(MusicalTime { bpm: 90.0, beat });
    let second_output = process(&mut chain, &ones(SECOND));
    for (frame, value) in second_output[0].iter().enumerate().skip(64) {
        let beat = beat + 1.5 * frame as f64 / f64::from(RATE_HZ);
        assert!((f64::from(*value) - (0.5 + 0.5 * (TAU * beat / 0.5).cos())).abs() < 2e-3, "frame {frame}");
    }
    let mut all = [&first_output[0][..], &second_output[0]].concat();
    for (id, value) in
        [("shape", 2.0), ("shape", 3.0), ("sync", 0.0), ("stereo_degrees", 180.0), ("rate_hz", 20.0)]
    {
        chain.set_parameter(0, kind.parameter_index(id).unwrap(), value);
        all.extend(&process(&mut chain, &ones(SECOND + 13))[1]);
    }
    println!("largest step: {:.5}", largest_step(&all));
    // The fastest changes are a transition of 6 ms and the crossfade of two shapes in 20 ms.
    assert!(largest_step(&all) < 1.5 / (0.006 * f64::from(RATE_HZ)) + 1.0 / (0.02 * f64::from(RATE_HZ)));
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    for shape in 0..5 {
        check_start_position(
            "tremolo",
            &[("shape", f64::from(shape)), ("rate_hz", 3.3), ("stereo_degrees", 70.0)],
        );
        check_start_position("tremolo", &[("shape", f64::from(shape)), ("sync", 1.0)]);
    }
}
