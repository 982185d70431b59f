//! Bit crusher, which reduces bit depth and sample rate.
//!
//! The quantizer rounds to multiples of `2^(1 - bits)`, which include 0 (mid-tread). A full scale
//! of -1 to 1 has `2^bits` steps. The sample-and-hold samples one frame in each period of a
//! sampling clock, which has the reduced rate. After a change of the rate, the phase of the
//! sampling clock depends on earlier rates. The phase is therefore reset at fixed frames of the
//! session's clock. It gets the value that it would have if the rate had always been the current
//! one.
//!
//! Optional low-pass filters before and after the reduction remove aliases and images. Silence gets
//! no dither and stays silent.

use wide::f64x2;

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::filter_section::{Section, Shape, process_in_series, warp};
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::stereo_frames::{Frame, Frames};

/// Highest value of the reduced rate in hertz. At this rate, and at any rate above the session's,
/// the sample-and-hold samples every frame.
const MAX_RATE_HZ: f64 = 48_000.0;

/// Reduction of bit depth and sample rate.
pub(super) static BIT_CRUSHER: EffectKind = EffectKind {
    id: "bit_crusher",
    name: "Bit crusher",
    group: Group::Tone,
    parameters: BitCrusherParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(BitCrusher::new(config)),
    memory_bytes: inline_bytes::<BitCrusher>,
};

parameters! {
    /// Parameters of the bit crusher.
    enum BitCrusherParam {
        /// Bits of the quantizer, which may be fractional.
        Bits = linear("bits", "Bits", Unit::Bits, [1.0, 24.0], 10.0),
        /// Reduced sample rate in hertz.
        RateHz = logarithmic("rate_hz", "Sample rate", Unit::Hertz, [200.0, MAX_RATE_HZ], 12_000.0),
        /// Whether filters remove aliases and images.
        AntiAlias = switch("anti_alias", "Anti-alias filters", false),
        /// Whether triangular dither is added before the quantizer.
        Dither = switch("dither", "Dither", false),
        /// Proportion of the reduced signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 1.0),
    }
}

/// Cut-off of the anti-alias filters, as a proportion of the reduced rate.
const CUTOFF_RATIO: f64 = 0.4;

/// Sections of each filter: a Butterworth filter of 48 dB per octave.
const SECTION_COUNT: usize = 4;

/// Minimum crossfade time when the filters are switched on or off, in seconds.
const SWITCH_SECS: f64 = 0.01;

/// A period of the sampling clock: 2^64.
const PERIOD: f64 = 18_446_744_073_709_551_616.0;

/// Initial phase of the sampling clock. For 2^30 frames, rounding errors of the increment do not
/// add up to this offset, so no sample is a frame late.
const INITIAL_PHASE: u64 = 1 << 40;

/// Frames of the session's clock between two resets of the sampling clock's phase: 1.4 s at 48 kHz
/// and 8.2 s at 8 kHz.
const PHASE_RESET_FRAMES: u64 = 1 << 16;

/// The number `1.5 * 2^52`. Adding and subtracting it rounds a double to an integer, with ties to
/// even.
const ROUNDING_OFFSET: f64 = 6_755_399_441_055_744.0;

struct BitCrusher {
    sample_rate_hz: f64,
    seed: u64,
    /// Session time of the next frame, in frames.
    next_frame: u64,
    bits: SmoothedValue,
    rate_hz: SmoothedValue,
    filter_fraction: SmoothedValue,
    has_dither: bool,
    mix: SmoothedValue,
    /// Whether a parameter was set since the last control point.
    has_new_target: bool,
    /// Quantization steps at the last control point and at the next one.
    steps: [f64; 2],
    /// Phase of the sampling clock before the next frame, and its increment per frame. An increment
    /// of `None` means that every frame is sampled.
    phase: u64,
    phase_increment: Option<u64>,
    held_frame: Option<Frame>,
    input_filter: [Section; SECTION_COUNT],
    output_filter: [Section; SECTION_COUNT],
}

impl BitCrusher {
    fn new(config: &EffectConfig<'_>) -> Self {
        let section = Section::new(Shape::passthrough(1.0, 1.0));
        let mut crusher = Self {
            sample_rate_hz: f64::from(config.sample_rate_hz),
            seed: config.seed,
            next_frame: 0,
            bits: SmoothedValue::new(BitCrusherParam::Bits.default_value()),
            rate_hz: SmoothedValue::new(BitCrusherParam::RateHz.default_value()),
            filter_fraction: SmoothedValue::new(BitCrusherParam::AntiAlias.default_value()),
            has_dither: false,
            mix: SmoothedValue::new(BitCrusherParam::Mix.default_value()),
            has_new_target: false,
            steps: [1.0; 2],
            phase: 0,
            phase_increment: None,
            held_frame: None,
            input_filter: core::array::from_fn(|_| section.clone()),
            output_filter: core::array::from_fn(|_| section.clone()),
        };
        crusher.reset(0);
        crusher
    }

    fn step(&self) -> f64 {
        libm::exp2(1.0 - self.bits.value())
    }

    fn phase_increment(&self) -> Option<u64> {
        let ratio = self.rate_hz.value() / self.sample_rate_hz;
        (ratio < 1.0 && self.rate_hz.value() < MAX_RATE_HZ).then_some((ratio * PERIOD) as u64)
    }

