//! Tests of the compressor: its static curve, its time constants and its side-chain.

use crate::measure::{
    RATE_HZ, amplitude, chain_at, chain_of, check, constant, db, frames_to_63, gains_db,
    process_with_side_chain,
};
use crate::measure::{noise, peak, process, rms, sine, steps, tone};

/// Returns the output level in decibels for an input level, by equation 4 of Giannoulis, Massberg
/// and Reiss, "Digital Dynamic Range Compressor Design", 2012.
fn curve_db(level_db: f64, threshold_db: f64, ratio: f64, knee_db: f64) -> f64 {
    let over_db = level_db - threshold_db;
    if 2.0 * over_db < -knee_db {
        level_db
    } else if 2.0 * over_db.abs() <= knee_db && knee_db > 0.0 {
        level_db + (1.0 / ratio - 1.0) * (over_db + knee_db / 2.0).powi(2) / (2.0 * knee_db)
    } else {
        threshold_db + over_db / ratio
    }
}

#[test]
fn the_static_curve_matches_the_formula() {
    let mut worst_error = 0.0_f64;
    for (threshold_db, ratio, knee_db) in [
        (-20.0, 3.0, 6.0),
        (-40.0, 1.5, 0.0),
        (-10.0, 10.0, 24.0),
        (-30.0, 100.0, 12.0),
        (0.0, 4.0, 6.0),
        (-60.0, 1.0, 6.0),
    ] {
        for detector in [0.0, 1.0] {
            for level_db in (-70..=12).step_by(1).map(f64::from) {
                let settings = [
                    ("threshold_db", threshold_db),
                    ("ratio", ratio),
                    ("knee_db", knee_db),
                    ("attack_ms", 1.0),
                    ("detector", detector),
                ];
                let mut chain = chain_of("compressor", &settings);
                let output = process(&mut chain, &constant(level_db, 9_600));
                let expected_db = curve_db(level_db, threshold_db, ratio, knee_db);
                let error_db = db(f64::from(output[0][9_599])) - expected_db;
                assert!(error_db.abs() < 1e-3, "{settings:?} at {level_db} dB: error of {error_db} dB");
                worst_error = worst_error.max(error_db.abs());
                let reduction_db = f64::from(chain.gain_reduction_db(0).unwrap());
                assert!(
                    (level_db - expected_db - reduction_db).abs() < 1e-3,
                    "{settings:?}: {reduction_db} dB"
                );
            }
        }
    }
    println!("static curve: error up to {worst_error:.6} dB");
}

#[test]
fn attack_and_release_have_their_time_constants() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for (attack_ms, release_ms) in
            [(0.05, 5.0), (0.5, 20.0), (10.0, 120.0), (100.0, 1_000.0), (250.0, 50.0)]
        {
            let settings =
                [("attack_ms", attack_ms), ("release_ms", release_ms), ("knee_db", 0.0), ("ratio", 4.0)];
            let mut chain = chain_at(rate_hz, "compressor", &settings);
            let frames = |time_ms: f64| time_ms * f64::from(rate_hz) / 1_000.0;
            let (loud, quiet) = (frames(attack_ms * 20.0) as usize, frames(release_ms * 20.0) as usize);
            let input = steps(&[(-40.0, 100), (-6.0, loud), (-40.0, quiet)]);
            let gains_db = gains_db(&mut chain, &input);
            let attack = frames_to_63(&gains_db, 100, 100 + loud);
            let release = frames_to_63(&gains_db, 100 + loud, 100 + loud + quiet);
            let label = format!("at {rate_hz} Hz, frames of");
            // `frames_to_63` interpolates linearly between two frames of an exponential, with an
            // error of up to an eighth of a frame.
            check(
                &format!("{label} {attack_ms} ms attack"),
                attack,
                frames(attack_ms),
                0.02 * frames(attack_ms) + 0.125,
            );
            check(
                &format!("{label} {release_ms} ms release"),
                release,
                frames(release_ms),
                0.02 * frames(release_ms),
            );
        }
    }
}

#[test]
fn the_side_chain_replaces_the_main_input() {
    let settings = [("threshold_db", -20.0), ("ratio", 4.0), ("knee_db", 0.0), ("attack_ms", 1.0)];
    let quiet = noise(0.01, 9_600);
    let output =
        process_with_side_chain(&mut chain_of("compressor", &settings), &quiet, &constant(-4.0, 9_600));
    let gain_db = db(f64::from(output[1][9_599] / quiet[1][9_599]));
    check("gain for a side-chain 16 dB above the threshold, dB", gain_db, -12.0, 1e-3);

    let loud = noise(1.0, 9_600);
    let silent_input = [vec![0.0; 9_600], vec![0.0; 9_600]];
    assert_eq!(process_with_side_chain(&mut chain_of("compressor", &settings), &loud, &silent_input), loud);

    // Each channel of the side-chain affects both channels of the output.
    let one_sided = [vec![0.0; 9_600], constant(-4.0, 9_600)[0].clone()];
    let output = process_with_side_chain(&mut chain_of("compressor", &settings), &quiet, &one_sided);
    check(
        "gain on the left for a side-chain on the right, dB",
        db(f64::from(output[0][9_599] / quiet[0][9_599])),
        -12.0,
        1e-3,
    );
}

