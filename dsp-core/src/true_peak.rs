//! True peak: the highest level of the waveform at and between samples (ITU-R BS.1770-4, annex 2).
//!
//! The signal is oversampled by 8, or by 4 at sample rates of 64 kHz and above. The filter is a
//! sinc of 48 taps with a Kaiser window of 60 dB attenuation. Its pass band is flat to 0.46 of the
//! sample rate. The measured level of a tone in the pass band is at most 0.15 dB too low. At sample
//! rates from 64 kHz on, the measured level of an inaudible tone is up to 0.6 dB too low. At half
//! the sample rate the gain of the filter is 0.5. There, a tone and its image add up to the level
//! of the tone, so no measured level is too high.

use alloc::vec;
use alloc::vec::Vec;

use crate::dsp::lanes::{LANES, Lanes};
use crate::dsp::window::WindowedSinc;
use crate::simd::on_best_instructions;

/// Number of frames that contribute to a value between two frames.
const TAPS: usize = 48;

/// Number of taps in the middle of the filter that suffice for an estimate of a value between
/// frames.
const NEAR_TAPS: usize = 16;

const ATTENUATION_DB: f64 = 60.0;

/// Number of pairs of mirrored phases at 8 times the sample rate.
const MAX_PAIRS: usize = 3;

/// Sample rate in hertz from which oversampling by 4 is enough.
const HIGH_RATE_HZ: u32 = 64_000;

/// Number of frames that are measured together.
const CHUNK_FRAMES: usize = 1_024;

/// Number of frames of input beyond the frames that are measured.
const EXTRA_FRAMES: usize = TAPS - 1;

/// Maximum number of groups of [`LANES`] frames that are measured together, with silence after
/// them.
const MAX_GROUPS: usize = (2 * EXTRA_FRAMES + CHUNK_FRAMES + LANES).div_ceil(LANES);

/// A window of seven groups has all frames that contribute to the values of its first group.
const _: () = assert!(EXTRA_FRAMES + LANES <= 7 * LANES);

/// The weights of two frames at the same distance before and after the middle of the window.
#[derive(Debug, Clone, Copy)]
struct Weights {
    /// Weight for the point half-way between two frames.
    middle: f32,
    /// Weights of the sum and of the difference of both frames, for each pair of points before and
    /// after the half-way point.
    pairs: [[f32; 2]; MAX_PAIRS],
}

/// The filter, and upper limits of its output as ratios to the peak of the frames that contribute.
/// If the limits exclude a new peak, the values between the frames are not computed.
#[derive(Debug, Clone)]
struct Filter {
    weights: [Weights; TAPS / 2],
    /// Highest possible value between frames.
    output_limit: f32,
    /// Highest possible difference between a value and its estimate from the [`NEAR_TAPS`].
    far_taps_limit: f32,
}

/// Measures the true peak of one channel.
#[derive(Debug, Clone)]
pub struct TruePeakMeter {
    filter: Filter,
    pairs: usize,
    buffer: Vec<f32>,
    buffer_frames: usize,
    /// Index in `buffer` of the first frame that is measured, a multiple of [`LANES`].
    first_index: usize,
    /// Highest magnitude of the current interval: at all samples, and between the samples that
    /// `buffer` no longer contains.
    interval_peak: f32,
    /// Highest magnitude of the intervals that have ended.
    earlier_peak: f32,
    sample_peak: f32,
}

