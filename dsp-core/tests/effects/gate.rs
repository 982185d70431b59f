//! Tests of the gate: its static curve, its time constants, and when it opens and closes.

use dsp_core::mixer::EffectChain;

use crate::measure::{
    RATE_HZ, Stereo, amplitude, chain_at, chain_of, check, constant, db, frames_to_63, gains_db,
    process_with_side_chain, warped_ratio,
};
use crate::measure::{noise, peak, process, sine, sine_at, steps};

/// Returns a gate with these settings. By default, it has no hysteresis, no hold, and short attack
/// and release times.
fn gate(settings: &[(&str, f64)]) -> EffectChain {
    gate_at(RATE_HZ, settings)
}

/// Returns the gate of [`gate`] at another sample rate.
fn gate_at(sample_rate_hz: u32, settings: &[(&str, f64)]) -> EffectChain {
    let plain_settings = [("hysteresis_db", 0.0), ("hold_ms", 0.0), ("attack_ms", 0.05), ("release_ms", 2.0)];
    let settings: Vec<_> = plain_settings.iter().chain(settings).copied().collect();
    chain_at(sample_rate_hz, "gate", &settings)
}

#[test]
fn the_static_curve_matches_the_formula() {
    let mut worst_error = 0.0_f64;
    for (threshold_db, ratio, range_db) in
        [(-40.0, 2.0, 60.0), (-20.0, 10.0, 40.0), (-30.0, 1.5, 120.0), (-50.0, 100.0, 20.0), (0.0, 1.0, 60.0)]
    {
        let settings = [("threshold_db", threshold_db), ("ratio", ratio), ("range_db", range_db)];
        for level_db in (-90..=6).map(f64::from) {
            let mut chain = gate(&settings);
            let gain_db = gains_db(&mut chain, &constant(level_db, 9_600))[9_599];
            let expected_db = -((threshold_db - level_db).max(0.0) * (ratio - 1.0)).min(range_db);
            let error_db = gain_db - expected_db;
            assert!(error_db.abs() < 2e-3, "{settings:?} at {level_db} dB: error of {error_db} dB");
            worst_error = worst_error.max(error_db.abs());
            let reduction_db = f64::from(chain.gain_reduction_db(0).unwrap());
            assert!((expected_db + reduction_db).abs() < 2e-3, "{settings:?} reports {reduction_db} dB");
        }
    }
    println!("static curve: error up to {worst_error:.6} dB");
}

#[test]
fn the_hold_keeps_the_gain_of_an_expander_constant_during_a_tone() {
    for frequency_hz in [40.0, 1_000.0] {
        let settings = [("threshold_db", -20.0), ("ratio", 2.0), ("hold_ms", 15.0)];
        let tone = sine(frequency_hz, amplitude(-30.0), 48_000);
        let mut chain = gate(&settings);
        process(&mut chain, &tone);
        let reduction_db = f64::from(chain.gain_reduction_db(0).unwrap());
        check(&format!("reduction 10 dB below at {frequency_hz} Hz, dB"), reduction_db, 10.0, 0.05);
    }
}

#[test]
fn opening_and_closing_have_their_time_constants() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let frames = |time_ms: f64| time_ms * f64::from(rate_hz) / 1_000.0;
        for (attack_ms, release_ms) in [(0.05, 2.0), (0.5, 80.0), (10.0, 10.0), (100.0, 1_000.0)] {
            let settings = [("attack_ms", attack_ms), ("release_ms", release_ms), ("range_db", 40.0)];
            let mut chain = gate_at(rate_hz, &settings);
            let (open, closed) = (frames(attack_ms * 20.0) as usize, frames(release_ms * 20.0) as usize);
            let gains_db = gains_db(&mut chain, &steps(&[(-70.0, 100), (-10.0, open), (-70.0, closed)]));
            let attack = frames_to_63(&gains_db, 100, 100 + open);
            let release = frames_to_63(&gains_db, 100 + open, 100 + open + closed);
            for (label, time_ms, measured_ms) in
                [("attack", attack_ms, attack), ("release", release_ms, release)]
            {
                let expected = frames(time_ms);
                // `frames_to_63` interpolates linearly between two frames of an exponential, with
                // an error of up to an eighth of a frame.
                let tolerance = 0.02 * expected + 0.125;
                check(
                    &format!("at {rate_hz} Hz, frames of {time_ms} ms {label}"),
                    measured_ms,
                    expected,
                    tolerance,
                );
            }
        }
    }
}

#[test]
fn the_gate_closes_after_its_hold_time() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for hold_ms in [0.0, 1.0, 25.0, 400.0] {
            let mut chain = gate_at(rate_hz, &[("hold_ms", hold_ms), ("range_db", 40.0)]);
            let gains_db = gains_db(&mut chain, &steps(&[(-10.0, 4_800), (-70.0, 48_000)]));
            let closing = (4_800..).find(|frame| gains_db[*frame] < -1e-3).unwrap() - 4_800;
            let expected = (hold_ms * f64::from(rate_hz) / 1_000.0).round();
            check(&format!("at {rate_hz} Hz, frames of {hold_ms} ms hold"), closing as f64, expected, 0.0);
        }
    }
}

