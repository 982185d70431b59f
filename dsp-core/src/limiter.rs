//! The look-ahead limiter of the mix, which keeps every output sample at or below a ceiling.
//!
//! `lookahead.rs` computes the gain. A signal below the ceiling stays bit-identical, with a delay
//! of [`LimiterProcessor::latency_frames`].

use crate::dsp::delay_line::DelayLine;
use crate::lookahead::LookaheadGain;

/// The ceiling of the mix, in dBFS.
pub const MIX_CEILING_DBFS: f64 = -3.0;

/// Number of frames that are computed together.
const CHUNK_FRAMES: usize = 16;

/// Settings of a limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimiterConfig {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Highest magnitude of an output sample, in dBFS.
    pub ceiling_dbfs: f64,
    /// Look-ahead in seconds. This is also the time in which the gain falls.
    pub lookahead_secs: f64,
    /// Time constant of the release in seconds.
    pub release_secs: f64,
}

impl LimiterConfig {
    /// Returns the settings for the mix: a ceiling of -3 dBFS, 1.5 ms of look-ahead and 80 ms of
    /// release.
    pub fn for_mix(sample_rate_hz: u32) -> Self {
        Self { sample_rate_hz, ceiling_dbfs: MIX_CEILING_DBFS, lookahead_secs: 0.0015, release_secs: 0.08 }
    }
}

/// Gain below which a frame counts as limited: -0.1 dB.
const LIMITED_GAIN: f32 = 0.988_553_1;

/// The gain reduction of a limiter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduction {
    /// Lowest linear gain of any frame; 1 if no frame was limited.
    pub least_gain: f32,
    /// Number of frames with more than 0.1 dB of reduction.
    pub limited_frames: u64,
}

impl Reduction {
    /// No reduction.
    pub const NONE: Self = Self { least_gain: 1.0, limited_frames: 0 };

    /// Returns the reduction of two parts of a signal together.
    #[must_use]
    pub fn merge(self, reduction: Self) -> Self {
        let least_gain =
            if reduction.least_gain < self.least_gain { reduction.least_gain } else { self.least_gain };
        Self { least_gain, limited_frames: self.limited_frames + reduction.limited_frames }
    }

    fn count(&mut self, gains: &[f32]) {
        for gain in gains {
            self.least_gain = if *gain < self.least_gain { *gain } else { self.least_gain };
            self.limited_frames += u64::from(*gain < LIMITED_GAIN);
        }
    }
}

/// A stereo look-ahead limiter. Both channels get the same gain.
#[derive(Debug, Clone)]
pub struct LimiterProcessor {
    ceiling: f32,
    release_per_frame: f64,
    gain: LookaheadGain,
    /// Delays of left and right by the look-ahead.
    delays: [DelayLine; 2],
    reduction: Reduction,
}

impl LimiterProcessor {
    /// Creates a limiter whose look-ahead contains silence.
    pub fn new(config: LimiterConfig) -> Self {
        let rate_hz = f64::from(config.sample_rate_hz);
        let window_frames = (libm::round(config.lookahead_secs * rate_hz) as usize).max(1);
        let release_frames = (config.release_secs * rate_hz).max(1.0);
        Self {
            ceiling: crate::gain::from_db(config.ceiling_dbfs),
            release_per_frame: 1.0 - libm::exp(-1.0 / release_frames),
            // The minimum covers one frame more than the look-ahead, so the gain is still low when
            // the peak is output.
            gain: LookaheadGain::new(window_frames, window_frames + 1),
            delays: [DelayLine::new(window_frames), DelayLine::new(window_frames)],
            reduction: Reduction::NONE,
        }
    }

    /// Returns the delay of the output in frames.
    pub fn latency_frames(&self) -> usize {
        self.delays[0].frames()
    }

    /// Resets to the state of a new limiter.
    pub fn reset(&mut self) {
        self.delays.iter_mut().for_each(DelayLine::clear);
        self.gain.reset();
        self.reduction = Reduction::NONE;
    }

    /// Returns the gain reduction since the last call, or since the last reset.
    pub fn take_reduction(&mut self) -> Reduction {
        core::mem::replace(&mut self.reduction, Reduction::NONE)
    }

    /// Limits `left` and `right` in place. Both have the same length. Values that are not finite
    /// are treated as silence.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32]) {
        for (left, right) in left.chunks_mut(CHUNK_FRAMES).zip(right.chunks_mut(CHUNK_FRAMES)) {
            self.process_chunk(left, right);
        }
    }

    fn process_chunk(&mut self, left: &mut [f32], right: &mut [f32]) {
        let mut gains = [1.0; CHUNK_FRAMES];
        let gains = &mut gains[..left.len()];
        for ((gain, left), right) in gains.iter_mut().zip(&mut *left).zip(&mut *right) {
            (*left, *right) = (finite(*left), finite(*right));
            let (left_peak, right_peak) = (left.abs(), right.abs());
            // `f32::max` may compile to a function call, which would take longer than the remaining
            // loop body.
            let peak = if right_peak > left_peak { right_peak } else { left_peak };
            *gain = if peak > self.ceiling { self.ceiling / peak } else { 1.0 };
        }
        self.gain.process(gains, self.release_per_frame);
        self.reduction.count(gains);
        let [left_delay, right_delay] = &mut self.delays;
        left_delay.process(left);
        right_delay.process(right);
        let limit = |value: f32, gain: f32| (value * gain).clamp(-self.ceiling, self.ceiling);
        for ((gain, left), right) in gains.iter().zip(left).zip(right) {
            (*left, *right) = (limit(*left, *gain), limit(*right, *gain));
        }
    }
}

fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns noise with bursts far above full scale, from a linear congruential generator.
    fn bursts(frames: usize) -> Vec<f32> {
        let mut state = 1_u32;
        (0..frames)
            .map(|frame| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 8) as f32 / 8_388_608.0 - 1.0;
                noise * if (frame / 700) % 3 == 0 { 6.0 } else { 0.2 }
            })
            .collect()
    }

    fn limit(input: &[f32], call_frames: usize) -> Vec<f32> {
        let mut limiter = LimiterProcessor::new(LimiterConfig::for_mix(48_000));
        let mut left = input.to_vec();
        let mut right: Vec<f32> = input.iter().map(|value| -0.5 * value).collect();
        for (left, right) in left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames)) {
            limiter.process(left, right);
        }
        left
    }

    #[test]
    fn no_output_exceeds_the_ceiling() {
        let ceiling = crate::gain::from_db(-3.0);
        let output = limit(&bursts(50_000), 128);
        let peak = output.iter().fold(0.0_f32, |peak, value| peak.max(value.abs()));
        assert!(peak <= ceiling, "the peak {peak} is above the ceiling {ceiling}");
        assert!(peak > 0.9 * ceiling, "the peak {peak} is far below the ceiling {ceiling}");
    }

    #[test]
    fn a_loud_tone_is_limited_without_clipping() {
        // Clipping would repeat values at the ceiling.
        let tone: Vec<f32> = (0..48_000).map(|frame| 4.0 * libm::sin(frame as f64 * 0.03) as f32).collect();
        let output = limit(&tone, 256);
        let ceiling = crate::gain::from_db(-3.0);
        let clipped_runs =
            output.windows(3).filter(|w| w.iter().all(|v| v.abs() >= ceiling * 0.999_99)).count();
        assert_eq!(clipped_runs, 0);
    }

    #[test]
    fn a_quiet_signal_passes_bit_identically() {
        let input: Vec<f32> = bursts(10_000).iter().map(|value| value * 0.1).collect();
        let latency = LimiterProcessor::new(LimiterConfig::for_mix(48_000)).latency_frames();
        assert_eq!(latency, 72);
        assert_eq!(limit(&input, 256)[latency..], input[..input.len() - latency]);
    }

    #[test]
    fn the_gain_reduction_is_measured() {
        let mut limiter = LimiterProcessor::new(LimiterConfig::for_mix(48_000));
        let mut limit = |value: f32, frames: usize| {
            limiter.process(&mut vec![value; frames], &mut vec![0.0; frames]);
            limiter.take_reduction()
        };
        assert_eq!(limit(0.7, 1_000), Reduction::NONE);
        let while_loud = limit(2.0 * crate::gain::from_db(-3.0), 1_000);
        assert!(
            (while_loud.least_gain - 0.5).abs() < 1e-6,
            "reduction during the loud frames: {while_loud:?}"
        );
        // The gain begins to fall 72 frames before the loud frames are output. The first of 72
        // steps is a reduction of 0.06 dB, the second one of 0.12 dB.
        assert_eq!(while_loud.limited_frames, 999);
        // After the last loud frame, the gain recovers by 1 / 3840 of the remaining distance per
        // frame. A reduction of 0.1 dB remains after 3840 * ln(0.5 / 0.01145) frames.
        let after_recovery = limit(0.0, 48_000);
        let recovery = 72.0 + 3_840.0 * libm::log(0.5 / (1.0 - 0.988_553_1));
        assert!(
            (after_recovery.limited_frames as f64 - recovery).abs() < 80.0,
            "reduction after the recovery: {after_recovery:?}"
        );
        limiter.process(&mut [2.0; 1_000], &mut [0.0; 1_000]);
        limiter.reset();
        assert_eq!(limiter.take_reduction(), Reduction::NONE);
    }

    #[test]
    fn the_gain_recovers_to_1_after_a_burst() {
        let mut input = vec![3.0; 100];
        input.extend(vec![0.25; 200_000]);
        assert_eq!(*limit(&input, 512).last().unwrap(), 0.25);
    }

    #[test]
    fn the_output_does_not_depend_on_the_call_size() {
        let input = bursts(5_000);
        let expected = limit(&input, 512);
        for call_frames in [1, 7, 128, 4_096] {
            assert_eq!(limit(&input, call_frames), expected, "output in calls of {call_frames} frames");
        }
    }

    #[test]
    fn a_reset_limiter_equals_a_new_one_and_neither_reset_nor_process_allocates() {
        let input = bursts(3_000);
        let mut limiter = LimiterProcessor::new(LimiterConfig::for_mix(48_000));
        let process_input = |limiter: &mut LimiterProcessor| {
            let (mut left, mut right) = (input.clone(), input.clone());
            assert_no_alloc::assert_no_alloc(|| limiter.process(&mut left, &mut right));
            left
        };
        let first = process_input(&mut limiter);
        assert_no_alloc::assert_no_alloc(|| limiter.reset());
        assert_eq!(process_input(&mut limiter), first);
    }

    #[test]
    fn values_that_are_not_finite_become_silence() {
        let mut input = vec![0.1; 300];
        input[10] = f32::NAN;
        input[20] = f32::INFINITY;
        assert!(limit(&input, 64).iter().all(|value| value.is_finite()));
    }
}
