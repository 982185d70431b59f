//! Quantization to integer samples of 8, 16 or 24 bits, with TPDF dither and noise shaping.
//!
//! The dither is the sum of two independent uniform random values, each with a range of one step.
//! It makes the first two moments of the total error independent of the signal: the mean is 0 and
//! the power 1/4 LSB^2. Source: Lipshitz, Wannamaker and Vanderkooy, "Quantization and Dither: A
//! Theoretical Survey", JAES 40-5, 1992.
//!
//! Noise shaping feeds past errors back through a filter H. The power spectrum of the error is then
//! `|1 - H|^2` times that of white noise. The error is lower where the ear is sensitive and higher
//! elsewhere.

use crate::simd::on_best_instructions;

/// Returns the number of steps (LSB) from 0 to full scale of an integer with `bits` bits.
pub fn full_scale_steps(bits: u32) -> i32 {
    1 << (bits - 1)
}

/// A filter of the quantization error. The filters are designed for 44.1 and 48 kHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoiseShaping {
    /// White noise with a power of 1/4 LSB^2.
    #[default]
    Off,
    /// Five taps, with a total noise of 2.0 LSB RMS (Lipshitz, Vanderkooy and Wannamaker,
    /// "Minimally Audible Noise Shaping", JAES 39-11, 1991).
    Lipshitz,
    /// Nine taps, weighted by the ear's sensitivity to noise, with a total noise of 4.2 LSB RMS
    /// (Wannamaker, "Psychoacoustically Optimal Noise Shaping", JAES 40-7/8, 1992, F-weighting).
    Wannamaker,
}

/// Number of taps of the longest filter.
const TAP_COUNT: usize = 9;

impl NoiseShaping {
    /// Returns this filter at the sample rates for which it was designed, and [`Self::Off`] at
    /// other rates. At 96 kHz, the filter's curve would reach beyond the audible range.
    #[must_use]
    pub fn at_rate(self, sample_rate_hz: u32) -> Self {
        if matches!(sample_rate_hz, 44_100 | 48_000) { self } else { Self::Off }
    }

    /// Returns the taps of the filter H. The first tap applies to the latest error. Unused taps are
    /// 0.
    pub fn taps(self) -> [f64; TAP_COUNT] {
        match self {
            Self::Off => [0.0; TAP_COUNT],
            Self::Lipshitz => [2.033, -2.165, 1.959, -1.590, 0.6149, 0.0, 0.0, 0.0, 0.0],
            Self::Wannamaker => [2.412, -3.370, 3.937, -4.174, 3.353, -2.205, 1.281, -0.569, 0.0847],
        }
    }
}

/// A seeded source of triangular dither for one channel.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which uses integers only. The
/// same seed thus gives the same file on every machine.
#[derive(Debug, Clone)]
struct Tpdf {
    state: u64,
}

impl Tpdf {
    /// Creates a source for a channel. Channels have different sequences, which keeps their errors
    /// uncorrelated.
    fn new(seed: u64, channel: u32) -> Self {
        let mut dither = Self { state: seed ^ (u64::from(channel) << 56) };
        dither.next();
        Self { state: dither.next() }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let hash = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ (hash >> 31)
    }

    /// Returns the next dither value in steps.
    #[inline]
    fn value(&mut self) -> f64 {
        triangular(self.next())
    }
}

/// Bits of 2^52 as a double. Adding an integer below 2^32 to the bits adds the same integer to the
/// number.
const BITS_OF_2_POW_52: u64 = 0x4330_0000_0000_0000;

/// Returns a dither value in steps, with a triangular distribution from -1 to 1. It is the exact
/// difference of two uniform multiples of 2^-32.
#[inline(always)]
fn triangular(bits: u64) -> f64 {
    let uniform = |number: u64| f64::from_bits(BITS_OF_2_POW_52 | number);
    (uniform(bits >> 32) - uniform(bits & 0xffff_ffff)) * (1.0 / 4_294_967_296.0)
}

/// Settings of a quantizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantizerConfig {
    /// Number of bits of the result: 8, 16 or 24.
    pub bits: u32,
    /// Filter of the error, which applies at the sample rates of [`NoiseShaping::at_rate`].
    pub shaping: NoiseShaping,
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Seed of the dither.
    pub seed: u64,
    /// Index of the channel. Each channel has a different dither.
    pub channel: u32,
}

/// Quantizes the samples of one channel.
#[derive(Debug, Clone)]
pub struct QuantizerProcessor {
    config: QuantizerConfig,
    dither: Tpdf,
    taps: [f64; TAP_COUNT],
    /// The last errors in steps, the latest first. Each is at most 1.5 steps.
    errors: [f64; TAP_COUNT],
    clipped_samples: u64,
}

