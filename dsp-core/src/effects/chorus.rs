//! Chorus: copies of the input with modulated delays (J. Dattorro, "Effect Design, Part 2", JAES
//! 45-10, 1997).

use crate::dsp::control::{CONTROL_FRAMES, ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};

use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, choices, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::control_block::{copy_to, zero_padded};
use crate::dsp::denormals::flush_denormal_lanes;
use crate::dsp::fractional_delay_line::{
    FractionalDelayLine, LaneTaps, NEIGHBOURS, SHORTEST_LANE_FRAMES, sum_lanes,
};
use crate::dsp::lanes::{LANES, Lanes};
use crate::dsp::phase::{periods, sine};
use crate::dsp::smoothed_value::SmoothedValue;

/// Maximum number of voices.
const VOICE_COUNT: usize = 4;

/// Longest delay and largest depth, in milliseconds.
const MAX_DELAY_MS: f64 = 40.0;
const MAX_DEPTH_MS: f64 = 10.0;

/// Minimum fade time of a voice, in seconds.
const SWITCH_SECS: f64 = 0.03;

/// Two to four voices with modulated delays.
///
/// The delay of a voice varies by `depth_ms` around `delay_ms`; the depth is limited to `delay_ms`.
/// The shortest delay is 10 frames.
/// The modulation phases of the voices are spaced equally over a period. `spread` pans the voices
/// to positions `p` from -1 to 1, with gains of `min(1, 1 - p)` and `min(1, 1 + p)`. The gains are
/// normalized: each channel has the power of the input.
pub(super) static CHORUS: EffectKind = EffectKind {
    id: "chorus",
    name: "Chorus",
    group: Group::Modulation,
    parameters: ChorusParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Chorus::new(config)),
    memory_bytes: Chorus::memory_bytes,
};

parameters! {
    enum ChorusParam {
        /// Number of delayed copies of the input: 2, 3 or 4.
        Voices = choice("voices", "Voices", VoiceCount::NAMES, VoiceCount::Three as usize),
        /// Frequency of the modulation in hertz.
        RateHz = logarithmic("rate_hz", "Rate", Unit::Hertz, [0.02, 10.0], 0.6),
        /// Largest change of the delays by the modulation.
        DepthMs = linear("depth_ms", "Depth", Unit::Milliseconds, [0.0, MAX_DEPTH_MS], 1.5),
        /// Mean delay of the voices.
        DelayMs = linear("delay_ms", "Delay", Unit::Milliseconds, [1.0, MAX_DELAY_MS], 14.0),
        /// Width of the voices' panning.
        Spread = linear("spread", "Spread", Unit::Proportion, [0.0, 1.0], 0.8),
        /// Gain of the feedback, which is the mean of the first two voices.
        Feedback = linear("feedback", "Feedback", Unit::Proportion, [0.0, 0.5], 0.0),
        /// Proportion of the voices; the remainder is the input.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.4),
    }
}

choices! {
    enum VoiceCount { Two = "2", Three = "3", Four = "4" }
}

impl VoiceCount {
    fn voice_count(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
            Self::Four => 4,
        }
    }
}

/// Indices of the values that ramp between control points.
const DRY_RAMP: usize = 0;
const WET_RAMP: usize = 1;
const FEEDBACK_RAMP: usize = 2;
/// Indices of the first voice's delay in frames, of its gain on the left and of its gain on the
/// right.
const FIRST_DELAY_RAMP: usize = 3;
const FIRST_LEFT_RAMP: usize = FIRST_DELAY_RAMP + VOICE_COUNT;
const FIRST_RIGHT_RAMP: usize = FIRST_LEFT_RAMP + VOICE_COUNT;
const RAMP_COUNT: usize = FIRST_RIGHT_RAMP + VOICE_COUNT;

/// Number of voices in the feedback: the first two voices, which are always active.
const FEEDBACK_VOICE_COUNT: usize = 2;

/// Sums of the voices of one channel, separately for each interpolated neighbour.
#[derive(Clone, Copy)]
struct Voices {
    wet: [Lanes; NEIGHBOURS],
    feedback: [Lanes; NEIGHBOURS],
}