impl TruePeakMeter {
    /// Creates a meter for a sample rate in hertz.
    pub fn new(sample_rate_hz: u32) -> Self {
        let pairs = if sample_rate_hz < HIGH_RATE_HZ { MAX_PAIRS } else { 1 };
        let sinc = WindowedSinc::new(ATTENUATION_DB, 0.5, TAPS as f64 / 2.0);
        let middle = |tap: usize| sinc.value_at(tap as f64 - (TAPS as f64 - 1.0) / 2.0);
        let factor = 2.0 * (pairs + 1) as f64;
        let weights = core::array::from_fn(|tap| Weights {
            middle: middle(tap) as f32,
            pairs: core::array::from_fn(|pair| {
                let position = (TAPS / 2 - 1) as f64 + (pair + 1) as f64 / factor;
                let (near, far) =
                    (sinc.value_at(tap as f64 - position), sinc.value_at((TAPS - 1 - tap) as f64 - position));
                [((near + far) / 2.0) as f32, ((near - far) / 2.0) as f32]
            }),
        });
        // The sum of the taps' magnitudes is largest half-way between two frames. The factor is a
        // margin for rounding.
        let is_far = |tap: usize| !(TAPS / 2 - NEAR_TAPS / 2..TAPS / 2 + NEAR_TAPS / 2).contains(&tap);
        let magnitude = |taps: &mut dyn Iterator<Item = usize>| {
            1.001 * taps.map(|tap| middle(tap).abs()).sum::<f64>() as f32
        };
        let filter = Filter {
            weights,
            output_limit: magnitude(&mut (0..TAPS)),
            far_taps_limit: magnitude(&mut (0..TAPS).filter(|tap| is_far(*tap))),
        };
        let buffer_len = EXTRA_FRAMES + CHUNK_FRAMES;
        Self {
            filter,
            pairs,
            buffer: vec![0.0; buffer_len],
            buffer_frames: EXTRA_FRAMES,
            first_index: 0,
            interval_peak: 0.0,
            earlier_peak: 0.0,
            sample_peak: 0.0,
        }
    }

    /// Resets to the state of a new meter.
    pub fn reset(&mut self) {
        self.buffer.fill(0.0);
        self.restart();
        self.first_index = 0;
    }

    /// Restarts the measurement of a continuing signal. Values between earlier frames are no longer
    /// measured.
    pub fn restart(&mut self) {
        self.buffer.copy_within(self.buffer_frames - EXTRA_FRAMES..self.buffer_frames, 0);
        self.buffer_frames = EXTRA_FRAMES;
        self.first_index = TAPS / 2;
        self.interval_peak = 0.0;
        self.earlier_peak = 0.0;
        self.sample_peak = 0.0;
    }

    /// Adds samples. Values that are not finite are treated as silence.
    pub fn process(&mut self, mut samples: &[f32]) {
        while !samples.is_empty() {
            let (chunk, remaining_samples) =
                samples.split_at(samples.len().min(self.buffer.len() - self.buffer_frames));
            let output = &mut self.buffer[self.buffer_frames..][..chunk.len()];
            let chunk_peak = copy_finite(chunk, output);
            self.sample_peak = self.sample_peak.max(chunk_peak);
            self.interval_peak = self.interval_peak.max(chunk_peak);
            self.buffer_frames += chunk.len();
            if self.buffer_frames == self.buffer.len() {
                self.interval_peak = self.peak_of(&self.buffer);
                self.buffer.copy_within(CHUNK_FRAMES.., 0);
                (self.buffer_frames, self.first_index) = (EXTRA_FRAMES, 0);
            }
            samples = remaining_samples;
        }
    }

    /// Ends an interval, and returns its highest magnitude, at or between samples. The values
    /// between the last frames (at most 1,071 frames) are not measured yet and belong to the next
    /// interval.
    pub fn end_interval(&mut self) -> f32 {
        self.earlier_peak = self.earlier_peak.max(self.interval_peak);
        core::mem::take(&mut self.interval_peak)
    }

    /// Returns the highest magnitude so far, at or between samples, of a continuing signal, where 1
    /// is full scale. This magnitude never falls. Values between the last 31 frames are not
    /// included, because they depend on later frames.
    pub fn true_peak_so_far(&self) -> f32 {
        self.peak_of(&self.buffer[..self.buffer_frames]).max(self.earlier_peak)
    }

