//! The limiter: its ceiling for samples and for peaks between them, its times, and signals that it
//! leaves unchanged.

use std::f64::consts::{PI, TAU};

use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

use crate::measure::{
    Stereo, amplitude, chain_at, chain_of, check, constant, db, noise, peak, process, sine, steps,
};

/// Oversampling factor of the reference.
const OVERSAMPLING: usize = 16;

/// Highest frequency up to which the ceiling holds between samples, as a proportion of the sample
/// rate.
const HELD_TO: f64 = 0.48;

/// The spectrum of a periodic signal.
fn spectrum(values: &[f32]) -> Vec<Complex<f64>> {
    let forward = RealFftPlanner::<f64>::new().plan_fft_forward(values.len());
    let mut spectrum = forward.make_output_vec();
    let mut values: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    forward.process(&mut values, &mut spectrum).unwrap();
    spectrum
}

/// A periodic signal of `frames` samples from its spectrum, multiplied by that number.
fn values_of(mut spectrum: Vec<Complex<f64>>, frames: usize) -> Vec<f64> {
    let back = RealFftPlanner::<f64>::new().plan_fft_inverse(frames);
    spectrum.resize(back.complex_len(), Complex::default());
    let mut values = back.make_output_vec();
    back.process(&mut spectrum, &mut values).unwrap();
    values
}

/// The true peak of an even number of samples that start and end in silence. It oversamples by
/// sixteen with the whole spectrum, without a window and without a cut below half the sample rate.
fn true_peak(values: &[f32]) -> f64 {
    let mut spectrum = spectrum(values);
    // Half of the bin at half the sample rate belongs to its image.
    spectrum[values.len() / 2] *= 0.5;
    let finer = values_of(spectrum, OVERSAMPLING * values.len());
    finer.iter().fold(0.0, |peak: f64, value| peak.max(value.abs())) / values.len() as f64
}

/// The peak that a meter measures: oversampling by sixteen with a sinc and a Blackman window, five
/// times as long as that of the limiter. Close to half the sample rate it underestimates the peak.
fn metered_peak(values: &[f32]) -> f64 {
    const REACH: usize = 64;
    let mut highest = peak(values);
    for part in 1..OVERSAMPLING {
        let taps: Vec<f64> = (0..2 * REACH)
            .map(|tap| {
                let time = (REACH - 1) as f64 + part as f64 / OVERSAMPLING as f64 - tap as f64;
                let angle = PI * time / REACH as f64;
                let window = 0.42 + 0.5 * angle.cos() + 0.08 * (2.0 * angle).cos();
                window * (PI * time).sin() / (PI * time)
            })
            .collect();
        for around in values.windows(2 * REACH) {
            let value: f64 = around.iter().zip(&taps).map(|(value, tap)| f64::from(*value) * tap).sum();
            highest = highest.max(value.abs());
        }
    }
    highest
}

fn tone_at(of_rate: f64, phase: f64, frames: usize) -> Stereo {
    let values: Vec<f32> =
        (0..frames).map(|frame| (TAU * of_rate * frame as f64 + phase).sin() as f32).collect();
    [values.clone(), values]
}

/// A square wave without a band limit.
fn square(period_frames: usize, frames: usize) -> Stereo {
    let values: Vec<f32> =
        (0..frames).map(|frame| if frame % period_frames < period_frames / 2 { 1.0 } else { -1.0 }).collect();
    [values.clone(), values]
}

/// The signal without frequencies above a proportion of the sample rate.
fn band_limited(to: f64, audio: &Stereo) -> Stereo {
    audio.each_ref().map(|values| {
        let mut spectrum = spectrum(values);
        spectrum.truncate((to * values.len() as f64) as usize);
        let limited = values_of(spectrum, values.len());
        limited.iter().map(|value| (value / values.len() as f64) as f32).collect()
    })
}

/// Fades in and out, followed by silence, so that the ends of the signal make no peaks.
fn faded(mut audio: Stereo) -> Stereo {
    const FADE_FRAMES: usize = 500;
    for values in &mut audio {
        let frames = values.len();
        for frame in 0..FADE_FRAMES {
            let gain = 0.5 - 0.5 * (PI * frame as f64 / FADE_FRAMES as f64).cos() as f32;
            values[frame] *= gain;
            values[frames - 1 - frame] *= gain;
        }
        values.resize(frames + 1_000, 0.0);
    }
    audio
}

