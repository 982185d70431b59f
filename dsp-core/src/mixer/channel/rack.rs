//! The effects of a track or of the master, with their automation and side-chains.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::chain::{EffectChain, MAX_EFFECTS, SlotSource};
use super::insert::Insert;
use super::recording::Recording;
use super::side_chain::SideChain;
use super::slot::{EffectSlot, impulse_of};
use crate::block::{ActiveOutputs, StereoBlock, TRACK_OUTPUTS};
use crate::dsp::delay_line::DelayLine;
use crate::effects::{EffectConfig, RECORDED_OUTPUT, effect_kind};
use crate::mixer::LoopRegion;
use crate::mixer::automation::curve::{multiple_before, next_multiple};
use crate::mixer::automation::{AutomationCurve, AutomationReader};
use crate::mixer::tempo::Tempo;
use crate::mixer::track::clips::WantedAudio;
use crate::mixer::transition::EffectsPlan;
use crate::session::{Audio, AudioSlot, AutomationLane, AutomationTarget, EffectSettings};

/// Crossfade time after a change of a delay, in seconds.
const DELAY_FADE_SECS: f64 = 0.01;

/// The settings of a rack in a session.
pub(crate) struct RackSettings<'a> {
    /// Id of the track; empty for the master.
    pub(crate) track_id: &'a str,
    pub(crate) effects: &'a [EffectSettings],
    pub(crate) is_bypassed: bool,
    pub(crate) lanes: &'a [AutomationLane],
    pub(crate) seed: u64,
    pub(crate) audio: &'a [Option<AudioSlot>],
    pub(crate) tempo: &'a Tempo,
    /// Current frame of the clock.
    pub(crate) clock: u64,
}

/// An automated parameter of an effect, with the reader of its curve.
struct AutomatedParameter {
    effect: usize,
    effect_id: String,
    parameter: usize,
    reader: AutomationReader,
    /// Whether the effect needs the integral of the parameter.
    is_integrated: bool,
    /// Frame of the clock at which the effect next needs the integral.
    next_integral_clock: u64,
}

/// The effects of a track or of the master.
pub(crate) struct EffectRack {
    chain: EffectChain,
    /// Whether each effect is bypassed individually, apart from the bypass of the whole rack.
    effect_bypass: Vec<bool>,
    is_bypassed: bool,
    automated_parameters: Vec<AutomatedParameter>,
    tempo: Tempo,
    sample_rate_hz: u32,
    /// Latency of the input, in frames of the clock.
    input_latency_frames: usize,
    clock: u64,
    next_tempo_change: u64,
    next_control_point: u64,
    /// Whether the rack runs in the mix, where it also processes the inputs of the track's strip.
    /// Otherwise it runs with the track's source.
    pub(crate) runs_in_mix: bool,
    pub(crate) side_chains: Vec<SideChain>,
    /// The recorded outputs of effects that the engine cannot run itself.
    pub(crate) recordings: Vec<Recording>,
    /// Delays that align the track's source with the inputs of its strip.
    source_delays: [DelayLine; TRACK_OUTPUTS],
    /// Delays of the reverb and chorus sends by the latency of the effects. The sends bypass the
    /// effects.
    send_delays: [DelayLine; 2],
    /// Effects outside the engine, which follow those of the chain.
    pub(crate) insert: Option<Box<Insert>>,
}

impl EffectRack {
    /// Creates a rack without effects, at frame 0.
    pub(crate) fn new(tempo: &Tempo, sample_rate_hz: u32) -> Self {
        Self {
            chain: EffectChain::new(sample_rate_hz),
            effect_bypass: Vec::new(),
            is_bypassed: false,
            automated_parameters: Vec::new(),
            tempo: tempo.clone(),
            sample_rate_hz,
            input_latency_frames: 0,
            clock: 0,
            next_tempo_change: 0,
            next_control_point: 0,
            runs_in_mix: false,
            side_chains: Vec::new(),
            recordings: Vec::new(),
            source_delays: core::array::from_fn(|_| DelayLine::new(0)),
            send_delays: core::array::from_fn(|_| DelayLine::new(0)),
            insert: None,
        }
    }