    /// Returns the highest magnitude, at or between samples, of a signal that has ended, where 1 is
    /// full scale.
    pub fn true_peak(&self) -> f32 {
        self.last_interval_peak().max(self.earlier_peak)
    }

    /// Like [`Self::true_peak`], but of the last interval.
    pub fn last_interval_peak(&self) -> f32 {
        // The frames that are not yet measured are followed by silence.
        let mut remaining = [0.0; 2 * EXTRA_FRAMES + CHUNK_FRAMES + LANES];
        remaining[..self.buffer_frames].copy_from_slice(&self.buffer[..self.buffer_frames]);
        let frames = self.buffer_frames.next_multiple_of(LANES);
        self.peak_of(&remaining[..frames + EXTRA_FRAMES])
    }

    /// Returns the highest magnitude of any sample so far.
    pub fn sample_peak(&self) -> f32 {
        self.sample_peak
    }

    /// Returns the highest magnitude of the current interval, including the values between the
    /// frames of `window`. `window` starts with the same frames as [`Self::buffer`].
    fn peak_of(&self, window: &[f32]) -> f32 {
        let window = window.get(self.first_index..).unwrap_or_default();
        let mut peak = self.interval_peak;
        if self.pairs == MAX_PAIRS {
            peak_eightfold(&self.filter, window, &mut peak);
        } else {
            peak_fourfold(&self.filter, window, &mut peak);
        }
        peak
    }
}

/// Copies samples to `output` and replaces samples that are not finite by 0. Returns the highest
/// magnitude.
fn copy_finite(samples: &[f32], output: &mut [f32]) -> f32 {
    let mut peaks = [0.0; LANES];
    for (samples, output) in samples.chunks(LANES).zip(output.chunks_mut(LANES)) {
        for ((sample, value), peak) in samples.iter().zip(output).zip(&mut peaks) {
            *value = if sample.abs() <= f32::MAX { *sample } else { 0.0 };
            *peak = higher(*peak, value.abs());
        }
    }
    peaks.into_iter().fold(0.0, higher)
}

