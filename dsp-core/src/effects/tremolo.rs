//! Tremolo and auto-pan: a modulated gain with a phase difference between left and right.

use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group, MusicalTime};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::note_value::{NOTE_NAMES, note_beats, note_index};
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::control::{CONTROL_FRAMES, ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};
use crate::dsp::phase::{Phase, fraction_of_period, periods, sine};
use crate::dsp::smoothed_value::SmoothedValue;

/// Transition time of the square and saw shapes in seconds, limited to a quarter of a period.
const TRANSITION_SECS: f64 = 0.006;

/// Minimum crossfade time after a change of shape, in seconds.
const SWITCH_SECS: f64 = 0.02;

/// A gain that varies between 1 and `1 - depth`.
///
/// A period starts at the highest gain. The first period starts at the session's start. With
/// synchronization, periods start at multiples of the note value. The square and the saws change
/// their value within a transition of 6 ms instead of a step. The rising transitions of the square
/// and of the falling saw end at the start of a period.
pub(super) static TREMOLO: EffectKind = EffectKind {
    id: "tremolo",
    name: "Tremolo",
    group: Group::Modulation,
    parameters: TremoloParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Tremolo::new(config)),
    memory_bytes: inline_bytes::<Tremolo>,
};

parameters! {
    enum TremoloParam {
        /// Whether the period is a note value.
        Sync = switch("sync", "Sync", false),
        /// Frequency in hertz without synchronization.
        RateHz = logarithmic("rate_hz", "Rate", Unit::Hertz, [0.02, 20.0], 5.0),
        /// Period as a note value, with synchronization.
        Note = choice("note", "Note", NOTE_NAMES, note_index("1/8")),
        /// Shape of the gain over a period.
        Shape = choice("shape", "Shape", Shape::NAMES, Shape::Sine as usize),
        /// Difference between the highest gain, which is 1, and the lowest.
        Depth = linear("depth", "Depth", Unit::Proportion, [0.0, 1.0], 0.5),
        /// Phase of the right channel's modulation relative to that of the left. At 180 degrees the
        /// effect is an auto-pan.
        StereoDegrees = linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 0.0),
    }
}

choices! {
    /// The shape of the gain over a period.
    enum Shape {
        Sine = "Sine",
        Triangle = "Triangle",
        Square = "Square",
        SawDown = "Saw down",
        SawUp = "Saw up",
    }
}

struct Tremolo {
    sample_rate_hz: f64,
    settings: SmoothedParameters<TremoloParam, { TremoloParam::COUNT }>,
    clock: ControlClock,
    lfo: Lfo,
    /// Proportion of each shape. The proportions add up to 1.
    shapes: [SmoothedValue; Shape::NAMES.len()],
    /// Difference between the highest gain and that of left and right at full depth, 0 to 1.
    attenuations: [ControlRamp; 2],
    depth: ControlRamp,
}

impl Tremolo {
    fn new(config: &EffectConfig<'_>) -> Self {
        Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            shapes: core::array::from_fn(|shape| SmoothedValue::new(if shape == 0 { 1.0 } else { 0.0 })),
            attenuations: [ControlRamp::default(); 2],
            depth: ControlRamp::default(),
        }
    }

    fn lfo_rate(&self) -> LfoRate {
        if self.settings.is_on(TremoloParam::Sync) {
            LfoRate::Beats(note_beats(self.settings.target(TremoloParam::Note)))
        } else {
            LfoRate::Hertz(self.settings.get(TremoloParam::RateHz))
        }
    }

    fn attenuation_targets(&self) -> [f64; 2] {
        let transition = (TRANSITION_SECS * self.lfo.rate_hz()).min(0.25);
        [0.0, self.settings.get(TremoloParam::StereoDegrees) / 360.0].map(|phase_offset| {
            let phase = self.lfo.phase().wrapping_add(periods(phase_offset));
            let mut value = 0.0;
            for (shape, weight) in Shape::ALL.iter().zip(&self.shapes) {
                if weight.value() > 0.0 {
                    value += weight.value() * shape.value(phase, transition);
                }
            }
            1.0 - value
        })
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.control_point(), self.lfo_rate());
        let targets = self.attenuation_targets();
        reset_all(&mut self.attenuations, targets);
        self.depth.reset_to(self.settings.get(TremoloParam::Depth));
    }

    fn step(&mut self) {
        self.settings.step();
        self.shapes.iter_mut().for_each(|weight| weight.advance(CONTROL_FRAMES));
        self.lfo.step(self.lfo_rate());
        let targets = self.attenuation_targets();
        ramp_all(&mut self.attenuations, Some(targets));
        self.depth.ramp_to(self.settings.get(TremoloParam::Depth));
    }
}