    pub(crate) fn has_effects(&self) -> bool {
        !self.chain.slots().is_empty()
    }

    pub(crate) fn latency_frames(&self) -> usize {
        self.chain.latency_frames() + self.insert.as_ref().map_or(0, |insert| insert.latency_frames())
    }

    /// Sets the latency in frames of effects outside the engine; `None` removes them.
    pub(crate) fn set_insert(&mut self, latency_frames: Option<usize>) {
        match (latency_frames, &mut self.insert) {
            (Some(frames), Some(insert)) => insert.set_latency(frames),
            (frames, insert) => {
                *insert = frames.map(|frames| Box::new(Insert::new(self.sample_rate_hz, frames)));
            }
        }
        self.delay_sends();
    }

    /// Delays the sends by the latency of the effects.
    fn delay_sends(&mut self) {
        let (latency_frames, fade_frames) = (self.latency_frames(), self.delay_fade_frames());
        self.send_delays.iter_mut().for_each(|delay| delay.set_frames(latency_frames, fade_frames));
    }

    /// Returns the latency of the output in frames, relative to the clock.
    pub(crate) fn output_latency_frames(&self) -> usize {
        self.input_latency_frames + self.latency_frames()
    }

    /// Returns the latency of the input of the effect at an index in frames, relative to the rack's
    /// input.
    pub(crate) fn latency_frames_before(&self, effect: usize) -> usize {
        self.chain.latency_frames_before(effect)
    }

    /// Returns the longest silence in frames after which the output may become audible again
    /// without new input. A recording may do so until its end.
    pub(crate) fn longest_silence_frames(&self) -> usize {
        let recorded_frames = self.recordings.iter().map(Recording::remaining_frames).max().unwrap_or(0);
        self.chain.longest_silence_frames() + recorded_frames
    }

    /// Changes the effects according to a plan, and applies their settings.
    pub(crate) fn apply(&mut self, settings: &RackSettings<'_>, plan: &EffectsPlan) {
        self.tempo = settings.tempo.clone();
        self.is_bypassed = settings.is_bypassed;
        if !self.has_effects() {
            // The clock of a rack without effects does not advance, so it is set here.
            self.clock = settings.clock;
            self.chain.set_clock(settings.clock);
        }
        let old_recordings = self.take_recordings();
        if plan.is_changed {
            let sources = settings.effects.iter().zip(&plan.sources);
            let sources = sources.filter_map(|(effect, kept_index)| match kept_index {
                Some(index) => Some(SlotSource::Kept(*index)),
                None => Some(SlotSource::New(Box::new(self.new_slot(effect, settings)?))),
            });
            let sources = sources.collect();
            self.chain.change(sources);
        }
        self.effect_bypass = settings.effects.iter().map(|effect| effect.bypass).collect();
        self.chain.set_impulse_slots(settings.effects.iter().map(|effect| effect.audio_slot));
        self.set_recordings(settings.effects, old_recordings);
        self.set_audio(settings.audio);
        self.set_values(settings);
        self.set_lanes(settings.lanes);
        self.delay_sends();
        self.next_tempo_change = 0;
    }

    /// Sets each effect's impulse response or recording from its slot.
    pub(crate) fn set_audio(&mut self, audio: &[Option<AudioSlot>]) {
        self.chain.set_audio(audio);
        self.recordings.iter_mut().for_each(|recording| recording.set_audio(audio));
    }

    /// Returns the blocks that the recordings need. `clip_count` is the number of clips of the
    /// track at the index `track`. See [`crate::mixer::Mixer::wanted_audio`].
    pub(crate) fn wanted(&self, track: usize, clip_count: usize) -> impl Iterator<Item = WantedAudio> {
        self.recordings
            .iter()
            .flat_map(move |recording| recording.wanted(track, clip_count + recording.effect))
    }

    /// Takes the recordings, with the ids of their effects.
    fn take_recordings(&mut self) -> Vec<(String, Recording)> {
        let slots = self.chain.slots();
        let with_id = |recording: Recording| Some((slots.get(recording.effect)?.id().into(), recording));
        core::mem::take(&mut self.recordings).into_iter().filter_map(with_id).collect()
    }

