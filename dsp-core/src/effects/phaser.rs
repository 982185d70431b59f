//! Phaser: all-passes in a row, which beside the sound make notches that move.

use alloc::vec::Vec;

use wide::f32x4;

use super::best::best;
use super::control::{ControlClock, Due, Ramp, Settings, aim_all, jump_all};
use super::lfo::{Lfo, Speed, sine, turns};
use super::{CONTROL_FRAMES, Effect, EffectConfig, EffectKind, Glide, LineSum, Parameter, Unit, memory};

/// All-passes of the first order in a row by the choice of stages.
const STAGES: [usize; 5] = [4, 6, 8, 10, 12];
const MOST_STAGES: usize = 12;

/// How long a change of stages takes, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// Lowest and highest frequency of the all-passes, in hertz, however far they swing.
const LOWEST_HZ: f64 = 20.0;
const HIGHEST_HZ: f64 = 18_000.0;

/// Entries of the table of coefficients to each octave.
const STEPS_PER_OCTAVE: f64 = 32.0;

/// Four to twelve all-passes of the first order, whose frequency swings.
///
/// The frequency goes from `frequency_hz` up and down by `depth_octaves`. The right side is ahead
/// by `stereo_degrees`. n all-passes of frequency f turn a sound by n times 2 atan(f' / f), so that
/// at a `mix` of 0.5, without `feedback`, notches are where that is an odd number of half turns: at
/// f tan((2 k + 1) pi / (2 n)), bent by the bilinear transform. `feedback` leads what has passed
/// back to the first, a frame later, and makes peaks between the notches. `mix` goes straight from
/// the dry to the wet signal.
pub(super) static PHASER: EffectKind = EffectKind {
    id: "phaser",
    name: "Phaser",
    parameters: PARAMETERS,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| best(Phaser::new(config)),
    memory_bytes: memory::inline_bytes::<Phaser>,
};

const STAGE_CHOICE: usize = 0;
const RATE_HZ: usize = 1;
const FREQUENCY_HZ: usize = 2;
const DEPTH_OCTAVES: usize = 3;
const FEEDBACK: usize = 4;
const STEREO_DEGREES: usize = 5;
const MIX: usize = 6;

const PARAMETERS: &[Parameter] = &[
    Parameter::choice("stages", "Stages", &["4", "6", "8", "10", "12"], 1),
    Parameter::logarithmic("rate_hz", "Rate", Unit::Hertz, [0.01, 10.0], 0.3),
    Parameter::logarithmic("frequency_hz", "Frequency", Unit::Hertz, [50.0, 8_000.0], 800.0),
    Parameter::linear("depth_octaves", "Depth", Unit::Octaves, [0.0, 4.0], 1.5),
    Parameter::linear("feedback", "Feedback", Unit::Share, [-0.95, 0.95], 0.3),
    Parameter::linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 45.0),
    Parameter::linear("mix", "Mix", Unit::Share, [0.0, 1.0], 0.5),
];

/// Coefficients of the all-passes, left and right; dry, wet, feedback.
const RAMPS: usize = 5;

struct Phaser {
    sample_rate_hz: f64,
    settings: Settings<{ PARAMETERS.len() }>,
    clock: ControlClock,
    lfo: Lfo,
    coefficients: CoefficientTable,
    /// Shares of the choices of stages, which add up to 1.
    shares: [Glide; STAGES.len()],
    ramps: [Ramp; RAMPS],
    share_ramps: [Ramp; STAGES.len()],
    /// All-passes that are heard between this control place and the next.
    stages: usize,
    /// What each all-pass keeps, left and right in the first two lanes.
    states: [f32x4; MOST_STAGES],
    /// What came out of the last one.
    passed: f32x4,
}

/// The coefficient of an all-pass by the octaves of its frequency above [`LOWEST_HZ`], in straight
/// lines between entries: up to 10 kHz the frequency is off by at most 0.11 cents.
struct CoefficientTable(Vec<f64>);

