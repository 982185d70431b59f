//! Reverb: early reflections and a feedback delay network.
//!
//! The input passes the cuts and the pre-delay. Early reflections are taps of the delayed signal
//! ([`reflections`]). For the late reverberation, the signal passes four all-pass filters per
//! channel ([`diffuser`]) and a feedback delay network ([`network`]). Absorption filters in the
//! network set the decay of each frequency ([`absorption`]).
//!
//! After a change of size or pre-delay, all taps crossfade from the old to the new room, without
//! clicks and without a change of pitch.

mod absorption;
mod diffuser;
mod network;
mod reflections;
mod room;

use self::absorption::Decay;
use self::diffuser::Diffuser;
use self::network::Network;
use self::reflections::Reflections;
use self::room::Room;
use super::effect::{CurveIntegral, Effect, EffectConfig, EffectKind, Group};
use super::lfo::{Lfo, LfoRate};
use super::memory::inline_bytes;
use super::parameter::Unit;
use super::params::{ParameterEnum, parameters};
use super::simd_dispatch::with_simd_dispatch;
use super::smoothed_parameters::SmoothedParameters;
use crate::dsp::control::{CONTROL_FRAMES, ControlClock, ControlRamp, ControlWork, ramp_all, reset_all};
use crate::dsp::control_block::{ControlBlock, zero_padded};
use crate::dsp::cut_filters::CutFilters;
use crate::dsp::equal_power::equal_power;
use crate::dsp::memory::values_bytes;
use crate::dsp::tap_crossfade::TapCrossfade;
use crate::dsp::tapped_delay_line::TappedDelayLine;

/// Longest pre-delay, in milliseconds.
const MAX_PRE_DELAY_MS: f64 = 250.0;

/// Crossfade time after a change of size or pre-delay, in seconds.
const FADE_SECS: f64 = 0.06;

/// Largest angle of the network's modulation, in radians.
const MAX_ANGLE: f64 = 0.6;

/// A room with early reflections and separate decays of bass, middle and treble.
///
/// For steady noise the late reverberation is about as loud as the input, whatever the decay time.
pub(super) static REVERB: EffectKind = EffectKind {
    id: "reverb",
    name: "Reverb",
    group: Group::SpaceAndTime,
    parameters: ReverbParam::TABLE,
    has_side_chain: false,
    impulse_max_secs: None,
    make: |config| with_simd_dispatch(Reverb::new(config)),
    memory_bytes: Reverb::memory_bytes,
};

parameters! {
    enum ReverbParam {
        /// Delay of the wet signal.
        PreDelayMs = linear("pre_delay_ms", "Pre-delay", Unit::Milliseconds, [0.0, MAX_PRE_DELAY_MS], 12.0),
        /// Size of the room relative to the largest room.
        Size = linear("size", "Size", Unit::Proportion, [0.1, 1.0], 0.6),
        /// Time in which the late reverberation decays by 60 dB (RT60).
        DecaySecs = logarithmic("decay_secs", "Decay", Unit::Seconds, [0.1, 20.0], 1.8),
        /// Decay time well below the low crossover, as a proportion of `decay_secs`.
        LowDecay = logarithmic("low_decay", "Low decay", Unit::Proportion, [0.25, 2.0], 1.0),
        /// Crossover between bass and middle.
        LowHz = logarithmic("low_hz", "Low below", Unit::Hertz, [50.0, 1_000.0], 250.0),
        /// Decay time well above the high crossover, as a proportion of `decay_secs`.
        HighDecay = logarithmic("high_decay", "High decay", Unit::Proportion, [0.1, 1.0], 0.5),
        /// Crossover between middle and treble.
        HighHz = logarithmic("high_hz", "High above", Unit::Hertz, [1_000.0, 16_000.0], 5_000.0),
        /// Coefficient of the diffusers, relative to its maximum.
        Diffusion = linear("diffusion", "Diffusion", Unit::Proportion, [0.0, 1.0], 0.8),
        /// Gain of the early reflections.
        Early = linear("early", "Early reflections", Unit::Proportion, [0.0, 1.0], 0.5),
        /// Largest angle of the network's modulation, relative to its maximum.
        Modulation = linear("modulation", "Modulation", Unit::Proportion, [0.0, 1.0], 0.5),
        /// Frequency of the network's modulation.
        ModulationHz = logarithmic("modulation_hz", "Modulation rate", Unit::Hertz, [0.05, 5.0], 1.3),
        /// Cut-off of a high-pass filter of 6 dB per octave before the reverb.
        LowCutHz = logarithmic("low_cut_hz", "Low cut", Unit::Hertz, [20.0, 2_000.0], 80.0),
        /// Cut-off of a low-pass filter of 6 dB per octave before the reverb.
        HighCutHz = logarithmic("high_cut_hz", "High cut", Unit::Hertz, [500.0, 20_000.0], 14_000.0),
        /// Gain of the wet side signal: 0 makes the wet signal mono.
        Width = linear("width", "Width", Unit::Proportion, [0.0, 1.0], 1.0),
        /// Equal-power mix: 0 is the input only, 1 the reverberation only.
        Mix = linear("mix", "Mix", Unit::Proportion, [0.0, 1.0], 0.25),
    }
}

