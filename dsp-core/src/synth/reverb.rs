//! The reverb that all instruments of a session share.
//!
//! Jezar Wakefield's Freeverb (public domain, 2000): eight damped feedback combs in parallel, then
//! four allpasses in series, for each side, the right side's delays a little longer. It is
//! what General MIDI players have used for two decades, so songs were mixed for it.

use alloc::vec;
use alloc::vec::Vec;

use wide::f32x4;

use super::lanes::LANES;
use crate::session::ReverbSettings;
use crate::simd::{on_best_instructions, transpose};

/// Delays of the combs and allpasses in frames at [`TUNED_RATE_HZ`], from Freeverb's `tuning.h`.
const COMB_FRAMES: [usize; 8] = [1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617];
const ALLPASS_FRAMES: [usize; 4] = [556, 441, 341, 225];
/// How much longer the right side's delays are.
const SPREAD_FRAMES: usize = 23;
const TUNED_RATE_HZ: f64 = 44_100.0;

/// Gain of the input, which keeps the sum of the combs in range.
const INPUT_GAIN: f32 = 0.015;
const ALLPASS_FEEDBACK: f32 = 0.5;

/// Turns a mono send into the stereo sound of a room.
#[derive(Debug, Clone)]
pub struct ReverbProcessor {
    settings: ReverbSettings,
    sides: [Side; 2],
    /// Frames for which nothing has come in, up to a number after which nothing is left.
    quiet_frames: u32,
    silent_after_frames: u32,
}

/// Highest gain of what the reverb adds.
const LEVEL_MAX: f32 = 4.0;

/// Time after which nothing is left of the largest room, in seconds: its slowest comb (37 ms,
/// feedback 0.98) falls by 300 dB in 63.
const SILENT_AFTER_SECS: u32 = 64;

impl ReverbProcessor {
    /// A silent room. Settings outside 0 to 1 count as the nearest end.
    pub fn new(settings: ReverbSettings, sample_rate_hz: u32) -> Self {
        let silent_after_frames = SILENT_AFTER_SECS * sample_rate_hz;
        let mut reverb = Self {
            settings,
            sides: [Side::new(sample_rate_hz, 0), Side::new(sample_rate_hz, SPREAD_FRAMES)],
            quiet_frames: silent_after_frames,
            silent_after_frames,
        };
        reverb.shape();
        reverb
    }

    /// Goes on with other settings. Allocates nothing.
    pub fn set(&mut self, settings: ReverbSettings) {
        if settings != self.settings {
            self.settings = settings;
            self.shape();
        }
    }

    fn shape(&mut self) {
        let ReverbSettings { room, damping, .. } = self.settings;
        for side in &mut self.sides {
            side.combs.feedback = 0.7 + 0.28 * room.clamp(0.0, 1.0);
            side.combs.damping = 0.4 * damping.clamp(0.0, 1.0);
        }
    }

    /// Back to silence.
    pub fn reset(&mut self) {
        self.sides.iter_mut().for_each(Side::reset);
        self.quiet_frames = self.silent_after_frames;
    }

