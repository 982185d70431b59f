//! The reverb that all instruments of a session share.
//!
//! It is Jezar Wakefield's Freeverb (public domain, 2000). Each side has eight damped feedback
//! combs in parallel, then four allpasses in series. The delays of the right side are slightly
//! longer. General MIDI players have used Freeverb for two decades, so songs are mixed for its
//! sound.

use wide::f32x4;

use crate::dsp::ring_buffer::RingBuffer;
use crate::session::ReverbSettings;
use crate::simd::{on_best_instructions, transpose};

/// Number of comb filters of each side.
const COMB_COUNT: usize = 8;

/// Delays of the combs in frames at [`TUNED_RATE_HZ`] (Freeverb, `tuning.h`).
const COMB_FRAMES: [usize; COMB_COUNT] = [1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617];
/// Delays of the allpasses in frames at [`TUNED_RATE_HZ`] (Freeverb, `tuning.h`).
const ALLPASS_FRAMES: [usize; 4] = [556, 441, 341, 225];
/// Additional delay of the right side in frames at [`TUNED_RATE_HZ`] (Freeverb, `tuning.h`).
const SPREAD_FRAMES: usize = 23;
/// Sample rate of the delays in `tuning.h`, in hertz.
const TUNED_RATE_HZ: f64 = 44_100.0;

/// Linear gain of the input (Freeverb, `tuning.h`). It compensates for the gain of the combs.
const INPUT_GAIN: f32 = 0.015;
/// Feedback of the allpasses (Freeverb, `revmodel.cpp`).
const ALLPASS_FEEDBACK: f32 = 0.5;

/// Computes the stereo reverberation of a mono send.
#[derive(Debug, Clone)]
pub struct ReverbProcessor {
    settings: ReverbSettings,
    sides: [Side; 2],
    /// Number of frames since the last input that was not silent, at most [`Self::tail_frames`].
    silent_input_frames: u32,
    /// Number of frames after which the reverberation has decayed completely.
    tail_frames: u32,
}

/// Maximum linear gain of the output.
const LEVEL_MAX: f32 = 4.0;

/// Decay time of the largest room in seconds. The slowest comb has a delay of 37 ms and a feedback
/// of 0.98. It decays by 300 dB in 63 s.
const TAIL_SECS: u32 = 64;

impl ReverbProcessor {
    /// Creates a silent reverb. Settings outside their ranges are clamped.
    pub fn new(settings: ReverbSettings, sample_rate_hz: u32) -> Self {
        let tail_frames = TAIL_SECS * sample_rate_hz;
        let mut reverb = Self {
            settings,
            sides: [Side::new(sample_rate_hz, 0), Side::new(sample_rate_hz, SPREAD_FRAMES)],
            silent_input_frames: tail_frames,
            tail_frames,
        };
        reverb.update_combs();
        reverb
    }

    /// Changes the settings. It may be called while audio is processed, and does not allocate.
    pub fn set_settings(&mut self, settings: ReverbSettings) {
        if settings != self.settings {
            self.settings = settings;
            self.update_combs();
        }
    }

    /// Computes feedback and damping from the settings, with the scales of Freeverb's `tuning.h`.
    fn update_combs(&mut self) {
        let ReverbSettings { room, damping, .. } = self.settings;
        for side in &mut self.sides {
            side.combs.feedback = 0.7 + 0.28 * room.clamp(0.0, 1.0);
            side.combs.damping = 0.4 * damping.clamp(0.0, 1.0);
        }
    }

    /// Clears all delays. The output is then the same as that of a new reverb.
    pub fn reset(&mut self) {
        self.sides.iter_mut().for_each(Side::reset);
        self.silent_input_frames = self.tail_frames;
    }

