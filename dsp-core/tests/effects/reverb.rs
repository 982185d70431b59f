//! Tests of the reverb: decay times in octaves, echo density, spectrum, early reflections,
//! pre-delay and width.

use std::f64::consts::{PI, TAU};

use crate::measure::{
    RATE_HZ, chain_at, chain_of, check, check_start_position, db, impulse, largest_step, noise, peak,
    process, response_at_db, rms, sine, warped_ratio,
};
use dsp_core::effects::effect_kind;

const SECOND: usize = RATE_HZ as usize;

/// Settings for only the late reverberation, with the same decay time at all frequencies.
const LATE: [(&str, f64); 8] = [
    ("mix", 1.0),
    ("early", 0.0),
    ("pre_delay_ms", 0.0),
    ("low_decay", 1.0),
    ("high_decay", 1.0),
    ("low_cut_hz", 20.0),
    ("high_cut_hz", 20_000.0),
    ("modulation", 0.0),
];

fn late_with<'a>(more_parameters: &[(&'a str, f64)]) -> Vec<(&'a str, f64)> {
    [&LATE[..], more_parameters].concat()
}

/// Returns the response to an impulse in the left channel.
fn impulse_response(parameters: &[(&str, f64)], secs: f64) -> [Vec<f32>; 2] {
    let mut input = impulse((secs * SECOND as f64) as usize);
    input[1][0] = 0.0;
    process(&mut chain_of("reverb", parameters), &input)
}

/// Filters values to an octave around a frequency, by applying the band-pass filter of the "Audio
/// EQ Cookbook" (R. Bristow-Johnson) twice.
fn octave_band(values: &[f32], centre_hz: f64) -> Vec<f64> {
    let angle = TAU * centre_hz / f64::from(RATE_HZ);
    let alpha = angle.sin() / (2.0 * 2.0);
    let (a0, a1, a2) = (1.0 + alpha, -2.0 * angle.cos(), 1.0 - alpha);
    let mut signal: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    for _ in 0..2 {
        let [mut x1, mut x2, mut y1, mut y2] = [0.0; 4];
        for value in &mut signal {
            let y = (alpha * (*value - x2) - a1 * y1 - a2 * y2) / a0;
            (x2, x1, y2, y1) = (x1, *value, y1, y);
            *value = y;
        }
    }
    signal
}

/// Returns the level of the remaining energy at each frame in decibels (M. R. Schroeder, JASA 37,
/// 1965).
fn energy_decay_db(powers: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut decay: Vec<f64> = powers
        .iter()
        .rev()
        .map(|power| {
            sum += power;
            10.0 * f64::max(sum, 1e-300).log10()
        })
        .collect();
    decay.reverse();
    decay
}

/// Returns the reverberation time RT60 in seconds, from the slope between -5 and -35 dB (ISO
/// 3382-1).
fn rt60_secs(powers: &[f64]) -> f64 {
    let decay = energy_decay_db(powers);
    let part: Vec<(f64, f64)> = decay
        .iter()
        .enumerate()
        .map(|(frame, level)| (frame as f64 / f64::from(RATE_HZ), level - decay[0]))
        .filter(|(_, level)| (-35.0..=-5.0).contains(level))
        .collect();
    let count = part.len() as f64;
    let (secs, levels) = part.iter().fold((0.0, 0.0), |sums, point| (sums.0 + point.0, sums.1 + point.1));
    let (mean_secs, mean_level) = (secs / count, levels / count);
    let (mut numerator, mut denominator) = (0.0, 0.0);
    for (secs, level) in part {
        numerator += (secs - mean_secs) * (level - mean_level);
        denominator += (secs - mean_secs).powi(2);
    }
    -60.0 / (numerator / denominator)
}

/// Returns the impulse responses of both channels to an impulse in the right channel, then to an
/// impulse in the left channel.
fn impulse_responses(parameters: &[(&str, f64)], secs: f64) -> Vec<Vec<f32>> {
    let frames = (secs * SECOND as f64) as usize;
    (0..2)
        .flat_map(|silent| {
            let mut input = impulse(frames);
            input[silent][0] = 0.0;
            process(&mut chain_of("reverb", parameters), &input)
        })
        .collect()
}

