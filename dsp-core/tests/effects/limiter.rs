//! Tests of the limiter: its ceiling for samples and for peaks between samples, its time constants,
//! and signals that it does not change.

use std::f64::consts::{PI, TAU};

use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

use crate::measure::{
    Stereo, amplitude, chain_at, chain_of, check, constant, db, noise, peak, process, sine, steps,
};

/// Oversampling factor of the true peak measurements in these tests.
const OVERSAMPLING: usize = 16;

/// The limiter keeps peaks between samples below its ceiling for signals up to this fraction of the
/// sample rate.
const TRUE_PEAK_LIMIT: f64 = 0.48;

/// Returns the spectrum of a periodic signal.
fn spectrum(values: &[f32]) -> Vec<Complex<f64>> {
    let forward = RealFftPlanner::<f64>::new().plan_fft_forward(values.len());
    let mut spectrum = forward.make_output_vec();
    let mut values: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    forward.process(&mut values, &mut spectrum).unwrap();
    spectrum
}

/// Returns the periodic signal of `frames` samples with this spectrum, multiplied by `frames`.
fn values_of(mut spectrum: Vec<Complex<f64>>, frames: usize) -> Vec<f64> {
    let inverse = RealFftPlanner::<f64>::new().plan_fft_inverse(frames);
    spectrum.resize(inverse.complex_len(), Complex::default());
    let mut values = inverse.make_output_vec();
    inverse.process(&mut spectrum, &mut values).unwrap();
    values
}

/// Returns the true peak of an even number of samples that start and end in silence. The spectrum
/// of all samples is extended to the higher rate, so frequencies up to half the sample rate are
/// exact.
fn true_peak(values: &[f32]) -> f64 {
    let mut spectrum = spectrum(values);
    // The bin at half the sample rate is shared with its image at the higher rate.
    spectrum[values.len() / 2] *= 0.5;
    let finer = values_of(spectrum, OVERSAMPLING * values.len());
    finer.iter().fold(0.0, |peak: f64, value| peak.max(value.abs())) / values.len() as f64
}

/// Returns the true peak that a meter measures. It oversamples with a sinc and a Blackman window
/// that is five times as long as that of the limiter. Close to half the sample rate, the result is
/// too low.
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
        for window in values.windows(2 * REACH) {
            let value: f64 = window.iter().zip(&taps).map(|(value, tap)| f64::from(*value) * tap).sum();
            highest = highest.max(value.abs());
        }
    }
    highest
}

/// Returns a sine whose frequency is a fraction of the sample rate. `phase` is in radians.
fn tone_at(rate_fraction: f64, phase: f64, frames: usize) -> Stereo {
    let values: Vec<f32> =
        (0..frames).map(|frame| (TAU * rate_fraction * frame as f64 + phase).sin() as f32).collect();
    [values.clone(), values]
}

/// Returns a square wave that is not band-limited.
fn square(period_frames: usize, frames: usize) -> Stereo {
    let values: Vec<f32> =
        (0..frames).map(|frame| if frame % period_frames < period_frames / 2 { 1.0 } else { -1.0 }).collect();
    [values.clone(), values]
}

/// Returns the signal without frequencies above a fraction of the sample rate.
fn band_limited(max_fraction: f64, audio: &Stereo) -> Stereo {
    audio.each_ref().map(|values| {
        let mut spectrum = spectrum(values);
        spectrum.truncate((max_fraction * values.len() as f64) as usize);
        let limited_signal = values_of(spectrum, values.len());
        limited_signal.iter().map(|value| (value / values.len() as f64) as f32).collect()
    })
}

/// Fades a signal in and out and appends silence, so that its ends cause no peaks between samples.
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

/// Returns a signal whose level alternates between loud bursts and quiet parts.
fn bursts(mut audio: Stereo) -> Stereo {
    for values in &mut audio {
        for (frame, value) in values.iter_mut().enumerate() {
            *value *= if (frame / 700) % 3 == 0 { 1.0 } else { 0.03 };
        }
    }
    audio
}

/// Returns signals that are hard to limit, with their names. All but the raw square waves are
/// band-limited to [`TRUE_PEAK_LIMIT`] or less.
fn hard_signals() -> Vec<(String, Stereo)> {
    let mut signals: Vec<(String, Stereo)> = Vec::new();
    for rate_fraction in [0.05, 1.0 / 6.0, 0.25, 0.3, 0.371, 0.4, 0.43, 0.45] {
        for phase in [0.0, 0.25, 0.5].map(|period| period * PI) {
            signals.push((
                format!("tone of {rate_fraction:.3} fs, phase {phase:.2}"),
                tone_at(rate_fraction, phase, 9_600),
            ));
        }
        signals
            .push((format!("bursts of {rate_fraction:.3} fs"), bursts(tone_at(rate_fraction, 0.3, 9_600))));
    }
    let band = band_limited(TRUE_PEAK_LIMIT, &noise(1.0, 24_000));
    signals.push((format!("bursts of noise to {TRUE_PEAK_LIMIT} fs"), bursts(band.clone())));
    signals.push((format!("noise to {TRUE_PEAK_LIMIT} fs"), band));
    for period_frames in [7, 16, 48, 109, 480] {
        let square = square(period_frames, 9_600);
        let limited_signal = band_limited(0.45, &square);
        signals.push((format!("square of {period_frames} frames"), square));
        signals.push((format!("square of {period_frames} frames to 0.45 fs"), limited_signal));
    }
    signals.into_iter().map(|(label, signal)| (label, faded(signal))).collect()
}