    /// Creates the recordings of the effects. Those of kept effects continue.
    fn set_recordings(&mut self, effects: &[EffectSettings], mut old: Vec<(String, Recording)>) {
        for (index, effect) in effects.iter().enumerate() {
            let Some(slot) = effect.audio_slot.filter(|_| effect.kind == RECORDED_OUTPUT.id) else {
                continue;
            };
            let kept = old.iter().position(|(id, _)| *id == effect.id).map(|kept| old.swap_remove(kept).1);
            let recording = match kept {
                Some(mut recording) => {
                    recording.effect = index;
                    recording.set_slot(slot);
                    recording
                }
                None => {
                    let mut recording = Recording::new(index, slot, self.sample_rate_hz);
                    recording.move_to_input_frame(self.clock);
                    recording
                }
            };
            self.recordings.push(recording);
        }
    }

    fn delay_fade_frames(&self) -> u32 {
        libm::round(DELAY_FADE_SECS * f64::from(self.sample_rate_hz)) as u32
    }

    /// Creates an effect whose parameters have their values from the first frame on.
    fn new_slot(&self, effect: &EffectSettings, settings: &RackSettings<'_>) -> Option<EffectSlot> {
        let kind = effect_kind(&effect.kind)?;
        let audio = impulse_of(kind, effect.audio_slot, settings.audio, self.sample_rate_hz);
        let impulse = audio.map(Audio::channels);
        let config = EffectConfig {
            sample_rate_hz: self.sample_rate_hz,
            seed: effect_seed(settings.seed, settings.track_id, &effect.id),
            impulse: impulse.as_ref().map(|[left, right]| [&left[..], &right[..]]),
        };
        let mut slot = EffectSlot::new(&effect.id, kind, &config);
        slot.impulse = audio.cloned();
        for (parameter, value) in effect.values.iter().enumerate() {
            slot.set_parameter(parameter, *value, 0);
        }
        Some(slot)
    }

    fn set_values(&mut self, settings: &RackSettings<'_>) {
        for (index, effect) in settings.effects.iter().enumerate() {
            let Some(slot) = self.chain.slots().get(index) else { continue };
            for (number, parameter) in slot.kind().parameters.iter().enumerate() {
                let value = effect.values.get(number).copied().unwrap_or(parameter.default);
                if !is_automated(settings.lanes, index, number) {
                    self.chain.set_if_new(index, number, value);
                }
            }
            self.chain.set_bypass(index, self.is_bypassed || effect.bypass);
        }
    }

    fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let mut old = core::mem::take(&mut self.automated_parameters);
        for lane in lanes {
            let AutomationTarget::Effect { effect, parameter } = lane.target else { continue };
            let (effect, parameter) = (effect as usize, parameter as usize);
            let Some(slot) = self.chain.slots().get(effect) else { continue };
            let Some(description) = slot.kind().parameters.get(parameter) else { continue };
            let Some(mut curve) = AutomationCurve::new(&lane.points) else { continue };
            let is_integrated = self.chain.integrates(effect, parameter);
            if is_integrated {
                curve.prepare_sums([description.min, description.max]);
            }
            let is_same_parameter = |old: &AutomatedParameter| {
                let target = old.reader.ramp_target().map(|value| description.clamp(value));
                (&*old.effect_id, old.parameter) == (slot.id(), parameter)
                    && target == Some(slot.values()[parameter])
            };
            let old = old.iter().position(is_same_parameter).map(|index| old.swap_remove(index).reader);
            let reader = AutomationReader::replace(old, curve, false, self.sample_rate_hz);
            let effect_id = slot.id().into();
            let next_integral_clock = 0;
            self.automated_parameters.push(AutomatedParameter {
                effect,
                effect_id,
                parameter,
                reader,
                is_integrated,
                next_integral_clock,
            });
        }
        let counts: Vec<usize> = self.chain.slots().iter().map(|slot| slot.kind().parameters.len()).collect();
        for (effect, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|parameter| self.chain.set_integral(effect, parameter, None));
        }
        self.next_control_point = 0;
    }

    /// Sets the latency of the input in frames, relative to the clock.
    pub(crate) fn set_input_latency(&mut self, frames: usize) {
        self.input_latency_frames = frames;
        for automated_parameter in &mut self.automated_parameters {
            automated_parameter
                .reader
                .set_latency(frames + self.chain.latency_frames_before(automated_parameter.effect));
            automated_parameter.send_integral(self.clock, &mut self.chain);
        }
        for recording in &mut self.recordings {
            let before_frames = self.chain.latency_frames_before(recording.effect);
            recording.set_latency(frames + before_frames, self.clock);
        }
        self.next_tempo_change = 0;
        self.next_control_point = 0;
        if let Some(insert) = &mut self.insert {
            insert.buffers.input_latency_frames = (frames + self.chain.latency_frames()) as u32;
        }
        let fade_frames = self.delay_fade_frames();
        self.source_delays.iter_mut().for_each(|delay| delay.set_frames(frames, fade_frames));
    }

    /// Ramps a parameter to a value that a user sets. An automated parameter continues to follow
    /// its curve.
    pub(crate) fn set_parameter(&mut self, effect: usize, parameter: usize, value: f64) {
        let is_same = |automated_parameter: &AutomatedParameter| {
            (automated_parameter.effect, automated_parameter.parameter) == (effect, parameter)
        };
        if !self.automated_parameters.iter().any(is_same) {
            self.chain.set_parameter(effect, parameter, value);
        }
    }

    /// Sets whether one effect is bypassed.
    pub(crate) fn set_effect_bypass(&mut self, effect: usize, is_bypassed: bool) {
        if let Some(effect_bypass) = self.effect_bypass.get_mut(effect) {
            *effect_bypass = is_bypassed;
            self.chain.set_bypass(effect, self.is_bypassed || is_bypassed);
        }
    }

    /// Sets whether all effects are bypassed.
    pub(crate) fn set_bypass(&mut self, is_bypassed: bool) {
        self.is_bypassed = is_bypassed;
        for (effect, effect_bypass) in self.effect_bypass.iter().enumerate() {
            self.chain.set_bypass(effect, is_bypassed || *effect_bypass);
        }
    }

    /// Returns the index of the effect with an id.
    pub(crate) fn effect_index(&self, id: &str) -> Option<usize> {
        self.chain.slots().iter().position(|slot| slot.id() == id)
    }

    /// Returns the index of the parameter with an id.
    pub(crate) fn parameter_index(&self, effect: usize, id: &str) -> Option<usize> {
        self.chain.slots().get(effect)?.kind().parameter_index(id)
    }

    /// See [`EffectChain::gain_reduction_db`].
    pub(crate) fn gain_reduction_db(&self, effect: usize) -> Option<f32> {
        self.chain.gain_reduction_db(effect)
    }

    /// Clears all audio state and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.clock = clock;
        for automated_parameter in &mut self.automated_parameters {
            let value = automated_parameter.reader.reset(clock);
            self.chain.automate(automated_parameter.effect, automated_parameter.parameter, value, 0);
            automated_parameter.send_integral(clock, &mut self.chain);
        }
        self.chain.reset(clock);
        self.side_chains.iter_mut().for_each(SideChain::reset);
        self.recordings.iter_mut().for_each(|recording| recording.reset(clock));
        self.insert.iter_mut().for_each(|insert| insert.reset());
        self.source_delays.iter_mut().chain(&mut self.send_delays).for_each(DelayLine::clear);
        self.next_control_point = 0;
        self.set_time();
    }

    /// Stops automation. Automated parameters ramp to their values at `frame`.
    pub(crate) fn stop(&mut self, frame: u64) {
        for automated_parameter in &mut self.automated_parameters {
            self.chain.set_parameter(
                automated_parameter.effect,
                automated_parameter.parameter,
                automated_parameter.reader.stop(frame),
            );
        }
        self.recordings.iter_mut().for_each(|recording| recording.stop(frame));
        self.next_control_point = 0;
    }

    /// Sets the loop that the session plays.
    pub(crate) fn set_loop(&mut self, region: Option<LoopRegion>) {
        let clock = self.clock;
        self.recordings.iter_mut().for_each(|recording| recording.set_loop(region, clock));
    }

    /// Moves automation and tempo to the start of a loop. Automated parameters ramp to their values
    /// there. Tails and oscillators of the effects continue.
    pub(crate) fn jump(&mut self, clock: u64) {
        self.clock = clock;
        self.automated_parameters.iter_mut().for_each(|parameter| {
            parameter.reader.leave_curve();
            parameter.next_integral_clock = 0;
        });
        self.next_control_point = 0;
        self.set_time();
    }

    fn set_time(&mut self) {
        let frame = self.clock as i64 - self.input_latency_frames as i64;
        self.chain.set_time(self.tempo.time_at(frame));
        let next = self.tempo.next_change(frame);
        self.next_tempo_change =
            next.map_or(u64::MAX, |next| (next + self.input_latency_frames as i64) as u64);
    }

    /// Advances automation and tempo to the clock. Returns how many of the next `frames` frames are
    /// before the next control point.
    fn follow_automation(&mut self, frames: usize) -> usize {
        let clock = self.clock;
        if clock >= self.next_control_point {
            if clock >= self.next_tempo_change {
                self.set_time();
            }
            let mut next = self.next_tempo_change;
            for automated_parameter in &mut self.automated_parameters {
                automated_parameter.follow_curve(clock, &mut self.chain);
                if clock >= automated_parameter.next_integral_clock {
                    automated_parameter.send_integral(clock, &mut self.chain);
                }
                next = next
                    .min(automated_parameter.reader.next_control_point())
                    .min(automated_parameter.next_integral_clock);
            }
            self.next_control_point = next;
        }
        frames.min(usize::try_from(self.next_control_point - clock).unwrap_or(frames))
    }

    /// Delays the track's source to align it with the inputs of the strip. The values of inactive
    /// outputs are neither read nor cleared.
    pub(crate) fn align_source(
        &mut self,
        outputs: [&mut [f32]; TRACK_OUTPUTS],
        active_outputs: &mut ActiveOutputs,
    ) {
        delay(&mut self.source_delays, outputs, active_outputs);
    }

    /// Processes the outputs of a track in place. The side-chains read their signals from `taps`.
    pub(crate) fn process(
        &mut self,
        is_playing: bool,
        outputs: [&mut [f32]; TRACK_OUTPUTS],
        active_outputs: &mut ActiveOutputs,
        taps: &[Option<Box<StereoBlock>>],
    ) {
        let [left, right, reverb, chorus] = outputs;
        let [left_active, right_active, sends_active @ ..] = active_outputs;
        let is_idle = self.chain.is_idle();
        if is_idle {
            let last = |values: &[f32], is_active: bool| if is_active { last_value(values) } else { 0.0 };
            self.chain.pass_idle([last(left, *left_active), last(right, *right_active)]);
        }
        if !is_idle || self.insert.is_some() {
            for (values, is_active) in [&mut *left, &mut *right].into_iter().zip([left_active, right_active])
            {
                if !core::mem::replace(is_active, true) {
                    values.fill(0.0);
                }
            }
        }
        if !is_idle {
            self.process_effects(is_playing, [&mut *left, &mut *right], taps);
        }
        if let Some(insert) = &mut self.insert {
            insert.process([left, right]);
        }
        delay(&mut self.send_delays, [reverb, chorus], sends_active);
    }

    /// Processes left and right of the master in place.
    pub(crate) fn process_master(
        &mut self,
        is_playing: bool,
        [left, right]: [&mut [f32]; 2],
        taps: &[Option<Box<StereoBlock>>],
    ) {
        if self.chain.is_idle() {
            self.chain.pass_idle([last_value(left), last_value(right)]);
        } else {
            self.process_effects(is_playing, [&mut *left, &mut *right], taps);
        }
        if let Some(insert) = &mut self.insert {
            insert.process([left, right]);
        }
    }

    fn process_effects(
        &mut self,
        is_playing: bool,
        [left, right]: [&mut [f32]; 2],
        taps: &[Option<Box<StereoBlock>>],
    ) {
        let frames = left.len();
        self.side_chains.iter_mut().for_each(|side_chain| side_chain.read(taps, frames));
        // While the session is stopped, effects with a recording pass their input.
        let playing_recordings = if is_playing { self.recordings.len() } else { 0 };
        self.recordings[..playing_recordings].iter_mut().for_each(|recording| recording.read(frames));
        let mut processed_frames = 0;
        while processed_frames < frames {
            let chunk_frames = if is_playing {
                self.follow_automation(frames - processed_frames)
            } else {
                frames - processed_frames
            };
            let chunk = processed_frames..processed_frames + chunk_frames;
            let (left, right) = (&mut left[chunk.clone()], &mut right[chunk.clone()]);
            let recordings = &self.recordings[..playing_recordings];
            if self.side_chains.is_empty() && recordings.is_empty() {
                self.chain.process(left, right, &[]);
            } else {
                let mut inputs = [None; MAX_EFFECTS];
                let side_chains =
                    self.side_chains.iter().map(|side_chain| (side_chain.effect, side_chain.audio()));
                let recordings = recordings.iter().map(|recording| (recording.effect, recording.audio()));
                for (effect, audio) in side_chains.chain(recordings) {
                    if let Some(input) = inputs.get_mut(effect) {
                        *input = Some(audio.each_ref().map(|values| &values[chunk.clone()]));
                    }
                }
                self.chain.process(left, right, &inputs);
            }
            self.clock = self.clock.wrapping_add(chunk.len() as u64);
            processed_frames = chunk.end;
        }
    }
}