    fn shapes(&self) -> [Shape; SECTION_COUNT] {
        let fraction = if self.phase_increment().is_some() { self.filter_fraction.value() } else { 0.0 };
        let g = warp(CUTOFF_RATIO * self.rate_hz.value(), self.sample_rate_hz);
        core::array::from_fn(|section| {
            let angle = (2 * section + 1) as f64 * core::f64::consts::PI / (4 * SECTION_COUNT) as f64;
            Shape::low_pass(g, 2.0 * libm::cos(angle)).blend(fraction)
        })
    }

    /// Returns the phase before `frame` if the sampling clock had always had the current rate.
    fn phase_before(&self, frame: u64) -> u64 {
        self.phase_increment.unwrap_or(0).wrapping_mul(frame.wrapping_sub(1)).wrapping_add(INITIAL_PHASE)
    }

    /// Computes the values at the control point after `frame`.
    fn process_control_point(&mut self, frame: u64) {
        self.steps[0] = self.steps[1];
        let is_ramping = [&self.bits, &self.rate_hz, &self.filter_fraction]
            .into_iter()
            .any(|smoothed| !smoothed.is_steady());
        if core::mem::take(&mut self.has_new_target)
            || is_ramping
            || self.input_filter.iter().any(Section::is_moving)
        {
            [&mut self.bits, &mut self.rate_hz, &mut self.filter_fraction]
                .into_iter()
                .for_each(|smoothed| smoothed.advance(CONTROL_FRAMES));
            self.steps[1] = self.step();
            self.phase_increment = self.phase_increment();
            let shapes = self.shapes();
            for sections in [&mut self.input_filter, &mut self.output_filter] {
                sections.iter_mut().zip(&shapes).for_each(|(section, shape)| section.ramp_to(*shape));
            }
        }
        if frame.is_multiple_of(PHASE_RESET_FRAMES) {
            self.phase = self.phase_before(frame);
        }
        self.input_filter.iter_mut().chain(&mut self.output_filter).for_each(Section::flush_denormals);
    }

    /// Returns triangular dither between -1 and 1 for left and right of a frame of the session.
    fn dither(&self, frame: u64) -> Frame {
        // The hash is SplitMix64 (S. Vigna), seeded for each frame.
        let mut hash = self.seed ^ frame.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            hash = (hash ^ (hash >> 30)).wrapping_mul(factor);
        }
        hash ^= hash >> 31;
        let uniform = |index: u32| f64::from((hash >> (16 * index)) as u16) / 65_536.0;
        f64x2::new([uniform(0) - uniform(1), uniform(2) - uniform(3)])
    }

    fn quantized(&self, value: Frame, frame: u64) -> Frame {
        let fraction = (frame % CONTROL_FRAMES as u64) as f64 / CONTROL_FRAMES as f64;
        let step = self.steps[0] + (self.steps[1] - self.steps[0]) * fraction;
        let mut steps = value * (1.0 / step);
        // Silence gets no dither and stays silent.
        if self.has_dither && value.to_array() != [0.0; 2] {
            steps += self.dither(frame);
        }
        ((steps + ROUNDING_OFFSET) - ROUNDING_OFFSET) * step
    }

    /// Samples and holds the frames of `audio`. The first of them is `frame` of the session.
    fn sample_and_hold(&mut self, frame: u64, audio: &mut [Frame]) {
        for (frame, value) in (frame..).zip(audio) {
            let is_sampled = self.phase_increment.is_none_or(|step| {
                let (phase, has_wrapped) = self.phase.overflowing_add(step);
                self.phase = phase;
                has_wrapped
            });
            *value = match self.held_frame {
                Some(held) if !is_sampled => held,
                _ => *self.held_frame.insert(self.quantized(*value, frame)),
            };
        }
    }
}

impl Effect for BitCrusher {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        [&mut self.bits, &mut self.rate_hz, &mut self.filter_fraction, &mut self.mix]
            .into_iter()
            .for_each(SmoothedValue::finish);
        self.steps = [self.step(); 2];
        self.phase_increment = self.phase_increment();
        self.phase = self.phase_before(frame);
        self.held_frame = None;
        let shapes = self.shapes();
        for sections in [&mut self.input_filter, &mut self.output_filter] {
            sections.iter_mut().zip(&shapes).for_each(|(section, shape)| section.reset(*shape));
        }
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = BitCrusherParam::from_index(parameter) else { return };
        self.has_new_target = true;
        match parameter {
            BitCrusherParam::Bits => self.bits.set_target(value, ramp_frames),
            BitCrusherParam::RateHz => self.rate_hz.set_target(value, ramp_frames),
            BitCrusherParam::AntiAlias => {
                let switch_frames = (SWITCH_SECS * self.sample_rate_hz) as u32;
                self.filter_fraction.set_target(value, ramp_frames.max(switch_frames));
            }
            BitCrusherParam::Dither => self.has_dither = value >= 0.5,
            BitCrusherParam::Mix => self.mix.set_target(value, ramp_frames),
        }
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let frame = self.next_frame;
        let offset = (frame % CONTROL_FRAMES as u64) as usize;
        self.next_frame += left.len() as u64;
        if offset == 0 {
            self.process_control_point(frame);
        }
        let mut frames = Frames::new(left, right);
        process_in_series(&mut self.input_filter, offset, frames.as_mut());
        self.sample_and_hold(frame, frames.as_mut());
        process_in_series(&mut self.output_filter, offset, frames.as_mut());
        frames.mix(left, right, &mut self.mix);
    }
}
