//! The reverb that all instruments of a session share.
//!
//! Jezar Wakefield's Freeverb (public domain, 2000): eight damped feedback combs in parallel, then
//! four allpasses in series, for each side, the right side's delays a little longer. It is
//! what General MIDI players have used for two decades, so songs were mixed for it.

use alloc::vec;
use alloc::vec::Vec;

/// Delays of the combs and allpasses in frames at [`TUNED_RATE_HZ`], from Freeverb's `tuning.h`.
const COMB_FRAMES: [usize; 8] = [1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617];
const ALLPASS_FRAMES: [usize; 4] = [556, 441, 341, 225];
/// How much longer the right side's delays are.
const SPREAD_FRAMES: usize = 23;
const TUNED_RATE_HZ: f64 = 44_100.0;

/// Gain of the input, which keeps the sum of the combs in range.
const INPUT_GAIN: f32 = 0.015;
const ALLPASS_FEEDBACK: f32 = 0.5;

/// What a reverb is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReverbConfig {
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Size of the room, 0 to 1: feedback from 0.7 to 0.98.
    pub room: f32,
    /// Damping of the treble, 0 to 1.
    pub damping: f32,
}

impl ReverbConfig {
    /// The room of the instruments: medium, half damped.
    pub fn instruments(sample_rate_hz: u32) -> Self {
        Self { sample_rate_hz, room: 0.5, damping: 0.5 }
    }
}

/// Turns a mono send into the stereo sound of a room.
#[derive(Debug, Clone)]
pub struct ReverbProcessor {
    sides: [Side; 2],
}

impl ReverbProcessor {
    /// A silent room.
    pub fn new(config: ReverbConfig) -> Self {
        Self { sides: [Side::new(config, 0), Side::new(config, SPREAD_FRAMES)] }
    }

    /// Back to silence.
    pub fn reset(&mut self) {
        self.sides.iter_mut().for_each(Side::reset);
    }

    /// Adds the room's answer to `send` to `left` and `right`; all have the same length.
    pub fn process(&mut self, send: &[f32], left: &mut [f32], right: &mut [f32]) {
        let [left_side, right_side] = &mut self.sides;
        for (&input, output) in send.iter().zip(left) {
            *output += left_side.process_frame(input * INPUT_GAIN);
        }
        for (&input, output) in send.iter().zip(right) {
            *output += right_side.process_frame(input * INPUT_GAIN);
        }
    }
}

#[derive(Debug, Clone)]
struct Side {
    combs: [Comb; 8],
    allpasses: [Allpass; 4],
}

impl Side {
    fn new(config: ReverbConfig, spread_frames: usize) -> Self {
        let scaled = |frames: usize| {
            let secs = (frames + spread_frames) as f64 / TUNED_RATE_HZ;
            libm::round(secs * f64::from(config.sample_rate_hz)) as usize
        };
        Self {
            combs: COMB_FRAMES.map(|frames| Comb::new(scaled(frames), config)),
            allpasses: ALLPASS_FRAMES.map(|frames| Allpass { line: DelayLine::new(scaled(frames)) }),
        }
    }

    fn reset(&mut self) {
        for comb in &mut self.combs {
            comb.line.reset();
            comb.damped = 0.0;
        }
        for allpass in &mut self.allpasses {
            allpass.line.reset();
        }
    }

    fn process_frame(&mut self, input: f32) -> f32 {
        let mut sum = 0.0;
        for comb in &mut self.combs {
            sum += comb.process_frame(input);
        }
        for allpass in &mut self.allpasses {
            sum = allpass.process_frame(sum);
        }
        sum
    }
}

#[derive(Debug, Clone)]
struct Comb {
    line: DelayLine,
    feedback: f32,
    damping: f32,
    damped: f32,
}

impl Comb {
    fn new(frames: usize, config: ReverbConfig) -> Self {
        Self {
            line: DelayLine::new(frames),
            feedback: 0.7 + 0.28 * config.room.clamp(0.0, 1.0),
            damping: 0.4 * config.damping.clamp(0.0, 1.0),
            damped: 0.0,
        }
    }

    fn process_frame(&mut self, input: f32) -> f32 {
        let output = self.line.oldest();
        self.damped = flush(output * (1.0 - self.damping) + self.damped * self.damping);
        self.line.push(input + self.damped * self.feedback);
        output
    }
}

#[derive(Debug, Clone)]
struct Allpass {
    line: DelayLine,
}

impl Allpass {
    fn process_frame(&mut self, input: f32) -> f32 {
        let delayed = self.line.oldest();
        self.line.push(flush(input + delayed * ALLPASS_FEEDBACK));
        delayed - input
    }
}

#[derive(Debug, Clone)]
struct DelayLine {
    values: Vec<f32>,
    place: usize,
}

impl DelayLine {
    fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames.max(1)], place: 0 }
    }

    fn reset(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    fn oldest(&self) -> f32 {
        self.values[self.place]
    }

    fn push(&mut self, value: f32) {
        self.values[self.place] = value;
        self.place += 1;
        if self.place == self.values.len() {
            self.place = 0;
        }
    }
}

/// Rounds what is far below hearing to zero, so that tails never reach denormal numbers, which
/// are slow.
fn flush(value: f32) -> f32 {
    const FLOOR: f32 = 1e-18;
    (value + FLOOR) - FLOOR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(sample_rate_hz: u32, secs: f64, call_frames: usize) -> (Vec<f32>, Vec<f32>) {
        let mut reverb = ReverbProcessor::new(ReverbConfig::instruments(sample_rate_hz));
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
    fn reset_equals_new() {
        let mut reverb = ReverbProcessor::new(ReverbConfig::instruments(48_000));
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