fn last_value(values: &[f32]) -> f32 {
    values.last().copied().unwrap_or(0.0)
}

impl AutomatedParameter {
    /// Passes the sums of the parameter's values at the control points around a frame to an effect
    /// that needs the integral.
    fn send_integral(&mut self, clock: u64, chain: &mut EffectChain) {
        if !self.is_integrated {
            self.next_integral_clock = u64::MAX;
            return;
        }
        let (control_point, next_control_point) = (multiple_before(clock), next_multiple(clock));
        let sums = [control_point, next_control_point].map(|clock| self.reader.curve().sum(clock));
        chain.set_integral(self.effect, self.parameter, Some((control_point, sums)));
        self.next_integral_clock = next_control_point;
    }

    fn follow_curve(&mut self, clock: u64, chain: &mut EffectChain) {
        let Some(step) = self.reader.step(clock) else { return };
        let reset = step.reset_to.map(|value| (value, 0));
        for (value, ramp_frames) in reset.into_iter().chain(step.ramp) {
            chain.automate(self.effect, self.parameter, value, ramp_frames);
        }
    }
}

/// Delays the active outputs. An inactive output becomes active while its delay still contains a
/// tail.
fn delay<const OUTPUTS: usize>(
    delays: &mut [DelayLine; OUTPUTS],
    outputs: [&mut [f32]; OUTPUTS],
    is_active: &mut [bool; OUTPUTS],
) {
    for ((delay, values), is_active) in delays.iter_mut().zip(outputs).zip(is_active) {
        if *is_active {
            delay.process(values);
        } else if delay.is_ringing() {
            delay.drain(values);
            *is_active = true;
        } else {
            delay.settle_if_silent();
        }
    }
}

fn is_automated(lanes: &[AutomationLane], effect: usize, parameter: usize) -> bool {
    let target = AutomationTarget::Effect { effect: effect as u32, parameter: parameter as u32 };
    lanes.iter().any(|lane| lane.target == target && AutomationCurve::new(&lane.points).is_some())
}

/// Returns the seed of an effect: the FNV-1a hash (Fowler, Noll and Vo) of the session's seed, the
/// track's id, which is empty for the master, and the effect's id.
pub fn effect_seed(seed: u64, track_id: &str, effect_id: &str) -> u64 {
    let ids = track_id.bytes().chain([0]).chain(effect_id.bytes());
    seed.to_le_bytes().into_iter().chain(ids).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