#[test]
fn the_gate_opens_at_its_threshold_and_closes_below_its_hysteresis() {
    for hysteresis_db in [0.0, 3.0, 12.0] {
        let mut chain = gate(&[
            ("threshold_db", -30.0),
            ("hysteresis_db", hysteresis_db),
            ("range_db", 40.0),
            ("ratio", 100.0),
        ]);
        // The level rises and then falls in steps of a tenth of a decibel.
        let rising_db: Vec<f64> = (0..=300).map(|tenth| -50.05 + 0.1 * f64::from(tenth)).collect();
        let mut is_open = |level_db: f64| {
            process(&mut chain, &constant(level_db, 2_400));
            chain.gain_reduction_db(0).unwrap() < 1.0
        };
        let opened_db = rising_db.iter().copied().find(|level_db| is_open(*level_db)).unwrap();
        let closed_db = rising_db
            .iter()
            .rev()
            .copied()
            .skip_while(|level_db| *level_db > opened_db)
            .find(|level_db| !is_open(*level_db))
            .unwrap();
        check("opens at, dBFS", opened_db, -30.0, 0.1);
        check("closes at, dBFS", closed_db, -30.0 - hysteresis_db, 0.15);
    }
}

#[test]
fn the_side_chain_replaces_the_main_input() {
    let settings = [("threshold_db", -20.0), ("range_db", 40.0)];
    let loud = noise(0.5, 9_600);
    let closed = process_with_side_chain(&mut gate(&settings), &loud, &[vec![0.0; 9_600], vec![0.0; 9_600]]);
    check("gain with a silent side-chain, dB", db(f64::from(closed[0][9_599] / loud[0][9_599])), -40.0, 1e-3);

    let quiet_input = noise(0.001, 9_600);
    let open = process_with_side_chain(&mut gate(&settings), &quiet_input, &constant(-10.0, 9_600));
    assert_eq!(open[0][4_800..], quiet_input[0][4_800..]);
    assert_eq!(open[1][4_800..], quiet_input[1][4_800..]);
}

#[test]
fn the_high_pass_removes_bass_from_the_detector() {
    let settings = [("threshold_db", -30.0), ("side_high_pass_hz", 2_000.0), ("hold_ms", 20.0)];
    let reduction_db = |frequency_hz| {
        let mut chain = gate(&settings);
        process(&mut chain, &sine(frequency_hz, 0.5, 24_000));
        chain.gain_reduction_db(0).unwrap()
    };
    assert!(reduction_db(100.0) > 50.0);
    assert_eq!(reduction_db(4_000.0), 0.0);
}

#[test]
fn the_high_pass_is_a_butterworth_filter() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for frequency_hz in [251.0, 499.0, 1_000.3, 1_999.0, 3_989.0] {
            // During its hold, an expander with a ratio of 2 attenuates by as many decibels as the
            // peaks are below the threshold.
            let settings = [
                ("threshold_db", 0.0),
                ("ratio", 2.0),
                ("range_db", 120.0),
                ("hold_ms", 100.0),
                ("side_high_pass_hz", 1_000.0),
            ];
            let frames = rate_hz as usize;
            let mut chain = gate_at(rate_hz, &settings);
            process_with_side_chain(
                &mut chain,
                &constant(0.0, frames),
                &sine_at(rate_hz, frequency_hz, 0.5, frames),
            );
            let w = warped_ratio(rate_hz, frequency_hz, 1_000.0);
            let expected_db = db(0.5 * w.powi(2) / (1.0 + w.powi(4)).sqrt());
            let level_db = -f64::from(chain.gain_reduction_db(0).unwrap());
            check(&format!("level at {frequency_hz} Hz, {rate_hz} Hz, dBFS"), level_db, expected_db, 0.05);
        }
    }
}

#[test]
fn an_open_gate_does_not_change_the_signal() {
    let mut chain = chain_of("gate", &[]);
    assert_eq!(chain.latency_frames(), 0);
    let input: Stereo = sine(200.0, 0.25, 48_000);
    let output = process(&mut chain, &input);
    assert_eq!(output[0][4_800..], input[0][4_800..]);
}

#[test]
fn a_reset_gate_is_closed_at_any_ratio() {
    for ratio in [1.0, 1.001, 1.02, 1.1, 10.0] {
        let settings = [("ratio", ratio), ("threshold_db", -10.0), ("range_db", 120.0), ("attack_ms", 100.0)];
        let [mut closed, mut reset] = [(); 2].map(|()| gate(&settings));
        process(&mut closed, &[(); 2].map(|()| vec![0.0; 20 * RATE_HZ as usize]));
        reset.reset(20 * u64::from(RATE_HZ));
        let tone = constant(-6.0, 4_800);
        let (closed, reset) = (process(&mut closed, &tone), process(&mut reset, &tone));
        let differences: Vec<f32> = closed[0].iter().zip(&reset[0]).map(|(a, b)| a - b).collect();
        let difference_db = db(peak(&differences));
        println!("ratio {ratio}: a difference of {difference_db:.1} dBFS");
        assert!(difference_db < -90.0, "ratio {ratio}: a difference of {difference_db:.1} dBFS");
    }
}