struct Reverb {
    sample_rate_hz: f64,
    settings: SmoothedParameters<ReverbParam, { ReverbParam::COUNT }>,
    clock: ControlClock,
    lfo: Lfo,
    cuts: CutFilters,
    /// The input after the cuts.
    inputs: [TappedDelayLine; 2],
    room: TapCrossfade<Room>,
    /// Crossfades to another room start at multiples of this number of frames.
    fade_every_frames: u64,
    /// Pre-delay in milliseconds and size of the newest room, which is the target of the last
    /// crossfade.
    room_settings: [f64; 2],
    reflections: Reflections,
    diffusers: [Diffuser; 2],
    network: Network,
    /// Dry gain, wet gain, width, gain of the early reflections, gain of the late reverberation,
    /// and coefficient of the diffusers, in this order.
    gains: [ControlRamp; 6],
}

impl Reverb {
    fn longest_room(sample_rate_hz: f64) -> Room {
        Room::new(sample_rate_hz, [MAX_PRE_DELAY_MS, 1.0])
    }

    fn input_frames(longest_room: &Room) -> usize {
        let longest_tap = longest_room.taps.iter().flatten().max().copied().unwrap_or(0);
        longest_room.pre_delay_frames + longest_tap + CONTROL_FRAMES
    }

    /// Returns the size in bytes of all delay lines (inputs, network and diffusers) and of the
    /// effect itself.
    fn memory_bytes(sample_rate_hz: u32, impulse_frames: u64) -> u64 {
        let longest_room = Self::longest_room(sample_rate_hz.into());
        let diffusers = [0, 1].map(|side| Diffuser::delays_frames(side, sample_rate_hz.into()));
        let rings = longest_room
            .line_frames
            .iter()
            .chain(diffusers.iter().flatten())
            .map(|frames| frames + CONTROL_FRAMES);
        2 * TappedDelayLine::memory_bytes(Self::input_frames(&longest_room))
            + values_bytes(rings.sum())
            + inline_bytes::<Self>(sample_rate_hz, impulse_frames)
    }

    fn new(config: &EffectConfig<'_>) -> Self {
        let sample_rate_hz = f64::from(config.sample_rate_hz);
        let longest_room = Self::longest_room(sample_rate_hz);
        let fade_frames = (FADE_SECS * sample_rate_hz) as usize;
        let input = TappedDelayLine::new(Self::input_frames(&longest_room));
        Self {
            sample_rate_hz,
            settings: SmoothedParameters::new(),
            clock: ControlClock::new(),
            lfo: Lfo::new(config.sample_rate_hz),
            cuts: CutFilters::new(config.sample_rate_hz),
            inputs: [input.clone(), input],
            room: TapCrossfade::new(longest_room, fade_frames),
            fade_every_frames: fade_frames.next_multiple_of(CONTROL_FRAMES) as u64,
            room_settings: [0.0; 2],
            reflections: Reflections::new(),
            diffusers: [Diffuser::new(0, sample_rate_hz), Diffuser::new(1, sample_rate_hz)],
            network: Network::new(sample_rate_hz, &longest_room.line_frames),
            gains: [ControlRamp::default(); 6],
        }
    }

