//! Width: the stereo width by mid/side processing.
//!
//! With `M = (L + R) / 2` and `S = (L - R) / 2`, the outputs are `M + w S'` and `M - w S'`. The sum
//! of the outputs equals the sum of the inputs at any width, so the mono mix does not change. `S'`
//! is `S` itself. If the low frequencies are mono, `S'` is `S` through a Butterworth high-pass
//! filter of 24 dB per octave.

use wide::f64x2;

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::filter_section::{Section, Shape, process_in_series, warp};
use crate::dsp::smoothed_value::SmoothedValue;

/// Stereo width by mid/side processing.
pub(super) static WIDTH: EffectKind = EffectKind {
    id: "width",
    name: "Width",
    group: Group::Utility,
    parameters: WidthParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Width::new(config)),
    memory_bytes: inline_bytes::<Width>,
};

parameters! {
    /// Parameters of the width effect.
    enum WidthParam {
        /// Gain of the side signal: 0 makes the output mono, 1 leaves the input unchanged.
        Width = linear("width", "Width", Unit::Proportion, [0.0, 2.0], 1.0),
        /// Whether low frequencies are mono.
        MonoBelowOn = switch("mono_below_on", "Mono below", false),
        /// Frequency below which the signal is mono.
        MonoBelowHz = logarithmic("mono_below_hz", "Mono below frequency", Unit::Hertz, [20.0, 500.0], 120.0),
    }
}

/// `1 / Q` of both sections of a Butterworth filter of fourth order: `2 cos(3 pi / 8)` and `2
/// cos(pi / 8)`.
const DAMPINGS: [f64; 2] = [0.765_366_864_730_179_5, 1.847_759_065_022_573_5];

/// Minimum ramp time of the switch, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Width {
    sample_rate_hz: f64,
    next_frame: u64,
    width: SmoothedValue,
    mono_fraction: SmoothedValue,
    mono_below_hz: SmoothedValue,
    /// Whether a parameter was set since the last control point.
    has_new_target: bool,
    /// High-pass filter of the side signal.
    sections: [Section; 2],
}

impl Width {
    fn new(config: &EffectConfig<'_>) -> Self {
        let mut width = Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            next_frame: 0,
            width: SmoothedValue::new(WidthParam::Width.default_value()),
            mono_fraction: SmoothedValue::new(WidthParam::MonoBelowOn.default_value()),
            mono_below_hz: SmoothedValue::new(WidthParam::MonoBelowHz.default_value()),
            has_new_target: false,
            sections: DAMPINGS.map(|damping| Section::new(Shape::passthrough(1.0, damping))),
        };
        width.reset(0);
        width
    }

    fn shapes(&self) -> [Shape; 2] {
        let g = warp(self.mono_below_hz.value(), self.sample_rate_hz);
        DAMPINGS.map(|damping| Shape::high_pass(g, damping).blend(self.mono_fraction.value()))
    }

    /// Advances by `frames` frames. Returns the offset of the first of them from the last control
    /// point.
    fn advance(&mut self, frames: usize) -> usize {
        let offset = (self.next_frame % CONTROL_FRAMES as u64) as usize;
        self.next_frame += frames as u64;
        if offset == 0 {
            self.process_control_point();
        }
        offset
    }

    /// Computes the filter at the next control point.
    fn process_control_point(&mut self) {
        let is_steady = self.mono_fraction.is_steady() && self.mono_below_hz.is_steady();
        if core::mem::take(&mut self.has_new_target)
            || !is_steady
            || self.sections.iter().any(Section::is_moving)
        {
            self.mono_fraction.advance(CONTROL_FRAMES);
            self.mono_below_hz.advance(CONTROL_FRAMES);
            let shapes = self.shapes();
            for (section, shape) in self.sections.iter_mut().zip(shapes) {
                section.ramp_to(shape);
            }
        }
        self.sections.iter_mut().for_each(Section::flush_denormals);
    }
}

impl Effect for Width {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        [&mut self.width, &mut self.mono_fraction, &mut self.mono_below_hz]
            .into_iter()
            .for_each(SmoothedValue::finish);
        let shapes = self.shapes();
        for (section, shape) in self.sections.iter_mut().zip(shapes) {
            section.reset(shape);
        }
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = WidthParam::from_index(parameter) else { return };
        self.has_new_target = true;
        match parameter {
            WidthParam::Width => self.width.set_target(value, ramp_frames),
            WidthParam::MonoBelowOn => {
                let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
                self.mono_fraction.set_target(value, ramp_frames.max(switch_frames));
            }
            WidthParam::MonoBelowHz => self.mono_below_hz.set_target(value, ramp_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let offset = self.advance(left.len());
        let is_stereo = self.sections.iter().all(Section::is_passthrough);
        if is_stereo && self.width.is_steady() && self.width.target() == 1.0 {
            return;
        }
        let mut sides = [f64x2::ZERO; CONTROL_FRAMES];
        let sides = &mut sides[..left.len()];
        for ((side, left), right) in sides.iter_mut().zip(&*left).zip(&*right) {
            *side = f64x2::new([(f64::from(*left) - f64::from(*right)) * 0.5, 0.0]);
        }
        process_in_series(&mut self.sections, offset, sides);
        for ((side, left), right) in sides.iter().zip(left).zip(right) {
            let [side, _] = side.to_array();
            // Left and right already contain the dry side signal, so only the difference is added.
            let dry_side = (f64::from(*left) - f64::from(*right)) * 0.5;
            let difference = side * self.width.next() - dry_side;
            (*left, *right) =
                ((f64::from(*left) + difference) as f32, (f64::from(*right) - difference) as f32);
        }
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let is_idle = self.width.is_steady() && self.sections.iter().all(Section::is_silent);
        if is_idle {
            self.advance(frames);
        }
        is_idle
    }
}
