//! Saturator: a gain before one of five waveshaping curves, at eight times the sample rate.
//!
//! With a drive `d` (linear), the output is `y = f(d x) / sqrt(d)`. The division compensates half
//! of the drive's decibels. A peak of full scale after the drive is thus attenuated by half of the
//! drive's decibels. All curves have a slope of 1 at 0 and a range of -1 to 1:
//!
//! | type | curve |
//! |---|---|
//! | tape | `(15 u - 10 u^3 + 3 u^5) / 8`, `u = x / 1.875`: a wide, soft knee |
//! | tube | the soft curve with a bias of 0.4, which adds even harmonics |
//! | soft | `(3 u - u^3) / 2`, `u = x / 1.5` |
//! | hard | `u = x`: linear up to its limits |
//! | fold | `sin x`, with half of the drive's decibels: folds peaks back instead of clipping |
//!
//! With a bias `b`, the curve is `f(x + b) - f(b)`. A high-pass filter at 5 Hz removes the DC
//! offset that a bias adds.

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::oversampling::{FACTOR, LATENCY_FRAMES as OVERSAMPLING_LATENCY_FRAMES, Oversampler};
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::waveshaper::{Curve, LATENCY_FRAMES as WAVESHAPER_LATENCY_FRAMES, Shaper};
use crate::gain;
use crate::simd::on_best_instructions;

/// Upper limit of the memory of the oversampler, in bytes. A test checks this limit.
const OVERSAMPLING_BYTES: u64 = 48 * 1024;

/// Distortion with five curves.
pub(super) static SATURATOR: EffectKind = EffectKind {
    id: "saturator",
    name: "Saturator",
    group: Group::Tone,
    parameters: SaturatorParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Saturator::new(config)),
    memory_bytes: Saturator::memory_bytes,
};

parameters! {
    enum SaturatorParam {
        /// Gain before the curve. Half of its decibels are compensated after the curve.
        DriveDb = linear("drive_db", "Drive", Unit::Decibels, [0.0, 36.0], 12.0),
        /// Type of the curve.
        Type = choice("type", "Type", CurveType::NAMES, CurveType::Tape as usize),
        /// Offset of the curve's input, which adds even harmonics.
        Bias = linear("bias", "Bias", Unit::Number, [-1.0, 1.0], 0.0),
        /// Gain after the curve, in decibels.
        OutputDb = linear("output_db", "Output", Unit::Decibels, [-36.0, 12.0], 0.0),
        /// Proportion of the distorted signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 1.0),
    }
}

choices! {
    /// The types of curves. The table at the top of this file describes them.
    enum CurveType {
        Tape = "Tape",
        Tube = "Tube",
        Soft = "Soft",
        Hard = "Hard",
        Fold = "Fold",
    }
}

impl CurveType {
    /// Returns the curve's [`Curve::reach`], [`Curve::cubic`] and [`Curve::quintic`].
    fn coefficients(self) -> [f64; 3] {
        match self {
            Self::Tape => [1.875, -1.25, 0.375],
            Self::Tube | Self::Soft => [1.5, -0.5, 0.0],
            Self::Hard | Self::Fold => [1.0, 0.0, 0.0],
        }
    }

    fn bias(self) -> f64 {
        match self {
            Self::Tube => TUBE_BIAS,
            Self::Tape | Self::Soft | Self::Hard | Self::Fold => 0.0,
        }
    }

    /// Returns the proportion of the folding curve, 0 or 1.
    fn fold(self) -> f64 {
        match self {
            Self::Fold => 1.0,
            Self::Tape | Self::Tube | Self::Soft | Self::Hard => 0.0,
        }
    }
}

/// Bias that turns the soft curve into the tube curve.
const TUBE_BIAS: f64 = 0.4;

/// Minimum crossfade time after a change of the type, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// Cut-off of the filter that removes the DC offset, in hertz.
const DC_CUTOFF_HZ: f64 = 5.0;

/// A sample below this magnitude counts as silent.
const SILENT_MAGNITUDE: f32 = 1e-12;

const LATENCY_FRAMES: usize = (OVERSAMPLING_LATENCY_FRAMES + WAVESHAPER_LATENCY_FRAMES) / FACTOR;

const _: () = assert!(
    (OVERSAMPLING_LATENCY_FRAMES + WAVESHAPER_LATENCY_FRAMES).is_multiple_of(FACTOR),
    "the latency must be a whole number of frames, otherwise dry and wet are not aligned"
);

