//! Phaser: a series of all-pass filters with a modulated frequency. Its mix with the input has
//! moving notches.

use crate::dsp::control::{CONTROL_FRAMES, ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};
use alloc::vec::Vec;

use wide::f32x4;

use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::phase::{periods, sine};
use crate::dsp::smoothed_value::SmoothedValue;

/// Number of first-order all-pass filters for each [`StageCount`].
const STAGE_COUNTS: [usize; StageCount::NAMES.len()] = [4, 6, 8, 10, 12];
const MAX_STAGES: usize = 12;

/// Minimum crossfade time after a change of the number of stages, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// Lowest and highest frequency of the all-pass filters in hertz, modulation included.
const LOWEST_HZ: f64 = 20.0;
const HIGHEST_HZ: f64 = 18_000.0;

/// Entries of the table of coefficients per octave.
const STEPS_PER_OCTAVE: f64 = 32.0;

/// Four to twelve all-pass filters of first order with a modulated frequency.
///
/// The phase shift of `n` all-pass filters of frequency `f` is `n * 2 atan(f' / f)` at a frequency
/// `f'`. At a `mix` of 0.5 without `feedback`, notches are at odd multiples of 180 degrees. Their
/// frequencies are `f tan((2 k + 1) pi / (2 n))`, warped by the bilinear transform.
pub(super) static PHASER: EffectKind = EffectKind {
    id: "phaser",
    name: "Phaser",
    group: Group::Modulation,
    parameters: PhaserParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Phaser::new(config)),
    memory_bytes: inline_bytes::<Phaser>,
};

parameters! {
    enum PhaserParam {
        /// Number of all-pass filters.
        Stages = choice("stages", "Stages", StageCount::NAMES, StageCount::Six as usize),
        /// Frequency of the modulation in hertz.
        RateHz = logarithmic("rate_hz", "Rate", Unit::Hertz, [0.01, 10.0], 0.3),
        /// Mean frequency of the all-pass filters.
        FrequencyHz = logarithmic("frequency_hz", "Frequency", Unit::Hertz, [50.0, 8_000.0], 800.0),
        /// Largest change of the frequency by the modulation.
        DepthOctaves = linear("depth_octaves", "Depth", Unit::Octaves, [0.0, 4.0], 1.5),
        /// Gain of the feedback, which has a delay of one frame. Feedback makes peaks between the
        /// notches.
        Feedback = linear("feedback", "Feedback", Unit::Proportion, [-0.95, 0.95], 0.3),
        /// Phase of the right channel's modulation relative to that of the left.
        StereoDegrees = linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 45.0),
        /// Proportion of the filtered signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.5),
    }
}

choices! {
    /// The number of all-pass filters: see [`STAGE_COUNTS`].
    enum StageCount { Four = "4", Six = "6", Eight = "8", Ten = "10", Twelve = "12" }
}

/// Number of values that ramp: the coefficients of the all-pass filters, left and right, then the
/// gains of dry, wet and feedback.
const RAMP_COUNT: usize = 5;

struct Phaser {
    sample_rate_hz: f64,
    settings: SmoothedParameters<PhaserParam, { PhaserParam::COUNT }>,
    clock: ControlClock,
    lfo: Lfo,
    coefficients: CoefficientTable,
    /// Proportion of each number of stages. The proportions add up to 1.
    weights: [SmoothedValue; STAGE_COUNTS.len()],
    ramps: [ControlRamp; RAMP_COUNT],
    weight_ramps: [ControlRamp; STAGE_COUNTS.len()],
    /// Number of active all-pass filters until the next control point.
    active_stages: usize,
    /// States of the all-pass filters, left and right in the first two lanes.
    states: [f32x4; MAX_STAGES],
    /// Output of the last all-pass filter.
    last_output: f32x4,
}

/// A table of coefficients of an all-pass filter, by its frequency in octaves above [`LOWEST_HZ`].
/// Entries are interpolated linearly: the error is at most 0.11 cents up to 10 kHz.
struct CoefficientTable(Vec<f64>);