/// Returns the power of some impulse responses in an octave at each frame.
fn octave_powers(responses: &[Vec<f32>], centre_hz: f64) -> Vec<f64> {
    let mut powers = vec![0.0; responses[0].len()];
    for response in responses {
        for (power, value) in powers.iter_mut().zip(octave_band(response, centre_hz)) {
            *power += value * value;
        }
    }
    powers
}

#[test]
fn every_octave_has_the_set_decay_time() {
    for (size, decay_secs, modulation) in [
        (0.6, 1.8, 0.0),
        (0.6, 1.8, 1.0),
        (0.3, 0.5, 0.3),
        (1.0, 1.0, 0.3),
        (1.0, 6.0, 1.0),
        (0.1, 20.0, 0.3),
    ] {
        let parameters = late_with(&[("size", size), ("decay_secs", decay_secs), ("modulation", modulation)]);
        let responses = impulse_responses(&parameters, decay_secs.max(0.4) * 1.2);
        for octave_hz in [63.0, 125.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0] {
            let label = format!("RT60 at {octave_hz} Hz, size {size}, modulation {modulation}, s");
            let measured_secs = rt60_secs(&octave_powers(&responses, octave_hz));
            check(&label, measured_secs, decay_secs, 0.1 * decay_secs);
        }
    }
}

#[test]
fn bass_and_treble_have_separate_decay_times() {
    for (low, high) in [(1.5, 0.4), (0.5, 0.7), (2.0, 0.2)] {
        let parameters = late_with(&[
            ("decay_secs", 2.0),
            ("low_decay", low),
            ("high_decay", high),
            ("low_hz", 300.0),
            ("high_hz", 3_000.0),
        ]);
        let responses = impulse_responses(&parameters, 2.4 * f64::max(1.0, low));
        for octave_hz in [63.0, 125.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0] {
            // Losses in decibels per second add up. The bass and treble losses have the responses
            // of filters of first order.
            let warped = |hz: f64| (PI * hz / f64::from(RATE_HZ)).tan();
            let bass = 1.0 / (1.0 + (warped(octave_hz) / warped(300.0)).powi(2));
            let treble = 1.0 - 1.0 / (1.0 + (warped(octave_hz) / warped(3_000.0)).powi(2));
            let loss = 1.0 + bass * (1.0 / low - 1.0) + treble * (1.0 / high - 1.0);
            let label = format!("RT60 at {octave_hz} Hz, low {low}, high {high}, s");
            check(&label, rt60_secs(&octave_powers(&responses, octave_hz)), 2.0 / loss, 0.1 * 2.0 / loss);
        }
    }
}

/// Returns the fraction of samples beyond the standard deviation, relative to that of Gaussian
/// noise (J. S. Abel and P. Huang, "A Simple, Robust Measure of Reverberation Echo Density", AES
/// 121st Convention, 2006).
fn echo_density(values: &[f32]) -> f64 {
    let deviation = rms(values);
    let beyond = values.iter().filter(|value| f64::from(value.abs()) > deviation).count();
    beyond as f64 / values.len() as f64 / 0.317_31
}

#[test]
fn the_echo_density_reaches_0_9_within_80_to_220_ms() {
    for (size, latest_ms) in [(0.3, 80), (0.6, 120), (1.0, 220)] {
        let [left, _] = impulse_response(&[("mix", 1.0), ("size", size), ("pre_delay_ms", 0.0)], 1.0);
        let window = SECOND / 50;
        let dense =
            (0..SECOND / 2).step_by(48).find(|start| echo_density(&left[*start..*start + window]) >= 0.9);
        let dense_ms = dense.map_or(f64::INFINITY, |frame| frame as f64 * 1e3 / SECOND as f64);
        println!("size {size}: echo density 0.9 after {dense_ms} ms");
        assert!(dense_ms <= f64::from(latest_ms));
        let late: Vec<f64> = (SECOND / 5..SECOND / 2)
            .step_by(480)
            .map(|start| echo_density(&left[start..start + window]))
            .collect();
        check("mean echo density after 200 ms", late.iter().sum::<f64>() / late.len() as f64, 1.0, 0.07);
    }
}

