//! Convolution against its definition, and the made rooms.

use assert_no_alloc::assert_no_alloc;
use dsp_core::chain::{Chain, Slot};
use dsp_core::effects::{EffectConfig, effect_kind};

use crate::measure::{
    RATE_HZ, Stereo, bent, chain_of, check, config, db, impulse, noise, peak, response_at_db, rms, sine,
    through,
};

const OWN: f64 = 0.0;
const SMALL_ROOM: f64 = 1.0;
const HALL: f64 = 2.0;
const PLATE: f64 = 3.0;

/// All wet, nothing in the way.
const BARE: [(&str, f64); 4] =
    [("pre_delay_ms", 0.0), ("low_cut_hz", 20.0), ("high_cut_hz", 20_000.0), ("mix", 1.0)];

fn with_impulse(response: &Stereo, parameters: &[(&str, f64)]) -> Chain {
    with_impulse_at(RATE_HZ, response, parameters)
}

fn with_impulse_at(rate_hz: u32, response: &Stereo, parameters: &[(&str, f64)]) -> Chain {
    let kind = effect_kind("convolution").unwrap();
    let impulse = Some([&response[0][..], &response[1]]);
    let mut slot = Slot::new("effect", kind, &EffectConfig { impulse, ..config(rate_hz) });
    for (id, value) in [&[("response", OWN)], &BARE[..], parameters].concat() {
        slot.set(kind.parameter_place(id).unwrap(), value, 0);
    }
    let mut chain = Chain::new(rate_hz);
    chain.push(slot);
    chain
}

/// Noise that decays, its energy (the mean of both sides) 1.
fn decaying(frames: usize) -> Stereo {
    let mut response = noise(1.0, frames);
    for side in &mut response {
        for (frame, value) in side.iter_mut().enumerate() {
            *value *= (-4.0 * frame as f32 / frames as f32).exp();
        }
    }
    let energy: f64 = response.iter().flatten().map(|value| f64::from(*value).powi(2)).sum::<f64>() / 2.0;
    response.map(|side| side.iter().map(|value| (f64::from(*value) / energy.sqrt()) as f32).collect())
}

/// The sum that convolution is, for one frame.
fn direct(input: &[f32], response: &[f32], frame: usize) -> f64 {
    (0..response.len().min(frame + 1))
        .map(|tap| f64::from(response[tap]) * f64::from(input[frame - tap]))
        .sum()
}

#[test]
fn equals_direct_convolution() {
    // Lengths on both sides of every border between kinds of parts.
    for (frames, input_frames) in
        [(1, 300), (64, 300), (65, 1_000), (1_023, 3_000), (1_025, 3_000), (8_192, 12_000), (25_000, 40_000)]
    {
        let (response, input) = (decaying(frames), noise(0.5, input_frames));
        let output = through(&mut with_impulse(&response, &[]), &input);
        let (mut errors, mut values) = (Vec::new(), Vec::new());
        for frame in (0..input_frames).step_by(1 + input_frames / 1_500) {
            for side in 0..2 {
                let expected = direct(&input[side], &response[side], frame);
                errors.push((f64::from(output[side][frame]) - expected) as f32);
                values.push(expected as f32);
            }
        }
        let (worst, level) = (db(peak(&errors)), db(rms(&values)));
        println!("{frames} frames: at most {worst:.1} dBFS off, output at {level:.1} dBFS");
        assert!(worst < -120.0, "{frames}: {worst}");
    }
}

#[test]
fn it_starts_anywhere() {
    let (response, input) = (decaying(20_000), noise(0.5, 30_000));
    for start in [12_345, 4_096, 511] {
        let mut chain = with_impulse(&response, &[]);
        chain.reset(start);
        let output = through(&mut chain, &input);
        for frame in [0, 63, 64, 5_000, 15_000, 29_999] {
            let expected = direct(&input[0], &response[0], frame);
            check(&format!("from {start}, frame {frame}"), f64::from(output[0][frame]), expected, 1e-6);
        }
    }
}

#[test]
fn an_impulse_is_the_response_without_latency() {
    let response = decaying(20_000);
    let mut chain = with_impulse(&response, &[]);
    assert_eq!(chain.latency_frames(), 0);
    let output = through(&mut chain, &impulse(20_000));
    for (side, (output, response)) in output.iter().zip(&response).enumerate() {
        let error: Vec<f32> =
            output.iter().zip(response).map(|(output, response)| output - response).collect();
        println!("side {side}: within {:.1} dBFS", db(peak(&error)));
        assert!(db(peak(&error)) < -120.0);
    }
}

#[test]
fn dry_and_wet_meet() {
    // A response of one frame makes wet what dry is.
    let one = [vec![1.0], vec![1.0]];
    let input = noise(0.5, 2_000);
    for mix in [0.0, 0.5, 1.0] {
        let output = through(&mut with_impulse(&one, &[("mix", mix)]), &input);
        let error: Vec<f32> = output[0].iter().zip(&input[0]).map(|(output, input)| output - input).collect();
        assert!(peak(&error) < 1e-7, "mix {mix}");
    }
}

#[test]
fn pre_delay_and_level_are_what_they_say() {
    let one = [vec![1.0], vec![1.0]];
    let [left, _] =
        through(&mut with_impulse(&one, &[("pre_delay_ms", 10.0), ("level_db", -6.0)]), &impulse(1_000));
    assert_eq!(left.iter().position(|value| *value != 0.0), Some(480));
    check("level, dB", db(f64::from(left[480])), -6.0, 1e-4);
}

