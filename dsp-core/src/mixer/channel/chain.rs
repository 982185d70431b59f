//! A chain of effects in series.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::slot::EffectSlot;
use crate::dsp::control::frames_to_multiple;
use crate::dsp::declicker::Declicker;
use crate::dsp::gate::Gate;
use crate::effects::{CurveIntegral, LONGEST_FRAMES, MusicalTime, clamp_to_range};
use crate::session::AudioSlot;

/// Ramp time of a parameter that a user changes, in seconds.
const PARAMETER_RAMP_SECS: f64 = 0.02;

/// Crossfade time of a bypass, in seconds.
const BYPASS_FADE_SECS: f64 = 0.01;

/// Additional silence in seconds if a kept effect gets another input. The declicker at the input of
/// the effect decays to a thousandth in this time.
const INPUT_SETTLING_SECS: f64 = 0.01;

/// Maximum number of effects in one chain.
pub const MAX_EFFECTS: usize = 64;

/// A chain of effects in series.
///
/// The output depends on the position in the session, never on the call size.
pub struct EffectChain {
    sample_rate_hz: u32,
    clock: u64,
    slots: Vec<EffectSlot>,
    /// Mutes the output after a change until the effects have filled their latency.
    output_gate: Gate,
    output_declicker: Declicker,
}

/// The origin of an effect in a changed chain.
pub enum SlotSource {
    /// The existing effect at this index of the chain, which keeps its state.
    Kept(usize),
    /// An effect that the chain does not have yet.
    New(Box<EffectSlot>),
}