/// Returns the power spectrum of a power of two of values, by a radix-2 FFT with a Hann window.
fn power_spectrum(values: &[f64]) -> Vec<f64> {
    let frames = values.len();
    let window = |frame: usize| 0.5 - 0.5 * (TAU * (frame as f64 + 0.5) / frames as f64).cos();
    let bits = frames.trailing_zeros();
    let mut bins = vec![(0.0, 0.0); frames];
    for (frame, value) in values.iter().enumerate() {
        bins[frame.reverse_bits() >> (usize::BITS - bits)] = (value * window(frame), 0.0);
    }
    for stage in 0..bits {
        let half = 1 << stage;
        let twiddles: Vec<(f64, f64)> = (0..half)
            .map(|index| {
                let angle = -PI * index as f64 / half as f64;
                (angle.cos(), angle.sin())
            })
            .collect();
        for start in (0..frames).step_by(2 * half) {
            for (index, (re, im)) in twiddles.iter().enumerate() {
                let (a, b) = (bins[start + index], bins[start + index + half]);
                let rotated = (b.0 * re - b.1 * im, b.0 * im + b.1 * re);
                bins[start + index] = (a.0 + rotated.0, a.1 + rotated.1);
                bins[start + index + half] = (a.0 - rotated.0, a.1 - rotated.1);
            }
        }
    }
    bins[..frames / 2].iter().map(|(re, im)| re * re + im * im).collect()
}

#[test]
fn the_tail_is_noise_without_resonances() {
    for (size, decay_secs, modulation) in [(0.6, 1.8, 0.3), (0.6, 3.0, 0.0), (1.0, 4.0, 0.3), (0.3, 1.0, 0.3)]
    {
        let parameters = late_with(&[("size", size), ("decay_secs", decay_secs), ("modulation", modulation)]);
        let [left, _] = impulse_response(&parameters, 1.2);
        // If the decay is compensated, the tail of a good reverb is Gaussian noise.
        let start = 12_000;
        let tail: Vec<f64> = (0..32_768)
            .map(|frame| {
                let secs = frame as f64 / f64::from(RATE_HZ);
                f64::from(left[start + frame]) * 10f64.powf(3.0 * secs / decay_secs)
            })
            .collect();
        let (mut squares, mut fourths) = (0.0, 0.0);
        for value in &tail {
            squares += value.powi(2) / tail.len() as f64;
            fourths += value.powi(4) / tail.len() as f64;
        }
        let label = format!("size {size}, decay {decay_secs} s, modulation {modulation}");
        check(&format!("kurtosis of the tail, {label}"), fourths / (squares * squares), 3.0, 0.35);
        let powers = power_spectrum(&tail);
        let band = &powers[(100.0 / 48_000.0 * 32_768.0) as usize..(16_000.0 / 48_000.0 * 32_768.0) as usize];
        let mean = band.iter().sum::<f64>() / band.len() as f64;
        let mean_log = band.iter().map(|power| power.ln()).sum::<f64>() / band.len() as f64;
        // The powers of noise are exponentially distributed. The ratio of their geometric mean to
        // their mean is e to the power of minus Euler's constant. Small rooms have fewer resonances
        // than a spectrum of 0.7 s has bins, so their limits are wider.
        let flatness = mean_log.exp() / mean;
        println!("spectral flatness, {label}: {flatness:.3} (noise: 0.5615)");
        assert!(flatness > 0.5615 * if size < 0.5 { 0.5 } else { 0.8 });
        let highest = band.iter().fold(0.0_f64, |a, b| a.max(*b)) / mean;
        // The maximum of n exponentially distributed values is about ln n times the mean, here 9.3,
        // and rarely twice that.
        println!("highest bin over the mean, {label}: {:.1} dB", 10.0 * highest.log10());
        assert!(highest < if size < 0.5 { 4.0 } else { 2.0 } * (band.len() as f64).ln());
    }
}

