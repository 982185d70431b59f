//! Convolution reverb, with an impulse response of the user or of a synthetic room or plate.
//!
//! The response comes from [`EffectConfig::impulse`] or from `rooms.rs`. It is normalized to a mean
//! energy of 1 over left and right, which keeps the level of white noise. The energy of a synthetic
//! room varies slightly with its random noise. The wet signal has no latency. Spectra of the
//! response are computed when they are first needed (`partitions.rs`). If the user's response is
//! selected but none is loaded, the wet signal is silent.

mod partitions;
mod pre_delay;
mod rooms;
mod waveform;

use super::effect::{Effect, EffectConfig, EffectKind, Group};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ChoiceEnum, ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use crate::dsp::control::CONTROL_FRAMES;
use crate::dsp::filter_section::{Section, Shape, process_in_series, warp};
use crate::dsp::memory::values_bytes;
use crate::dsp::smoothed_value::SmoothedValue;
use crate::dsp::stereo_frames::Frames;
use crate::gain;
use partitions::Convolver;
use pre_delay::PreDelay;
use waveform::Waveform;

/// Frequencies in hertz at which the low cut and the high cut are off.
const LOWEST_HZ: f64 = 20.0;
const HIGHEST_HZ: f64 = 20_000.0;

/// Longest impulse response of the user in seconds, which is longer than that of any hall. The
/// limit bounds the work of the effect's construction, which computes the energy of the response
/// and may happen during playback.
const LONGEST_SECS: f64 = 30.0;

/// Longest pre-delay, in milliseconds.
const MAX_PRE_DELAY_MS: f64 = 250.0;

/// Reverb by convolution with the response of a room, a plate or a file of the user.
pub(super) static CONVOLUTION: EffectKind = EffectKind {
    id: "convolution",
    name: "Convolution",
    group: Group::SpaceAndTime,
    parameters: ConvolutionParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: Some(LONGEST_SECS),
    make: |config| with_simd_dispatch(Convolution::new(config)),
    memory_bytes: Convolution::memory_bytes,
};

parameters! {
    /// Parameters of the convolution reverb.
    enum ConvolutionParam {
        /// The impulse response with which the input is convolved.
        Response = choice("response", "Response", Response::NAMES, Response::Hall as usize),
        /// Delay of the wet signal.
        PreDelayMs = linear("pre_delay_ms", "Pre-delay", Unit::Milliseconds, [0.0, MAX_PRE_DELAY_MS], 10.0),
        /// Cut-off of a high-pass filter of 12 dB per octave before the convolution.
        LowCutHz = logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [LOWEST_HZ, 2_000.0], 120.0),
        /// Cut-off of a low-pass filter of 12 dB per octave before the convolution.
        HighCutHz = logarithmic("high_cut_hz", "High cut", Unit::Hertz, [500.0, HIGHEST_HZ], 9_000.0),
        /// Gain of the wet signal.
        LevelDb = linear("level_db", "Level", Unit::Decibels, [-36.0, 12.0], 0.0),
        /// Proportion of the wet signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.25),
    }
}

choices! {
    enum Response {
        /// The response of the user.
        User = "Own",
        SmallRoom = "Small room",
        Hall = "Hall",
        Plate = "Plate",
    }
}

/// Time of the fade-out and of the fade-in after a change of response or pre-delay, in seconds.
const FADE_SECS: f64 = 0.02;

/// Minimum crossfade time when a cut is switched on or off, in seconds.
const SWITCH_SECS: f64 = 0.01;

struct Convolution {
    sample_rate_hz: f64,
    next_frame: u64,
    responses: [Waveform; Response::NAMES.len()],
    target_response: Response,
    current_response: Response,
    convolver: Convolver,
    pre_delay: PreDelay,
    /// Gains before and after the convolver, which fade around a change of response.
    input_gain: SmoothedValue,
    output_gain: SmoothedValue,
    low_cut_hz: SmoothedValue,
    high_cut_hz: SmoothedValue,
    cut_fractions: [SmoothedValue; 2],
    cuts: [Section; 2],
    /// Whether a parameter was set since the last control point.
    has_new_target: bool,
    level: SmoothedValue,
    mix: SmoothedValue,
}