impl CoefficientTable {
    fn new(sample_rate_hz: f64) -> Self {
        let highest_hz = HIGHEST_HZ.min(0.45 * sample_rate_hz);
        let steps = libm::ceil(STEPS_PER_OCTAVE * libm::log2(highest_hz / LOWEST_HZ)) as usize;
        let coefficient = |step: usize| {
            let frequency_hz = (LOWEST_HZ * libm::exp2(step as f64 / STEPS_PER_OCTAVE)).min(highest_hz);
            let warped_frequency = libm::tan(core::f64::consts::PI * frequency_hz / sample_rate_hz);
            (1.0 - warped_frequency) / (1.0 + warped_frequency)
        };
        Self((0..=steps).map(coefficient).collect())
    }

    fn coefficient_at(&self, octaves: f64) -> f64 {
        let step = (octaves * STEPS_PER_OCTAVE).clamp(0.0, (self.0.len() - 1) as f64);
        let whole_step = (step as usize).min(self.0.len() - 2);
        self.0[whole_step] + (self.0[whole_step + 1] - self.0[whole_step]) * (step - whole_step as f64)
    }
}

impl Phaser {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let mut phaser = Self {
            sample_rate_hz,
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            coefficients: CoefficientTable::new(sample_rate_hz),
            weights: [SmoothedValue::new(0.0); STAGE_COUNTS.len()],
            ramps: [ControlRamp::default(); RAMP_COUNT],
            weight_ramps: [ControlRamp::default(); STAGE_COUNTS.len()],
            active_stages: MAX_STAGES,
            states: [f32x4::ZERO; MAX_STAGES],
            last_output: f32x4::ZERO,
        };
        phaser.crossfade_stages(0);
        phaser
    }

    /// Crossfades to the number of stages that the parameter selects.
    fn crossfade_stages(&mut self, ramp_frames: u32) {
        let choice = self.settings.choice::<StageCount>(PhaserParam::Stages) as usize;
        for (index, weight) in self.weights.iter_mut().enumerate() {
            weight.set_target(if index == choice { 1.0 } else { 0.0 }, ramp_frames);
        }
    }

    fn lfo_rate(&self) -> LfoRate {
        LfoRate::Hertz(self.settings.get(PhaserParam::RateHz))
    }

    fn targets(&self) -> [f64; RAMP_COUNT] {
        let settings = &self.settings;
        let centre = libm::log2(settings.get(PhaserParam::FrequencyHz) / LOWEST_HZ);
        let coefficient = |phase_offset: f64| {
            let modulation = sine(self.lfo.phase().wrapping_add(periods(phase_offset)));
            self.coefficients.coefficient_at(centre + settings.get(PhaserParam::DepthOctaves) * modulation)
        };
        let mix = settings.get(PhaserParam::Mix);
        [
            coefficient(0.0),
            coefficient(settings.get(PhaserParam::StereoDegrees) / 360.0),
            1.0 - mix,
            mix,
            settings.get(PhaserParam::Feedback),
        ]
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.control_point(), self.lfo_rate());
        let targets = self.targets();
        reset_all(&mut self.ramps, targets);
        reset_all(&mut self.weight_ramps, self.weights.each_ref().map(SmoothedValue::value));
    }

    fn step(&mut self) {
        let stages_before = self.count_active_stages();
        self.settings.step();
        self.weights.iter_mut().for_each(|weight| weight.advance(CONTROL_FRAMES));
        self.active_stages = stages_before.max(self.count_active_stages());
        // Inactive stages are cleared. Adding and subtracting `floor` rounds inaudible states to 0.
        self.states[self.active_stages..].fill(f32x4::ZERO);
        let floor = f32x4::splat(1e-18);
        self.states.iter_mut().for_each(|state| *state = (*state + floor) - floor);
        self.lfo.step(self.lfo_rate());
        let targets = self.targets();
        ramp_all(&mut self.ramps, Some(targets));
        ramp_all(&mut self.weight_ramps, Some(self.weights.each_ref().map(SmoothedValue::value)));
    }

    fn count_active_stages(&self) -> usize {
        let active_stages = self.weights.iter().zip(STAGE_COUNTS).filter(|(weight, _)| weight.value() > 0.0);
        active_stages.map(|(_, stages)| stages).max().unwrap_or(MAX_STAGES)
    }

    /// Processes frames up to the next control point with `N` all-pass filters.
    #[inline(always)]
    fn process_stages<const N: usize>(&mut self, [left, right]: [&mut [f32]; 2]) {
        let is_crossfading = self.weight_ramps.iter().any(|weight| !weight.is_steady());
        let mut states: [f32x4; N] = core::array::from_fn(|stage| self.states[stage]);
        let mut output = self.last_output;
        for (frame, (left, right)) in (self.clock.offset()..).zip(left.iter_mut().zip(right)) {
            let [left_coefficient, right_coefficient, dry, wet, feedback] =
                self.ramps.each_ref().map(|ramp| ramp.value_f32_at(frame));
            let coefficient = f32x4::new([left_coefficient, right_coefficient, 0.0, 0.0]);
            let input = f32x4::new([*left, *right, 0.0, 0.0]);
            let floor = f32x4::splat(1e-18);
            let mut value = ((input + output * f32x4::splat(feedback)) + floor) - floor;
            let mut blend = f32x4::ZERO;
            for (stage, state) in states.iter_mut().enumerate() {
                let filtered_value = *state - coefficient * value;
                *state = value + coefficient * filtered_value;
                value = filtered_value;
                if is_crossfading && stage >= 3 && stage % 2 == 1 {
                    blend += value * f32x4::splat(self.weight_ramps[(stage - 3) / 2].value_f32_at(frame));
                }
            }
            output = if is_crossfading { blend } else { value };
            let [left_output, right_output, ..] =
                (input * f32x4::splat(dry) + output * f32x4::splat(wet)).to_array();
            (*left, *right) = (left_output, right_output);
        }
        self.states[..N].copy_from_slice(&states);
        self.last_output = output;
    }

    /// Does the work of [`ControlClock::take_due_work`] before the next frame.
    fn process_control_point(&mut self) {
        match self.clock.take_due_work() {
            ControlWork::Start => {
                self.start();
                self.step();
            }
            ControlWork::Step => self.step(),
            ControlWork::Nothing => {}
        }
    }
}