struct Saturator {
    switch_frames: u32,
    next_frame: u64,
    /// Gain before the curve with half of the drive's decibels, and its inverse, the gain after the
    /// curve.
    half_drive: SmoothedValue,
    compensation: SmoothedValue,
    output: SmoothedValue,
    reach: SmoothedValue,
    cubic: SmoothedValue,
    quintic: SmoothedValue,
    /// Bias from the parameter, and bias of the curve type. The curve gets their sum.
    user_bias: SmoothedValue,
    curve_bias: SmoothedValue,
    fold: SmoothedValue,
    mix: SmoothedValue,
    oversampler: Oversampler,
    shaper: Shaper,
    dc_removal: DcRemoval,
    /// The input, delayed by the latency.
    dry: [[f32; 2]; LATENCY_FRAMES],
    dry_index: usize,
    /// Number of silent frames of input since the last audible one. `usize::MAX` after a reset.
    silent_frames: usize,
}

impl Saturator {
    /// Returns the size in bytes of the oversampler and of the effect itself. It does not depend on
    /// the sample rate.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        OVERSAMPLING_BYTES + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let zero = SmoothedValue::new(0.0);
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let angle = core::f64::consts::TAU * DC_CUTOFF_HZ / sample_rate_hz;
        let mut saturator = Self {
            switch_frames: (SWITCH_SECS * sample_rate_hz) as u32,
            next_frame: 0,
            half_drive: SmoothedValue::new(1.0),
            compensation: SmoothedValue::new(1.0),
            output: zero,
            reach: SmoothedValue::new(1.0),
            cubic: zero,
            quintic: zero,
            user_bias: zero,
            curve_bias: zero,
            fold: zero,
            mix: zero,
            oversampler: Oversampler::new(),
            shaper: Shaper::new(),
            dc_removal: DcRemoval { mean: [0.0; 2], fraction: zero, coefficient: 1.0 - libm::exp(-angle) },
            dry: [[0.0; 2]; LATENCY_FRAMES],
            dry_index: 0,
            silent_frames: usize::MAX,
        };
        for (index, parameter) in SaturatorParam::TABLE.iter().enumerate() {
            saturator.set_parameter(index, parameter.default, 0);
        }
        saturator.reset(0);
        saturator
    }

    fn ramp_curve(&mut self, curve_type: CurveType, ramp_frames: u32) {
        let [reach, cubic, quintic] = curve_type.coefficients();
        self.reach.set_target(reach, ramp_frames);
        self.cubic.set_target(cubic, ramp_frames);
        self.quintic.set_target(quintic, ramp_frames);
        self.curve_bias.set_target(curve_type.bias(), ramp_frames);
        self.fold.set_target(curve_type.fold(), ramp_frames);
    }

    /// Switches the removal of the DC offset on or off: it is on if the curve has a bias.
    fn update_dc_removal(&mut self) {
        let is_biased = self.user_bias.target() + self.curve_bias.target() != 0.0;
        self.dc_removal.fraction.set_if_new(if is_biased { 1.0 } else { 0.0 }, self.switch_frames);
    }

    fn curve_values(&mut self) -> [&mut SmoothedValue; 6] {
        [
            &mut self.reach,
            &mut self.cubic,
            &mut self.quintic,
            &mut self.user_bias,
            &mut self.curve_bias,
            &mut self.fold,
        ]
    }

    fn curve(&self) -> Curve {
        Curve {
            reach: self.reach.value() as f32,
            cubic: self.cubic.value() as f32,
            quintic: self.quintic.value() as f32,
            bias: (self.user_bias.value() + self.curve_bias.value()) as f32,
            fold: self.fold.value() as f32,
        }
    }

    /// Whether the input and the state of the oversampler are silent. Counts the silent frames.
    fn is_silent(&mut self, frames: usize, audio: &[f32]) -> bool {
        let biases = [&self.user_bias, &self.curve_bias];
        let is_symmetric = biases.iter().all(|bias| bias.target() == 0.0 && bias.is_steady());
        if !is_symmetric || audio.iter().any(|value| *value != 0.0) {
            self.silent_frames = 0;
        } else if self.silent_frames < 2 * LATENCY_FRAMES {
            self.silent_frames += frames;
        } else {
            return true;
        }
        false
    }

    /// Applies the curve to `frames` interleaved stereo frames.
    fn shape(&mut self, frames: usize, audio: &mut [f32; 2 * CONTROL_FRAMES]) {
        let mut curves = [self.curve(); CONTROL_FRAMES + 1];
        let mut count = 2;
        if self.curve_values().iter().any(|smoothed| !smoothed.is_steady()) {
            // While the curve ramps, each frame has a different curve.
            for curve in &mut curves[1..=frames] {
                self.curve_values().into_iter().for_each(|smoothed| smoothed.advance(1));
                *curve = self.curve();
            }
            count = frames + 1;
        }
        shape_oversampled(&mut self.oversampler, &mut self.shaper, &curves[..count], frames, audio);
    }
}

on_best_instructions! {
    /// Applies curves to interleaved stereo frames. The frames are divided into equal parts, and
    /// each part ramps from one of `curves` to the next.
    fn shape_oversampled(
        oversampler: &mut Oversampler,
        shaper: &mut Shaper,
        curves: &[Curve],
        frames: usize,
        audio: &mut [f32; 2 * CONTROL_FRAMES],
    ) = shape_oversampled_inline;
}