    /// Adds the reverberation of `send` to `left` and `right`. All three slices have the same
    /// length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let chunks = send.chunks(MAX_CHUNK_FRAMES).zip(left.chunks_mut(MAX_CHUNK_FRAMES));
        for ((send, left), right) in chunks.zip(right.chunks_mut(MAX_CHUNK_FRAMES)) {
            self.process_chunk(send, left, right);
        }
    }

    fn process_chunk(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let frames = send.len();
        // Processing pauses after the tail and resumes at the next input. The chunk is split at
        // these frames, so that the output does not depend on the call size.
        let first = send.iter().position(|value| *value != 0.0).unwrap_or(frames);
        let tail = (self.tail_frames - self.silent_input_frames) as usize;
        if tail == 0 && first > 0 {
            if first < frames {
                self.process_chunk(&send[first..], &mut left[first..], &mut right[first..]);
            }
            return;
        }
        if (1..=first).contains(&tail) && tail < frames {
            self.process_chunk(&send[..tail], &mut left[..tail], &mut right[..tail]);
            return self.process_chunk(&send[tail..], &mut left[tail..], &mut right[tail..]);
        }
        match send.iter().rposition(|value| *value != 0.0) {
            Some(last) => self.silent_input_frames = (frames - 1 - last) as u32,
            None => self.silent_input_frames += frames as u32,
        }
        let mut input = [0.0; MAX_CHUNK_FRAMES];
        for (input, value) in input.iter_mut().zip(send) {
            *input = value * INPUT_GAIN + DENORMAL_OFFSET;
        }
        let ReverbSettings { width, level, .. } = self.settings;
        let level = level.clamp(0.0, LEVEL_MAX);
        let width = width.clamp(0.0, 1.0);
        let (same_side, cross) = (level * (0.5 + 0.5 * width), level * (0.5 - 0.5 * width));
        let mut outputs = [[0.0; MAX_CHUNK_FRAMES]; 2];
        for (side, output) in self.sides.iter_mut().zip(&mut outputs) {
            side.process(&input[..frames], &mut output[..frames]);
        }
        let [wet_left, wet_right] = &outputs;
        let sums = left.iter_mut().zip(right);
        for (((left, right), wet_left), wet_right) in sums.zip(wet_left).zip(wet_right) {
            *left += same_side * wet_left + cross * wet_right;
            *right += same_side * wet_right + cross * wet_left;
        }
        if self.silent_input_frames == self.tail_frames {
            // The values that remain in the delays are inaudible.
            self.sides.iter_mut().for_each(Side::reset);
        }
    }
}

/// Maximum number of frames that are computed at a time. The shortest delay (225 frames at 44.1
/// kHz) is longer at all sample rates from 16 kHz. No output therefore depends on an input of the
/// same chunk.
const MAX_CHUNK_FRAMES: usize = 64;

/// The left or right side: combs in parallel, then allpasses in series.
#[derive(Debug, Clone)]
struct Side {
    combs: CombBank,
    allpasses: [RingBuffer; 4],
}

impl Side {
    fn new(sample_rate_hz: u32, spread_frames: usize) -> Self {
        let scaled_frames = |frames: usize| {
            let secs = (frames + spread_frames) as f64 / TUNED_RATE_HZ;
            (libm::round(secs * f64::from(sample_rate_hz)) as usize).max(MAX_CHUNK_FRAMES)
        };
        Self {
            combs: CombBank::new(COMB_FRAMES.map(scaled_frames)),
            allpasses: ALLPASS_FRAMES.map(|frames| RingBuffer::new(scaled_frames(frames))),
        }
    }

    fn reset(&mut self) {
        self.combs.reset();
        self.allpasses.iter_mut().for_each(RingBuffer::clear);
    }

    fn process(&mut self, input: &[f32], output: &mut [f32]) {
        process_combs(&mut self.combs, input, output);
        for allpass in &mut self.allpasses {
            process_allpass(allpass, output);
        }
    }
}

/// Number of frames that the combs compute together.
const FRAMES_PER_VECTOR: usize = 4;

/// The damped feedback combs of a side.
#[derive(Debug, Clone)]
struct CombBank {
    delays: [RingBuffer; COMB_COUNT],
    feedback: f32,
    damping: f32,
    /// Last output of the damping filter of each comb.
    damped: [f32x4; 2],
}

impl CombBank {
    fn new(delay_frames: [usize; COMB_COUNT]) -> Self {
        Self {
            delays: delay_frames.map(RingBuffer::new),
            feedback: 0.0,
            damping: 0.0,
            damped: [f32x4::ZERO; 2],
        }
    }

    fn reset(&mut self) {
        self.delays.iter_mut().for_each(RingBuffer::clear);
        self.damped = [f32x4::ZERO; 2];
    }

    /// Processes at most [`MAX_CHUNK_FRAMES`] frames. Writes the sum of the combs to `sums`.
    #[inline(always)]
    fn process(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let mut processed_frames = 0;
        while processed_frames < frames {
            // No ring buffer wraps around within these frames.
            let chunk_frames = self
                .delays
                .iter()
                .map(RingBuffer::frames_to_wrap)
                .fold(frames - processed_frames, usize::min);
            self.process_contiguous(
                &input[processed_frames..processed_frames + chunk_frames],
                &mut sums[processed_frames..processed_frames + chunk_frames],
            );
            processed_frames += chunk_frames;
        }
    }