/// Returns the higher of two numbers. Compiles to one instruction.
#[inline(always)]
fn higher(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

on_best_instructions! {
    fn peak_eightfold(filter: &Filter, window: &[f32], peak: &mut f32) = raise_peak::<MAX_PAIRS>;
}

on_best_instructions! {
    fn peak_fourfold(filter: &Filter, window: &[f32], peak: &mut f32) = raise_peak::<1>;
}

/// Raises `peak` to the highest magnitude between the frames of a window, as far as the window has
/// all the frames that contribute.
#[inline(always)]
fn raise_peak<const PAIRS: usize>(filter: &Filter, window: &[f32], peak: &mut f32) {
    const NEAR_START: usize = (TAPS - NEAR_TAPS) / 2;
    for (group, highest) in highest_of_windows(window).into_iter().enumerate() {
        let start = group * LANES;
        let Some(frames) = window.get(start..start + EXTRA_FRAMES + LANES) else { break };
        if highest * filter.output_limit <= *peak {
            continue;
        }
        let estimate = peaks_between::<PAIRS>(&filter.weights, NEAR_START, frames).to_array();
        if estimate.into_iter().fold(0.0, higher) + highest * filter.far_taps_limit > *peak {
            let between = peaks_between::<PAIRS>(&filter.weights, 0, frames);
            *peak = between.to_array().into_iter().fold(*peak, higher);
        }
    }
}

/// Returns, for each group of [`LANES`] frames, the highest magnitude of the frames that contribute
/// to the values between the frames of the group.
#[inline(always)]
fn highest_of_windows(window: &[f32]) -> [f32; MAX_GROUPS] {
    let mut highest = [0.0; MAX_GROUPS];
    for (highest, frames) in highest.iter_mut().zip(window.chunks(LANES)) {
        *highest = frames.iter().fold(0.0, |peak, value| higher(value.abs(), peak));
    }
    // The steps combine 2, 4 and 7 groups of frames.
    for distance in [1, 2, 3] {
        for group in 0..MAX_GROUPS - distance {
            highest[group] = higher(highest[group], highest[group + distance]);
        }
    }
    highest
}

/// Returns the highest magnitude between each of eight frames and the frame after it, without the
/// outermost taps.
#[inline(always)]
fn peaks_between<const PAIRS: usize>(
    weights: &[Weights; TAPS / 2],
    outermost: usize,
    frames: &[f32],
) -> Lanes {
    let mut middle = Lanes::zero();
    let mut sums = [[Lanes::zero(); 2]; PAIRS];
    for (tap, weights) in weights.iter().enumerate().skip(outermost) {
        let (Some(near), Some(far)) =
            (frames[tap..].first_chunk::<LANES>(), frames[TAPS - 1 - tap..].first_chunk::<LANES>())
        else {
            return Lanes::zero();
        };
        let (near, far) = (Lanes::new(*near), Lanes::new(*far));
        let (sum, difference) = (near + far, near - far);
        middle = middle + sum * weights.middle;
        for ([even, odd], [of_sum, of_difference]) in sums.iter_mut().zip(weights.pairs) {
            *even = *even + sum * of_sum;
            *odd = *odd + difference * of_difference;
        }
    }
    sums.into_iter()
        .fold(middle.abs(), |peaks, [even, odd]| peaks.higher((even + odd).abs().higher((even - odd).abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns noise of full scale, from a linear congruential generator.
    fn noise(frames: usize) -> Vec<f32> {
        let mut state = 1_u32;
        (0..frames)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 8_388_608.0 - 1.0
            })
            .collect()
    }

    fn peaks(meter: &mut TruePeakMeter, samples: &[f32], call_frames: usize) -> [f32; 2] {
        for piece in samples.chunks(call_frames) {
            assert_no_alloc::assert_no_alloc(|| meter.process(piece));
        }
        assert_no_alloc::assert_no_alloc(|| [meter.true_peak(), meter.sample_peak()])
    }

    #[test]
    fn the_peak_does_not_depend_on_the_call_size_and_a_reset_equals_a_new_meter() {
        let samples = noise(5_003);
        for rate_hz in [44_100, 96_000] {
            let mut meter = TruePeakMeter::new(rate_hz);
            let whole_peaks = peaks(&mut meter, &samples, 5_003);
            assert!(whole_peaks[0] > whole_peaks[1]);
            for call_frames in [1, 7, 128, 1_024] {
                meter.reset();
                assert_eq!(
                    peaks(&mut meter, &samples, call_frames),
                    whole_peaks,
                    "peaks in calls of {call_frames} frames at {rate_hz} Hz"
                );
            }
        }
    }

    #[test]
    fn skipping_windows_below_the_current_peak_does_not_change_the_peak() {
        // Levels that fall, rise, and rise so little that the far taps decide.
        let envelopes: [fn(f32) -> f32; 4] = [
            |time| 1.0 - 0.9 * time,
            |time| 0.1 + 0.9 * time,
            |time| 0.9 + 0.1 * time,
            |time| 1.0 - 0.1 * time,
        ];
        let alternating = |samples: &mut Vec<f32>| {
            for (frame, value) in samples.iter_mut().enumerate() {
                *value = value.abs().copysign(if frame % 2 == 0 { 1.0 } else { -1.0 });
            }
        };
        for (rate_hz, alternates) in [(44_100, false), (44_100, true), (96_000, false), (96_000, true)] {
            for envelope in envelopes {
                let mut samples = noise(20_000);
                if alternates {
                    alternating(&mut samples);
                }
                for (frame, value) in samples.iter_mut().enumerate() {
                    *value *= envelope(frame as f32 / 20_000.0);
                }
                let mut unbounded_meter = TruePeakMeter::new(rate_hz);
                unbounded_meter.filter.output_limit = f32::INFINITY;
                unbounded_meter.filter.far_taps_limit = f32::INFINITY;
                let mut meter = TruePeakMeter::new(rate_hz);
                // The peak so far after each part shows more than the peak of the whole signal.
                for part in samples.chunks(100) {
                    assert_eq!(peaks(&mut meter, part, 100), peaks(&mut unbounded_meter, part, 100));
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_bit_identical_peaks() {
        let samples = noise(3_000);
        let measured_dbtp =
            || [44_100, 96_000].map(|rate_hz| peaks(&mut TruePeakMeter::new(rate_hz), &samples, 3_000));
        let best_peak = measured_dbtp();
        crate::simd::force_baseline(true);
        let baseline = measured_dbtp();
        crate::simd::force_baseline(false);
        assert_eq!(best_peak, baseline);
    }

    #[test]
    fn a_peak_after_the_last_frame_is_measured() {
        for rate_hz in [44_100, 96_000] {
            let mut meter = TruePeakMeter::new(rate_hz);
            meter.process(&[0.0; 1_000]);
            // Between two equal samples, the waveform rises to 4/pi times their value.
            meter.process(&[0.5, 0.5]);
            let peak = meter.true_peak();
            assert!((peak - 0.5 * 4.0 / core::f32::consts::PI).abs() < 0.002, "the peak is {peak}");
            assert_eq!(meter.sample_peak(), 0.5);
        }
    }

    #[test]
    fn after_a_restart_earlier_peaks_are_not_measured() {
        let samples = noise(3_001);
        let soft: Vec<f32> = samples.iter().map(|value| 0.125 * value).collect();
        for rate_hz in [44_100, 96_000] {
            for frames in [0, 5, 700, 3_001] {
                let mut meter = TruePeakMeter::new(rate_hz);
                meter.process(&samples[..frames]);
                assert_no_alloc::assert_no_alloc(|| meter.restart());
                assert_eq!((meter.true_peak_so_far(), meter.sample_peak()), (0.0, 0.0));
                meter.process(&soft);
                assert_eq!(
                    meter.sample_peak(),
                    soft.iter().fold(0.0, |peak: f32, value| peak.max(value.abs()))
                );
                assert!(
                    meter.true_peak() < 0.35,
                    "peak of {} after a restart at frame {frames}",
                    meter.true_peak()
                );
            }
        }
    }

    #[test]
    fn each_interval_has_its_own_peak() {
        for rate_hz in [44_100, 96_000] {
            let mut meter = TruePeakMeter::new(rate_hz);
            // Between two equal samples, the waveform rises to 4/pi times their value.
            let pulse = |level: f32| {
                let mut samples = [0.0; 2 * CHUNK_FRAMES];
                samples[500..502].fill(level);
                samples
            };
            for level in [0.5, 0.25, 0.0, 0.125] {
                meter.process(&pulse(level));
                let expected = level * 4.0 / core::f32::consts::PI;
                let last = meter.last_interval_peak();
                let peak = assert_no_alloc::assert_no_alloc(|| meter.end_interval());
                assert!((peak - expected).abs() < 0.002 && peak == last, "{peak} and {last} for {level}");
            }
            let whole_peaks = meter.true_peak();
            assert!(
                (whole_peaks - 2.0 / core::f32::consts::PI).abs() < 0.002,
                "the peak of all intervals is {whole_peaks}"
            );
            assert_eq!(meter.sample_peak(), 0.5);
        }
    }

    #[test]
    fn samples_that_are_not_finite_are_treated_as_silence() {
        let mut meter = TruePeakMeter::new(48_000);
        meter.process(&[f32::NAN, f32::INFINITY, 0.25, f32::NEG_INFINITY]);
        assert_eq!(meter.sample_peak(), 0.25);
        assert!(meter.true_peak().is_finite());
    }
}