#[test]
fn the_output_is_finite_for_any_side_chain() {
    let mut side_chain = noise(1.0, 960);
    (side_chain[0][10], side_chain[0][20], side_chain[1][30], side_chain[1][40]) =
        (f32::NAN, f32::INFINITY, f32::MAX, 1e-40);
    for detector in [0.0, 1.0] {
        let settings = [("detector", detector), ("side_high_pass_hz", 100.0)];
        let output =
            process_with_side_chain(&mut chain_of("compressor", &settings), &noise(0.5, 960), &side_chain);
        assert!(output.iter().flatten().all(|value| value.is_finite()));
    }
}

#[test]
fn the_high_pass_is_a_butterworth_filter() {
    for frequency_hz in [250.0, 500.0, 1_000.0, 2_000.0, 8_000.0] {
        // At a ratio of 2, the gain reduction is half of the level above the threshold.
        let settings = [
            ("threshold_db", -60.0),
            ("ratio", 2.0),
            ("knee_db", 0.0),
            ("detector", 1.0),
            ("attack_ms", 50.0),
            ("release_ms", 50.0),
            ("side_high_pass_hz", 1_000.0),
        ];
        let mut chain = chain_of("compressor", &settings);
        process_with_side_chain(&mut chain, &constant(0.0, 48_000), &sine(frequency_hz, 1.0, 48_000));
        let level_db = 2.0 * f64::from(chain.gain_reduction_db(0).unwrap()) - 60.0;
        let tangent = |hz: f64| (std::f64::consts::PI * hz / f64::from(RATE_HZ)).tan();
        let w = tangent(frequency_hz) / tangent(1_000.0);
        let expected_db = db(w.powi(2) / (1.0 + w.powi(4)).sqrt()) + db(0.5_f64.sqrt());
        check(&format!("level at {frequency_hz} Hz, dBFS"), level_db, expected_db, 0.05);
    }
}

#[test]
fn the_rms_detector_measures_the_power_of_noise() {
    let settings = [("detector", 1.0), ("threshold_db", -60.0), ("ratio", 2.0), ("knee_db", 0.0)];
    let times = [("attack_ms", 250.0), ("release_ms", 250.0)];
    let settings: Vec<_> = settings.into_iter().chain(times).collect();
    let mut chain = chain_of("compressor", &settings);
    let audio = noise(0.5, 240_000);
    process(&mut chain, &audio);
    // At a ratio of 2, the reduction is half of the excess over the threshold. The detector follows
    // the louder channel at each frame, so its level is slightly above that of either channel.
    let level_db = 2.0 * f64::from(chain.gain_reduction_db(0).unwrap()) - 60.0;
    check("level of noise, dBFS", level_db, db(rms(&audio[0])), 0.3);
}

#[test]
fn the_rms_detector_has_a_time_constant_of_10_ms() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let settings = [
            ("detector", 1.0),
            ("threshold_db", -60.0),
            ("ratio", 2.0),
            ("knee_db", 0.0),
            ("attack_ms", 0.05),
            ("release_ms", 5.0),
        ];
        let frames = |time_ms: f64| (time_ms * f64::from(rate_hz) / 1e3) as usize;
        let (start, period) = (frames(100.0), frames(300.0));
        let input = steps(&[(-40.0, start), (-6.0, period - start), (-80.0, frames(100.0))]);
        let mut chain = chain_at(rate_hz, "compressor", &settings);
        // At a ratio of 2, the reduction is half of the excess over the threshold.
        let squares: Vec<f64> = gains_db(&mut chain, &input)
            .iter()
            .map(|gain_db| 10_f64.powf((-2.0 * gain_db - 60.0) / 10.0))
            .collect();
        let rise_ms = frames_to_63(&squares, start, period) * 1e3 / f64::from(rate_hz);
        // The attack of 0.05 ms adds to the time constant of the detector.
        check(&format!("rise at {rate_hz} Hz, ms"), rise_ms, 10.0 + 0.05, 0.02);
        let fall = (squares[period + frames(30.0)] / squares[period + frames(60.0)]).ln();
        check(&format!("fall at {rate_hz} Hz, ms"), 30.0 / fall, 10.0, 0.02);
    }
}