#[test]
fn the_decay_is_exponential() {
    let parameters = late_with(&[("decay_secs", 2.0)]);
    let [left, _] = impulse_response(&parameters, 2.0);
    let levels: Vec<f64> = left.chunks(SECOND / 20).map(|part| db(rms(part))).skip(3).collect();
    let max_error = levels.iter().enumerate().fold(0.0_f64, |max_error, (index, level)| {
        max_error.max((level - (levels[0] - 3.0 * 0.5 * index as f64)).abs())
    });
    println!("deviation from an exponential decay in parts of 50 ms: {max_error:.2} dB");
    assert!(max_error < 2.5);
    let decay = energy_decay_db(&left.iter().map(|value| f64::from(*value).powi(2)).collect::<Vec<_>>());
    let errors = (SECOND / 10..SECOND).map(|frame| {
        let expected = decay[SECOND / 10] - 30.0 * (frame - SECOND / 10) as f64 / SECOND as f64;
        (decay[frame] - expected).abs()
    });
    let max_error = errors.fold(0.0_f64, f64::max);
    println!("deviation of the remaining energy from an exponential decay: {max_error:.2} dB");
    assert!(max_error < 1.0);
}

#[test]
fn the_pre_delay_delays_the_wet_signal() {
    let wet = |pre_delay_ms: f64| {
        let [left, right] =
            impulse_response(&[("mix", 1.0), ("modulation", 0.0), ("pre_delay_ms", pre_delay_ms)], 0.5);
        [left, right]
    };
    let plain_output = wet(0.0);
    for pre_delay_ms in [1.0, 33.3, 250.0] {
        let delayed = wet(pre_delay_ms);
        let frames = (pre_delay_ms * 48.0).round() as usize;
        for side in 0..2 {
            assert_eq!(peak(&delayed[side][..frames]), 0.0);
            let max_error = delayed[side][frames..]
                .iter()
                .zip(&plain_output[side])
                .fold(0.0, |max_error: f32, (delayed, plain_output)| {
                    max_error.max((delayed - plain_output).abs())
                });
            println!("pre-delay of {pre_delay_ms} ms: maximum difference {max_error:e}");
            // Denormals are flushed at control points, which the pre-delay shifts. This changes the
            // rounding slightly.
            assert!(max_error < 1e-7, "{max_error}");
        }
    }
    let first = plain_output[0].iter().position(|value| *value != 0.0).unwrap();
    assert_eq!(first, (6.1 * 0.6 * 48.0_f64).round() as usize, "the first reflection has another delay");
}

#[test]
fn early_reflections_have_the_set_energy() {
    for early in [0.25, 0.5, 1.0] {
        let energy = |parameters: &[(&str, f64)]| {
            let mut chain = chain_of("reverb", parameters);
            let [left, right] = process(&mut chain, &impulse(SECOND / 10));
            [left, right]
        };
        let base = [("mix", 1.0), ("low_cut_hz", 20.0), ("high_cut_hz", 20_000.0), ("modulation", 0.0)];
        let [with_left, with_right] = energy(&[&base[..], &[("early", early)]].concat());
        let [late_left, late_right] = energy(&[&base[..], &[("early", 0.0)]].concat());
        for (side, both, late) in [("left", with_left, late_left), ("right", with_right, late_right)] {
            let early_energy: f64 =
                both.iter().zip(&late).map(|(both, late)| f64::from(both - late).powi(2)).sum();
            let label = format!("early energy, {side}, dB");
            check(&label, 10.0 * early_energy.log10(), db(early) + cuts_db(), 0.2);
        }
    }
}