    /// Adds the room's answer to `send` to `left` and `right`; all have the same length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let parts = send.chunks(PART_FRAMES).zip(left.chunks_mut(PART_FRAMES));
        for ((send, left), right) in parts.zip(right.chunks_mut(PART_FRAMES)) {
            self.process_part(send, left, right);
        }
    }

    fn process_part(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let frames = send.len();
        // Where the room falls silent, and where it wakes up, does not depend on where parts begin.
        let first = send.iter().position(|value| *value != 0.0).unwrap_or(frames);
        let sounding = (self.silent_after_frames - self.quiet_frames) as usize;
        if sounding == 0 && first > 0 {
            if first < frames {
                self.process_part(&send[first..], &mut left[first..], &mut right[first..]);
            }
            return;
        }
        if (1..=first).contains(&sounding) && sounding < frames {
            self.process_part(&send[..sounding], &mut left[..sounding], &mut right[..sounding]);
            return self.process_part(&send[sounding..], &mut left[sounding..], &mut right[sounding..]);
        }
        match send.iter().rposition(|value| *value != 0.0) {
            Some(last) => self.quiet_frames = (frames - 1 - last) as u32,
            None => self.quiet_frames += frames as u32,
        }
        let mut input = [0.0; PART_FRAMES];
        for (input, value) in input.iter_mut().zip(send) {
            *input = value * INPUT_GAIN + FLOOR;
        }
        let ReverbSettings { width, level, .. } = self.settings;
        let level = level.clamp(0.0, LEVEL_MAX);
        let width = width.clamp(0.0, 1.0);
        let (own, other) = (level * (0.5 + 0.5 * width), level * (0.5 - 0.5 * width));
        let mut answers = [[0.0; PART_FRAMES]; 2];
        for (side, answer) in self.sides.iter_mut().zip(&mut answers) {
            side.process(&input[..frames], &mut answer[..frames]);
        }
        let [near, far] = &answers;
        for (((left, right), near), far) in left.iter_mut().zip(right).zip(near).zip(far) {
            *left += own * near + other * far;
            *right += own * far + other * near;
        }
        if self.quiet_frames == self.silent_after_frames {
            // What is left is far below anything that could be heard or written.
            self.sides.iter_mut().for_each(Side::reset);
        }
    }
}

/// Most frames that are computed at a time: fewer than the shortest delay, 225 frames at 44.1 kHz,
/// at any rate from 16 kHz on, so that nothing that is computed comes back in the same part.
const PART_FRAMES: usize = 64;

/// One side: eight combs in lockstep, then the allpasses.
#[derive(Debug, Clone)]
struct Side {
    combs: CombBank,
    allpasses: [Ring; 4],
}

impl Side {
    fn new(sample_rate_hz: u32, spread_frames: usize) -> Self {
        let scaled = |frames: usize| {
            let secs = (frames + spread_frames) as f64 / TUNED_RATE_HZ;
            (libm::round(secs * f64::from(sample_rate_hz)) as usize).max(PART_FRAMES)
        };
        Self {
            combs: CombBank::new(COMB_FRAMES.map(scaled)),
            allpasses: ALLPASS_FRAMES.map(|frames| Ring::new(scaled(frames))),
        }
    }

    fn reset(&mut self) {
        self.combs.reset();
        self.allpasses.iter_mut().for_each(Ring::reset);
    }

    fn process(&mut self, input: &[f32], answer: &mut [f32]) {
        pass_combs(&mut self.combs, input, answer);
        for allpass in &mut self.allpasses {
            allpass.process_allpass(answer);
        }
    }
}

/// Frames of the combs that are computed together.
const FOUR: usize = 4;

/// Eight damped feedback combs.
#[derive(Debug, Clone)]
struct CombBank {
    lines: [Ring; LANES],
    feedback: f32,
    damping: f32,
    /// What each comb feeds back, before the next input comes to it.
    damped: [f32x4; 2],
}

impl CombBank {
    fn new(delays: [usize; LANES]) -> Self {
        Self { lines: delays.map(Ring::new), feedback: 0.0, damping: 0.0, damped: [f32x4::ZERO; 2] }
    }

    fn reset(&mut self) {
        self.lines.iter_mut().for_each(Ring::reset);
        self.damped = [f32x4::ZERO; 2];
    }

    /// Passes at most a part.
    #[inline(always)]
    fn process(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let mut done = 0;
        while done < frames {
            // No ring ends within these.
            let run = self.lines.iter().map(Ring::to_end).fold(frames - done, usize::min);
            self.process_run(&input[done..done + run], &mut sums[done..done + run]);
            done += run;
        }
    }

