//! Tests of the convolution: a comparison with the convolution sum, and the synthetic responses.

use assert_no_alloc::assert_no_alloc;
use dsp_core::effects::{EffectConfig, effect_kind};
use dsp_core::mixer::{EffectChain, EffectSlot};

use crate::measure::{
    RATE_HZ, Stereo, chain_of, check, config, db, impulse, noise, peak, process, response_at_db, rms, sine,
    warped_ratio,
};

const IMPULSE: f64 = 0.0;
const SMALL_ROOM: f64 = 1.0;
const HALL: f64 = 2.0;
const PLATE: f64 = 3.0;

/// Settings for only the wet signal, without cuts and pre-delay.
const WET: [(&str, f64); 4] =
    [("pre_delay_ms", 0.0), ("low_cut_hz", 20.0), ("high_cut_hz", 20_000.0), ("mix", 1.0)];

fn with_impulse(response: &Stereo, parameters: &[(&str, f64)]) -> EffectChain {
    with_impulse_at(RATE_HZ, response, parameters)
}

fn with_impulse_at(rate_hz: u32, response: &Stereo, parameters: &[(&str, f64)]) -> EffectChain {
    let kind = effect_kind("convolution").unwrap();
    let impulse = Some([&response[0][..], &response[1]]);
    let mut slot = EffectSlot::new("effect", kind, &EffectConfig { impulse, ..config(rate_hz) });
    for (id, value) in [&[("response", IMPULSE)], &WET[..], parameters].concat() {
        slot.set_parameter(kind.parameter_index(id).unwrap(), value, 0);
    }
    let mut chain = EffectChain::new(rate_hz);
    chain.push(slot);
    chain
}

/// Returns decaying noise. The mean energy of both channels is 1.
fn decaying_noise(frames: usize) -> Stereo {
    let mut response = noise(1.0, frames);
    for side in &mut response {
        for (frame, value) in side.iter_mut().enumerate() {
            *value *= (-4.0 * frame as f32 / frames as f32).exp();
        }
    }
    let energy: f64 = response.iter().flatten().map(|value| f64::from(*value).powi(2)).sum::<f64>() / 2.0;
    response.map(|side| side.iter().map(|value| (f64::from(*value) / energy.sqrt()) as f32).collect())
}

/// Computes one frame of the output by the convolution sum.
fn direct_convolution(input: &[f32], response: &[f32], frame: usize) -> f64 {
    (0..response.len().min(frame + 1))
        .map(|tap| f64::from(response[tap]) * f64::from(input[frame - tap]))
        .sum()
}

#[test]
fn the_output_equals_the_convolution_sum() {
    // The lengths are just below and above the limits between the sizes of partitions.
    for (frames, input_frames) in
        [(1, 300), (64, 300), (65, 1_000), (1_023, 3_000), (1_025, 3_000), (8_192, 12_000), (25_000, 40_000)]
    {
        let (response, input) = (decaying_noise(frames), noise(0.5, input_frames));
        let output = process(&mut with_impulse(&response, &[]), &input);
        let (mut errors, mut values) = (Vec::new(), Vec::new());
        for frame in (0..input_frames).step_by(1 + input_frames / 1_500) {
            for side in 0..2 {
                let expected = direct_convolution(&input[side], &response[side], frame);
                errors.push((f64::from(output[side][frame]) - expected) as f32);
                values.push(expected as f32);
            }
        }
        let (worst, level) = (db(peak(&errors)), db(rms(&values)));
        println!("{frames} frames: error of at most {worst:.1} dBFS, output at {level:.1} dBFS");
        assert!(worst < -120.0, "{frames} frames: an error of {worst} dBFS");
    }
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    let (response, input) = (decaying_noise(20_000), noise(0.5, 30_000));
    for start in [12_345, 4_096, 511] {
        let mut chain = with_impulse(&response, &[]);
        chain.reset(start);
        let output = process(&mut chain, &input);
        for frame in [0, 63, 64, 5_000, 15_000, 29_999] {
            let expected = direct_convolution(&input[0], &response[0], frame);
            check(&format!("from {start}, frame {frame}"), f64::from(output[0][frame]), expected, 1e-6);
        }
    }
}

