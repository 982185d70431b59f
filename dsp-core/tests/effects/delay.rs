//! Tests of the delay: times, decay, filters, ping-pong and changes of parameters.

use dsp_core::effects::{MusicalTime, Scale, effect_kind};
use dsp_core::mixer::EffectChain;

use crate::measure::{
    RATE_HZ, Stereo, chain_at, chain_of, check, check_start_position, db, impulse, largest_step, peak,
    process, response_db, sine, tone,
};

/// Settings for a delay in milliseconds, without the dry signal and with the cuts at the ends of
/// their ranges.
const WET: [(&str, f64); 4] = [("sync", 0.0), ("mix", 1.0), ("low_cut_hz", 20.0), ("high_cut_hz", 20_000.0)];

fn wet_with<'a>(more_parameters: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
    [&WET[..], more_parameters].concat()
}

/// Returns the frames at which echoes begin: those above 0.01 after 19 quieter frames.
fn echoes(values: &[f32]) -> Vec<usize> {
    let loud = |frame: usize| values[frame].abs() > 0.01;
    (1..values.len())
        .filter(|frame| loud(*frame) && !(1..20).any(|back| *frame >= back && loud(*frame - back)))
        .collect()
}

#[test]
fn echoes_begin_at_the_frame_nearest_to_the_delay_time() {
    for rate_hz in [44_100, 48_000, 96_000] {
        for time_ms in [1.0, 12.3, 250.0, 375.0, 1_234.5, 5_000.0] {
            let mut chain = chain_at(rate_hz, "delay", &wet_with(&[("time_ms", time_ms), ("feedback", 0.0)]));
            let [left, right] = process(&mut chain, &impulse(6 * rate_hz as usize));
            let expected = (time_ms * f64::from(rate_hz) / 1e3).round() as usize;
            println!("{time_ms} ms at {rate_hz} Hz: frame {expected}");
            assert_eq!(
                (echoes(&left), echoes(&right)),
                (vec![expected], vec![expected]),
                "{time_ms} ms, {rate_hz} Hz"
            );
        }
    }
}

#[test]
fn note_values_follow_the_tempo() {
    let kind = effect_kind("delay").unwrap();
    let note = kind.parameters[kind.parameter_index("note").unwrap()];
    let Scale::Choice(names) = note.scale else { panic!("notes are a choice") };
    let cases = [
        ("1/4", 1.0),
        ("1/8D", 0.75),
        ("1/8T", 1.0 / 3.0),
        ("1/16", 0.25),
        ("1/2T", 4.0 / 3.0),
        ("1/1D", 6.0),
    ];
    for bpm in [60.0, 97.3, 120.0, 174.0] {
        for (name, beats) in cases {
            let index = names.iter().position(|candidate| *candidate == name).unwrap();
            let mut chain =
                chain_of("delay", &wet_with(&[("sync", 1.0), ("note", index as f64), ("feedback", 0.0)]));
            chain.set_time(MusicalTime { bpm, beat: 0.0 });
            let [left, _] = process(&mut chain, &impulse(6 * RATE_HZ as usize));
            let mut secs = beats * 60.0 / bpm;
            if secs > 5.0 {
                secs /= 2.0;
            }
            let expected = (secs * f64::from(RATE_HZ)).round() as usize;
            println!("{name} at {bpm} bpm: frame {expected}");
            assert_eq!(echoes(&left), [expected], "{name} at {bpm} bpm");
        }
    }
}

/// Returns the magnitude of both cuts in decibels: analogue filters of first order at frequencies
/// that the bilinear transform warps.
fn cuts_db(frequency_hz: f64, low_hz: f64, high_hz: f64) -> f64 {
    let warped = |frequency_hz: f64| (std::f64::consts::PI * frequency_hz / f64::from(RATE_HZ)).tan();
    let (low, high) = (warped(frequency_hz) / warped(low_hz), warped(frequency_hz) / warped(high_hz));
    db(low / low.hypot(1.0) / high.hypot(1.0))
}

#[test]
fn each_echo_passes_the_feedback_and_the_cuts_once_more() {
    for feedback in [0.3, 0.7, 0.98] {
        let parameters =
            [("time_ms", 100.0), ("feedback", feedback), ("low_cut_hz", 200.0), ("high_cut_hz", 4_000.0)];
        let [left, _] = process(&mut chain_of("delay", &wet_with(&parameters)), &impulse(36_000));
        for number in 1..6 {
            let echo = &left[number * 4_800..(number + 1) * 4_800];
            for frequency_hz in [100.0, 200.0, 1_000.0, 4_000.0, 10_000.0] {
                let expected = cuts_db(frequency_hz, 200.0, 4_000.0) * number as f64
                    + db(feedback) * (number - 1) as f64;
                let label = format!("echo {number} at {frequency_hz} Hz, feedback {feedback}, dB");
                check(&label, response_db(echo, frequency_hz), expected, 0.02);
            }
        }
    }
}

