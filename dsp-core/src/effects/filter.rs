//! Filter: a resonant low-pass, high-pass, band-pass or notch filter with drive. An oscillator and
//! an envelope follower can modulate the cut-off.
//!
//! The filter consists of one or two trapezoidal state-variable sections. Low-pass and high-pass
//! filters without resonance are Butterworth filters: -3 dB at the cut-off. Resonance raises the
//! gain at the cut-off by `resonance_db`. Modulation is computed at control points, so the cut-off
//! follows the level of the input with a delay of 32 frames.

use wide::{CmpLe, f64x2};

use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::envelope_follower::EnvelopeFollower;
use crate::dsp::filter_section::{Section, Shape, process_in_series, warp};
use crate::dsp::phase::fraction_of_period;
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::stereo_frames::{Frame, Frames};
use crate::gain;

/// Resonant filter with modulation.
pub(super) static FILTER: EffectKind = EffectKind {
    id: "filter",
    name: "Filter",
    group: Group::Tone,
    parameters: FilterParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Filter::new(config)),
    memory_bytes: inline_bytes::<Filter>,
};

parameters! {
    enum FilterParam {
        /// Type of the filter.
        Type = choice("type", "Type", FilterType::NAMES, FilterType::LowPass as usize),
        /// Slope of the filter.
        Slope = choice("slope", "Slope", Slope::NAMES, Slope::Db24 as usize),
        /// Cut-off or centre frequency in hertz.
        CutoffHz = logarithmic("cutoff_hz", "Cut-off", Unit::Hertz, [20.0, 20_000.0], 2_000.0),
        /// Gain at the cut-off in decibels, relative to a filter without resonance.
        ResonanceDb = linear("resonance_db", "Resonance", Unit::Decibels, [0.0, 36.0], 3.0),
        /// Drive of the soft clipper before the filter.
        DriveDb = linear("drive_db", "Drive", Unit::Decibels, [0.0, 24.0], 0.0),
        /// Frequency of the oscillator that modulates the cut-off.
        LfoRateHz = logarithmic("lfo_rate_hz", "LFO rate", Unit::Hertz, [0.01, 20.0], 0.5),
        /// Largest change of the cut-off by the oscillator.
        LfoOctaves = linear("lfo_octaves", "LFO amount", Unit::Octaves, [0.0, 5.0], 0.0),
        /// Change of the cut-off at an envelope of full scale.
        EnvelopeOctaves = linear("envelope_octaves", "Envelope amount", Unit::Octaves, [-6.0, 6.0], 0.0),
        /// Time constant of a rising envelope.
        EnvelopeAttackMs =
            logarithmic("envelope_attack_ms", "Envelope attack", Unit::Milliseconds, [0.1, 200.0], 5.0),
        /// Time constant of a falling envelope.
        EnvelopeReleaseMs =
            logarithmic("envelope_release_ms", "Envelope release", Unit::Milliseconds, [5.0, 2_000.0], 150.0),
        /// Proportion of the filtered signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 1.0),
    }
}

choices! {
    enum FilterType {
        LowPass = "Low-pass",
        HighPass = "High-pass",
        BandPass = "Band-pass",
        Notch = "Notch",
    }
}

choices! {
    enum Slope {
        /// One section.
        Db12 = "12 dB/octave",
        /// Two sections.
        Db24 = "24 dB/octave",
    }
}

/// Minimum crossfade time after a change of type or slope, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Parameters of a section other than its cut-off.
#[derive(Debug, Clone, Copy)]
struct Tuning {
    /// Q without resonance.
    flat_q: SmoothedValue,
    /// Proportion of `resonance_db` by which the section raises its Q.
    resonance: SmoothedValue,
    /// Proportion of the section's output; the remainder is its input.
    wet: SmoothedValue,
}

