//! The reverb that all instruments of a session share.
//!
//! Jezar Wakefield's Freeverb (public domain, 2000): for each side, eight damped feedback combs in
//! parallel, then four allpasses in series. The delays of the right side are a little longer.
//! General MIDI players have used it for two decades, so songs were mixed for it.

use wide::f32x4;

use crate::dsp::ring_buffer::RingBuffer;
use crate::session::ReverbSettings;
use crate::simd::{on_best_instructions, transpose};

/// Number of combs of a side.
const COMBS: usize = 8;

/// Delays of the combs and allpasses in frames at [`TUNED_RATE_HZ`], from Freeverb's `tuning.h`.
const COMB_FRAMES: [usize; COMBS] = [1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617];
const ALLPASS_FRAMES: [usize; 4] = [556, 441, 341, 225];
/// Additional delay of the right side in frames at [`TUNED_RATE_HZ`].
const SPREAD_FRAMES: usize = 23;
const TUNED_RATE_HZ: f64 = 44_100.0;

/// Gain of the input, which keeps the sum of the combs in range.
const INPUT_GAIN: f32 = 0.015;
const ALLPASS_FEEDBACK: f32 = 0.5;

/// Turns a mono send into the stereo reverberation of a room.
#[derive(Debug, Clone)]
pub struct ReverbProcessor {
    settings: ReverbSettings,
    sides: [Side; 2],
    /// Frames since the last input that was not silent, up to [`Self::tail_frames`].
    silent_input_frames: u32,
    /// Frames after which the reverberation has decayed completely.
    tail_frames: u32,
}

/// Maximum linear gain of the output.
const LEVEL_MAX: f32 = 4.0;

/// Decay time of the largest room, in seconds. Its slowest comb has a delay of 37 ms and a feedback
/// of 0.98, and falls by 300 dB in 63 s.
const TAIL_SECS: u32 = 64;

impl ReverbProcessor {
    /// A silent reverb. Settings outside their ranges are clamped.
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

    /// Changes the settings while signal passes. Allocates nothing.
    pub fn set(&mut self, settings: ReverbSettings) {
        if settings != self.settings {
            self.settings = settings;
            self.update_combs();
        }
    }

    fn update_combs(&mut self) {
        let ReverbSettings { room, damping, .. } = self.settings;
        for side in &mut self.sides {
            side.combs.feedback = 0.7 + 0.28 * room.clamp(0.0, 1.0);
            side.combs.damping = 0.4 * damping.clamp(0.0, 1.0);
        }
    }

    /// Clears all delays.
    pub fn reset(&mut self) {
        self.sides.iter_mut().for_each(Side::reset);
        self.silent_input_frames = self.tail_frames;
    }

    /// Adds the reverberation of `send` to `left` and `right`. All have the same length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let chunks = send.chunks(MAX_CHUNK_FRAMES).zip(left.chunks_mut(MAX_CHUNK_FRAMES));
        for ((send, left), right) in chunks.zip(right.chunks_mut(MAX_CHUNK_FRAMES)) {
            self.process_part(send, left, right);
        }
    }

    fn process_part(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let frames = send.len();
        // The frames at which processing stops and starts do not depend on how calls are divided.
        let first = send.iter().position(|value| *value != 0.0).unwrap_or(frames);
        let tail = (self.tail_frames - self.silent_input_frames) as usize;
        if tail == 0 && first > 0 {
            if first < frames {
                self.process_part(&send[first..], &mut left[first..], &mut right[first..]);
            }
            return;
        }
        if (1..=first).contains(&tail) && tail < frames {
            self.process_part(&send[..tail], &mut left[..tail], &mut right[..tail]);
            return self.process_part(&send[tail..], &mut left[tail..], &mut right[tail..]);
        }
        match send.iter().rposition(|value| *value != 0.0) {
            Some(last) => self.silent_input_frames = (frames - 1 - last) as u32,
            None => self.silent_input_frames += frames as u32,
        }
        let mut input = [0.0; MAX_CHUNK_FRAMES];
        for (input, value) in input.iter_mut().zip(send) {
            *input = value * INPUT_GAIN + FLOOR;
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
            // The remaining values are far below the resolution of any output.
            self.sides.iter_mut().for_each(Side::reset);
        }
    }
}