impl QuantizerProcessor {
    /// Creates a quantizer whose dither sequence starts at the seed.
    pub fn new(config: QuantizerConfig) -> Self {
        let shaping = config.shaping.at_rate(config.sample_rate_hz);
        Self {
            config: QuantizerConfig { shaping, ..config },
            dither: Tpdf::new(config.seed, config.channel),
            taps: shaping.taps(),
            errors: [0.0; TAP_COUNT],
            clipped_samples: 0,
        }
    }

    /// Returns the noise shaping that is used: the configured filter, or [`NoiseShaping::Off`] at
    /// sample rates without a filter.
    pub fn shaping(&self) -> NoiseShaping {
        self.config.shaping
    }

    /// Returns the number of samples that were clipped.
    pub fn clipped_samples(&self) -> u64 {
        self.clipped_samples
    }

    /// Resets to the state of a new quantizer.
    pub fn reset(&mut self) {
        *self = Self::new(self.config);
    }

    /// Quantizes samples, where 1 is full scale, to `steps`. NaN is treated as silence. Samples
    /// outside the range are clipped and counted.
    pub fn process(&mut self, samples: &[f32], steps: &mut [i32]) {
        let scale = f64::from(full_scale_steps(self.config.bits));
        if self.config.shaping == NoiseShaping::Off {
            for (samples, steps) in samples.chunks(CHUNK_SAMPLES).zip(steps.chunks_mut(CHUNK_SAMPLES)) {
                let mut dither = [0; CHUNK_SAMPLES];
                dither[..samples.len()].iter_mut().for_each(|bits| *bits = self.dither.next());
                self.clipped_samples += quantize(samples, &dither, steps, scale);
            }
            return;
        }
        // The input is limited, because rounding would remove the fed-back error from very large
        // values.
        let limit = 4.0 * scale;
        for (sample, step) in samples.iter().zip(steps) {
            let input = if sample.is_nan() { 0.0 } else { (f64::from(*sample) * scale).clamp(-limit, limit) };
            let exact_value = input - self.past_errors();
            let rounded_value = rounded_down(exact_value + self.dither.value() + 0.5);
            // The error is computed before clipping. It thus stays small for any input, and the
            // feedback loop is stable.
            self.errors.copy_within(..TAP_COUNT - 1, 1);
            self.errors[0] = f64::from(rounded_value) - exact_value;
            *step = self.clipped(rounded_value);
        }
    }

    #[inline]
    fn past_errors(&self) -> f64 {
        self.taps.iter().zip(&self.errors).map(|(tap, error)| tap * error).sum()
    }

    #[inline]
    fn clipped(&mut self, step: i32) -> i32 {
        let full_scale = full_scale_steps(self.config.bits);
        let limited_step = step.clamp(-full_scale, full_scale - 1);
        self.clipped_samples += u64::from(limited_step != step);
        limited_step
    }
}

/// Number of samples that are quantized together.
const CHUNK_SAMPLES: usize = 32;

/// The number 1.5 * 2^52. Adding and subtracting it rounds a double to an integer, with ties to
/// even. Adding it without subtracting it leaves that integer in the lowest bits.
const ROUNDING_OFFSET: f64 = 6_755_399_441_055_744.0;

on_best_instructions! {
    /// Quantizes samples. `dither` has 64 random bits for each sample, and full scale is `scale`
    /// steps. Returns the number of clipped samples.
    fn quantize(samples: &[f32], dither: &[u64; CHUNK_SAMPLES], steps: &mut [i32], scale: f64) -> u64 = quantize_inline;
}

#[inline(always)]
fn quantize_inline(samples: &[f32], dither: &[u64; CHUNK_SAMPLES], steps: &mut [i32], scale: f64) -> u64 {
    let (lowest, highest) = (-scale, scale - 1.0);
    let mut clipped_count = 0;
    for ((sample, bits), step) in samples.iter().zip(dither).zip(steps) {
        let exact_value = f64::from(*sample) * scale + triangular(*bits);
        let exact_value = if exact_value.is_nan() { 0.0 } else { exact_value };
        let rounded_value = (exact_value + ROUNDING_OFFSET) - ROUNDING_OFFSET;
        let limited_value = if rounded_value > lowest { rounded_value } else { lowest };
        let limited_value = if limited_value < highest { limited_value } else { highest };
        clipped_count += u64::from(limited_value != rounded_value);
        *step = (limited_value + ROUNDING_OFFSET).to_bits() as i32;
    }
    clipped_count
}

