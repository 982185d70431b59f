//! Tests of the true-peak meter with cases 15 to 23 of EBU Tech 3341, and with signals whose true
//! peak is computed exactly.

use assert_no_alloc::assert_no_alloc;
use dsp_core::true_peak::TruePeakMeter;
use realfft::RealFftPlanner;

use crate::ebu::{assert_dbtp, fade, peak_cases};
use crate::spectrum::{db, tone};

const RATES_HZ: [u32; 3] = [44_100, 48_000, 96_000];

fn true_peak_dbtp(rate_hz: u32, signal: &[f64]) -> f64 {
    let samples: Vec<f32> = signal.iter().map(|value| *value as f32).collect();
    let mut meter = TruePeakMeter::new(rate_hz);
    assert_no_alloc(|| meter.process(&samples));
    db(f64::from(meter.true_peak()))
}

#[test]
fn cases_15_to_23_peaks_between_samples() {
    for rate_hz in RATES_HZ {
        for case in peak_cases(rate_hz) {
            let name = format!("3341-{} at {rate_hz} Hz", case.number);
            assert_dbtp(&name, true_peak_dbtp(rate_hz, &case.signal), case.expected_dbtp);
        }
    }
}

/// Returns the true peak of a periodic signal in dBTP, measured at 16 times its sample rate with
/// the whole spectrum.
fn exact_peak_db(signal: &[f64]) -> f64 {
    const OVERSAMPLING: usize = 16;
    let frames = signal.len();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) =
        (planner.plan_fft_forward(frames), planner.plan_fft_inverse(OVERSAMPLING * frames));
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut signal.to_vec(), &mut spectrum).unwrap();
    let mut finer_spectrum = inverse.make_input_vec();
    // The line at the Nyquist frequency is shared with its image at the higher rate.
    spectrum[frames / 2] *= 0.5;
    finer_spectrum[..spectrum.len()].copy_from_slice(&spectrum);
    let mut finer = inverse.make_output_vec();
    inverse.process(&mut finer_spectrum, &mut finer).unwrap();
    db(finer.iter().fold(0.0, |peak: f64, value| peak.max(value.abs())) / frames as f64)
}

/// Returns noise between -1 and 1 from a linear congruential generator.
fn noise(frames: usize, mut state: u32) -> Vec<f64> {
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / 8_388_608.0 - 1.0
        })
        .collect()
}

#[test]
fn the_reading_for_noise_exceeds_the_exact_true_peak_by_at_most_0_2_db() {
    const FRAMES: usize = 1 << 14;
    let fade_ends = |signal: &mut Vec<f64>| fade(signal, 500);
    for rate_hz in RATES_HZ {
        let (mut highest, mut lowest) = (f64::MIN, f64::MAX);
        for seed in 0..20 {
            let white = noise(FRAMES, seed);
            // This signal has the highest possible level, because every sample is at full scale.
            let clipped_noise: Vec<f64> = white.iter().map(|value| value.signum()).collect();
            let low_passed: Vec<f64> =
                white.windows(3).map(|w| 0.25 * w[0] + 0.5 * w[1] + 0.25 * w[2]).collect();
            let mut low_passed: Vec<f64> = low_passed.into_iter().chain([0.0, 0.0]).collect();
            fade_ends(&mut low_passed);
            for (signal, whole_band) in [(white, true), (clipped_noise, true), (low_passed, false)] {
                let mut signal = signal;
                fade_ends(&mut signal);
                let error = true_peak_dbtp(rate_hz, &signal) - exact_peak_db(&signal);
                highest = highest.max(error);
                if !whole_band {
                    lowest = lowest.min(error);
                }
            }
        }
        println!(
            "{rate_hz} Hz: noise at most {highest:.3} dB too high, low-passed noise at most {:.3} dB too low",
            -lowest
        );
        assert!(highest <= 0.2);
        assert!(lowest >= -0.4);
    }
}

#[test]
fn the_true_peak_of_tones_up_to_45_percent_of_the_sample_rate_is_their_level() {
    for rate_hz in RATES_HZ {
        let (mut highest, mut lowest) = (f64::MIN, f64::MAX);
        for cycles in [0.01, 0.1, 0.2, 0.3, 0.35, 0.4, 0.43, 0.45, 0.47, 0.49] {
            for phase in 0..16 {
                let mut signal = tone(cycles, f64::from(phase) / 64.0, 8_000);
                fade(&mut signal, 1_000);
                let measured_dbtp = true_peak_dbtp(rate_hz, &signal);
                highest = highest.max(measured_dbtp);
                if cycles <= 0.45 {
                    lowest = lowest.min(measured_dbtp);
                }
            }
        }
        println!("tones of 0 dBTP at {rate_hz} Hz: {lowest:.3} to {highest:.3} dBTP");
        assert!(highest <= 0.05);
        assert!(lowest >= if rate_hz < 64_000 { -0.15 } else { -0.6 });
    }
}