impl Convolution {
    /// Returns the size of all buffers in bytes: the responses, the spectra of the longest response
    /// and of the input, and the pre-delay.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let rate_hz = f64::from(sample_rate_hz);
        let room_frames = [rooms::SMALL_ROOM, rooms::HALL, rooms::PLATE].map(|room| room.frames(rate_hz));
        let impulse_frames = impulse_frames as usize;
        let longest_frames = room_frames.into_iter().fold(impulse_frames, usize::max);
        values_bytes(2 * (room_frames.iter().sum::<usize>() + impulse_frames))
            + partitions::memory_bytes(longest_frames)
            + PreDelay::memory_bytes(MAX_PRE_DELAY_MS / 1_000.0 * rate_hz)
            + inline_bytes::<Self>(sample_rate_hz, 0)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let room = |room| Waveform::from_room(&room, sample_rate_hz, config.seed);
        let mut responses = [
            Waveform::from_impulse(config.impulse.unwrap_or([&[], &[]])),
            room(rooms::SMALL_ROOM),
            room(rooms::HALL),
            room(rooms::PLATE),
        ];
        let convolver = Self::convolver(&mut responses, Response::User);
        let zero = SmoothedValue::new(0.0);
        let section = Section::new(Shape::passthrough(1.0, 1.0));
        let mut convolution = Self {
            sample_rate_hz,
            next_frame: 0,
            responses,
            target_response: Response::User,
            current_response: Response::User,
            convolver,
            pre_delay: PreDelay::new(MAX_PRE_DELAY_MS / 1_000.0 * sample_rate_hz, FADE_SECS * sample_rate_hz),
            input_gain: SmoothedValue::new(1.0),
            output_gain: SmoothedValue::new(1.0),
            low_cut_hz: zero,
            high_cut_hz: zero,
            cut_fractions: [zero; 2],
            cuts: [section.clone(), section],
            has_new_target: false,
            level: zero,
            mix: zero,
        };
        for (index, parameter) in ConvolutionParam::TABLE.iter().enumerate() {
            convolution.set_parameter(index, parameter.default, 0);
        }
        convolution.reset(0);
        convolution
    }

    /// Creates a silent convolver with capacity for the longest response, which convolves with
    /// `response`.
    fn convolver(responses: &mut [Waveform], response: Response) -> Convolver {
        let max_frames = responses.iter().map(Waveform::frames).fold(0, usize::max);
        let mut convolver = Convolver::new(max_frames);
        convolver.begin(&mut responses[response as usize]);
        convolver
    }

    fn frames(&self, secs: f64) -> u32 {
        (secs * self.sample_rate_hz) as u32
    }

    fn shapes(&self) -> [Shape; 2] {
        const DAMPING: f64 = core::f64::consts::SQRT_2;
        let g = |smoothed: &SmoothedValue| warp(smoothed.value(), self.sample_rate_hz);
        [
            Shape::high_pass(g(&self.low_cut_hz), DAMPING).blend(self.cut_fractions[0].value()),
            Shape::low_pass(g(&self.high_cut_hz), DAMPING).blend(self.cut_fractions[1].value()),
        ]
    }

    fn cut_values(&mut self) -> impl Iterator<Item = &mut SmoothedValue> {
        [&mut self.low_cut_hz, &mut self.high_cut_hz].into_iter().chain(&mut self.cut_fractions)
    }

    /// Computes the values at the control point after `frame`.
    fn process_control_point(&mut self, frame: u64) {
        let is_ramping = core::mem::take(&mut self.has_new_target)
            || self.cut_values().any(|smoothed| !smoothed.is_steady())
            || self.cuts.iter().any(Section::is_moving);
        if is_ramping {
            self.cut_values().for_each(|smoothed| smoothed.advance(CONTROL_FRAMES));
            let shapes = self.shapes();
            self.cuts.iter_mut().zip(shapes).for_each(|(cut, shape)| cut.ramp_to(shape));
        }
        self.cuts.iter_mut().for_each(Section::flush_denormals);
        self.change_response();
        self.pre_delay.process_control_point(frame);
    }

    /// Fades out the output of the old response. Then switches to the new response with a cleared
    /// state and fades in its input.
    fn change_response(&mut self) {
        let fade_frames = self.frames(FADE_SECS);
        let target_gain = if self.target_response == self.current_response { 1.0 } else { 0.0 };
        if self.output_gain.target() != target_gain {
            self.output_gain.set_target(target_gain, fade_frames);
        } else if target_gain == 0.0 && self.output_gain.is_steady() {
            self.current_response = self.target_response;
            self.convolver.begin(&mut self.responses[self.current_response as usize]);
            self.output_gain = SmoothedValue::new(1.0);
            self.input_gain = SmoothedValue::new(0.0);
            self.input_gain.set_target(1.0, fade_frames);
        }
    }
}