#[test]
fn the_cuts_are_filters_of_first_order() {
    for rate_hz in [44_100, 48_000, 96_000] {
        // The ratio of two responses with different cuts does not depend on the reverberation.
        let room = |low_cut_hz, high_cut_hz| {
            let cuts = [("low_cut_hz", low_cut_hz), ("high_cut_hz", high_cut_hz)];
            let settings = [("decay_secs", 0.3), ("modulation", 0.0), ("mix", 1.0)];
            process(
                &mut chain_at(rate_hz, "reverb", &[&cuts[..], &settings].concat()),
                &impulse(rate_hz as usize),
            )
        };
        let cuts_db = |frequency_hz, low_cut_hz, high_cut_hz| {
            let low = warped_ratio(rate_hz, frequency_hz, low_cut_hz);
            db(low / low.hypot(1.0) / warped_ratio(rate_hz, frequency_hz, high_cut_hz).hypot(1.0))
        };
        let open_room = room(20.0, 20_000.0);
        for (low_cut_hz, high_cut_hz) in [(80.0, 14_000.0), (350.0, 3_000.0), (2_000.0, 500.0)] {
            let cut = room(low_cut_hz, high_cut_hz);
            for frequency_hz in [30.0, 80.0, 350.0, 1_000.0, 3_000.0, 8_000.0, 14_000.0] {
                let expected =
                    cuts_db(frequency_hz, low_cut_hz, high_cut_hz) - cuts_db(frequency_hz, 20.0, 20_000.0);
                for (cut, open_room) in cut.iter().zip(&open_room) {
                    let magnitude_db = |side: &[f32]| response_at_db(rate_hz, side, frequency_hz);
                    let label =
                        format!("{low_cut_hz} to {high_cut_hz} Hz at {frequency_hz} Hz, {rate_hz} Hz, dB");
                    check(&label, magnitude_db(cut) - magnitude_db(open_room), expected, 0.02);
                }
            }
        }
    }
}

/// Returns the attenuation of white noise by the widest cuts in decibels. It is measured with an
/// echo of the delay, which has the same cuts.
fn cuts_db() -> f64 {
    let echo = [
        ("sync", 0.0),
        ("time_ms", 1.0),
        ("feedback", 0.0),
        ("mix", 1.0),
        ("low_cut_hz", 20.0),
        ("high_cut_hz", 20_000.0),
    ];
    let [echo, _] = process(&mut chain_of("delay", &echo), &impulse(SECOND / 10));
    db(rms(&echo) * (echo.len() as f64).sqrt())
}

/// Mean delay of the delay lines at the largest size. The delays are distributed logarithmically
/// between 50 and 150 ms.
const MEAN_DELAY_SECS: f64 = 0.1 / 1.098_612;

#[test]
fn steady_noise_keeps_its_level() {
    for (size, decay_secs) in [(0.6, 0.6), (0.6, 1.8), (0.3, 4.0), (1.0, 8.0)] {
        let parameters = late_with(&[("size", size), ("decay_secs", decay_secs)]);
        let frames = (1.5 * decay_secs * SECOND as f64) as usize + SECOND;
        let input = noise(0.5, frames);
        let output = process(&mut chain_of("reverb", &parameters), &input);
        let from = frames - SECOND;
        // A pass through a delay line attenuates by 60 dB times the delay divided by the decay
        // time.
        let pass_db = -60.0 * MEAN_DELAY_SECS * size / decay_secs;
        let label = format!("wet level, size {size}, {decay_secs} s, dB");
        check(&label, db(rms(&output[0][from..]) / rms(&input[0][from..])), pass_db + cuts_db(), 1.2);
    }
    let input = noise(0.5, 3 * SECOND);
    let [left, right] = process(&mut chain_of("reverb", &[]), &input);
    for side in [&left, &right] {
        check("level at the defaults, dB", db(rms(&side[SECOND..]) / rms(&input[0])), 0.0, 1.0);
    }
}

/// Applies Schroeder's all-pass filter `(z^-n - g) / (1 - g z^-n)`, where n is `frames`.
fn all_pass(values: &mut [f64], frames: usize, g: f64) {
    let mut line = vec![0.0; frames];
    for (frame, value) in values.iter_mut().enumerate() {
        let delayed = line[frame % frames];
        let stored = *value + g * delayed;
        line[frame % frames] = stored;
        *value = delayed - g * stored;
    }
}