/// Bursts of a signal, alternately loud and quiet.
fn bursts(mut audio: Stereo) -> Stereo {
    for values in &mut audio {
        for (frame, value) in values.iter_mut().enumerate() {
            *value *= if (frame / 700) % 3 == 0 { 1.0 } else { 0.03 };
        }
    }
    audio
}

/// Signals that are hard to limit, band-limited to [`HELD_TO`] except for their ends.
fn hard_signals() -> Vec<(String, Stereo)> {
    let mut signals: Vec<(String, Stereo)> = Vec::new();
    for of_rate in [0.05, 1.0 / 6.0, 0.25, 0.3, 0.371, 0.4, 0.43, 0.45] {
        for phase in [0.0, 0.25, 0.5].map(|period| period * PI) {
            signals
                .push((format!("tone of {of_rate:.3} fs, phase {phase:.2}"), tone_at(of_rate, phase, 9_600)));
        }
        signals.push((format!("bursts of {of_rate:.3} fs"), bursts(tone_at(of_rate, 0.3, 9_600))));
    }
    let band = band_limited(HELD_TO, &noise(1.0, 24_000));
    signals.push((format!("bursts of noise to {HELD_TO} fs"), bursts(band.clone())));
    signals.push((format!("noise to {HELD_TO} fs"), band));
    for period_frames in [7, 16, 48, 109, 480] {
        let square = square(period_frames, 9_600);
        let limited = band_limited(0.45, &square);
        signals.push((format!("square of {period_frames} frames"), square));
        signals.push((format!("square of {period_frames} frames to 0.45 fs"), limited));
    }
    signals.into_iter().map(|(label, signal)| (label, faded(signal))).collect()
}

/// The excess of a limiter's output over its ceiling in decibels, between samples and at samples.
fn over_db(rate_hz: u32, settings: [f64; 3], signal: &Stereo) -> [f64; 2] {
    let [input_gain_db, ceiling_dbtp, release_ms] = settings;
    let settings =
        [("input_gain_db", input_gain_db), ("ceiling_dbtp", ceiling_dbtp), ("release_ms", release_ms)];
    let output = process(&mut chain_at(rate_hz, "limiter", &settings), signal);
    let over_db = |peak: fn(&[f32]) -> f64| db(peak(&output[0]).max(peak(&output[1]))) - ceiling_dbtp;
    [over_db(true_peak), over_db(peak)]
}