/// Returns [`Tuning`]'s targets for each section: Q without resonance, proportion of the resonance,
/// and proportion of the output.
fn tunings(filter_type: FilterType, slope: Slope) -> [[f64; 3]; 2] {
    const FLAT_Q: f64 = core::f64::consts::FRAC_1_SQRT_2;
    // Q of both sections of a fourth-order Butterworth filter: 1 / (2 cos(pi / 8)) and
    // 1 / (2 cos(3 pi / 8)).
    const WIDE_SECTION_Q: f64 = 0.541_196_100_146_197;
    const SHARP_SECTION_Q: f64 = 1.306_562_964_876_376_6;
    match (filter_type, slope) {
        (FilterType::LowPass | FilterType::HighPass, Slope::Db24) => {
            [[WIDE_SECTION_Q, 0.0, 1.0], [SHARP_SECTION_Q, 1.0, 1.0]]
        }
        (FilterType::BandPass | FilterType::Notch, Slope::Db24) => [[FLAT_Q, 1.0, 1.0]; 2],
        (
            FilterType::LowPass | FilterType::HighPass | FilterType::BandPass | FilterType::Notch,
            Slope::Db12,
        ) => [[FLAT_Q, 1.0, 1.0], [FLAT_Q, 1.0, 0.0]],
    }
}

struct Filter {
    sample_rate_hz: f64,
    next_frame: u64,
    filter_type: FilterType,
    slope: Slope,
    /// Proportion of each filter type, for crossfades.
    types: [SmoothedValue; FilterType::NAMES.len()],
    tunings: [Tuning; 2],
    cutoff_hz: SmoothedValue,
    resonance_db: SmoothedValue,
    lfo_rate_hz: SmoothedValue,
    lfo_octaves: SmoothedValue,
    envelope_octaves: SmoothedValue,
    drive: Drive,
    mix: SmoothedValue,
    /// The oscillator, at the next control point.
    lfo: Lfo,
    envelope: EnvelopeFollower,
    /// Whether a parameter was set since the last control point.
    has_new_target: bool,
    sections: [Section; 2],
}

