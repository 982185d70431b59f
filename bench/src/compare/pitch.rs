//! Measures pitch differences by the drift of the lag between two renders of a note.
//!
//! Both synthesizers play the same samples, so one render equals the other with a delay, the lag.
//! If the lag grows, our pitch is higher. Unlike a comparison of spectra, this also works with
//! vibrato and noise. Spectra are compared only to find whether the pitches are close enough for
//! tracking the lag.

use realfft::RealFftPlanner;

use super::StereoSlice;
use super::notes::{HELD_MS, frames};
use crate::song::RATE_HZ;

/// Distance of successive correlation windows, and length of a window, in frames.
const HOP_FRAMES: usize = frames(10);
const WINDOW_FRAMES: usize = frames(40);
/// Range of the windows' starts, in frames from the start of the note.
const FIRST_WINDOW_FRAMES: usize = frames(20);
const WINDOWS_END_FRAMES: usize = frames(HELD_MS) - WINDOW_FRAMES - 2 * MAX_LAG_STEP_FRAMES;
/// Largest change of the lag between two windows, in frames. This allows 40 cents, and it is less
/// than half the period of the highest compared key.
const MAX_LAG_STEP_FRAMES: usize = 12;
/// Windows are ignored if their power relative to the loudest window is at most this, which is -60
/// dB.
const MIN_POWER_RATIO: f64 = 1e-6;
/// Windows and spectra with a lower correlation are ignored. If two are equal except for a gain,
/// their correlation is 1.
const MIN_CORRELATION: f64 = 0.7;
/// Smallest number of windows from which a drift is computed.
const MIN_WINDOWS: usize = 4;
/// Largest spectral difference at which the lag is tracked, in cents.
const MAX_TRACKED_CENTS: f64 = 25.0;

/// Returns the pitch of our note relative to FluidSynth's in cents, or `None` if the correlation is
/// too low.
pub(crate) fn difference_cents(
    our_frames: StereoSlice<'_>,
    their_frames: StereoSlice<'_>,
) -> anyhow::Result<Option<f64>> {
    let coarse = spectral_difference_cents(our_frames, their_frames)?;
    if coarse.is_some_and(|cents| cents.abs() > MAX_TRACKED_CENTS) {
        return Ok(coarse);
    }
    Ok(drift(our_frames, their_frames).map(|drift| 1200.0 * (1.0 + drift).log2()).or(coarse))
}

/// The lag of a window at a frame, with its weight in the fit.
struct LagEstimate {
    frame: f64,
    lag: f64,
    weight: f64,
}