impl EffectChain {
    /// Creates a chain without effects, at frame 0.
    pub fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz,
            clock: 0,
            slots: Vec::new(),
            output_gate: Gate::new_open(sample_rate_hz),
            output_declicker: Declicker::new(sample_rate_hz),
        }
    }

    /// Adds an effect at the end.
    pub fn push(&mut self, mut slot: EffectSlot) {
        slot.reset(self.clock);
        self.slots.push(slot);
    }

    /// Replaces the effects by those of `sources`, in their order. Existing effects keep their
    /// state. The output is silent until the latency of all effects has passed, then fades in over
    /// 10 ms. The silence is 10 ms longer if an existing effect gets another input. Indices that do
    /// not exist or occur twice are ignored.
    pub fn change(&mut self, sources: Vec<SlotSource>) {
        let mut old: Vec<Option<EffectSlot>> =
            core::mem::take(&mut self.slots).into_iter().map(Some).collect();
        let mut first_change = None;
        let mut settling_frames = 0;
        for source in sources {
            let (slot, old_index) = match source {
                SlotSource::Kept(index) => (old.get_mut(index).and_then(Option::take), Some(index)),
                SlotSource::New(mut slot) => {
                    slot.reset(self.clock);
                    (Some(*slot), None)
                }
            };
            let Some(mut slot) = slot else { continue };
            if old_index != Some(self.slots.len()) {
                first_change.get_or_insert(self.slots.len());
            }
            if first_change.is_some() {
                slot.switch_input();
                settling_frames =
                    if old_index.is_some() { self.frames(INPUT_SETTLING_SECS) } else { settling_frames };
            }
            self.slots.push(slot);
        }
        self.fade_in(settling_frames);
    }

    /// Sets the slots of the effects' impulse responses, in the order of the effects.
    pub(super) fn set_impulse_slots(&mut self, impulse_slots: impl Iterator<Item = Option<u32>>) {
        self.slots.iter_mut().zip(impulse_slots).for_each(|(slot, impulse)| slot.impulse_slot = impulse);
    }

    /// Sets each effect's impulse response from its slot. If an impulse response changes, the
    /// output fades in.
    pub(super) fn set_audio(&mut self, audio: &[Option<AudioSlot>]) {
        let sample_rate_hz = self.sample_rate_hz;
        let changed_slots =
            self.slots.iter_mut().filter_map(|slot| slot.set_audio(audio, sample_rate_hz).then_some(()));
        if changed_slots.count() > 0 {
            self.fade_in(0);
        }
    }

    /// Mutes the output until the latency of all effects and `settling_frames` have passed, then
    /// fades it in.
    fn fade_in(&mut self, settling_frames: u32) {
        self.output_declicker.switch();
        self.output_gate.close();
        self.output_gate.fade_in(self.latency_frames() + settling_frames as usize);
    }

    /// Returns the effects, in the order of the signal flow.
    pub fn slots(&self) -> &[EffectSlot] {
        &self.slots
    }

    /// Whether the output equals the input.
    pub fn is_idle(&self) -> bool {
        self.slots.is_empty() && self.output_gate.is_open() && self.output_declicker.is_idle()
    }

    /// Returns the latency of the output in frames, including that of bypassed effects.
    pub fn latency_frames(&self) -> usize {
        self.latency_frames_before(self.slots.len())
    }

    /// Returns the latency of the input of the effect at an index, in frames.
    pub fn latency_frames_before(&self, index: usize) -> usize {
        self.slots.iter().take(index).map(EffectSlot::latency_frames).sum()
    }

    /// Returns the longest silence in frames after which the output may become audible again
    /// without new input. It is the sum of
    /// [`Effect::longest_silence_frames`](crate::effects::Effect::longest_silence_frames) over the
    /// effects that are not bypassed.
    pub fn longest_silence_frames(&self) -> usize {
        let active_slots = self.slots.iter().filter(|slot| !slot.is_bypassed());
        active_slots.map(|slot| slot.effect.longest_silence_frames()).sum()
    }

    /// Clears all audio state and moves to `frame` of the session.
    pub fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.output_gate.finish();
        self.output_declicker.reset();
        self.slots.iter_mut().for_each(|slot| slot.reset(frame));
    }

    /// Moves a chain without effects to `frame` of the session.
    pub(crate) fn set_clock(&mut self, frame: u64) {
        self.clock = frame;
    }

    /// Sets the musical time of the next frame.
    pub fn set_time(&mut self, time: MusicalTime) {
        self.slots.iter_mut().for_each(|slot| slot.set_time(time));
    }

    /// Whether an effect needs the integral of a parameter. See
    /// [`Effect::integrates`](crate::effects::Effect::integrates).
    pub(crate) fn integrates(&self, slot: usize, parameter: usize) -> bool {
        self.slots.get(slot).is_some_and(|slot| slot.effect.integrates(parameter))
    }

    /// Sets the integral of an automated parameter of an effect, or `None` if the parameter is not
    /// automated. `sums` has a control point, then the sums of the values over all frames before it
    /// and before the next control point. See
    /// [`Effect::set_integral`](crate::effects::Effect::set_integral).
    pub(crate) fn set_integral(&mut self, slot: usize, parameter: usize, sums: Option<(u64, [f64; 2])>) {
        let sample_rate_hz = f64::from(self.sample_rate_hz);
        if let Some(slot) = self.slots.get_mut(slot) {
            let sums = sums.map(|(frame, sums)| CurveIntegral {
                frame,
                value_secs: sums.map(|sum| sum / sample_rate_hz),
            });
            slot.effect.set_integral(parameter, sums);
        }
    }

    /// Ramps a parameter to a value within `ramp_frames` frames, for automation. Does nothing if
    /// the chain has no such effect or parameter.
    pub fn automate(&mut self, slot: usize, parameter: usize, value: f64, ramp_frames: u32) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.set_parameter(parameter, value, ramp_frames);
        }
    }

    /// Ramps a parameter to a value within 20 ms, for changes by a user.
    pub fn set_parameter(&mut self, slot: usize, parameter: usize, value: f64) {
        self.automate(slot, parameter, value, self.frames(PARAMETER_RAMP_SECS));
    }

    /// Calls [`Self::set_parameter`] unless the parameter's last target is `value`.
    pub(crate) fn set_if_new(&mut self, slot: usize, parameter: usize, value: f64) {
        let is_new = |slot: &EffectSlot| {
            let description = slot.kind().parameters.get(parameter);
            description.is_some_and(|description| slot.values()[parameter] != description.clamp(value))
        };
        if self.slots.get(slot).is_some_and(is_new) {
            self.set_parameter(slot, parameter, value);
        }
    }

    /// Sets whether an effect is bypassed, with a crossfade of 10 ms.
    pub fn set_bypass(&mut self, slot: usize, is_bypassed: bool) {
        let fade_frames = self.frames(BYPASS_FADE_SECS);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.set_bypass(is_bypassed, fade_frames);
        }
    }

    fn frames(&self, secs: f64) -> u32 {
        libm::round(secs * f64::from(self.sample_rate_hz)) as u32
    }

    /// Returns the current gain reduction of an effect in decibels, or `None` if the effect does
    /// not measure one.
    pub fn gain_reduction_db(&self, slot: usize) -> Option<f32> {
        self.slots.get(slot)?.effect.gain_reduction_db()
    }

    /// Records the last frame of an input that the caller did not process because the chain
    /// [`Self::is_idle`].
    pub(crate) fn pass_idle(&mut self, last_frame: [f32; 2]) {
        self.output_declicker.bypass(last_frame);
    }

    /// Processes any number of frames of left and right in place. `side_chains` has an entry for
    /// each effect, whose slices are as long as `left`. Effects without an entry have no
    /// side-chain.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], side_chains: &[Option<[&[f32]; 2]>]) {
        let mut processed_frames = 0;
        while processed_frames < left.len() {
            let chunk = processed_frames
                ..left.len().min(processed_frames + frames_to_multiple(self.clock, LONGEST_FRAMES));
            let (left, right) = (&mut left[chunk.clone()], &mut right[chunk.clone()]);
            clamp_to_range([&mut *left, &mut *right]);
            for (index, slot) in self.slots.iter_mut().enumerate() {
                let side_chain = side_chains.get(index).copied().flatten();
                let side_chain = side_chain.map(|sides| sides.map(|values| &values[chunk.clone()]));
                slot.process(self.clock, [&mut *left, &mut *right], side_chain);
            }
            if !self.output_gate.is_open() {
                let mut gains = [0.0; LONGEST_FRAMES];
                let gains = &mut gains[..chunk.len()];
                self.output_gate.fill(gains);
                for values in [left, right] {
                    values.iter_mut().zip(&*gains).for_each(|(value, gain)| *value *= gain);
                }
            }
            self.clock = self.clock.wrapping_add(chunk.len() as u64);
            processed_frames = chunk.end;
        }
        self.output_declicker.process([left, right]);
    }
}