#[test]
fn ping_pong_alternates_and_spread_delays_one_channel() {
    let ping_pong = wet_with(&[("time_ms", 100.0), ("mode", 1.0), ("feedback", 0.9)]);
    let [left, right] = process(&mut chain_of("delay", &ping_pong), &impulse(24_000));
    assert_eq!((echoes(&left), echoes(&right)), (vec![4_800, 14_400], vec![9_600, 19_200]));
    for (spread_ms, expected) in [(-12.5, [5_400, 4_800]), (20.0, [4_800, 5_760])] {
        let spread = wet_with(&[("time_ms", 100.0), ("spread_ms", spread_ms), ("feedback", 0.0)]);
        let [left, right] = process(&mut chain_of("delay", &spread), &impulse(9_600));
        assert_eq!((echoes(&left), echoes(&right)), (vec![expected[0]], vec![expected[1]]));
    }
}

#[test]
fn the_mix_has_equal_power() {
    for mix in [0.0, 0.25, 0.5, 1.0] {
        let parameters = wet_with(&[("time_ms", 100.0), ("feedback", 0.0), ("mix", mix)]);
        let [left, _] = process(&mut chain_of("delay", &parameters), &impulse(9_600));
        let angle = mix * std::f64::consts::FRAC_PI_2;
        check("dry", f64::from(left[0]), angle.cos(), 1e-7);
        let expected = angle.sin() * 10f64.powf(cuts_db(1_000.0, 20.0, 20_000.0) / 20.0);
        check("echo", 10f64.powf(response_db(&left[4_800..], 1_000.0) / 20.0), expected, 1e-4);
    }
}

fn set(chain: &mut EffectChain, id: &str, value: f64) {
    chain.set_parameter(0, effect_kind("delay").unwrap().parameter_index(id).unwrap(), value);
}

/// Processes a sine and makes a change after half a second. Returns the largest step of the output,
/// relative to that of the sine.
fn relative_step_after(parameters: &[(&str, f64)], change: impl FnOnce(&mut EffectChain)) -> f64 {
    let [left, right] = sine(200.0, 0.5, 96_000);
    let part =
        |range: std::ops::Range<usize>| -> Stereo { [left[range.clone()].to_vec(), right[range].to_vec()] };
    let mut chain = chain_of("delay", parameters);
    let [before, _] = process(&mut chain, &part(0..24_007));
    change(&mut chain);
    let [after, _] = process(&mut chain, &part(24_007..96_000));
    largest_step(&[&before[12_000..], &after].concat()) / largest_step(&left)
}

#[test]
fn changes_do_not_click() {
    let parameters = wet_with(&[("time_ms", 100.0), ("feedback", 0.5)]);
    // With a feedback of 0.5, echoes add up to at most twice the sine. A crossfade adds its slope.
    let fade_slope =
        4.0 / (0.03 * f64::from(RATE_HZ)) / (0.5 * std::f64::consts::TAU * 200.0 / f64::from(RATE_HZ));
    for (id, value) in
        [("time_ms", 212.3), ("time_ms", 99.0), ("mode", 1.0), ("spread_ms", 7.7), ("feedback", 0.0)]
    {
        let ratio = relative_step_after(&parameters, |chain| set(chain, id, value));
        println!("largest step after {id} = {value}: {ratio:.3} of the sine's");
        assert!(ratio < 2.0 + fade_slope, "{id}: {ratio}");
    }
}

#[test]
fn the_delay_follows_the_tempo() {
    let parameters = wet_with(&[("sync", 1.0), ("note", 10.0), ("feedback", 0.0)]);
    let ratio =
        relative_step_after(&parameters, |chain| chain.set_time(MusicalTime { bpm: 90.0, beat: 1.0 }));
    println!("largest step after a change of tempo: {ratio:.3} of the sine's");
    assert!(ratio < 1.2, "{ratio}");
    let mut chain = chain_of("delay", &parameters);
    process(&mut chain, &[vec![0.0; 1_000], vec![0.0; 1_000]]);
    chain.set_time(MusicalTime { bpm: 90.0, beat: 1.0 });
    process(&mut chain, &[vec![0.0; 2_000], vec![0.0; 2_000]]);
    let [left, _] = process(&mut chain, &impulse(40_000));
    assert_eq!(echoes(&left), [32_000]);
}

#[test]
fn the_output_at_maximum_feedback_is_bounded() {
    let parameters = wet_with(&[("time_ms", 7.0), ("feedback", 0.98)]);
    let [left, _] = process(&mut chain_of("delay", &parameters), &sine(1_000.0, 0.5, 240_000));
    let (loudest, _) = tone(&left[192_000..], 1_000.0);
    println!("a tone of amplitude 0.5 and its echoes have an amplitude of {loudest}");
    assert!(peak(&left) <= 0.5 / (1.0 - 0.98));
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    check_start_position("delay", &[]);
    check_start_position("delay", &wet_with(&[("mode", 1.0), ("time_ms", 33.0)]));
}