#[test]
fn make_up_and_mix_match_their_definitions() {
    let reduction_db = 20.0 * 0.75;
    let settings = [("threshold_db", -20.0), ("ratio", 4.0), ("knee_db", 0.0), ("attack_ms", 1.0)];
    let gain_db = |more_settings: &[(&str, f64)]| {
        let settings: Vec<_> = settings.iter().chain(more_settings).copied().collect();
        gains_db(&mut chain_of("compressor", &settings), &constant(0.0, 9_600))[9_599]
    };
    check("make-up of 6 dB", gain_db(&[("makeup_db", 6.0)]), 6.0 - reduction_db, 1e-3);
    check("automatic make-up, dB", gain_db(&[("auto_makeup", 1.0)]), -0.5 * reduction_db, 1e-3);
    check("mix of 0.5, dB", gain_db(&[("mix", 0.5)]), db(0.5 + 0.5 * amplitude(-reduction_db)), 1e-3);
    assert_eq!(gain_db(&[("mix", 0.0), ("makeup_db", 6.0)]), 0.0);
}

#[test]
fn quiet_input_passes_unchanged() {
    let input = noise(0.02, 48_000);
    let mut chain = chain_of("compressor", &[]);
    assert_eq!(chain.latency_frames(), 0);
    assert_eq!(process(&mut chain, &input), input);
}

#[test]
fn a_ramp_of_the_threshold_makes_no_steps() {
    let mut chain = chain_of("compressor", &[("attack_ms", 0.05), ("release_ms", 5.0), ("knee_db", 0.0)]);
    let input = constant(0.0, 9_600);
    let settled = gains_db(&mut chain, &input);
    // The threshold ramps linearly from -20 to -50 dB, at a ratio of 3.
    chain.automate(0, 0, -50.0, 4_800);
    let gains_db = gains_db(&mut chain, &input);
    check("halfway, dB", gains_db[2_400], -35.0 * 2.0 / 3.0, 0.05);
    check("after the ramp, dB", gains_db[9_599], -50.0 * 2.0 / 3.0, 1e-3);
    let step_db = gains_db.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
    check("largest step, dB", step_db, 20.0 / 4_800.0, 1e-3);
    check("before the ramp, dB", settled[9_599], -40.0 / 3.0, 1e-3);
}

#[test]
fn the_defaults_do_not_amplify_and_have_little_distortion() {
    let input = sine(1_000.0, 0.5, 48_000);
    let output = process(&mut chain_of("compressor", &[]), &input);
    let end = &output[0][24_000..];
    assert!(peak(end) < 0.5);
    let third_db = db(tone(end, 3_000.0).0 / tone(end, 1_000.0).0);
    println!("third harmonic of 1 kHz at -6 dBFS: {third_db:.1} dB");
    assert!(third_db < -40.0);
}

#[test]
fn changes_of_the_detector_do_not_depend_on_call_sizes() {
    let input = noise(0.7, 12_000);
    // The second change is between two control points, just after the crossfade of the first
    // change.
    let changes = [(501, 1.0), (1_480, 0.0), (2_452, 1.0)];
    let [whole, single] = [usize::MAX, 1].map(|call_frames| {
        let mut chain = chain_of("compressor", &[("attack_ms", 0.05), ("release_ms", 5.0)]);
        let [mut left, mut right] = input.clone();
        let mut start = 0;
        while start < left.len() {
            if let Some((_, detector)) = changes.iter().find(|(frame, _)| *frame == start) {
                chain.set_parameter(0, 5, *detector);
            }
            let next = changes.iter().map(|(frame, _)| *frame).find(|frame| *frame > start);
            let end = next.unwrap_or(left.len()).min(start.saturating_add(call_frames));
            chain.process(&mut left[start..end], &mut right[start..end], &[]);
            start = end;
        }
        left
    });
    assert!(whole == single);
}

#[test]
fn switching_off_the_high_pass_does_not_depend_on_call_sizes() {
    let input = noise(0.7, 12_000);
    for change in [1_000, 1_007, 1_031] {
        let [whole, single] = [usize::MAX, 1].map(|call_frames| {
            let mut chain = chain_of("compressor", &[("threshold_db", -40.0), ("side_high_pass_hz", 200.0)]);
            let [mut left, mut right] = input.clone();
            chain.process(&mut left[..change], &mut right[..change], &[]);
            chain.set_parameter(0, 6, 20.0);
            let remaining =
                left[change..].chunks_mut(call_frames).zip(right[change..].chunks_mut(call_frames));
            remaining.for_each(|(left, right)| chain.process(left, right, &[]));
            left
        });
        assert!(whole == single, "the high-pass was switched off at frame {change}");
    }
}