    #[inline(always)]
    fn process_contiguous(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let damping = Damping::new(self.feedback, self.damping);
        let mut damped = self.damped;
        let mut delays =
            self.delays.each_mut().map(|delay| delay.next_mut(frames).as_chunks_mut::<FRAMES_PER_VECTOR>());
        let (inputs, input_remainder) = input.as_chunks::<FRAMES_PER_VECTOR>();
        let (fours, remainder) = sums.as_chunks_mut::<FRAMES_PER_VECTOR>();
        for (index, (input, sums)) in inputs.iter().zip(fours).enumerate() {
            // This is a loop, because the compiler does not inline `map` over eight vectors.
            let mut values = [f32x4::ZERO; COMB_COUNT];
            for (values, (delay, _)) in values.iter_mut().zip(&delays) {
                *values = f32x4::from(delay[index]);
            }
            *sums = damping.process(*input, &mut values, &mut damped, FRAMES_PER_VECTOR);
            for ((delay, _), values) in delays.iter_mut().zip(values) {
                delay[index] = values.to_array();
            }
        }
        if !remainder.is_empty() {
            let count = remainder.len();
            let padded = |values: &[f32]| {
                let mut four = [0.0; FRAMES_PER_VECTOR];
                four[..count].copy_from_slice(&values[..count]);
                four
            };
            let mut values = delays.each_ref().map(|(_, delay)| f32x4::from(padded(delay)));
            let sums = damping.process(padded(input_remainder), &mut values, &mut damped, count);
            remainder.copy_from_slice(&sums[..count]);
            for ((_, delay), values) in delays.iter_mut().zip(values) {
                delay.copy_from_slice(&values.to_array()[..count]);
            }
        }
        self.damped = damped;
    }
}

/// The one-pole low-pass in the feedback of the combs.
struct Damping {
    /// Gain of the previous output of the low-pass.
    feedback: f32x4,
    /// Gain of the input of the low-pass, including the feedback of the comb.
    forward: f32x4,
}

impl Damping {
    #[inline(always)]
    fn new(feedback: f32, damping: f32) -> Self {
        let forward = f32x4::splat(feedback * (1.0 - damping));
        Self { feedback: f32x4::splat(damping), forward }
    }

    /// Processes four frames of all combs. `delays` are the outputs of the delays, which the
    /// function replaces by the new inputs of the delays. Returns the sums of the outputs. Only the
    /// first `count` frames are processed.
    #[inline(always)]
    fn process(
        &self,
        input: [f32; FRAMES_PER_VECTOR],
        delays: &mut [f32x4; COMB_COUNT],
        damped: &mut [f32x4; 2],
        count: usize,
    ) -> [f32; FRAMES_PER_VECTOR] {
        let [a, b, c, d, e, f, g, h] = *delays;
        let sums = ((a + e) + (c + g)) + ((b + f) + (d + h));
        // Transposed to one frame per vector, because each frame depends on the previous frame.
        let mut halves = [transpose([a, b, c, d]), transpose([e, f, g, h])];
        for (half, damped) in halves.iter_mut().zip(damped) {
            for (frame, input) in half.iter_mut().zip(input).take(count) {
                *damped = *frame * self.forward + *damped * self.feedback;
                *frame = f32x4::splat(input) + *damped;
            }
        }
        let [[a, b, c, d], [e, f, g, h]] = halves.map(transpose);
        *delays = [a, b, c, d, e, f, g, h];
        sums.to_array()
    }
}

/// Applies Freeverb's allpass to values in place.
fn process_allpass(delay: &mut RingBuffer, mut values: &mut [f32]) {
    while !values.is_empty() {
        let (chunk, remaining) = values.split_at_mut(values.len().min(delay.frames_to_wrap()));
        let delays = delay.next_mut(chunk.len());
        for (value, delay) in chunk.iter_mut().zip(delays) {
            let delayed_value = *delay;
            *delay = *value + delayed_value * ALLPASS_FEEDBACK;
            *value = delayed_value - *value;
        }
        values = remaining;
    }
}

on_best_instructions! {
    fn process_combs(combs: &mut CombBank, input: &[f32], sums: &mut [f32]) = CombBank::process;
}

/// Offset that is added to the input (-500 dBFS). With it, decaying values never become subnormal
/// numbers, which are slow to compute.
const DENORMAL_OFFSET: f32 = 1e-25;

#[cfg(test)]
mod tests {
    use super::*;