impl CoefficientTable {
    fn new(sample_rate_hz: f64) -> Self {
        let highest_hz = HIGHEST_HZ.min(0.45 * sample_rate_hz);
        let steps = libm::ceil(STEPS_PER_OCTAVE * libm::log2(highest_hz / LOWEST_HZ)) as usize;
        let coefficient = |step: usize| {
            let frequency_hz = (LOWEST_HZ * libm::exp2(step as f64 / STEPS_PER_OCTAVE)).min(highest_hz);
            let warped = libm::tan(core::f64::consts::PI * frequency_hz / sample_rate_hz);
            (1.0 - warped) / (1.0 + warped)
        };
        Self((0..=steps).map(coefficient).collect())
    }

    fn at(&self, octaves: f64) -> f64 {
        let step = (octaves * STEPS_PER_OCTAVE).clamp(0.0, (self.0.len() - 1) as f64);
        let whole = (step as usize).min(self.0.len() - 2);
        self.0[whole] + (self.0[whole + 1] - self.0[whole]) * (step - whole as f64)
    }
}

impl Phaser {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let mut phaser = Self {
            sample_rate_hz,
            settings: Settings::new(PARAMETERS),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            coefficients: CoefficientTable::new(sample_rate_hz),
            shares: [Glide::new(0.0); STAGES.len()],
            ramps: [Ramp::default(); RAMPS],
            share_ramps: [Ramp::default(); STAGES.len()],
            stages: MOST_STAGES,
            states: [f32x4::ZERO; MOST_STAGES],
            passed: f32x4::ZERO,
        };
        phaser.choose(0);
        phaser
    }

    /// Goes over to the stages that are set, in so many frames.
    fn choose(&mut self, glide_frames: u32) {
        let choice = self.settings.choice(STAGE_CHOICE);
        for (place, share) in self.shares.iter_mut().enumerate() {
            share.set(if place == choice { 1.0 } else { 0.0 }, glide_frames);
        }
    }

    fn speed(&self) -> Speed {
        Speed::Hertz(self.settings.get(RATE_HZ))
    }

    fn targets(&self) -> [f64; RAMPS] {
        let settings = &self.settings;
        let centre = libm::log2(settings.get(FREQUENCY_HZ) / LOWEST_HZ);
        let coefficient = |ahead: f64| {
            let swing = sine(self.lfo.phase().wrapping_add(turns(ahead)));
            self.coefficients.at(centre + settings.get(DEPTH_OCTAVES) * swing)
        };
        let mix = settings.get(MIX);
        [
            coefficient(0.0),
            coefficient(settings.get(STEREO_DEGREES) / 360.0),
            1.0 - mix,
            mix,
            settings.get(FEEDBACK),
        ]
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.place(), self.speed());
        let targets = self.targets();
        jump_all(&mut self.ramps, targets);
        jump_all(&mut self.share_ramps, self.shares.each_ref().map(Glide::value));
    }

    fn step(&mut self) {
        let stages_before = self.stages_heard();
        self.settings.step();
        self.shares.iter_mut().for_each(|share| share.pass(CONTROL_FRAMES));
        self.stages = stages_before.max(self.stages_heard());
        // What is not heard falls silent, and what falls far below hearing becomes 0.
        self.states[self.stages..].fill(f32x4::ZERO);
        let floor = f32x4::splat(1e-18);
        self.states.iter_mut().for_each(|state| *state = (*state + floor) - floor);
        self.lfo.step(self.speed());
        let targets = self.targets();
        aim_all(&mut self.ramps, Some(targets));
        aim_all(&mut self.share_ramps, Some(self.shares.each_ref().map(Glide::value)));
    }

    fn stages_heard(&self) -> usize {
        let heard = self.shares.iter().zip(STAGES).filter(|(share, _)| share.value() > 0.0);
        heard.map(|(_, stages)| stages).max().unwrap_or(MOST_STAGES)
    }

    /// Passes some frames through so many all-passes.
    #[inline(always)]
    fn pass<const N: usize>(&mut self, [left, right]: [&mut [f32]; 2]) {
        let blends = self.share_ramps.iter().any(|share| !share.is_level());
        let mut states: [f32x4; N] = core::array::from_fn(|stage| self.states[stage]);
        let mut passed = self.passed;
        for (frame, (left, right)) in (self.clock.offset()..).zip(left.iter_mut().zip(right)) {
            let [left_coefficient, right_coefficient, dry, wet, feedback] =
                self.ramps.each_ref().map(|ramp| ramp.gain_at(frame));
            let coefficient = f32x4::new([left_coefficient, right_coefficient, 0.0, 0.0]);
            let input = f32x4::new([*left, *right, 0.0, 0.0]);
            let floor = f32x4::splat(1e-18);
            let mut value = ((input + passed * f32x4::splat(feedback)) + floor) - floor;
            let mut blend = f32x4::ZERO;
            for (stage, state) in states.iter_mut().enumerate() {
                let turned = *state - coefficient * value;
                *state = value + coefficient * turned;
                value = turned;
                if blends && stage >= 3 && stage % 2 == 1 {
                    blend += value * f32x4::splat(self.share_ramps[(stage - 3) / 2].gain_at(frame));
                }
            }
            passed = if blends { blend } else { value };
            let [heard_left, heard_right, ..] =
                (input * f32x4::splat(dry) + passed * f32x4::splat(wet)).to_array();
            (*left, *right) = (heard_left, heard_right);
        }
        self.states[..N].copy_from_slice(&states);
        self.passed = passed;
    }

    /// What is to be done before the next frame.
    fn control(&mut self) {
        match self.clock.due() {
            Due::Start => {
                self.start();
                self.step();
            }
            Due::Step => self.step(),
            Due::Nothing => {}
        }
    }
}

