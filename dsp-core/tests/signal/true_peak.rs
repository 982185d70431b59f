//! True peaks: cases 15 to 23 of EBU Tech 3341, and against a waveform computed exactly.

use assert_no_alloc::assert_no_alloc;
use dsp_core::resample::resample;
use dsp_core::true_peak::TruePeakMeter;
use realfft::RealFftPlanner;

use crate::spectrum::{db, tone};

const RATES_HZ: [u32; 3] = [44_100, 48_000, 96_000];

fn true_peak_dbtp(rate_hz: u32, signal: &[f64]) -> f64 {
    let samples: Vec<f32> = signal.iter().map(|value| *value as f32).collect();
    let mut meter = TruePeakMeter::new(rate_hz);
    assert_no_alloc(|| meter.process(&samples));
    db(f64::from(meter.true_peak()))
}

#[track_caller]
fn assert_dbtp(case: &str, measured: f64, expected: f64) {
    println!("{case}: {measured:.3} dBTP");
    let error = measured - expected;
    assert!((-0.4..=0.2).contains(&error), "{case}: {measured}, not {expected} dBTP");
}

/// Lets a signal begin and end in so many frames.
fn fade(signal: &mut [f64], fade_frames: usize) {
    let frames = signal.len();
    for n in 0..fade_frames {
        let gain = n as f64 / fade_frames as f64;
        signal[n] *= gain;
        signal[frames - 1 - n] *= gain;
    }
}

#[test]
fn cases_15_to_19_tones_between_samples() {
    let cases = [
        (15, 4.0, 0.0, 0.5, -6.0),
        (16, 4.0, 45.0, 0.5, -6.0),
        (17, 6.0, 60.0, 0.5, -6.0),
        (18, 8.0, 67.5, 0.5, -6.0),
        (19, 4.0, 45.0, 1.41, 3.0),
    ];
    for rate_hz in RATES_HZ {
        for (case, divisor, degrees, amplitude, expected) in cases {
            let mut signal = tone(1.0 / divisor, degrees / 360.0, rate_hz as usize);
            signal.iter_mut().for_each(|value| *value *= amplitude);
            fade(&mut signal, rate_hz as usize / 100);
            assert_dbtp(&format!("3341-{case} at {rate_hz} Hz"), true_peak_dbtp(rate_hz, &signal), expected);
        }
    }
}

/// A tone of a sixth of the rate at 0.50 with one period of a fourth of it at 1.00, at four times the rate.
fn burst(quarter_secs: usize) -> Vec<f64> {
    let sixth = tone(1.0 / 24.0, 0.0, quarter_secs / 24 * 24);
    let mut signal: Vec<f64> = sixth.iter().map(|value| 0.5 * value).collect();
    let mut end = signal.clone();
    signal.extend(tone(1.0 / 16.0, 0.0, 16));
    signal.append(&mut end);
    signal
}

#[test]
fn cases_20_to_23_a_burst_at_any_place_between_samples() {
    let mut signal = burst(48_000);
    fade(&mut signal, 1_920);
    for offset in 0..4 {
        let shifted: Vec<f64> = signal[offset..].to_vec();
        let decimated = resample(192_000, 48_000, &[&shifted]).unwrap().remove(0);
        assert_dbtp(&format!("3341-{}", 20 + offset), true_peak_dbtp(48_000, &decimated), 0.0);
    }
}

/// The highest magnitude of the waveform through a periodic signal, at 16 times its rate: its spectrum,
/// and nothing above.
fn exact_peak_db(signal: &[f64]) -> f64 {
    const FINER: usize = 16;
    let frames = signal.len();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, back) = (planner.plan_fft_forward(frames), planner.plan_fft_inverse(FINER * frames));
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut signal.to_vec(), &mut spectrum).unwrap();
    let mut finer_spectrum = back.make_input_vec();
    // Half of the line at the Nyquist frequency belongs to its image.
    spectrum[frames / 2] *= 0.5;
    finer_spectrum[..spectrum.len()].copy_from_slice(&spectrum);
    let mut finer = back.make_output_vec();
    back.process(&mut finer_spectrum, &mut finer).unwrap();
    db(finer.iter().fold(0.0, |peak: f64, value| peak.max(value.abs())) / frames as f64)
}

/// Noise between -1 and 1 from a linear congruential generator.
fn noise(frames: usize, mut state: u32) -> Vec<f64> {
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / 8_388_608.0 - 1.0
        })
        .collect()
}

#[test]
fn nothing_reads_a_fifth_of_a_decibel_higher_than_the_waveform_is() {
    const FRAMES: usize = 1 << 14;
    let silent_ends = |signal: &mut Vec<f64>| fade(signal, 500);
    for rate_hz in RATES_HZ {
        let (mut highest, mut lowest) = (f64::MIN, f64::MAX);
        for seed in 0..20 {
            let white = noise(FRAMES, seed);
            // As loud as can be: every sample at full scale.
            let clipped: Vec<f64> = white.iter().map(|value| value.signum()).collect();
            let mellow: Vec<f64> = white.windows(3).map(|w| 0.25 * w[0] + 0.5 * w[1] + 0.25 * w[2]).collect();
            let mut mellow: Vec<f64> = mellow.into_iter().chain([0.0, 0.0]).collect();
            silent_ends(&mut mellow);
            for (signal, whole_band) in [(white, true), (clipped, true), (mellow, false)] {
                let mut signal = signal;
                silent_ends(&mut signal);
                let error = true_peak_dbtp(rate_hz, &signal) - exact_peak_db(&signal);
                highest = highest.max(error);
                if !whole_band {
                    lowest = lowest.min(error);
                }
            }
        }
        println!(
            "noise at {rate_hz} Hz: at most {highest:.3} dB higher than the waveform; mellow noise at most {:.3} dB lower",
            -lowest
        );
        assert!(highest <= 0.2);
        assert!(lowest >= -0.4);
    }
}

#[test]
fn tones_to_45_percent_of_the_rate_read_as_they_are() {
    for rate_hz in RATES_HZ {
        let (mut highest, mut lowest) = (f64::MIN, f64::MAX);
        for cycles in [0.01, 0.1, 0.2, 0.3, 0.35, 0.4, 0.43, 0.45, 0.47, 0.49] {
            for phase in 0..16 {
                let mut signal = tone(cycles, f64::from(phase) / 64.0, 8_000);
                fade(&mut signal, 1_000);
                let read = true_peak_dbtp(rate_hz, &signal);
                highest = highest.max(read);
                if cycles <= 0.45 {
                    lowest = lowest.min(read);
                }
            }
        }
        println!("tones of 0 dBTP at {rate_hz} Hz: {lowest:.3} to {highest:.3} dBTP");
        assert!(highest <= 0.05);
        assert!(lowest >= if rate_hz < 64_000 { -0.15 } else { -0.6 });
    }
}
