//! Bit crusher: fewer bits, fewer samples a second.
//!
//! A value is rounded to the nearest multiple of `2^(1 - bits)`: so many bits over a full scale of
//! -1 to 1, 0 among its steps (mid-tread). A lower sample rate takes a frame whenever a period of
//! it has passed on the session's clock, and holds it: each frame taken sounds until the next.
//! Where that rate moves, the places of a period depend on all of its past; so now and then they
//! are set to where they would be, had the rate always been this one. Filters before and after,
//! where they are wanted, keep what lies above half that rate from folding down, and its images
//! from sounding. Silence is not dithered: it stays silence.

use wide::f64x2;

use super::best::best;
use super::section::{Frame, Frames, Section, Shape, in_a_row, warp};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, Parameter, Unit, memory};

/// At this rate, as at any above the session's, every frame is taken.
const FASTEST_HZ: f64 = 48_000.0;

const BITS: usize = 0;
const RATE: usize = 1;
const ANTI_ALIAS: usize = 2;
const DITHER: usize = 3;

/// Coarse steps in level and time.
pub(super) static BIT_CRUSHER: EffectKind = EffectKind {
    id: "bit_crusher",
    name: "Bit crusher",
    parameters: &[
        Parameter::linear("bits", "Bits", Unit::Bits, [1.0, 24.0], 10.0),
        Parameter::logarithmic("rate_hz", "Sample rate", Unit::Hertz, [200.0, FASTEST_HZ], 12_000.0),
        Parameter::switch("anti_alias", "Anti-alias filters", false),
        Parameter::switch("dither", "Dither", false),
        Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 1.0),
    ],
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(BitCrusher::new(config)),
    memory_bytes: memory::inline_bytes::<BitCrusher>,
};

/// Where the filters end, as a share of the reduced rate.
const PASSED_SHARE: f64 = 0.4;

/// Sections of each filter: Butterworth, 48 dB an octave.
const SECTIONS: usize = 4;

/// How long the filters take to come and go, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Turns of the sampling clock are counted in so many parts.
const TURN: f64 = 18_446_744_073_709_551_616.0;

/// How far ahead the sampling clock stands: rounding of its step then never makes it late, for 2^30
/// frames.
const AHEAD: u64 = 1 << 40;

/// At every multiple of so many frames of the session's clock, the sampling clock stands where its
/// rate alone puts it. That is 1.4 s at 48 kHz, and 8.2 s at 8 kHz.
const COUNTED_ANEW_FRAMES: u64 = 1 << 16;

/// Added to and taken from a double, rounds it to a whole number, halves to even.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

struct BitCrusher {
    sample_rate_hz: f64,
    seed: u64,
    clock: u64,
    bits: Glide,
    rate_hz: Glide,
    filter_share: Glide,
    has_dither: bool,
    mix: Glide,
    /// Whether something was set since the last control place, also what is there at once.
    was_set: bool,
    /// Width of a quantisation step at the last control place and the next.
    steps: [f64; 2],
    /// Turns of the sampling clock before this frame, and a frame's share of a turn; `None`: all
    /// frames are taken.
    turn: u64,
    turn_step: Option<u64>,
    held: Option<Frame>,
    before: [Section; SECTIONS],
    after: [Section; SECTIONS],
}