impl Effect for Phaser {
    fn reset(&mut self, frame: u64) {
        self.settings.jump();
        self.shares.iter_mut().for_each(Glide::jump);
        self.clock.reset(frame);
        self.states.fill(f32x4::ZERO);
        self.passed = f32x4::ZERO;
    }

    fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        self.settings.set(parameter, value, glide_frames);
        if parameter == MIX && glide_frames == 0 {
            let [_, _, dry, wet, _] = &mut self.ramps;
            dry.jump(1.0 - value);
            wet.jump(value);
        }
        if parameter == STAGE_CHOICE {
            self.choose(glide_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32));
        }
    }

    fn counts(&self, parameter: usize) -> bool {
        parameter == RATE_HZ
    }

    fn follow(&mut self, parameter: usize, line: Option<LineSum>) {
        if self.counts(parameter) {
            self.lfo.follow(line);
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side: Option<[&[f32]; 2]>) {
        self.control();
        let frames = left.len();
        match self.stages {
            4 => self.pass::<4>([left, right]),
            6 => self.pass::<6>([left, right]),
            8 => self.pass::<8>([left, right]),
            10 => self.pass::<10>([left, right]),
            _ => self.pass::<MOST_STAGES>([left, right]),
        }
        self.clock.pass(frames);
    }

    fn rest(&mut self, frames: usize) -> bool {
        let rests = self.states.iter().chain([&self.passed]).all(|values| values.to_array() == [0.0; 4]);
        if rests {
            self.control();
            self.clock.pass(frames);
        }
        rests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_close_to_the_formula() {
        for sample_rate_hz in [44_100.0, 96_000.0] {
            let table = CoefficientTable::new(sample_rate_hz);
            let mut furthest_cents = 0.0_f64;
            for step in 0..1_000 {
                let octaves = f64::from(step) * 0.009;
                let frequency_hz = LOWEST_HZ * libm::exp2(octaves);
                let coefficient = table.at(octaves);
                let warped = (1.0 - coefficient) / (1.0 + coefficient);
                let measured_hz = libm::atan(warped) * sample_rate_hz / core::f64::consts::PI;
                furthest_cents = furthest_cents.max((1_200.0 * libm::log2(measured_hz / frequency_hz)).abs());
            }
            println!("at {sample_rate_hz} Hz off by at most {furthest_cents} cents");
            assert!(furthest_cents < 0.11);
        }
    }
}