/// Maximum number of frames that are computed at a time. It is below the shortest delay, 225 frames
/// at 44.1 kHz, at any rate from 16 kHz on. No output thus depends on an input of the same chunk.
const MAX_CHUNK_FRAMES: usize = 64;

/// One side: the combs in lockstep, then the allpasses.
#[derive(Debug, Clone)]
struct Side {
    combs: CombBank,
    allpasses: [RingBuffer; 4],
}

impl Side {
    fn new(sample_rate_hz: u32, spread_frames: usize) -> Self {
        let scaled = |frames: usize| {
            let secs = (frames + spread_frames) as f64 / TUNED_RATE_HZ;
            (libm::round(secs * f64::from(sample_rate_hz)) as usize).max(MAX_CHUNK_FRAMES)
        };
        Self {
            combs: CombBank::new(COMB_FRAMES.map(scaled)),
            allpasses: ALLPASS_FRAMES.map(|frames| RingBuffer::new(scaled(frames))),
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

/// Number of frames of the combs that are computed together.
const FOUR: usize = 4;

/// The damped feedback combs of a side.
#[derive(Debug, Clone)]
struct CombBank {
    delays: [RingBuffer; COMBS],
    feedback: f32,
    damping: f32,
    /// The last feedback of each comb, after damping.
    damped: [f32x4; 2],
}

impl CombBank {
    fn new(delay_frames: [usize; COMBS]) -> Self {
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

    /// Processes at most [`MAX_CHUNK_FRAMES`] frames; `sums` gets the sum of the combs.
    #[inline(always)]
    fn process(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let mut done = 0;
        while done < frames {
            // No ring buffer wraps within these frames.
            let chunk_frames =
                self.delays.iter().map(RingBuffer::frames_to_wrap).fold(frames - done, usize::min);
            self.process_contiguous(&input[done..done + chunk_frames], &mut sums[done..done + chunk_frames]);
            done += chunk_frames;
        }
    }

    #[inline(always)]
    fn process_contiguous(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let damping = Damping::new(self.feedback, self.damping);
        let mut damped = self.damped;
        let mut delays = self.delays.each_mut().map(|delay| delay.next_mut(frames).as_chunks_mut::<FOUR>());
        let (inputs, input_remainder) = input.as_chunks::<FOUR>();
        let (fours, remainder) = sums.as_chunks_mut::<FOUR>();
        for (index, (input, sums)) in inputs.iter().zip(fours).enumerate() {
            // A loop, because `map` of eight vectors is not inlined.
            let mut values = [f32x4::ZERO; COMBS];
            for (values, (delay, _)) in values.iter_mut().zip(&delays) {
                *values = f32x4::from(delay[index]);
            }
            *sums = damping.process(*input, &mut values, &mut damped, FOUR);
            for ((delay, _), values) in delays.iter_mut().zip(values) {
                delay[index] = values.to_array();
            }
        }
        if !remainder.is_empty() {
            let count = remainder.len();
            let filled = |values: &[f32]| {
                let mut four = [0.0; FOUR];
                four[..count].copy_from_slice(&values[..count]);
                four
            };
            let mut values = delays.each_ref().map(|(_, delay)| f32x4::from(filled(delay)));
            let sums = damping.process(filled(input_remainder), &mut values, &mut damped, count);
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
    /// Gain of the last output.
    feedback: f32x4,
    /// Gain of the input.
    forward: f32x4,
}

impl Damping {
    #[inline(always)]
    fn new(feedback: f32, damping: f32) -> Self {
        let forward = f32x4::splat(feedback * (1.0 - damping));
        Self { feedback: f32x4::splat(damping), forward }
    }

    /// Replaces the outputs of the combs' delays in four frames by their new inputs, and returns
    /// the sums of the outputs. Only the first `count` frames count.
    #[inline(always)]
    fn process(
        &self,
        input: [f32; FOUR],
        delays: &mut [f32x4; COMBS],
        damped: &mut [f32x4; 2],
        count: usize,
    ) -> [f32; FOUR] {
        let [a, b, c, d, e, f, g, h] = *delays;
        let sums = ((a + e) + (c + g)) + ((b + f) + (d + h));
        // Transposed to one frame per vector, because each frame depends on the one before.
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

/// Processes values by Freeverb's allpass, in place.
fn process_allpass(delay: &mut RingBuffer, mut values: &mut [f32]) {
    while !values.is_empty() {
        let (chunk, remaining) = values.split_at_mut(values.len().min(delay.frames_to_wrap()));
        let delays = delay.next_mut(chunk.len());
        for (value, delay) in chunk.iter_mut().zip(delays) {
            let delayed = *delay;
            *delay = *value + delayed * ALLPASS_FEEDBACK;
            *value = delayed - *value;
        }
        values = remaining;
    }
}

on_best_instructions! {
    fn process_combs(combs: &mut CombBank, input: &[f32], sums: &mut [f32]) = CombBank::process;
}

/// Offset of the input, -500 dBFS. Tails end there instead of at denormal numbers, which are slow.
const FLOOR: f32 = 1e-25;

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

    /// Level of an impulse response between two times, in dB.
    fn level_db(response: &[f32], sample_rate_hz: u32, from_secs: f64, to_secs: f64) -> f64 {
        let frame = |secs: f64| (secs * f64::from(sample_rate_hz)) as usize;
        let section = &response[frame(from_secs)..frame(to_secs)];
        let power: f64 =
            section.iter().map(|value| f64::from(value * value)).sum::<f64>() / section.len() as f64;
        10.0 * libm::log10(power)
    }

    /// A comb of delay d and feedback g falls by 60 dB in 3 d / -log10(g) seconds. At g = 0.84 and
    /// delays of 25 to 37 ms, this is 1.0 to 1.5 s. Damping makes the treble fall faster.
    #[test]
    fn decays_by_60_db_in_about_a_second_at_any_sample_rate() {
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            let (left, _) = impulse_response(sample_rate_hz, 2.5, 256);
            let early = level_db(&left, sample_rate_hz, 0.1, 0.2);
            let late = level_db(&left, sample_rate_hz, 1.1, 1.2);
            let decay_per_sec = early - late;
            assert!((40.0..75.0).contains(&decay_per_sec), "{decay_per_sec} dB/s at {sample_rate_hz} Hz");
        }
    }

    #[test]
    fn left_and_right_differ_and_start_after_the_shortest_comb_delay() {
        let (left, right) = impulse_response(44_100, 0.2, 256);
        assert!(left != right);
        // Freeverb's allpasses have a direct path, so the shortest comb comes first.
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
    fn the_output_does_not_depend_on_where_in_a_call_the_input_starts() {
        for first in [0, 1, 63, 100] {
            let process = |call_frames: usize| {
                let mut reverb = ReverbProcessor::new(ReverbSettings::default(), 16_000);
                // The second impulse comes when the first has just decayed.
                let again = first + 20 + (TAIL_SECS * 16_000) as usize;
                let (mut left, mut right) = (vec![0.0; again + 2_000], vec![0.0; again + 2_000]);
                let mut send = vec![0.0; again + 2_000];
                (send[first], send[again]) = (1.0, 1.0);
                let sides = left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames));
                for (send, (left, right)) in send.chunks(call_frames).zip(sides) {
                    reverb.process(send, left, right);
                }
                (left, right)
            };
            let expected = process(1);
            for call_frames in [3, 64, 77, 512] {
                assert!(process(call_frames) == expected, "first {first}, {call_frames} frames a call");
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