impl Filter {
    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let section = Section::new(Shape::passthrough(1.0, 1.0));
        let zero = SmoothedValue::new(0.0);
        let mut filter = Self {
            sample_rate_hz,
            next_frame: 0,
            filter_type: FilterType::LowPass,
            slope: Slope::Db12,
            types: [zero; FilterType::NAMES.len()],
            tunings: [Tuning { flat_q: zero, resonance: zero, wet: zero }; 2],
            cutoff_hz: zero,
            resonance_db: zero,
            lfo_rate_hz: zero,
            lfo_octaves: zero,
            envelope_octaves: zero,
            drive: Drive { amount: zero, level: SmoothedValue::new(1.0) },
            mix: zero,
            lfo: Lfo::new(config.sample_rate_hz),
            envelope: EnvelopeFollower { level: 0.0, attack_coefficient: 0.0, release_coefficient: 0.0 },
            has_new_target: false,
            sections: [section.clone(), section],
        };
        for (index, parameter) in FilterParam::TABLE.iter().enumerate() {
            filter.set_parameter(index, parameter.default, 0);
        }
        filter.reset(0);
        filter
    }

    fn ramp_to_type(&mut self, ramp_frames: u32) {
        let frames = ramp_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32);
        for (filter_type, weight) in FilterType::ALL.iter().zip(&mut self.types) {
            weight.set_target(if *filter_type == self.filter_type { 1.0 } else { 0.0 }, frames);
        }
        let targets = tunings(self.filter_type, self.slope);
        for (tuning, [flat_q, resonance, wet]) in self.tunings.iter_mut().zip(targets) {
            tuning.flat_q.set_target(flat_q, frames);
            tuning.resonance.set_target(resonance, frames);
            tuning.wet.set_target(wet, frames);
        }
    }

    /// Returns all values that advance at control points.
    fn smoothed_values(&mut self) -> impl Iterator<Item = &mut SmoothedValue> {
        let tunings = self.tunings.iter_mut();
        let tunings = tunings.flat_map(|tuning| [&mut tuning.flat_q, &mut tuning.resonance, &mut tuning.wet]);
        let parameters = [
            &mut self.cutoff_hz,
            &mut self.resonance_db,
            &mut self.lfo_rate_hz,
            &mut self.lfo_octaves,
            &mut self.envelope_octaves,
        ];
        self.types.iter_mut().chain(tunings).chain(parameters)
    }

    fn lfo_rate(&self) -> LfoRate {
        LfoRate::Hertz(self.lfo_rate_hz.value())
    }

    /// Returns the responses of the sections at the oscillator's control point.
    fn shapes(&self) -> [Shape; 2] {
        let period = fraction_of_period(self.lfo.phase());
        let modulation = libm::sin(core::f64::consts::TAU * period) * self.lfo_octaves.value();
        let envelope = self.envelope.level.min(1.0) * self.envelope_octaves.value();
        let g = warp(self.cutoff_hz.value() * libm::exp2(modulation + envelope), self.sample_rate_hz);
        let resonance = |fraction: f64| libm::exp10(self.resonance_db.value() * fraction / 20.0);
        self.tunings.each_ref().map(|tuning| {
            let damping = 1.0 / (tuning.flat_q.value() * resonance(tuning.resonance.value()));
            let makers = [Shape::low_pass, Shape::high_pass, Shape::band_pass, Shape::notch];
            let mut sum = Shape { input: 0.0, ..Shape::passthrough(g, damping) };
            for (weight, make) in self.types.iter().zip(makers) {
                let (weight, shape) = (weight.value(), make(g, damping));
                sum.input += shape.input * weight;
                sum.band += shape.band * weight;
                sum.low += shape.low * weight;
            }
            sum.blend(tuning.wet.value())
        })
    }

    fn is_modulated(&self) -> bool {
        [&self.lfo_octaves, &self.envelope_octaves]
            .into_iter()
            .any(|octaves| octaves.target() != 0.0 || !octaves.is_steady())
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

    /// Computes the values at the next control point.
    fn process_control_point(&mut self) {
        let is_ramping = core::mem::take(&mut self.has_new_target)
            || self.is_modulated()
            || self.sections.iter().any(Section::is_moving)
            || self.smoothed_values().any(|smoothed| !smoothed.is_steady());
        self.smoothed_values().for_each(|smoothed| smoothed.advance(CONTROL_FRAMES));
        self.lfo.step(self.lfo_rate());
        if is_ramping {
            let shapes = self.shapes();
            for (section, shape) in self.sections.iter_mut().zip(shapes) {
                section.ramp_to(shape);
            }
        }
        self.envelope.flush_denormals();
        self.sections.iter_mut().for_each(Section::flush_denormals);
    }
}