/// Returns the decibels by which the limiter's output exceeds its ceiling: first the true peak,
/// then the sample peak. `settings` are the input gain, the ceiling and the release.
fn excess_db(rate_hz: u32, settings: [f64; 3], signal: &Stereo) -> [f64; 2] {
    let [input_gain_db, ceiling_dbtp, release_ms] = settings;
    let settings =
        [("input_gain_db", input_gain_db), ("ceiling_dbtp", ceiling_dbtp), ("release_ms", release_ms)];
    let output = process(&mut chain_at(rate_hz, "limiter", &settings), signal);
    let excess_db = |peak: fn(&[f32]) -> f64| db(peak(&output[0]).max(peak(&output[1]))) - ceiling_dbtp;
    [excess_db(true_peak), excess_db(peak)]
}

#[test]
fn the_true_peak_exceeds_the_ceiling_by_at_most_0_2_db_and_samples_do_not_exceed_it() {
    let mut failures = Vec::new();
    for (label, signal) in &hard_signals() {
        for rate_hz in [44_100, 48_000, 96_000, 192_000] {
            for settings in [[6.0, -1.0, 80.0], [20.0, -6.0, 80.0], [12.0, -1.0, 5.0]] {
                let [over_db, sample_over_db] = excess_db(rate_hz, settings, signal);
                let label = format!("{label} at {rate_hz} Hz and {settings:?}");
                println!("{label}: true peak {over_db:+.3} dB, sample peak {sample_over_db:+.3} dB");
                if !(-1.0..=0.2).contains(&over_db) || sample_over_db > 0.0 {
                    failures.push(format!(
                        "{label}: true peak {over_db:+.3} dB, sample peak {sample_over_db:+.3} dB"
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_true_peak_of_white_noise_exceeds_the_ceiling_by_at_most_1_1_db() {
    let signal = faded(noise(1.0, 1 << 17));
    for release_ms in [5.0, 80.0] {
        let [over_db, sample_over_db] = excess_db(48_000, [12.0, -1.0, release_ms], &signal);
        println!(
            "white noise, {release_ms} ms: true peak {over_db:+.3} dB, sample peak {sample_over_db:+.3} dB"
        );
        assert!(
            over_db <= 1.1 && sample_over_db <= 0.0,
            "true peak {over_db} dB, sample peak {sample_over_db} dB"
        );
    }
}

#[test]
fn a_meter_measures_white_noise_at_most_0_2_db_above_the_ceiling() {
    for (input_gain_db, ceiling_dbtp) in [(6.0, -1.0), (20.0, -6.0)] {
        let settings = [("input_gain_db", input_gain_db), ("ceiling_dbtp", ceiling_dbtp)];
        let output = process(&mut chain_of("limiter", &settings), &noise(1.0, 24_000));
        let over_db = db(metered_peak(&output[0]).max(metered_peak(&output[1]))) - ceiling_dbtp;
        println!("white noise with an input gain of {input_gain_db} dB: a meter reads {over_db:+.3} dB");
        assert!(
            (-1.0..=0.2).contains(&over_db),
            "a meter reads {over_db} dB with an input gain of {input_gain_db} dB"
        );
    }
}

#[test]
fn quiet_input_passes_unchanged() {
    for rate_hz in [44_100, 48_000, 96_000] {
        let mut chain = chain_at(rate_hz, "limiter", &[]);
        let latency_frames = chain.latency_frames();
        // The latency is a look-ahead of 2 ms minus one frame, a margin of 2 frames, and 24 frames,
        // half the length of the interpolator.
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
    assert!(output[1][1_000 + latency_frames] != input[1][1_000], "the other channel is not attenuated");
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
        assert_eq!(gains[4_800 - 150], 1.0, "the gain falls more than 150 frames before the peak");
        assert!(db(gains[4_800]) < -7.1, "the gain is {} dB at the peak", db(gains[4_800]));
        // After the averaging window has passed the peak, the difference to 1 falls exponentially.
        let start = 9_600 + 150;
        let remaining = (1.0 - gains[start + release_frames]) / (1.0 - gains[start]);
        let measured_frames = -(release_frames as f64) / remaining.ln();
        let expected = release_frames as f64;
        check(&format!("frames of {release_ms} ms release"), measured_frames, expected, 0.01 * expected);
    }
}

#[test]
fn input_gain_and_gain_reduction_match_their_definitions() {
    let mut chain = chain_of("limiter", &[("input_gain_db", 12.0), ("ceiling_dbtp", -3.0)]);
    let output = process(&mut chain, &sine(1_000.0, amplitude(-20.0), 9_600));
    check("level below the ceiling, dB", db(peak(&output[0])), -8.0, 0.01);
    process(&mut chain, &sine(1_000.0, amplitude(-6.0), 9_600));
    check(
        "gain reduction of a peak 9.1 dB above the ceiling, dB",
        f64::from(chain.gain_reduction_db(0).unwrap()),
        9.1,
        0.03,
    );
}

#[test]
fn a_ramp_of_the_ceiling_makes_no_steps() {
    let mut chain = chain_of("limiter", &[("release_ms", 5.0)]);
    process(&mut chain, &constant(0.0, 9_600));
    chain.automate(0, 1, -13.0, 9_600);
    let [down, _] = process(&mut chain, &constant(0.0, 19_200));
    check("level after the ramp, dB", db(f64::from(down[19_199])), -13.1, 0.01);
    let step = down.windows(2).map(|pair| f64::from((pair[1] - pair[0]).abs())).fold(0.0, f64::max);
    assert!(step < 2.0 * 12.0 / 9_600.0 * 0.115, "the step {step} is too large");
}