    #[inline(always)]
    fn process_run(&mut self, input: &[f32], sums: &mut [f32]) {
        let frames = sums.len();
        let damping = Damping::new(self.feedback, self.damping);
        let mut damped = self.damped;
        let mut lines = self.lines.each_mut().map(|line| line.next(frames).as_chunks_mut::<FOUR>());
        let (inputs, input_rest) = input.as_chunks::<FOUR>();
        let (fours, rest) = sums.as_chunks_mut::<FOUR>();
        for (number, (input, sums)) in inputs.iter().zip(fours).enumerate() {
            // A loop, for `map` of so many is a call.
            let mut values = [f32x4::ZERO; LANES];
            for (values, (line, _)) in values.iter_mut().zip(&lines) {
                *values = f32x4::from(line[number]);
            }
            *sums = damping.pass(*input, &mut values, &mut damped, FOUR);
            for ((line, _), values) in lines.iter_mut().zip(values) {
                line[number] = values.to_array();
            }
        }
        if !rest.is_empty() {
            let count = rest.len();
            let filled = |values: &[f32]| {
                let mut four = [0.0; FOUR];
                four[..count].copy_from_slice(&values[..count]);
                four
            };
            let mut values = lines.each_ref().map(|(_, line)| f32x4::from(filled(line)));
            let sums = damping.pass(filled(input_rest), &mut values, &mut damped, count);
            rest.copy_from_slice(&sums[..count]);
            for ((_, line), values) in lines.iter_mut().zip(values) {
                line.copy_from_slice(&values.to_array()[..count]);
            }
        }
        self.damped = damped;
    }
}

/// How combs feed back.
struct Damping {
    kept: f32x4,
    let_in: f32x4,
}

impl Damping {
    #[inline(always)]
    fn new(feedback: f32, damping: f32) -> Self {
        Self { kept: f32x4::splat(damping), let_in: f32x4::splat(feedback * (1.0 - damping)) }
    }

    /// Turns what comes out of the combs' lines in four frames, of which only the first `count` are
    /// wanted, into what goes into them, and returns the sums of what came out.
    #[inline(always)]
    fn pass(
        &self,
        input: [f32; FOUR],
        lines: &mut [f32x4; LANES],
        damped: &mut [f32x4; 2],
        count: usize,
    ) -> [f32; FOUR] {
        let [a, b, c, d, e, f, g, h] = *lines;
        let sums = ((a + e) + (c + g)) + ((b + f) + (d + h));
        // Frames become rows, of which each waits for the one before, and lines again.
        let mut halves = [transpose([a, b, c, d]), transpose([e, f, g, h])];
        for (half, damped) in halves.iter_mut().zip(damped) {
            for (row, input) in half.iter_mut().zip(input).take(count) {
                *damped = *row * self.let_in + *damped * self.kept;
                *row = f32x4::splat(input) + *damped;
            }
        }
        let [[a, b, c, d], [e, f, g, h]] = halves.map(transpose);
        *lines = [a, b, c, d, e, f, g, h];
        sums.to_array()
    }
}

/// The values of the last so many frames.
#[derive(Debug, Clone)]
struct Ring {
    values: Vec<f32>,
    place: usize,
}

impl Ring {
    fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], place: 0 }
    }

    fn reset(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    /// Values until it begins anew.
    fn to_end(&self) -> usize {
        self.values.len() - self.place
    }

    /// The oldest values, where the newest are put: at most as many as come before it begins anew.
    fn next(&mut self, frames: usize) -> &mut [f32] {
        let first = self.place;
        self.place += frames;
        if self.place == self.values.len() {
            self.place = 0;
        }
        &mut self.values[first..first + frames]
    }

    /// Passes values through Freeverb's allpass, in place.
    fn process_allpass(&mut self, mut values: &mut [f32]) {
        while !values.is_empty() {
            let (part, rest) = values.split_at_mut(values.len().min(self.to_end()));
            pass_allpass(part, self.next(part.len()));
            values = rest;
        }
    }
}

/// The frames of an allpass of which the delayed values stand in a row.
fn pass_allpass(values: &mut [f32], line: &mut [f32]) {
    for (value, line) in values.iter_mut().zip(line) {
        let delayed = *line;
        *line = *value + delayed * ALLPASS_FEEDBACK;
        *value = delayed - *value;
    }
}