struct Chorus {
    sample_rate_hz: f64,
    settings: SmoothedParameters<ChorusParam, { ChorusParam::COUNT }>,
    clock: ControlClock,
    lfo: Lfo,
    /// Level of each voice, 0 to 1, and its phase relative to the first voice, in periods.
    voice_levels: [SmoothedValue; VOICE_COUNT],
    phase_offsets: [SmoothedValue; VOICE_COUNT],
    delay_lines: [FractionalDelayLine; 2],
    /// Number of silent frames that both delay lines have received in succession.
    silent_frames: usize,
    ramps: [ControlRamp; RAMP_COUNT],
    /// Number of active voices until the next control point.
    active_voices: usize,
}

impl Chorus {
    fn longest_frames(sample_rate_hz: f64) -> f64 {
        1e-3 * (MAX_DELAY_MS + MAX_DEPTH_MS) * sample_rate_hz + SHORTEST_LANE_FRAMES
    }

    /// Returns the size of both delay lines and of the effect itself in bytes.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        2 * FractionalDelayLine::memory_bytes(Self::longest_frames(sample_rate_hz.into()))
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let delay_line = FractionalDelayLine::new(Self::longest_frames(sample_rate_hz));
        let mut chorus = Self {
            sample_rate_hz,
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            voice_levels: [SmoothedValue::new(0.0); VOICE_COUNT],
            phase_offsets: [SmoothedValue::new(0.0); VOICE_COUNT],
            delay_lines: [delay_line.clone(), delay_line],
            silent_frames: usize::MAX,
            ramps: [ControlRamp::default(); RAMP_COUNT],
            active_voices: VOICE_COUNT,
        };
        chorus.ramp_to_voice_count(0);
        chorus
    }

    /// Fades to the number of voices that the parameter selects.
    fn ramp_to_voice_count(&mut self, ramp_frames: u32) {
        let voices = self.settings.choice::<VoiceCount>(ChorusParam::Voices).voice_count();
        for (voice, (voice_level, phase_offset)) in
            self.voice_levels.iter_mut().zip(&mut self.phase_offsets).enumerate()
        {
            voice_level.set_target(if voice < voices { 1.0 } else { 0.0 }, ramp_frames);
            phase_offset.set_target(voice as f64 / voices as f64, ramp_frames);
        }
    }

    fn lfo_rate(&self) -> LfoRate {
        LfoRate::Hertz(self.settings.get(ChorusParam::RateHz))
    }

    fn targets(&self) -> [f64; RAMP_COUNT] {
        let settings = &self.settings;
        let delay_ms = settings.get(ChorusParam::DelayMs);
        let depth_ms = settings.get(ChorusParam::DepthMs).min(delay_ms);
        let mut targets = [0.0; RAMP_COUNT];
        let audible_voices: f64 = self.voice_levels.iter().map(SmoothedValue::value).sum();
        let mut powers = [0.0; 2];
        for voice in 0..VOICE_COUNT {
            let phase = self.lfo.phase().wrapping_add(periods(self.phase_offsets[voice].value()));
            let voice_delay_ms = delay_ms + depth_ms * sine(phase);
            targets[FIRST_DELAY_RAMP + voice] =
                (1e-3 * voice_delay_ms * self.sample_rate_hz).max(SHORTEST_LANE_FRAMES);
            let voice_level = self.voice_levels[voice].value();
            // The first voice is panned to the left and the last voice to the right, for any number
            // of voices.
            let pan = settings.get(ChorusParam::Spread)
                * (2.0 * voice as f64 / (audible_voices - 1.0) - 1.0).clamp(-1.0, 1.0);
            let gains = [voice_level * (1.0 - pan).min(1.0), voice_level * (1.0 + pan).min(1.0)];
            for (power, gain) in powers.iter_mut().zip(gains) {
                *power += gain * gain;
            }
            (targets[FIRST_LEFT_RAMP + voice], targets[FIRST_RIGHT_RAMP + voice]) = (gains[0], gains[1]);
        }
        for (first_ramp, power) in [FIRST_LEFT_RAMP, FIRST_RIGHT_RAMP].into_iter().zip(powers) {
            let gain = 1.0 / libm::sqrt(power);
            targets[first_ramp..first_ramp + VOICE_COUNT].iter_mut().for_each(|target| *target *= gain);
        }
        targets[DRY_RAMP] = 1.0 - settings.get(ChorusParam::Mix);
        targets[WET_RAMP] = settings.get(ChorusParam::Mix);
        targets[FEEDBACK_RAMP] = settings.get(ChorusParam::Feedback) / FEEDBACK_VOICE_COUNT as f64;
        targets
    }

    fn start(&mut self) {
        self.lfo.start(self.clock.control_point(), self.lfo_rate());
        let targets = self.targets();
        reset_all(&mut self.ramps, targets);
    }

    fn step(&mut self) {
        let active_before = self.count_active_voices();
        self.settings.step();
        self.voice_levels
            .iter_mut()
            .chain(&mut self.phase_offsets)
            .for_each(|smoothed| smoothed.advance(CONTROL_FRAMES));
        self.active_voices = active_before.max(self.count_active_voices());
        self.lfo.step(self.lfo_rate());
        let targets = self.targets();
        ramp_all(&mut self.ramps, Some(targets));
    }

    fn count_active_voices(&self) -> usize {
        self.voice_levels.iter().filter(|voice_level| voice_level.value() > 0.0).count()
    }

    /// Reads the voices of both channels for [`LANES`] frames from `offset` frames after the control
    /// point on. Without feedback, its neighbours are 0.
    #[inline(always)]
    fn read_voices<const HAS_FEEDBACK: bool>(&self, offset: usize) -> [Voices; 2] {
        let mut voices =
            [Voices { wet: [Lanes::zero(); NEIGHBOURS], feedback: [Lanes::zero(); NEIGHBOURS] }; 2];
        for voice in 0..self.active_voices {
            let taps = LaneTaps::new(&self.ramps[FIRST_DELAY_RAMP + voice], offset);
            let gain_of = |first_ramp: usize| self.ramps[first_ramp + voice].lanes_at(offset);
            let gains = [gain_of(FIRST_LEFT_RAMP), gain_of(FIRST_RIGHT_RAMP)];
            for ((sums, delay_line), gain) in voices.iter_mut().zip(&self.delay_lines).zip(gains) {
                let neighbours = delay_line.read_lanes(&taps);
                for (sum, neighbour) in sums.wet.iter_mut().zip(neighbours) {
                    *sum = *sum + neighbour * gain;
                }
                if HAS_FEEDBACK && voice < FEEDBACK_VOICE_COUNT {
                    for (sum, neighbour) in sums.feedback.iter_mut().zip(neighbours) {
                        *sum = *sum + neighbour;
                    }
                }
            }
        }
        voices
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

impl Effect for Chorus {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.voice_levels.iter_mut().chain(&mut self.phase_offsets).for_each(SmoothedValue::finish);
        self.clock.reset(frame);
        self.delay_lines.iter_mut().for_each(FractionalDelayLine::clear);
        self.silent_frames = usize::MAX;
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = ChorusParam::from_index(parameter) else { return };
        self.settings.set_target(parameter, value, ramp_frames);
        match parameter {
            ChorusParam::Voices => {
                self.ramp_to_voice_count(ramp_frames.max((SWITCH_SECS * self.sample_rate_hz) as u32));
            }
            ChorusParam::Mix => {
                if ramp_frames == 0 {
                    self.ramps[DRY_RAMP].reset_to(1.0 - value);
                    self.ramps[WET_RAMP].reset_to(value);
                }
            }
            ChorusParam::RateHz
            | ChorusParam::DepthMs
            | ChorusParam::DelayMs
            | ChorusParam::Spread
            | ChorusParam::Feedback => {}
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        ChorusParam::from_index(parameter) == Some(ChorusParam::RateHz)
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
        let has_feedback = !self.ramps[FEEDBACK_RAMP].is_steady_at(0.0);
        let parts = left.chunks_mut(LANES).zip(right.chunks_mut(LANES));
        for (part, (left, right)) in parts.enumerate() {
            let part_offset = offset + part * LANES;
            let voices = if has_feedback {
                self.read_voices::<true>(part_offset)
            } else {
                self.read_voices::<false>(part_offset)
            };
            let lanes_of = |ramp: usize| self.ramps[ramp].lanes_at(part_offset);
            let (dry, wet, feedback) = (lanes_of(DRY_RAMP), lanes_of(WET_RAMP), lanes_of(FEEDBACK_RAMP));
            let channels = [left, right].into_iter().zip(&mut self.delay_lines).zip(voices);
            for ((samples, delay_line), voices) in channels {
                let input = Lanes::new(zero_padded(samples));
                let delayed_input = flush_denormal_lanes(input + sum_lanes(voices.feedback) * feedback);
                delay_line.write_lanes(delayed_input, samples.len());
                let output = input * dry + sum_lanes(voices.wet) * wet;
                copy_to::<LANES>(&output.to_array(), samples);
            }
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