impl Effect for Filter {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.smoothed_values().for_each(SmoothedValue::finish);
        [&mut self.drive.amount, &mut self.drive.level, &mut self.mix]
            .into_iter()
            .for_each(SmoothedValue::finish);
        self.envelope.level = 0.0;
        // The sections ramp from the control point before this frame to the one at or after it.
        let next_control_point = frame.next_multiple_of(CONTROL_FRAMES as u64);
        let last_control_point = next_control_point.wrapping_sub(CONTROL_FRAMES as u64);
        self.lfo.start(last_control_point, self.lfo_rate());
        let start_shapes = self.shapes();
        self.lfo.step(self.lfo_rate());
        let target_shapes = self.shapes();
        for (section, (start_shape, target_shape)) in
            self.sections.iter_mut().zip(start_shapes.into_iter().zip(target_shapes))
        {
            section.reset(start_shape);
            section.ramp_to(target_shape);
        }
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = FilterParam::from_index(parameter) else { return };
        self.has_new_target = true;
        let smoothing = |ms: f64| 1.0 - libm::exp(-1_000.0 / (ms * self.sample_rate_hz));
        match parameter {
            FilterParam::Type => {
                self.filter_type = FilterType::from_value(value);
                self.ramp_to_type(ramp_frames);
            }
            FilterParam::Slope => {
                self.slope = Slope::from_value(value);
                self.ramp_to_type(ramp_frames);
            }
            FilterParam::CutoffHz => self.cutoff_hz.set_target(value, ramp_frames),
            FilterParam::ResonanceDb => self.resonance_db.set_target(value, ramp_frames),
            FilterParam::DriveDb => self.drive.set_drive_db(value, ramp_frames),
            FilterParam::LfoRateHz => self.lfo_rate_hz.set_target(value, ramp_frames),
            FilterParam::LfoOctaves => self.lfo_octaves.set_target(value, ramp_frames),
            FilterParam::EnvelopeOctaves => self.envelope_octaves.set_target(value, ramp_frames),
            FilterParam::EnvelopeAttackMs => self.envelope.attack_coefficient = smoothing(value),
            FilterParam::EnvelopeReleaseMs => self.envelope.release_coefficient = smoothing(value),
            FilterParam::Mix => self.mix.set_target(value, ramp_frames),
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        FilterParam::from_index(parameter) == Some(FilterParam::LfoRateHz)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        if self.integrates(parameter) {
            self.lfo.set_integral(integral);
        }
    }

    fn longest_silence_frames(&self) -> usize {
        // The cut-off reaches its highest frequency once in a period.
        let rate_hz = self.lfo_rate_hz.target();
        let is_modulated = self.lfo_octaves.target() != 0.0 && rate_hz > 0.0;
        if is_modulated { libm::ceil(self.sample_rate_hz / rate_hz) as usize } else { 0 }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let offset = self.advance(left.len());
        let mut frames = Frames::new(left, right);
        if self.envelope_octaves.target() != 0.0 || !self.envelope_octaves.is_steady() {
            self.envelope.process(frames.as_mut());
        }
        if self.drive.is_on() {
            self.drive.process(frames.as_mut());
        }
        process_in_series(&mut self.sections, offset, frames.as_mut());
        frames.mix(left, right, &mut self.mix);
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let smoothed_values = [&self.drive.amount, &self.drive.level, &self.mix];
        let is_idle = self.envelope.level == 0.0
            && self.sections.iter().all(Section::is_silent)
            && smoothed_values.iter().all(|smoothed| smoothed.is_steady());
        if is_idle {
            self.advance(frames);
        }
        is_idle
    }
}

/// A soft clipper before the filter.
///
/// With a drive `d` (linear) and `a = d - 1`, the output is `y = sqrt(d) x s(a |x|)`. For `t` up to
/// 3, `s(t)` is `(27 + t^2) / (27 + 9 t^2)`, the Padé approximant of `tanh(t) / t`. Above 3, `s(t)`
/// is `1 / t`. The factor `sqrt(d)` instead of `d` compensates half of the drive's decibels. At 0
/// dB the output equals the input.
#[derive(Debug, Clone)]
struct Drive {
    amount: SmoothedValue,
    level: SmoothedValue,
}

impl Drive {
    fn set_drive_db(&mut self, drive_db: f64, ramp_frames: u32) {
        let drive = f64::from(gain::from_db(drive_db));
        self.amount.set_target(drive - 1.0, ramp_frames);
        self.level.set_target(libm::sqrt(drive), ramp_frames);
    }

    fn is_on(&self) -> bool {
        self.amount.target() != 0.0 || !self.amount.is_steady()
    }

    fn process(&mut self, audio: &mut [Frame]) {
        for value in audio {
            let t = (*value * self.amount.next()).abs();
            let square = t * t;
            let is_soft = t.cmp_le(f64x2::splat(3.0));
            let numerator = is_soft.blend(square + 27.0, f64x2::splat(1.0));
            let denominator = is_soft.blend(square * 9.0 + 27.0, t);
            *value = *value * self.level.next() * (numerator / denominator);
        }
    }
}