impl Shape {
    /// Returns the value of the shape at a phase, from 0 to 1. `transition` is the transition time
    /// as a proportion of a period.
    fn value(self, phase: Phase, transition: f64) -> f64 {
        let periods = fraction_of_period(phase);
        match self {
            Self::Sine => 0.5 + 0.5 * sine(phase.wrapping_add(1 << 62)),
            Self::Triangle => (2.0 * periods - 1.0).abs(),
            // The square is high in the first half of a period. Each half ends with a transition.
            Self::Square => {
                let position_in_half = if periods < 0.5 { periods } else { periods - 0.5 };
                let step = smooth((position_in_half - (0.5 - transition)) / transition);
                if periods < 0.5 { 1.0 - step } else { step }
            }
            Self::SawDown => saw_down(periods, transition),
            Self::SawUp => saw_down(1.0 - periods, transition),
        }
    }
}

/// Returns the value of a saw that falls linearly from 1 to 0 and rises again in a transition
/// before the period ends.
fn saw_down(periods: f64, transition: f64) -> f64 {
    let fall_end = 1.0 - transition;
    if periods < fall_end { 1.0 - periods / fall_end } else { smooth((periods - fall_end) / transition) }
}

/// Returns a smooth step from 0 to 1, for a fraction from 0 to 1: the "smoothstep" polynomial.
fn smooth(fraction: f64) -> f64 {
    let fraction = fraction.clamp(0.0, 1.0);
    fraction * fraction * (3.0 - 2.0 * fraction)
}

impl Effect for Tremolo {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.shapes.iter_mut().for_each(SmoothedValue::finish);
        self.clock.reset(frame);
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = TremoloParam::from_index(parameter) else { return };
        self.settings.set_target(parameter, value, ramp_frames);
        match parameter {
            TremoloParam::Shape => {
                let ramp_frames = ramp_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32);
                let target = Shape::from_value(value);
                for (shape, weight) in Shape::ALL.iter().zip(&mut self.shapes) {
                    weight.set_target(if *shape == target { 1.0 } else { 0.0 }, ramp_frames);
                }
            }
            TremoloParam::Depth => {
                if ramp_frames == 0 {
                    self.depth.reset_to(value);
                }
            }
            TremoloParam::Sync | TremoloParam::RateHz | TremoloParam::Note | TremoloParam::StereoDegrees => {}
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        TremoloParam::from_index(parameter) == Some(TremoloParam::RateHz)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        if self.integrates(parameter) {
            self.lfo.set_integral(integral);
        }
    }

    fn set_time(&mut self, time: MusicalTime) {
        self.lfo.set_time(time, self.clock.frame());
    }

    fn longest_silence_frames(&self) -> usize {
        // The gain reaches its maximum once in a period.
        let rate_hz = self.lfo.rate_hz();
        let is_modulated = self.settings.get(TremoloParam::Depth) > 0.0 && rate_hz > 0.0;
        if is_modulated { (self.sample_rate_hz / rate_hz) as usize } else { 0 }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        match self.clock.take_due_work() {
            ControlWork::Start => {
                self.start();
                self.step();
            }
            ControlWork::Step => self.step(),
            ControlWork::Nothing => {}
        }
        let offset = self.clock.offset();
        for (attenuation, values) in self.attenuations.iter().zip([&mut *left, right]) {
            for (frame, value) in values.iter_mut().enumerate() {
                *value *=
                    1.0 - self.depth.value_f32_at(offset + frame) * attenuation.value_f32_at(offset + frame);
            }
        }
        self.clock.advance(left.len());
    }
}