#[test]
fn an_impulse_is_the_response_without_latency() {
    let response = decaying_noise(20_000);
    let mut chain = with_impulse(&response, &[]);
    assert_eq!(chain.latency_frames(), 0);
    let output = process(&mut chain, &impulse(20_000));
    for (side, (output, response)) in output.iter().zip(&response).enumerate() {
        let error: Vec<f32> =
            output.iter().zip(response).map(|(output, response)| output - response).collect();
        println!("channel {side}: error of {:.1} dBFS", db(peak(&error)));
        assert!(db(peak(&error)) < -120.0);
    }
}

#[test]
fn dry_and_wet_are_aligned() {
    // With a response of a single 1, the wet signal equals the dry signal.
    let unit = [vec![1.0], vec![1.0]];
    let input = noise(0.5, 2_000);
    for mix in [0.0, 0.5, 1.0] {
        let output = process(&mut with_impulse(&unit, &[("mix", mix)]), &input);
        let error: Vec<f32> = output[0].iter().zip(&input[0]).map(|(output, input)| output - input).collect();
        assert!(peak(&error) < 1e-7, "mix {mix}");
    }
}

#[test]
fn pre_delay_and_level_match_their_definitions() {
    let unit = [vec![1.0], vec![1.0]];
    let [left, _] =
        process(&mut with_impulse(&unit, &[("pre_delay_ms", 10.0), ("level_db", -6.0)]), &impulse(1_000));
    assert_eq!(left.iter().position(|value| *value != 0.0), Some(480));
    check("level, dB", db(f64::from(left[480])), -6.0, 1e-4);
}

#[test]
fn the_cuts_are_butterworth_filters_of_second_order() {
    let unit = [vec![1.0], vec![1.0]];
    for rate_hz in [44_100, 48_000, 96_000] {
        // A cut at the end of its range, 20 or 20,000 Hz, is off.
        for (low_hz, high_hz) in [(300.0, 5_000.0), (60.0, 12_000.0), (2_000.0, 20_000.0), (20.0, 500.0)] {
            let cuts = [("low_cut_hz", low_hz), ("high_cut_hz", high_hz)];
            let [left, _] = process(&mut with_impulse_at(rate_hz, &unit, &cuts), &impulse(1 << 14));
            for frequency_hz in
                [30.0, 60.0, 150.0, 300.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 12_000.0, 18_000.0]
            {
                let low4 =
                    if low_hz > 20.0 { warped_ratio(rate_hz, low_hz, frequency_hz).powi(4) } else { 0.0 };
                let high4 = if high_hz < 20_000.0 {
                    warped_ratio(rate_hz, frequency_hz, high_hz).powi(4)
                } else {
                    0.0
                };
                let expected = -0.5 * db((1.0 + low4) * (1.0 + high4));
                let label = format!("{low_hz} to {high_hz} Hz at {frequency_hz} Hz, {rate_hz} Hz, dB");
                check(&label, response_at_db(rate_hz, &left, frequency_hz), expected, 0.02);
            }
        }
    }
}

#[test]
fn a_response_is_normalized_to_keep_the_level_of_noise() {
    let loud: Stereo = decaying_noise(10_000).map(|side| side.iter().map(|value| value * 50.0).collect());
    let input = noise(0.25, 48_000);
    let output = process(&mut with_impulse(&loud, &[]), &input);
    check("noise, dB", db(rms(&output[0][12_000..]) / rms(&input[0])), 0.0, 0.5);
}