impl Effect for Phaser {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.weights.iter_mut().for_each(SmoothedValue::finish);
        self.clock.reset(frame);
        self.states.fill(f32x4::ZERO);
        self.last_output = f32x4::ZERO;
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = PhaserParam::from_index(parameter) else { return };
        self.settings.set_target(parameter, value, ramp_frames);
        match parameter {
            PhaserParam::Stages => {
                self.crossfade_stages(ramp_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32));
            }
            PhaserParam::Mix => {
                if ramp_frames == 0 {
                    let [_, _, dry, wet, _] = &mut self.ramps;
                    dry.reset_to(1.0 - value);
                    wet.reset_to(value);
                }
            }
            PhaserParam::RateHz
            | PhaserParam::FrequencyHz
            | PhaserParam::DepthOctaves
            | PhaserParam::Feedback
            | PhaserParam::StereoDegrees => {}
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        PhaserParam::from_index(parameter) == Some(PhaserParam::RateHz)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        if self.integrates(parameter) {
            self.lfo.set_integral(integral);
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        self.process_control_point();
        let frames = left.len();
        match self.active_stages {
            4 => self.process_stages::<4>([left, right]),
            6 => self.process_stages::<6>([left, right]),
            8 => self.process_stages::<8>([left, right]),
            10 => self.process_stages::<10>([left, right]),
            _ => self.process_stages::<MAX_STAGES>([left, right]),
        }
        self.clock.advance(frames);
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let is_idle =
            self.states.iter().chain([&self.last_output]).all(|values| values.to_array() == [0.0; 4]);
        if is_idle {
            self.process_control_point();
            self.clock.advance(frames);
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpolated_coefficients_are_accurate_to_0_11_cents() {
        for sample_rate_hz in [44_100.0, 96_000.0] {
            let table = CoefficientTable::new(sample_rate_hz);
            let mut max_error_cents = 0.0_f64;
            for step in 0..1_000 {
                let octaves = f64::from(step) * 0.009;
                let frequency_hz = LOWEST_HZ * libm::exp2(octaves);
                let coefficient = table.coefficient_at(octaves);
                let warped_frequency = (1.0 - coefficient) / (1.0 + coefficient);
                let measured_hz = libm::atan(warped_frequency) * sample_rate_hz / core::f64::consts::PI;
                max_error_cents =
                    max_error_cents.max((1_200.0 * libm::log2(measured_hz / frequency_hz)).abs());
            }
            println!("at {sample_rate_hz} Hz: error of at most {max_error_cents} cents");
            assert!(max_error_cents < 0.11);
        }
    }
}