#[test]
fn the_cuts_are_butterworths_of_second_order() {
    let one = [vec![1.0], vec![1.0]];
    for rate_hz in [44_100, 48_000, 96_000] {
        // At its end a cut is off.
        for (low_hz, high_hz) in [(300.0, 5_000.0), (60.0, 12_000.0), (2_000.0, 20_000.0), (20.0, 500.0)] {
            let cuts = [("low_cut_hz", low_hz), ("high_cut_hz", high_hz)];
            let [left, _] = through(&mut with_impulse_at(rate_hz, &one, &cuts), &impulse(1 << 14));
            for frequency_hz in
                [30.0, 60.0, 150.0, 300.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 12_000.0, 18_000.0]
            {
                let low4 = if low_hz > 20.0 { bent(rate_hz, low_hz, frequency_hz).powi(4) } else { 0.0 };
                let high4 =
                    if high_hz < 20_000.0 { bent(rate_hz, frequency_hz, high_hz).powi(4) } else { 0.0 };
                let expected = -0.5 * db((1.0 + low4) * (1.0 + high4));
                let what = format!("{low_hz} to {high_hz} Hz at {frequency_hz} Hz, {rate_hz} Hz, dB");
                check(&what, response_at_db(rate_hz, &left, frequency_hz), expected, 0.02);
            }
        }
    }
}

#[test]
fn a_response_of_any_level_passes_noise_at_its_own() {
    let loud: Stereo = decaying(10_000).map(|side| side.iter().map(|value| value * 50.0).collect());
    let input = noise(0.25, 48_000);
    let output = through(&mut with_impulse(&loud, &[]), &input);
    check("noise, dB", db(rms(&output[0][12_000..]) / rms(&input[0])), 0.0, 0.5);
}

#[test]
fn rooms_decay_as_they_say() {
    // Energy that is left (Schroeder's integral): by 30 dB in half of the time for 60 dB.
    for (response, secs) in [(SMALL_ROOM, 0.45), (HALL, 2.2), (PLATE, 1.6)] {
        let parameters = [&[("response", response)], &BARE[..], &[("high_cut_hz", 500.0)]].concat();
        let output = through(&mut chain_of("convolution", &parameters), &impulse(3 * RATE_HZ as usize));
        let left_db = |from_secs: f64| {
            let from = (from_secs * f64::from(RATE_HZ)) as usize;
            10.0 * output[0][from..].iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().log10()
        };
        // From a tenth of the time on: the build-up is over.
        let fallen = left_db(0.1 * secs) - left_db(0.6 * secs);
        check(&format!("room {response}: fall in half of {secs} s, dB"), fallen, 30.0, 1.5);
        let together: f64 =
            output[0].iter().zip(&output[1]).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum();
        let alone = rms(&output[0]) * rms(&output[1]) * output[0].len() as f64;
        check("correlation of the sides", together / alone, 0.0, 0.1);
    }
}

#[test]
fn what_was_heard_before_a_change_leaves_nothing() {
    let (response, input) = (decaying(30_000), noise(0.5, 60_000));
    let outputs = [(SMALL_ROOM, 0.5), (HALL, -0.25)].map(|(before, level)| {
        let mut chain = with_impulse(&response, &[("response", before)]);
        let mut earlier = noise(level, 50_000);
        let [left, right] = &mut earlier;
        chain.process(left, right, &[]);
        chain.set(0, 0, OWN);
        through(&mut chain, &input)
    });
    // After the old one has faded out, in 20 ms from the next control place on.
    assert_eq!(outputs[0][0][1_100..], outputs[1][0][1_100..]);
    // And the new one in, everything is there that came in since.
    let expected = direct(&input[0][2_100..], &response[0], 57_000 - 2_100);
    check("at frame 57,000", f64::from(outputs[0][0][57_000]), expected, 1e-6);
}

#[test]
fn changing_the_room_neither_allocates_nor_clicks() {
    let mut chain = chain_of("convolution", &[("mix", 1.0), ("low_cut_hz", 20.0)]);
    let [mut left, mut right] = sine(100.0, 0.25, 3 * RATE_HZ as usize);
    for (number, (left, right)) in left.chunks_mut(18_000).zip(right.chunks_mut(18_000)).enumerate() {
        assert_no_alloc(|| {
            chain.set(0, 0, (number % 4) as f64);
            chain.set(0, 1, 20.0 * (number % 3) as f64);
            chain.process(left, right, &[]);
        });
    }
    let mut listener = chain_of(
        "equalizer",
        &[("low_cut_on", 1.0), ("low_cut_frequency_hz", 4_000.0), ("low_cut_slope", 2.0)],
    );
    listener.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[4_800..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -60.0);
}

#[test]
fn without_a_response_of_ones_own_that_choice_is_silence() {
    let [left, _] =
        through(&mut chain_of("convolution", &[("response", OWN), ("mix", 1.0)]), &noise(0.5, 4_800));
    assert_eq!(peak(&left), 0.0);
}

#[test]
fn it_wakes_up_from_silence() {
    let response = decaying(10_000);
    let mut input = noise(0.5, 70_000);
    // Longer than everything that could still sound.
    input.iter_mut().for_each(|side| side[5_000..50_011].fill(0.0));
    let output = through(&mut with_impulse(&response, &[]), &input);
    assert!(output[0][40_000..50_011].iter().all(|value| *value == 0.0));
    for frame in [14_000, 50_011, 51_000, 55_000, 60_100, 69_999] {
        let expected = direct(&input[1], &response[1], frame);
        check(&format!("frame {frame}"), f64::from(output[1][frame]), expected, 1e-6);
    }
}