#[test]
fn the_synthetic_responses_have_their_decay_times() {
    // The remaining energy (Schroeder's integral) falls by 30 dB in half of the reverberation time
    // RT60.
    for (response, secs) in [(SMALL_ROOM, 0.45), (HALL, 2.2), (PLATE, 1.6)] {
        let parameters = [&[("response", response)], &WET[..], &[("high_cut_hz", 500.0)]].concat();
        let output = process(&mut chain_of("convolution", &parameters), &impulse(3 * RATE_HZ as usize));
        let remaining_db = |from_secs: f64| {
            let from = (from_secs * f64::from(RATE_HZ)) as usize;
            10.0 * output[0][from..].iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().log10()
        };
        // The measurement starts after the onset, at a tenth of the RT60.
        let fall_db = remaining_db(0.1 * secs) - remaining_db(0.6 * secs);
        check(&format!("room {response}: fall in half of {secs} s, dB"), fall_db, 30.0, 1.5);
        let cross_power: f64 =
            output[0].iter().zip(&output[1]).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum();
        let power = rms(&output[0]) * rms(&output[1]) * output[0].len() as f64;
        check("correlation of the channels", cross_power / power, 0.0, 0.1);
    }
}

#[test]
fn a_new_response_starts_from_silence() {
    let (response, input) = (decaying_noise(30_000), noise(0.5, 60_000));
    let outputs = [(SMALL_ROOM, 0.5), (HALL, -0.25)].map(|(first_response, level)| {
        let mut chain = with_impulse(&response, &[("response", first_response)]);
        let mut earlier_noise = noise(level, 50_000);
        let [left, right] = &mut earlier_noise;
        chain.process(left, right, &[]);
        chain.set_parameter(0, 0, IMPULSE);
        process(&mut chain, &input)
    });
    // From here on, the old response has faded out: it fades for 20 ms after the next control
    // point.
    assert_eq!(outputs[0][0][1_100..], outputs[1][0][1_100..]);
    // After its fade-in, the output of the new response includes all input since the switch.
    let expected = direct_convolution(&input[0][2_100..], &response[0], 57_000 - 2_100);
    check("at frame 57,000", f64::from(outputs[0][0][57_000]), expected, 1e-6);
}

#[test]
fn changing_the_response_neither_allocates_nor_clicks() {
    let mut chain = chain_of("convolution", &[("mix", 1.0), ("low_cut_hz", 20.0)]);
    let [mut left, mut right] = sine(100.0, 0.25, 3 * RATE_HZ as usize);
    for (number, (left, right)) in left.chunks_mut(18_000).zip(right.chunks_mut(18_000)).enumerate() {
        assert_no_alloc(|| {
            chain.set_parameter(0, 0, (number % 4) as f64);
            chain.set_parameter(0, 1, 20.0 * (number % 3) as f64);
            chain.process(left, right, &[]);
        });
    }
    // The tone has no energy above 4 kHz, so energy there is a click.
    let mut high_pass = chain_of(
        "equalizer",
        &[("low_cut_on", 1.0), ("low_cut_frequency_hz", 4_000.0), ("low_cut_slope", 2.0)],
    );
    high_pass.process(&mut left, &mut right, &[]);
    let click_db = db(peak(&left[4_800..]));
    println!("loudest click: {click_db:.1} dBFS");
    assert!(click_db < -60.0);
}

#[test]
fn a_missing_response_is_silent() {
    let [left, _] =
        process(&mut chain_of("convolution", &[("response", IMPULSE), ("mix", 1.0)]), &noise(0.5, 4_800));
    assert_eq!(peak(&left), 0.0);
}

#[test]
fn input_after_long_silence_is_processed_without_delay() {
    let response = decaying_noise(10_000);
    let mut input = noise(0.5, 70_000);
    // The silence is longer than the response, so the effect skips some of it.
    input.iter_mut().for_each(|side| side[5_000..50_011].fill(0.0));
    let output = process(&mut with_impulse(&response, &[]), &input);
    assert!(output[0][40_000..50_011].iter().all(|value| *value == 0.0));
    for frame in [14_000, 50_011, 51_000, 55_000, 60_100, 69_999] {
        let expected = direct_convolution(&input[1], &response[1], frame);
        check(&format!("frame {frame}"), f64::from(output[1][frame]), expected, 1e-6);
    }
}