#[test]
fn diffusion_is_four_all_pass_filters_per_channel() {
    // The delays are prime numbers of frames near 4.7, 7.3, 10.9 and 13.9 ms on the left, and near
    // 5.3, 6.7, 11.9 and 12.7 ms on the right.
    for (silent, delays) in [(1, [227, 353, 523, 673]), (0, [257, 331, 571, 613])] {
        let late: usize = delays.iter().sum();
        let room = |diffusion: f64| {
            let mut input = impulse(SECOND / 2);
            input[silent][0] = 0.0;
            process(&mut chain_of("reverb", &late_with(&[("diffusion", diffusion)])), &input)
        };
        let plain_output = room(0.0);
        for diffusion in [0.25, 0.8, 1.0] {
            let diffused = room(diffusion);
            for (plain_output, diffused) in plain_output.iter().zip(&diffused) {
                // With a diffusion of 0, the all-pass filters are delays.
                let mut expected: Vec<f64> =
                    plain_output[late..].iter().map(|value| f64::from(*value)).collect();
                delays.iter().for_each(|frames| all_pass(&mut expected, *frames, 0.7 * diffusion));
                let errors: Vec<f32> = diffused
                    .iter()
                    .zip(&expected)
                    .map(|(value, expected)| value - *expected as f32)
                    .collect();
                let error_db = db(peak(&errors[..expected.len()]) / peak(diffused));
                println!("diffusion {diffusion}, delays {delays:?}: error of {error_db:.1} dB");
                assert!(error_db < -100.0);
            }
        }
    }
}

#[test]
fn the_period_of_the_modulation_matches_its_rate() {
    for rate_hz in [0.5, 1.25, 5.0] {
        // The test finds the time after which the impulse response is the same as at the start. It
        // tries multiples of a sixtieth of a period.
        let step = (f64::from(RATE_HZ) / rate_hz / 60.0) as usize;
        let response_from = |start: usize| {
            let mut chain =
                chain_of("reverb", &late_with(&[("modulation", 1.0), ("modulation_hz", rate_hz)]));
            chain.reset(start as u64);
            let [left, _] = process(&mut chain, &impulse(SECOND / 4));
            left
        };
        let first = response_from(0);
        let difference_db = |start: usize| {
            let difference: Vec<f32> = response_from(start).iter().zip(&first).map(|(a, b)| a - b).collect();
            db(rms(&difference) / rms(&first))
        };
        let period_steps =
            (1..=70).find(|steps| difference_db(steps * step) < -80.0).expect("the response repeats");
        let secs = (period_steps * step) as f64 / f64::from(RATE_HZ);
        check(&format!("period at {rate_hz} Hz, s"), secs, 1.0 / rate_hz, 1e-9);
        let [nearly_db, half_db] = [59, 30].map(|steps| difference_db(steps * step));
        println!(
            "difference of {nearly_db:.1} dB a step before a period, of {half_db:.1} dB after half a period"
        );
        assert!(nearly_db > -40.0 && half_db > -10.0);
    }
}

/// Returns the correlation coefficient of two channels.
fn correlation(left: &[f32], right: &[f32]) -> f64 {
    let product: f64 = left.iter().zip(right).map(|(left, right)| f64::from(left * right)).sum();
    product / left.len() as f64 / (rms(left) * rms(right))
}

#[test]
fn channels_are_uncorrelated_at_width_1_and_equal_at_width_0() {
    for (width, expected, tolerance) in [(1.0, 0.0, 0.1), (0.0, 1.0, 1e-6)] {
        let mut chain = chain_of("reverb", &late_with(&[("width", width), ("decay_secs", 3.0)]));
        let [left, right] = process(&mut chain, &impulse(SECOND));
        let late = SECOND / 5..SECOND;
        let label = format!("correlation of the channels at width {width}");
        check(&label, correlation(&left[late.clone()], &right[late]), expected, tolerance);
    }
}

#[test]
fn the_width_is_the_gain_of_the_side_signal() {
    let room = |width| impulse_response(&late_with(&[("early", 0.5), ("width", width)]), 0.5);
    let [left, right] = room(1.0);
    for width in [0.25, 0.5, 0.75] {
        let narrowed = room(width);
        for (narrowed, (near, far)) in narrowed.iter().zip([(&left, &right), (&right, &left)]) {
            let max_error = (0..narrowed.len()).fold(0.0, |max_error: f64, frame| {
                let (near, far) = (f64::from(near[frame]), f64::from(far[frame]));
                let expected = 0.5 * (near + far) + 0.5 * width * (near - far);
                max_error.max((f64::from(narrowed[frame]) - expected).abs())
            });
            check(&format!("maximum error at width {width}"), max_error / peak(&left), 0.0, 1e-6);
        }
    }
}