impl BitCrusher {
    fn new(config: &EffectConfig<'_>) -> Self {
        let section = Section::new(Shape::open(1.0, 1.0));
        let defaults = BIT_CRUSHER.parameters;
        let mut crusher = Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            seed: config.seed,
            clock: 0,
            bits: Glide::new(defaults[BITS].default),
            rate_hz: Glide::new(defaults[RATE].default),
            filter_share: Glide::new(0.0),
            has_dither: false,
            mix: Glide::new(1.0),
            was_set: false,
            steps: [1.0; 2],
            turn: 0,
            turn_step: None,
            held: None,
            before: core::array::from_fn(|_| section.clone()),
            after: core::array::from_fn(|_| section.clone()),
        };
        crusher.reset(0);
        crusher
    }

    fn step(&self) -> f64 {
        libm::exp2(1.0 - self.bits.value())
    }

    fn turn_step(&self) -> Option<u64> {
        let share = self.rate_hz.value() / self.sample_rate_hz;
        (share < 1.0 && self.rate_hz.value() < FASTEST_HZ).then_some((share * TURN) as u64)
    }

    fn shapes(&self) -> [Shape; SECTIONS] {
        let share = if self.turn_step().is_some() { self.filter_share.value() } else { 0.0 };
        let g = warp(PASSED_SHARE * self.rate_hz.value(), self.sample_rate_hz);
        core::array::from_fn(|section| {
            let angle = (2 * section + 1) as f64 * core::f64::consts::PI / (4 * SECTIONS) as f64;
            Shape::low_pass(g, 2.0 * libm::cos(angle)).share(share)
        })
    }

    /// The turn before a frame, if the rate had always been what it is.
    fn turn_before(&self, frame: u64) -> u64 {
        self.turn_step.unwrap_or(0).wrapping_mul(frame.wrapping_sub(1)).wrapping_add(AHEAD)
    }

    /// At the control place `frame`: what everything will be at the next.
    fn control(&mut self, frame: u64) {
        self.steps[0] = self.steps[1];
        let moves =
            [&self.bits, &self.rate_hz, &self.filter_share].into_iter().any(|glide| !glide.is_at_rest());
        if core::mem::take(&mut self.was_set) || moves || self.before.iter().any(Section::is_moving) {
            [&mut self.bits, &mut self.rate_hz, &mut self.filter_share]
                .into_iter()
                .for_each(|glide| glide.pass(CONTROL_FRAMES));
            self.steps[1] = self.step();
            self.turn_step = self.turn_step();
            let shapes = self.shapes();
            for sections in [&mut self.before, &mut self.after] {
                sections.iter_mut().zip(&shapes).for_each(|(section, shape)| section.aim(*shape));
            }
        }
        if frame.is_multiple_of(COUNTED_ANEW_FRAMES) {
            self.turn = self.turn_before(frame);
        }
        self.before.iter_mut().chain(&mut self.after).for_each(Section::hush);
    }

    /// Two triangular values between -1 and 1, of a frame of the session.
    fn dither(&self, frame: u64) -> Frame {
        // SplitMix64, started anew for each frame.
        let mut mixed = self.seed ^ frame.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(factor);
        }
        mixed ^= mixed >> 31;
        let uniform = |at: u32| f64::from((mixed >> (16 * at)) as u16) / 65_536.0;
        f64x2::new([uniform(0) - uniform(1), uniform(2) - uniform(3)])
    }

    fn quantized(&self, value: Frame, frame: u64) -> Frame {
        let way = (frame % CONTROL_FRAMES as u64) as f64 / CONTROL_FRAMES as f64;
        let step = self.steps[0] + (self.steps[1] - self.steps[0]) * way;
        let mut steps = value * (1.0 / step);
        // Silence stays silence.
        if self.has_dither && value.to_array() != [0.0; 2] {
            steps += self.dither(frame);
        }
        ((steps + ROUNDING) - ROUNDING) * step
    }

    /// Takes and holds frames, the first of which is `frame` of the session.
    fn sample_and_hold(&mut self, frame: u64, audio: &mut [Frame]) {
        for (frame, value) in (frame..).zip(audio) {
            let is_due = self.turn_step.is_none_or(|step| {
                let (turn, passed) = self.turn.overflowing_add(step);
                self.turn = turn;
                passed
            });
            *value = match self.held {
                Some(held) if !is_due => held,
                _ => *self.held.insert(self.quantized(*value, frame)),
            };
        }
    }
}

impl Effect for BitCrusher {
    fn reset(&mut self, frame: u64) {
        self.clock = frame;
        [&mut self.bits, &mut self.rate_hz, &mut self.filter_share, &mut self.mix]
            .into_iter()
            .for_each(Glide::jump);
        self.steps = [self.step(); 2];
        self.turn_step = self.turn_step();
        self.turn = self.turn_before(frame);
        self.held = None;
        let shapes = self.shapes();
        for sections in [&mut self.before, &mut self.after] {
            sections.iter_mut().zip(&shapes).for_each(|(section, shape)| section.reset(*shape));
        }
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.was_set = true;
        match parameter {
            BITS => self.bits.set(value, glide_frames),
            RATE => self.rate_hz.set(value, glide_frames),
            ANTI_ALIAS => {
                let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
                self.filter_share.set(value, glide_frames.max(switch_frames));
            }
            DITHER => self.has_dither = value >= 0.5,
            _ => self.mix.set(value, glide_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        let frame = self.clock;
        let place = (frame % CONTROL_FRAMES as u64) as usize;
        self.clock += left.len() as u64;
        if place == 0 {
            self.control(frame);
        }
        let mut frames = Frames::of(left, right);
        in_a_row(&mut self.before, place, frames.as_mut());
        self.sample_and_hold(frame, frames.as_mut());
        in_a_row(&mut self.after, place, frames.as_mut());
        frames.mix(left, right, &mut self.mix);
    }
}