    fn cuts_hz(&self) -> [f64; 2] {
        [self.settings.get(ReverbParam::LowCutHz), self.settings.get(ReverbParam::HighCutHz)]
    }

    fn room_targets(&self) -> [f64; 2] {
        [self.settings.get(ReverbParam::PreDelayMs), self.settings.get(ReverbParam::Size)]
    }

    fn decay(&self) -> Decay {
        let settings = &self.settings;
        let middle_secs = settings.get(ReverbParam::DecaySecs);
        Decay {
            low_secs: middle_secs * settings.get(ReverbParam::LowDecay),
            middle_secs,
            high_secs: middle_secs * settings.get(ReverbParam::HighDecay),
            low_hz: settings.get(ReverbParam::LowHz),
            high_hz: settings.get(ReverbParam::HighHz),
        }
    }

    fn gain_targets(&self) -> [f64; 6] {
        let settings = &self.settings;
        let [dry, wet] = equal_power(settings.get(ReverbParam::Mix));
        let late = self.network.input_gain(settings.get(ReverbParam::DecaySecs));
        [
            dry,
            wet,
            settings.get(ReverbParam::Width),
            settings.get(ReverbParam::Early),
            late,
            diffuser::MAX_COEFFICIENT * settings.get(ReverbParam::Diffusion),
        ]
    }

    fn lfo_rate(&self) -> LfoRate {
        LfoRate::Hertz(self.settings.get(ReverbParam::ModulationHz))
    }

    fn start(&mut self) {
        self.room_settings = self.room_targets();
        self.room.reset_to(Room::new(self.sample_rate_hz, self.room_settings));
        self.cuts.reset_to(self.cuts_hz());
        self.lfo.start(self.clock.control_point(), self.lfo_rate());
        let (decay, max_angle) = (self.decay(), MAX_ANGLE * self.settings.get(ReverbParam::Modulation));
        self.network.start(&decay, &self.room, self.lfo.phase(), max_angle);
        let gains = self.gain_targets();
        reset_all(&mut self.gains, gains);
    }

    fn step(&mut self) {
        let mut has_changed = self.settings.step();
        // Crossfades start only at these frames, which do not depend on where playback started.
        let may_fade =
            self.room.is_steady() && self.clock.control_point().is_multiple_of(self.fade_every_frames);
        if may_fade && self.room_settings != self.room_targets() {
            self.room_settings = self.room_targets();
            self.room.fade_to(Room::new(self.sample_rate_hz, self.room_settings));
            has_changed = true;
        }
        self.lfo.step(self.lfo_rate());
        let (decay, max_angle) = (self.decay(), MAX_ANGLE * self.settings.get(ReverbParam::Modulation));
        self.network.step(&decay, &self.room, self.lfo.phase(), max_angle);
        self.cuts.step(has_changed.then(|| self.cuts_hz()));
        let gains = has_changed.then(|| self.gain_targets());
        ramp_all(&mut self.gains, gains);
    }
}

impl Reverb {
    /// Mixes the input with the early reflections and the late reverberation.
    #[inline(always)]
    fn mix(
        &self,
        offset: usize,
        [left, right]: [&mut [f32]; 2],
        early: &[ControlBlock; 2],
        [late_left, late_right]: &[ControlBlock; 2],
    ) {
        let mut gains = [[0.0; CONTROL_FRAMES]; 4];
        for (gains, ramp) in gains.iter_mut().zip(&self.gains) {
            ramp.fill(offset, gains);
        }
        let [dry, wet, width, early_gain] = &gains;
        let gains = dry.iter().zip(wet).zip(width.iter().zip(early_gain));
        let early = early[0].iter().zip(&early[1]);
        let late = late_left.iter().zip(late_right);
        let room = early.zip(late).zip(gains);
        for ((left, right), (((early_left, early_right), (late_left, late_right)), gains)) in
            left.iter_mut().zip(right).zip(room)
        {
            let ((dry, wet), (width, early_gain)) = gains;
            let room_left = early_left * early_gain + late_left;
            let room_right = early_right * early_gain + late_right;
            let middle = 0.5 * wet * (room_left + room_right);
            let side = 0.5 * wet * width * (room_left - room_right);
            *left = *left * dry + (middle + side);
            *right = *right * dry + (middle - side);
        }
    }
}

