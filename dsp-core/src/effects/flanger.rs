//! Flanger: a comb filter with a modulated delay.

use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::control::{ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};
use crate::dsp::denormals::flush_denormal;
use crate::dsp::fractional_delay_line::{FractionalDelayLine, SHORTEST_FRAMES, Taps, sum};
use crate::dsp::phase::{periods, sine};

/// Longest delay and largest depth, in milliseconds.
const MAX_DELAY_MS: f64 = 10.0;
const MAX_DEPTH_MS: f64 = 10.0;

/// A copy of the input with a short, modulated delay.
///
/// The delay is `delay_ms` at the start of a period and `delay_ms + depth_ms` half a period later.
/// It is at least two frames. At a `mix` of 0.5 and a delay of `t` seconds, the comb filter has
/// zeros at odd multiples of `1 / (2 t)` hertz.
pub(super) static FLANGER: EffectKind = EffectKind {
    id: "flanger",
    name: "Flanger",
    group: Group::Modulation,
    parameters: FlangerParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Flanger::new(config)),
    memory_bytes: Flanger::memory_bytes,
};

parameters! {
    enum FlangerParam {
        /// Frequency of the modulation in hertz.
        RateHz = logarithmic("rate_hz", "Rate", Unit::Hertz, [0.01, 10.0], 0.2),
        /// Shortest delay in milliseconds.
        DelayMs = logarithmic("delay_ms", "Delay", Unit::Milliseconds, [0.1, MAX_DELAY_MS], 0.6),
        /// Difference between the longest and the shortest delay.
        DepthMs = linear("depth_ms", "Depth", Unit::Milliseconds, [0.0, MAX_DEPTH_MS], 3.0),
        /// Gain of the feedback. A negative gain inverts the feedback.
        Feedback = linear("feedback", "Feedback", Unit::Proportion, [-0.95, 0.95], 0.4),
        /// Phase of the right channel's modulation relative to that of the left.
        StereoDegrees = linear("stereo_degrees", "Stereo", Unit::Degrees, [0.0, 180.0], 60.0),
        /// Proportion of the delayed signal; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.5),
    }
}

struct Flanger {
    sample_rate_hz: f64,
    settings: SmoothedParameters<FlangerParam, { FlangerParam::COUNT }>,
    clock: ControlClock,
    lfo: Lfo,
    delay_lines: [FractionalDelayLine; 2],
    /// Number of silent frames that both delay lines have received in succession.
    silent_frames: usize,
    taps: [Taps; 2],
    /// Delays of left and right in frames, then the gains of dry, wet and feedback.
    ramps: [ControlRamp; 5],
}

impl Flanger {
    fn longest_frames(sample_rate_hz: f64) -> f64 {
        1e-3 * (MAX_DELAY_MS + MAX_DEPTH_MS) * sample_rate_hz + SHORTEST_FRAMES
    }

    /// Returns the size of both delay lines and of the effect itself in bytes.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        2 * FractionalDelayLine::memory_bytes(Self::longest_frames(sample_rate_hz.into()))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let delay_line = FractionalDelayLine::new(Self::longest_frames(sample_rate_hz));
        Self {
            sample_rate_hz,
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            delay_lines: [delay_line.clone(), delay_line],
            silent_frames: usize::MAX,
            taps: [Taps::NONE; 2],
            ramps: [ControlRamp::default(); 5],
        }
    }

    fn lfo_rate(&self) -> LfoRate {
        LfoRate::Hertz(self.settings.get(FlangerParam::RateHz))
    }

    fn targets(&self) -> [f64; 5] {
        let settings = &self.settings;
        let delay = |phase_offset: f64| {
            // A sine that starts a quarter of a period late starts at its minimum.
            let modulation = 0.5 + 0.5 * sine(self.lfo.phase().wrapping_add(periods(phase_offset - 0.25)));
            let delay_ms =
                settings.get(FlangerParam::DelayMs) + settings.get(FlangerParam::DepthMs) * modulation;
            (1e-3 * delay_ms * self.sample_rate_hz).max(SHORTEST_FRAMES)
        };
        let mix = settings.get(FlangerParam::Mix);
        [
            delay(0.0),
            delay(settings.get(FlangerParam::StereoDegrees) / 360.0),
            1.0 - mix,
            mix,
            settings.get(FlangerParam::Feedback),
        ]
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.control_point(), self.lfo_rate());
        let targets = self.targets();
        reset_all(&mut self.ramps, targets);
    }

    fn step(&mut self) {
        self.settings.step();
        self.lfo.step(self.lfo_rate());
        let targets = self.targets();
        ramp_all(&mut self.ramps, Some(targets));
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

impl Effect for Flanger {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.clock.reset(frame);
        self.delay_lines.iter_mut().for_each(FractionalDelayLine::clear);
        self.silent_frames = usize::MAX;
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = FlangerParam::from_index(parameter) else { return };
        self.settings.set_target(parameter, value, ramp_frames);
        match parameter {
            FlangerParam::Mix => {
                if ramp_frames == 0 {
                    let [_, _, dry, wet, _] = &mut self.ramps;
                    dry.reset_to(1.0 - value);
                    wet.reset_to(value);
                }
            }
            FlangerParam::RateHz
            | FlangerParam::DelayMs
            | FlangerParam::DepthMs
            | FlangerParam::Feedback
            | FlangerParam::StereoDegrees => {}
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        FlangerParam::from_index(parameter) == Some(FlangerParam::RateHz)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        if self.integrates(parameter) {
            self.lfo.set_integral(integral);
        }
    }

    fn longest_silence_frames(&self) -> usize {
        (1e-3 * (MAX_DELAY_MS + MAX_DEPTH_MS) * self.sample_rate_hz) as usize
    }

    #[inline(always)]
    fn process(&mut self, [left, right]: [&mut [f32]; 2], _side_chain: Option<[&[f32]; 2]>) {
        self.process_control_point();
        let (frames, offset) = (left.len(), self.clock.offset());
        for (taps, delay) in self.taps.iter_mut().zip(&self.ramps) {
            taps.compute(delay, offset, frames);
        }
        let [left_delay_line, right_delay_line] = &mut self.delay_lines;
        for (frame, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let [_, _, dry, wet, feedback] =
                self.ramps.each_ref().map(|ramp| ramp.value_f32_at(offset + frame));
            let delayed = [
                sum(left_delay_line.read(&self.taps[0], frame)),
                sum(right_delay_line.read(&self.taps[1], frame)),
            ];
            left_delay_line.write(flush_denormal(*left + delayed[0] * feedback));
            right_delay_line.write(flush_denormal(*right + delayed[1] * feedback));
            *left = *left * dry + delayed[0] * wet;
            *right = *right * dry + delayed[1] * wet;
        }
        let is_silent = self.delay_lines.iter().all(|delay_line| delay_line.ends_in_silence(frames));
        self.silent_frames = if is_silent { self.silent_frames.saturating_add(frames) } else { 0 };
        self.clock.advance(frames);
    }

    fn skip_silence(&mut self, frames: usize) -> bool {
        let is_idle = self.silent_frames >= self.delay_lines[0].frames();
        if is_idle {
            self.process_control_point();
            self.clock.advance(frames);
        }
        is_idle
    }
}