impl Effect for Convolution {
    fn reset(&mut self, frame: u64) {
        self.next_frame = frame;
        if self.current_response == self.target_response {
            self.convolver.clear();
        } else {
            self.current_response = self.target_response;
            self.convolver.begin(&mut self.responses[self.current_response as usize]);
        }
        self.pre_delay.clear();
        self.input_gain = SmoothedValue::new(1.0);
        self.output_gain = SmoothedValue::new(1.0);
        self.cut_values().for_each(SmoothedValue::finish);
        self.level.finish();
        self.mix.finish();
        let shapes = self.shapes();
        self.cuts.iter_mut().zip(shapes).for_each(|(cut, shape)| cut.reset(shape));
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = ConvolutionParam::from_index(parameter) else { return };
        self.has_new_target = true;
        let switch_ramp_frames = ramp_frames.max(self.frames(SWITCH_SECS));
        match parameter {
            ConvolutionParam::Response => self.target_response = Response::from_value(value),
            ConvolutionParam::PreDelayMs => {
                self.pre_delay.set_frames(libm::round(value / 1_000.0 * self.sample_rate_hz) as usize);
            }
            ConvolutionParam::LowCutHz => {
                self.low_cut_hz.set_target(value, ramp_frames);
                self.cut_fractions[0]
                    .set_if_new(if value > LOWEST_HZ { 1.0 } else { 0.0 }, switch_ramp_frames);
            }
            ConvolutionParam::HighCutHz => {
                self.high_cut_hz.set_target(value, ramp_frames);
                self.cut_fractions[1]
                    .set_if_new(if value < HIGHEST_HZ { 1.0 } else { 0.0 }, switch_ramp_frames);
            }
            ConvolutionParam::LevelDb => self.level.set_target(f64::from(gain::from_db(value)), ramp_frames),
            ConvolutionParam::Mix => self.mix.set_target(value, ramp_frames),
        }
    }

    fn set_impulse(&mut self, impulse: [&[f32]; 2]) {
        self.responses[Response::User as usize] = Waveform::from_impulse(impulse);
        self.convolver = Self::convolver(&mut self.responses, self.current_response);
    }

    fn longest_silence_frames(&self) -> usize {
        self.pre_delay.frames() + self.responses[self.current_response as usize].frames()
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        let frame = self.next_frame;
        let offset = (frame % CONTROL_FRAMES as u64) as usize;
        self.next_frame += left.len() as u64;
        if offset == 0 {
            self.process_control_point(frame);
        }
        let mut wet = [[0.0; CONTROL_FRAMES]; 2];
        let [wet_left, wet_right] = wet.each_mut().map(|wet| &mut wet[..left.len()]);
        let mut frames = Frames::new(left, right);
        process_in_series(&mut self.cuts, offset, frames.as_mut());
        frames.store(wet_left, wet_right);
        self.pre_delay.process([&mut *wet_left, &mut *wet_right]);
        for (left, right) in wet_left.iter_mut().zip(&mut *wet_right) {
            let gain = self.input_gain.next() as f32;
            (*left, *right) = (*left * gain, *right * gain);
        }
        let response = &mut self.responses[self.current_response as usize];
        self.convolver.process(frame, response, [&mut *wet_left, &mut *wet_right]);
        for ((left, right), (wet_left, wet_right)) in
            left.iter_mut().zip(right).zip(wet_left.iter().zip(wet_right))
        {
            let mix = self.mix.next();
            let (dry, wet) = ((1.0 - mix) as f32, (mix * self.level.next() * self.output_gain.next()) as f32);
            (*left, *right) = (*left * dry + *wet_left * wet, *right * dry + *wet_right * wet);
        }
    }
}