#[test]
fn the_true_peak_stays_below_the_ceiling() {
    let mut failed = Vec::new();
    for (label, signal) in &hard_signals() {
        for rate_hz in [44_100, 48_000, 96_000, 192_000] {
            for settings in [[6.0, -1.0, 80.0], [20.0, -6.0, 80.0], [12.0, -1.0, 5.0]] {
                let [over_db, sample_over_db] = over_db(rate_hz, settings, signal);
                let label = format!("{label} at {rate_hz} Hz and {settings:?}");
                println!("{label}: true peak {over_db:+.3} dB, samples {sample_over_db:+.3} dB");
                if !(-1.0..=0.2).contains(&over_db) || sample_over_db > 0.0 {
                    failed.push(format!("{label}: {over_db:+.3} dB, {sample_over_db:+.3} dB"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_excess_close_to_half_the_sample_rate_is_as_documented() {
    let signal = faded(noise(1.0, 1 << 17));
    for release_ms in [5.0, 80.0] {
        let [over_db, sample_over_db] = over_db(48_000, [12.0, -1.0, release_ms], &signal);
        println!("noise to 0.5 fs, {release_ms} ms: {over_db:+.3} dB, samples {sample_over_db:+.3} dB");
        assert!(over_db <= 1.1 && sample_over_db <= 0.0, "{over_db} dB, {sample_over_db} dB");
    }
}

#[test]
fn a_meter_measures_white_noise_at_the_ceiling() {
    for (input_gain_db, ceiling_dbtp) in [(6.0, -1.0), (20.0, -6.0)] {
        let settings = [("input_gain_db", input_gain_db), ("ceiling_dbtp", ceiling_dbtp)];
        let output = process(&mut chain_of("limiter", &settings), &noise(1.0, 24_000));
        let over_db = db(metered_peak(&output[0]).max(metered_peak(&output[1]))) - ceiling_dbtp;
        println!("noise to 0.5 fs at {input_gain_db} dB: a meter reads {over_db:+.3} dB");
        assert!((-1.0..=0.2).contains(&over_db), "{over_db} dB at {input_gain_db} dB");
    }
}

#[test]
fn quiet_input_passes_unchanged() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let mut chain = chain_at(rate_hz, "limiter", &[]);
        let latency_frames = chain.latency_frames();
        // The latency is 2 ms minus one frame, plus a margin of two and half the interpolator.
        assert_eq!(latency_frames, (f64::from(rate_hz) * 0.002).round() as usize - 1 + 2 + 24);
        let input = noise(0.3, 48_000);
        let output = process(&mut chain, &input);
        for (output, input) in output.iter().zip(&input) {
            assert_eq!(output[latency_frames..], input[..48_000 - latency_frames], "at {rate_hz} Hz");
            assert!(output[..latency_frames].iter().all(|value| *value == 0.0));
        }
        assert_eq!(chain.gain_reduction_db(0), Some(0.0));
    }
}

#[test]
fn the_gain_recovers_to_exactly_1_after_a_burst() {
    let mut input = noise(0.25, 96_000);
    input[0][1_000..1_100].fill(3.0);
    let mut chain = chain_of("limiter", &[]);
    let latency_frames = chain.latency_frames();
    let output = process(&mut chain, &input);
    let start = 80_000;
    assert_eq!(output[1][start + latency_frames..], input[1][start..96_000 - latency_frames]);
    assert!(output[1][1_000 + latency_frames] != input[1][1_000], "both channels are attenuated");
}

#[test]
fn the_gain_falls_before_a_peak_and_recovers_with_its_time_constant() {
    for release_ms in [5.0, 80.0, 1_000.0] {
        let release_frames = (release_ms * 48.0) as usize;
        let mut chain = chain_of("limiter", &[("release_ms", release_ms)]);
        let latency_frames = chain.latency_frames();
        let input = steps(&[(-20.0, 4_800), (6.0, 4_800), (-20.0, 3 * release_frames + 480)]);
        let output = process(&mut chain, &input);
        let pairs = output[0][latency_frames..].iter().zip(&input[0]);
        let gains: Vec<f64> = pairs.map(|(output, input)| f64::from(output / input)).collect();
        assert_eq!(gains[4_800 - 150], 1.0, "long before the peak");
        assert!(db(gains[4_800]) < -7.1, "{} dB at the peak", db(gains[4_800]));
        // Once the averaging window is past the peak, the distance to 1 falls exponentially.
        let start = 9_600 + 150;
        let left = (1.0 - gains[start + release_frames]) / (1.0 - gains[start]);
        let passed = -(release_frames as f64) / left.ln();
        let expected = release_frames as f64;
        check(&format!("frames of {release_ms} ms release"), passed, expected, 0.01 * expected);
    }
}

#[test]
fn input_gain_and_gain_reduction_match_their_definitions() {
    let mut chain = chain_of("limiter", &[("input_gain_db", 12.0), ("ceiling_dbtp", -3.0)]);
    let output = process(&mut chain, &sine(1_000.0, amplitude(-20.0), 9_600));
    check("below the ceiling, dB", db(peak(&output[0])), -8.0, 0.01);
    process(&mut chain, &sine(1_000.0, amplitude(-6.0), 9_600));
    check("9.1 dB above, dB", f64::from(chain.gain_reduction_db(0).unwrap()), 9.1, 0.03);
}

#[test]
fn a_ramp_of_the_ceiling_makes_no_steps() {
    let mut chain = chain_of("limiter", &[("release_ms", 5.0)]);
    process(&mut chain, &constant(0.0, 9_600));
    chain.automate(0, 1, -13.0, 9_600);
    let [down, _] = process(&mut chain, &constant(0.0, 19_200));
    check("there, dB", db(f64::from(down[19_199])), -13.1, 0.01);
    let step = down.windows(2).map(|pair| f64::from((pair[1] - pair[0]).abs())).fold(0.0, f64::max);
    assert!(step < 2.0 * 12.0 / 9_600.0 * 0.115, "a step of {step}");
}