/// Returns the growth of the lag per frame.
fn drift(our_frames: StereoSlice<'_>, their_frames: StereoSlice<'_>) -> Option<f64> {
    let power = |start: usize| energy(our_frames, start).min(energy(their_frames, start));
    let window_starts = || (FIRST_WINDOW_FRAMES..WINDOWS_END_FRAMES).step_by(HOP_FRAMES);
    let loudest = window_starts().map(power).fold(0.0, f64::max);
    let mut lag = 0_isize;
    let mut estimates = Vec::new();
    for start in window_starts() {
        if power(start) <= loudest * MIN_POWER_RATIO {
            continue;
        }
        let correlation = |lag: isize| window_correlation(our_frames, their_frames, start, lag);
        let lags = lag - MAX_LAG_STEP_FRAMES as isize..=lag + MAX_LAG_STEP_FRAMES as isize;
        let (best_lag, peak) = lags.map(|lag| (lag, correlation(lag))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        if peak < MIN_CORRELATION {
            continue;
        }
        lag = best_lag;
        let (previous_correlation, next_correlation) = (correlation(best_lag - 1), correlation(best_lag + 1));
        let curvature = previous_correlation - 2.0 * peak + next_correlation;
        let fraction = if curvature < 0.0 {
            (0.5 * (previous_correlation - next_correlation) / curvature).clamp(-0.5, 0.5)
        } else {
            0.0
        };
        estimates.push(LagEstimate {
            frame: start as f64,
            lag: best_lag as f64 + fraction,
            weight: peak * peak,
        });
    }
    (estimates.len() >= MIN_WINDOWS).then(|| slope(&estimates))
}

/// Returns the slope of the lag by weighted least squares.
fn slope(estimates: &[LagEstimate]) -> f64 {
    let weight: f64 = estimates.iter().map(|estimate| estimate.weight).sum();
    let mean = |value: fn(&LagEstimate) -> f64| {
        estimates.iter().map(|estimate| estimate.weight * value(estimate)).sum::<f64>() / weight
    };
    let (mean_frame, mean_lag) = (mean(|estimate| estimate.frame), mean(|estimate| estimate.lag));
    let product = |a: f64, b: f64, weight: f64| a * b * weight;
    let covariances = estimates
        .iter()
        .map(|estimate| product(estimate.frame - mean_frame, estimate.lag - mean_lag, estimate.weight));
    let variances = estimates
        .iter()
        .map(|estimate| product(estimate.frame - mean_frame, estimate.frame - mean_frame, estimate.weight));
    covariances.sum::<f64>() / variances.sum::<f64>()
}

fn energy(note: StereoSlice<'_>, start: usize) -> f64 {
    let channel_energy = |channel: &[f32]| {
        channel[start..start + WINDOW_FRAMES].iter().map(|value| f64::from(value * value)).sum::<f64>()
    };
    channel_energy(note.left) + channel_energy(note.right)
}

/// Returns the normalized correlation of our window with theirs, which starts `lag` frames later.
/// The result is -1 if a window is beyond the end.
fn window_correlation(
    our_frames: StereoSlice<'_>,
    their_frames: StereoSlice<'_>,
    start: usize,
    lag: isize,
) -> f64 {
    let later_start = start.saturating_add_signed(lag);
    if later_start + WINDOW_FRAMES > their_frames.left.len() {
        return -1.0;
    }
    let dot = |our_frames: &[f32], their_frames: &[f32]| {
        let pairs = our_frames[start..start + WINDOW_FRAMES]
            .iter()
            .zip(&their_frames[later_start..later_start + WINDOW_FRAMES]);
        pairs.map(|(a, b)| f64::from(a * b)).sum::<f64>()
    };
    let product = dot(our_frames.left, their_frames.left) + dot(our_frames.right, their_frames.right);
    let power = energy(our_frames, start) * energy(their_frames, later_start);
    if power > 0.0 { product / power.sqrt() } else { -1.0 }
}

/// Length of the Fourier transform in frames. It is the largest power of two that fits in a held
/// note.
const SPECTRUM_FRAMES: usize = 1 << 16;
/// Step of the logarithmic frequency axis in cents, its lowest frequency, and its octaves.
const STEP_CENTS: f64 = 2.0;
const LOWEST_HZ: f64 = 60.0;
const OCTAVES: f64 = 8.0;
/// Largest shift between spectra in steps, which is a semitone.
const MAX_SHIFT: isize = 50;

/// Returns the downward shift of our spectrum in cents that correlates best with theirs, or `None`
/// if the correlation is too low.
fn spectral_difference_cents(
    our_frames: StereoSlice<'_>,
    their_frames: StereoSlice<'_>,
) -> anyhow::Result<Option<f64>> {
    let (our_frames, their_frames) = (log_spectrum(our_frames)?, log_spectrum(their_frames)?);
    let shifted_correlation = |shift: isize| {
        let start = MAX_SHIFT as usize;
        let their_frames = &their_frames[start..their_frames.len() - start];
        correlation(&our_frames[start.saturating_add_signed(shift)..][..their_frames.len()], their_frames)
    };
    let best_lag =
        (-MAX_SHIFT..=MAX_SHIFT).max_by(|&a, &b| shifted_correlation(a).total_cmp(&shifted_correlation(b)));
    Ok(best_lag
        .filter(|&shift| shifted_correlation(shift) > MIN_CORRELATION)
        .map(|shift| shift as f64 * STEP_CENTS))
}

/// Returns the Pearson correlation of two series, from -1 to 1.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |pairs: &mut dyn Iterator<Item = (f64, f64)>| pairs.map(|(a, b)| a * b).sum::<f64>();
    let covariance = sum(&mut a.iter().map(|a| a - mean_a).zip(b.iter().map(|b| b - mean_b)));
    let variance =
        |values: &[f64], mean: f64| sum(&mut values.iter().map(|value| (value - mean, value - mean)));
    let power = variance(a, mean_a) * variance(b, mean_b);
    if power > 0.0 { covariance / power.sqrt() } else { 0.0 }
}