#[test]
fn the_mix_has_equal_power() {
    for mix in [0.0, 0.25, 0.5, 1.0] {
        let [left, _] = impulse_response(&[("mix", mix), ("modulation", 0.0)], 0.2);
        let [wet, _] = impulse_response(&[("mix", 1.0), ("modulation", 0.0)], 0.2);
        let angle = mix * std::f64::consts::FRAC_PI_2;
        check("dry", f64::from(left[0]), angle.cos(), 1e-7);
        check("wet", rms(&left[1..]) / rms(&wet[1..]), angle.sin(), 1e-6);
    }
}

#[test]
fn the_longest_decay_is_stable() {
    for rate_hz in [44_100, 96_000] {
        let longest = [
            ("decay_secs", 20.0),
            ("low_decay", 2.0),
            ("high_decay", 1.0),
            ("size", 0.1),
            ("modulation", 1.0),
            ("modulation_hz", 5.0),
            ("mix", 1.0),
        ];
        let mut chain = chain_at(rate_hz, "reverb", &longest);
        let mut levels = Vec::new();
        for second in 0..30 {
            let frames = rate_hz as usize;
            let input = if second == 0 { noise(0.5, frames) } else { [vec![0.0; frames], vec![0.0; frames]] };
            levels.push(db(rms(&process(&mut chain, &input)[0])));
        }
        println!("levels in each second at {rate_hz} Hz: {levels:.1?}");
        assert!(levels[1..].windows(2).all(|pair| pair[1] < pair[0]), "the level does not fall every second");
        assert!(levels[29] < levels[1] - 40.0);
    }
}

#[test]
fn changes_do_not_click() {
    let kind = effect_kind("reverb").unwrap();
    let [left, right] = sine(200.0, 0.5, 2 * SECOND);
    for (id, value) in
        [("size", 1.0), ("size", 0.2), ("pre_delay_ms", 100.0), ("decay_secs", 0.2), ("diffusion", 0.0)]
    {
        let mut chain = chain_of("reverb", &[("mix", 1.0)]);
        let first_output = process(&mut chain, &[left[..SECOND].to_vec(), right[..SECOND].to_vec()]);
        chain.set_parameter(0, kind.parameter_index(id).unwrap(), value);
        let second_output = process(&mut chain, &[left[SECOND..].to_vec(), right[SECOND..].to_vec()]);
        // A change may also change the level of the tone. A click would have far larger steps than
        // the output before and long after the change.
        let settled_step =
            largest_step(&first_output[0][SECOND / 2..]).max(largest_step(&second_output[0][SECOND / 2..]));
        let ratio = largest_step(&second_output[0]) / settled_step;
        println!("largest step after {id} = {value}: {ratio:.3} of those before and later");
        assert!(
            ratio < 1.5
                && peak(&second_output[0]) * TAU * 200.0 / f64::from(RATE_HZ) * 1.5
                    > largest_step(&second_output[0])
        );
    }
}

#[test]
fn output_does_not_depend_on_where_playback_starts() {
    check_start_position("reverb", &[]);
    check_start_position("reverb", &[("modulation", 1.0), ("modulation_hz", 3.3)]);
}

#[test]
fn a_changed_reverb_equals_a_new_reverb_once_it_has_decayed() {
    for (id, value) in [("size", 0.9), ("pre_delay_ms", 50.0)] {
        let mut changed_chain = chain_of("reverb", &[]);
        let index = effect_kind("reverb").unwrap().parameter_index(id).unwrap();
        changed_chain.set_parameter(0, index, value);
        let mut fresh_chain = chain_of("reverb", &[(id, value)]);
        let [output, expected] = [&mut changed_chain, &mut fresh_chain].map(|chain| {
            chain.process(&mut vec![0.0; SECOND], &mut vec![0.0; SECOND], &[]);
            process(chain, &impulse(SECOND))
        });
        assert!(peak(&expected[0]) > 0.01);
        for (output, expected) in output.iter().zip(&expected) {
            let difference: Vec<f32> = output.iter().zip(expected).map(|(a, b)| a - b).collect();
            let difference_db = db(peak(&difference));
            println!("{id}: a difference of {difference_db:.1} dBFS");
            assert!(difference_db < -120.0, "{id}: a difference of {difference_db} dBFS");
        }
    }
}