on_best_instructions! {
    fn pass_combs(combs: &mut CombBank, input: &[f32], sums: &mut [f32]) = CombBank::process;
}

/// Added to what comes in: tails end there, 500 dB below full scale, and never reach denormal
/// numbers, which are slow.
const FLOOR: f32 = 1e-25;

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(sample_rate_hz: u32, secs: f64, call_frames: usize) -> (Vec<f32>, Vec<f32>) {
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

    /// Level of the impulse's answer between two times, in dB.
    fn level_db(answer: &[f32], sample_rate_hz: u32, from_secs: f64, to_secs: f64) -> f64 {
        let frame = |secs: f64| (secs * f64::from(sample_rate_hz)) as usize;
        let part = &answer[frame(from_secs)..frame(to_secs)];
        let power: f64 = part.iter().map(|value| f64::from(value * value)).sum::<f64>() / part.len() as f64;
        10.0 * libm::log10(power)
    }

    /// A comb of delay d and feedback g falls by 60 dB in 3 d / -log10(g) seconds; with damping
    /// the treble goes sooner. At g = 0.84 and delays of 25 to 37 ms: 1.0 to 1.5 s.
    #[test]
    fn falls_by_sixty_decibels_in_about_a_second_at_any_rate() {
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            let (left, _) = answer(sample_rate_hz, 2.5, 256);
            let early = level_db(&left, sample_rate_hz, 0.1, 0.2);
            let late = level_db(&left, sample_rate_hz, 1.1, 1.2);
            let fall_per_sec = early - late;
            assert!((40.0..75.0).contains(&fall_per_sec), "{fall_per_sec} dB/s at {sample_rate_hz} Hz");
        }
    }

    #[test]
    fn the_sides_differ_and_start_after_the_shortest_comb() {
        let (left, right) = answer(44_100, 0.2, 256);
        assert!(left != right);
        // Freeverb's allpasses pass a negated copy at once, so the first comb is heard alone.
        assert!(left[..1_116].iter().all(|value| *value == 0.0));
        assert!(left[1_116] != 0.0);
    }

    #[test]
    fn any_call_size_gives_the_same_answer_and_it_ends_in_silence() {
        let expected = answer(48_000, 12.0, 256);
        assert!(answer(48_000, 12.0, 1) == expected);
        assert!(answer(48_000, 12.0, 4_096) == expected);
        assert!(expected.0[11 * 48_000..].iter().all(|value| value.abs() < 1e-15));
    }

    #[test]
    fn where_sound_begins_in_a_call_changes_nothing() {
        for first in [0, 1, 63, 100] {
            let run = |call_frames: usize| {
                let mut reverb = ReverbProcessor::new(ReverbSettings::default(), 16_000);
                // Again when the room has just fallen silent.
                let again = first + 20 + (SILENT_AFTER_SECS * 16_000) as usize;
                let (mut left, mut right) = (vec![0.0; again + 2_000], vec![0.0; again + 2_000]);
                let mut send = vec![0.0; again + 2_000];
                (send[first], send[again]) = (1.0, 1.0);
                let sides = left.chunks_mut(call_frames).zip(right.chunks_mut(call_frames));
                for (send, (left, right)) in send.chunks(call_frames).zip(sides) {
                    reverb.process(send, left, right);
                }
                (left, right)
            };
            let expected = run(1);
            for call_frames in [3, 64, 77, 512] {
                assert!(run(call_frames) == expected, "first {first}, {call_frames} frames a call");
            }
        }
    }

    #[test]
    fn reset_equals_new() {
        let mut reverb = ReverbProcessor::new(ReverbSettings::default(), 48_000);
        let run = |reverb: &mut ReverbProcessor| {
            let (mut left, mut right) = (vec![0.0; 9_000], vec![0.0; 9_000]);
            reverb.process(&[0.5; 9_000], &mut left, &mut right);
            (left, right)
        };
        let first = run(&mut reverb);
        reverb.reset();
        assert!(run(&mut reverb) == first);
    }
}