/// Returns the fourth root of the power on a logarithmic frequency axis. With the root, soft
/// partials count, too.
fn log_spectrum(note: StereoSlice<'_>) -> anyhow::Result<Vec<f64>> {
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(SPECTRUM_FRAMES);
    let mut spectrum = fft.make_output_vec();
    let mut powers = vec![0.0; spectrum.len()];
    for channel in [note.left, note.right] {
        let step = core::f64::consts::TAU / SPECTRUM_FRAMES as f64;
        let window = (0..SPECTRUM_FRAMES).map(|frame| 0.5 - 0.5 * (frame as f64 * step).cos());
        let mut windowed: Vec<f64> =
            channel.iter().zip(window).map(|(&value, window)| f64::from(value) * window).collect();
        windowed.resize(SPECTRUM_FRAMES, 0.0);
        fft.process(&mut windowed, &mut spectrum)?;
        for (power, value) in powers.iter_mut().zip(&spectrum) {
            *power += value.norm_sqr();
        }
    }
    let steps = (OCTAVES * 1200.0 / STEP_CENTS) as usize;
    let root = |bin: usize| powers[bin].sqrt().sqrt();
    let values = (0..steps).map(|step| {
        let hz = LOWEST_HZ * (step as f64 * STEP_CENTS / 1200.0).exp2();
        let bin = hz * SPECTRUM_FRAMES as f64 / f64::from(RATE_HZ);
        let below = (bin as usize).min(powers.len() - 2);
        let fraction = bin - below as f64;
        root(below) * (1.0 - fraction) + root(below + 1) * fraction
    });
    Ok(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signal: impl Fn(f64) -> f64, cents: f64, tolerance: f64) {
        let render_at_speed = |speed: f64| -> Vec<f32> {
            (0..frames(HELD_MS) + 4_800).map(|frame| signal(frame as f64 * speed / 48_000.0) as f32).collect()
        };
        let (our_frames, their_frames) = (render_at_speed((cents / 1200.0).exp2()), render_at_speed(1.0));
        let stereo = |mono| StereoSlice { left: mono, right: mono };
        let measured_cents = difference_cents(stereo(&our_frames), stereo(&their_frames))
            .expect("computes")
            .expect("correlated");
        assert!((measured_cents - cents).abs() < tolerance, "{cents} cents measured as {measured_cents}");
    }

    fn tone(hz: f64, secs: f64) -> f64 {
        let phase = core::f64::consts::TAU * hz * secs;
        phase.sin() + 0.5 * (2.0 * phase).sin() + 0.2 * (5.0 * phase).sin()
    }

    #[test]
    fn small_differences_are_measured() {
        for (hz, decay_secs) in [(65.4, 1e9), (440.0, 1.0), (1046.5, 0.03)] {
            for cents in [-7.0, -1.0, 0.0, 0.5, 7.0] {
                check(|secs| tone(hz, secs) * (-secs / decay_secs).exp(), cents, 0.2);
            }
        }
    }

    #[test]
    fn large_differences_are_measured() {
        for cents in [-90.0, -20.0, 50.0] {
            check(|secs| tone(440.0, secs), cents, 2.1);
        }
    }

    #[test]
    fn vibrato_does_not_hide_the_pitch() {
        // The vibrato raises and lowers the pitch by 50 cents, five times a second.
        let vibrato = |secs: f64| {
            secs + 0.029 / (core::f64::consts::TAU * 5.0) * (core::f64::consts::TAU * 5.0 * secs).sin()
        };
        for cents in [-3.0, 0.0, 3.0] {
            check(|secs| tone(440.0, vibrato(secs)), cents, 0.3);
        }
    }
}