#[inline(always)]
fn shape_oversampled_inline(
    oversampler: &mut Oversampler,
    shaper: &mut Shaper,
    curves: &[Curve],
    frames: usize,
    audio: &mut [f32; 2 * CONTROL_FRAMES],
) {
    let oversampled = oversampler.up(frames, audio);
    let chunk_len = oversampled.len() / (curves.len() - 1);
    for (oversampled, curves) in oversampled.chunks_mut(chunk_len).zip(curves.windows(2)) {
        shaper.process(&curves[0], &curves[1], oversampled);
    }
    oversampler.down(frames, audio);
}

impl Effect for Saturator {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        self.curve_values().into_iter().for_each(SmoothedValue::finish);
        let levels = [&mut self.half_drive, &mut self.compensation, &mut self.output, &mut self.mix];
        levels.into_iter().chain([&mut self.dc_removal.fraction]).for_each(SmoothedValue::finish);
        self.oversampler.clear();
        self.shaper.clear();
        self.dc_removal.mean = [0.0; 2];
        self.dry = [[0.0; 2]; LATENCY_FRAMES];
        self.dry_index = 0;
        self.silent_frames = usize::MAX;
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = SaturatorParam::from_index(parameter) else { return };
        match parameter {
            SaturatorParam::DriveDb => {
                let half_drive = f64::from(gain::from_db(value / 2.0));
                self.half_drive.set_target(half_drive, ramp_frames);
                self.compensation.set_target(1.0 / half_drive, ramp_frames);
            }
            SaturatorParam::Type => {
                self.ramp_curve(CurveType::from_value(value), ramp_frames.max(self.switch_frames));
                self.update_dc_removal();
            }
            SaturatorParam::Bias => {
                self.user_bias.set_target(value, ramp_frames);
                self.update_dc_removal();
            }
            SaturatorParam::OutputDb => self.output.set_target(f64::from(gain::from_db(value)), ramp_frames),
            SaturatorParam::Mix => self.mix.set_target(value, ramp_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        if self.next_frame.is_multiple_of(CONTROL_FRAMES as u64) {
            self.dc_removal.flush_denormals();
        }
        self.next_frame += left.len() as u64;
        let mut audio = [0.0; 2 * CONTROL_FRAMES];
        let frames = left.len();
        let mut fold = self.fold;
        for ((values, left), right) in audio.chunks_mut(2).zip(&*left).zip(&*right) {
            // The folding curve gets only half of the drive's decibels.
            let (half_drive, fold) = (self.half_drive.next(), fold.next());
            let gain = (half_drive * (half_drive + (1.0 - half_drive) * fold)) as f32;
            for (value, input) in values.iter_mut().zip([*left, *right]) {
                *value = if input.abs() < SILENT_MAGNITUDE { 0.0 } else { input * gain };
            }
        }
        if self.is_silent(frames, &audio) {
            self.curve_values().into_iter().for_each(|smoothed| smoothed.advance(frames));
        } else {
            self.shape(frames, &mut audio);
        }
        self.dc_removal.remove(&mut audio[..2 * frames]);
        for ((values, left), right) in audio.chunks(2).zip(left).zip(right) {
            let gain = (self.output.next() * self.compensation.next()) as f32;
            let wet = self.mix.next() as f32;
            let dry = core::mem::replace(&mut self.dry[self.dry_index], [*left, *right]);
            self.dry_index = if self.dry_index + 1 == LATENCY_FRAMES { 0 } else { self.dry_index + 1 };
            *left = dry[0] * (1.0 - wet) + values[0] * gain * wet;
            *right = dry[1] * (1.0 - wet) + values[1] * gain * wet;
        }
    }

    fn latency_frames(&self) -> usize {
        LATENCY_FRAMES
    }
}

/// Removes the DC offset that an asymmetric curve adds.
struct DcRemoval {
    /// Running mean of left and right.
    mean: [f64; 2],
    /// Fraction of the mean that is subtracted.
    fraction: SmoothedValue,
    coefficient: f64,
}

impl DcRemoval {
    fn remove(&mut self, audio: &mut [f32]) {
        if self.fraction.target() == 0.0 && self.fraction.is_steady() {
            self.mean = [0.0; 2];
            return;
        }
        for values in audio.chunks_mut(2) {
            let fraction = self.fraction.next();
            for (value, mean) in values.iter_mut().zip(&mut self.mean) {
                let exact_value = f64::from(*value);
                *mean += (exact_value - *mean) * self.coefficient;
                *value = (exact_value - *mean * fraction) as f32;
            }
        }
    }

    fn flush_denormals(&mut self) {
        for mean in &mut self.mean {
            if mean.abs() < f64::from(SILENT_MAGNITUDE) {
                *mean = 0.0;
            }
        }
    }
}