impl Effect for Reverb {
    fn reset(&mut self, frame: u64) {
        self.settings.finish();
        self.clock.reset(frame);
        self.cuts.clear();
        self.inputs.iter_mut().for_each(TappedDelayLine::clear);
        self.diffusers.iter_mut().for_each(Diffuser::clear);
        self.network.clear();
    }

    fn set_parameter(&mut self, parameter: usize, value: f64, ramp_frames: u32) {
        let Some(parameter) = ReverbParam::from_index(parameter) else { return };
        self.settings.set_target(parameter, value, ramp_frames);
        match parameter {
            ReverbParam::Mix => {
                if ramp_frames == 0 {
                    reset_all(&mut self.gains[..2], equal_power(value));
                }
            }
            ReverbParam::PreDelayMs
            | ReverbParam::Size
            | ReverbParam::DecaySecs
            | ReverbParam::LowDecay
            | ReverbParam::LowHz
            | ReverbParam::HighDecay
            | ReverbParam::HighHz
            | ReverbParam::Diffusion
            | ReverbParam::Early
            | ReverbParam::Modulation
            | ReverbParam::ModulationHz
            | ReverbParam::LowCutHz
            | ReverbParam::HighCutHz
            | ReverbParam::Width => {}
        }
    }

    fn integrates(&self, parameter: usize) -> bool {
        ReverbParam::from_index(parameter) == Some(ReverbParam::ModulationHz)
    }

    fn set_integral(&mut self, parameter: usize, integral: Option<CurveIntegral>) {
        if self.integrates(parameter) {
            self.lfo.set_integral(integral);
        }
    }

    fn longest_silence_frames(&self) -> usize {
        self.room.current().longest_path_frames()
            + self.diffusers.iter().map(Diffuser::frames).fold(0, usize::max)
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
        let (frames, offset) = (left.len(), self.clock.offset());
        let mut wet = [&*left, &*right].map(zero_padded);
        self.cuts.process(offset, wet.each_mut().map(|wet| &mut wet[..frames]));
        for (input, wet) in self.inputs.iter_mut().zip(&wet) {
            input.write(&wet[..frames]);
        }
        let mut early = [[0.0; CONTROL_FRAMES]; 2];
        for (side, early) in early.iter_mut().enumerate() {
            let early = &mut early[..frames];
            self.reflections.read(&self.inputs, side, self.room.current(), early);
            self.room.crossfade(early, |room, early| self.reflections.read(&self.inputs, side, room, early));
        }
        let mut gains = [0.0; CONTROL_FRAMES];
        self.gains[4].fill(offset, &mut gains);
        for (side, wet) in wet.iter_mut().enumerate() {
            let input = &self.inputs[side];
            let delayed_block = &mut wet[..frames];
            input.read(self.room.current().pre_delay_frames + frames, delayed_block);
            self.room.crossfade(delayed_block, |room, delayed_block| {
                input.read(room.pre_delay_frames + frames, delayed_block);
            });
            self.diffusers[side].process(offset, &self.gains[5], delayed_block);
            // The gain applies to the network's input. A change of the decay time thus does not
            // change the level of reverberation that already decays.
            wet.iter_mut().zip(&gains).for_each(|(value, gain)| *value *= gain);
        }
        self.network.process(offset, frames, &self.room, &mut wet);
        self.mix(offset, [left, right], &early, &wet);
        self.room.advance(frames);
        self.clock.advance(frames);
    }
}