    fn impulse_response(sample_rate_hz: u32, secs: f64, call_frames: usize) -> (Vec<f32>, Vec<f32>) {
        let mut reverb = ReverbProcessor::new(ReverbSettings::default(), sample_rate_hz);
        let frames = (secs * f64::from(sample_rate_hz)) as usize;
        let mut impulse = vec![0.0; frames];
        impulse[0] = 1.0;
        let (mut left, mut right) = (vec![0.0; frames], vec![0.0; frames]);
        for ((send, left), right) in
            impulse.chunks(call_frames).zip(left.chunks_mut(call_frames)).zip(right.chunks_mut(call_frames))
        {
            assert_no_alloc::assert_no_alloc(|| reverb.process(send, left, right));
        }
        (left, right)
    }

    /// Returns the level of an impulse response between two times, in decibels.
    fn level_db(response: &[f32], sample_rate_hz: u32, from_secs: f64, to_secs: f64) -> f64 {
        let frame = |secs: f64| (secs * f64::from(sample_rate_hz)) as usize;
        let section = &response[frame(from_secs)..frame(to_secs)];
        let power: f64 =
            section.iter().map(|value| f64::from(value * value)).sum::<f64>() / section.len() as f64;
        10.0 * libm::log10(power)
    }

    /// A comb with a delay of d seconds and a feedback of g decays by 60 dB in 3 d / -log10(g)
    /// seconds. With g = 0.84 and delays of 25 to 37 ms, this is 1.0 to 1.5 s. Damping makes high
    /// frequencies decay faster.
    #[test]
    fn the_reverb_decays_by_60_db_in_about_a_second_at_any_sample_rate() {
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            let (left, _) = impulse_response(sample_rate_hz, 2.5, 256);
            let early_db = level_db(&left, sample_rate_hz, 0.1, 0.2);
            let late_db = level_db(&left, sample_rate_hz, 1.1, 1.2);
            let decay_per_sec = early_db - late_db;
            assert!((40.0..75.0).contains(&decay_per_sec), "{decay_per_sec} dB/s at {sample_rate_hz} Hz");
        }
    }

    #[test]
    fn left_and_right_differ_and_start_after_the_shortest_comb_delay() {
        let (left, right) = impulse_response(44_100, 0.2, 256);
        assert!(left != right);
        // The allpasses have a direct path, so only the shortest comb delays the first output.
        assert!(left[..1_116].iter().all(|value| *value == 0.0));
        assert!(left[1_116] != 0.0);
    }

    #[test]
    fn the_output_does_not_depend_on_the_call_size_and_ends_in_silence() {
        let expected = impulse_response(48_000, 12.0, 256);
        assert!(impulse_response(48_000, 12.0, 1) == expected);
        assert!(impulse_response(48_000, 12.0, 4_096) == expected);
        assert!(expected.0[11 * 48_000..].iter().all(|value| value.abs() < 1e-15));
    }

    #[test]
    fn the_output_does_not_depend_on_the_position_of_the_input_in_a_call() {
        for first in [0, 1, 63, 100] {
            let process = |call_frames: usize| {
                let mut reverb = ReverbProcessor::new(ReverbSettings::default(), 16_000);
                // The second impulse is just after the end of the first impulse's tail.
                let second = first + 20 + (TAIL_SECS * 16_000) as usize;
                let (mut left, mut right) = (vec![0.0; second + 2_000], vec![0.0; second + 2_000]);
                let mut send = vec![0.0; second + 2_000];
                (send[first], send[second]) = (1.0, 1.0);
                let sides = left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames));
                for (send, (left, right)) in send.chunks(call_frames).zip(sides) {
                    reverb.process(send, left, right);
                }
                (left, right)
            };
            let expected = process(1);
            for call_frames in [3, 64, 77, 512] {
                assert!(
                    process(call_frames) == expected,
                    "input at frame {first}, calls of {call_frames} frames"
                );
            }
        }
    }

    #[test]
    fn after_a_reset_the_output_is_that_of_a_new_reverb() {
        let mut reverb = ReverbProcessor::new(ReverbSettings::default(), 48_000);
        let process = |reverb: &mut ReverbProcessor| {
            let (mut left, mut right) = (vec![0.0; 9_000], vec![0.0; 9_000]);
            reverb.process(&[0.5; 9_000], &mut left, &mut right);
            (left, right)
        };
        let first = process(&mut reverb);
        reverb.reset();
        assert!(process(&mut reverb) == first);
    }
}