/// Returns the largest integer at or below `value`, limited to the range of `i32`. Every sample is
/// within that range.
#[inline]
fn rounded_down(value: f64) -> i32 {
    let truncated = value as i32;
    truncated.saturating_sub(i32::from(f64::from(truncated) > value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn quantizer(bits: u32, shaping: NoiseShaping, sample_rate_hz: u32) -> QuantizerProcessor {
        QuantizerProcessor::new(QuantizerConfig { bits, shaping, sample_rate_hz, seed: 0, channel: 0 })
    }

    fn quantized(quantizer: &mut QuantizerProcessor, samples: &[f32]) -> Vec<i32> {
        let mut steps = vec![0; samples.len()];
        assert_no_alloc::assert_no_alloc(|| quantizer.process(samples, &mut steps));
        steps
    }

    #[test]
    fn full_scale_is_clipped_and_counted() {
        for (bits, lowest, highest) in [(8, -128, 127), (16, -32_768, 32_767), (24, -8_388_608, 8_388_607)] {
            for shaping in [NoiseShaping::Off, NoiseShaping::Wannamaker] {
                let mut quantizer = quantizer(bits, shaping, 48_000);
                let steps = quantized(&mut quantizer, &[1.5, -1.5, 0.5, f32::INFINITY, f32::NEG_INFINITY]);
                assert_eq!((steps[0], steps[1], steps[3], steps[4]), (highest, lowest, highest, lowest));
                assert_eq!(quantizer.clipped_samples(), 4);
            }
        }
    }

    #[test]
    fn nan_is_treated_as_silence() {
        for shaping in [NoiseShaping::Off, NoiseShaping::Lipshitz] {
            let mut quantizer = quantizer(16, shaping, 44_100);
            let steps = quantized(&mut quantizer, &[f32::NAN; 100]);
            assert!(
                steps.iter().all(|step| step.abs() < 20),
                "the output is not close to silence: {steps:?}"
            );
        }
    }

    #[test]
    fn the_output_does_not_depend_on_the_call_size_and_a_reset_equals_a_new_quantizer() {
        let samples: Vec<f32> = (0..1_000).map(|n| n as f32 / 1_000.0 - 0.5).collect();
        let mut quantizer = quantizer(16, NoiseShaping::Wannamaker, 48_000);
        let whole_output = quantized(&mut quantizer, &samples);
        for size in [1, 7, 256] {
            quantizer.reset();
            let in_calls: Vec<i32> = samples
                .chunks(size)
                .flat_map(|call_samples| quantized(&mut quantizer, call_samples))
                .collect();
            assert_eq!(in_calls, whole_output, "output in calls of {size} samples");
        }
    }

    #[test]
    fn shaping_is_off_at_rates_without_a_filter() {
        for (sample_rate_hz, expected) in
            [(44_100, NoiseShaping::Lipshitz), (48_000, NoiseShaping::Lipshitz), (96_000, NoiseShaping::Off)]
        {
            let quantizer = quantizer(16, NoiseShaping::Lipshitz, sample_rate_hz);
            assert_eq!(quantizer.shaping(), expected, "noise shaping at {sample_rate_hz} Hz");
        }
    }

    #[test]
    fn the_dither_is_triangular_from_minus_one_to_one_step() {
        const ROUNDS: usize = 4_000_000;
        const BINS: usize = 64;
        let (mut bins, mut lowest, mut highest) = ([0_u32; BINS], 0.0_f64, 0.0_f64);
        let mut dither = Tpdf::new(1, 0);
        for _ in 0..ROUNDS {
            let value = dither.value();
            (lowest, highest) = (lowest.min(value), highest.max(value));
            bins[((value + 1.0) / 2.0 * BINS as f64) as usize] += 1;
        }
        // The expected number of values in a bin is the area of the triangle over that bin.
        let below = |value: f64| 0.5 + value - 0.5 * value * value.abs();
        let edge = |bin: usize| 2.0 * bin as f64 / BINS as f64 - 1.0;
        let standard_deviations = |(bin, count): (usize, &u32)| {
            let expected = ROUNDS as f64 * (below(edge(bin + 1)) - below(edge(bin)));
            (f64::from(*count) - expected).abs() / libm::sqrt(expected)
        };
        let worst = bins.iter().enumerate().map(standard_deviations).fold(0.0, f64::max);
        std::println!(
            "dither from {lowest:.5} to {highest:.5} LSB, largest error of a bin {worst:.2} standard deviations"
        );
        assert!(lowest > -1.0 && highest < 1.0 && lowest < -0.999 && highest > 0.999);
        assert!(worst < 5.0);
        // The largest magnitude of a dither value.
        let largest_value = 1.0 - 1.0 / 4_294_967_296.0;
        assert_eq!(
            [triangular(0xffff_ffff_0000_0000), triangular(0xffff_ffff)],
            [largest_value, -largest_value]
        );
    }
}
