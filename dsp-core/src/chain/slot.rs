//! An effect in a chain: bypassed without a click, in calls as long as it takes them, and in range.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::frames_to_place;
use crate::dsp::declicker::Declicker;
use crate::dsp::delay_line::DelayLine;
use crate::dsp::lanes::LANES;
use crate::effects::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, FAINTEST, Glide, LONGEST_FRAMES, LOUDEST, MusicalTime,
};
use crate::simd::on_best_instructions;

/// An effect in a chain.
pub struct Slot {
    id: String,
    kind: &'static EffectKind,
    pub(super) effect: Box<dyn Effect>,
    /// Values of the parameters, as they were set last.
    values: Vec<f64>,
    /// Share of the effect's output: 0 while it is bypassed.
    wet: Glide,
    dry: [DelayLine; 2],
    /// Joins what comes in where other effects stand before it now.
    entry: Declicker,
    /// Whether its side-chain heard another sound than its own.
    is_keyed: bool,
}

/// What a side-chain hears that has gone.
static SILENCE: [f32; LONGEST_FRAMES] = [0.0; LONGEST_FRAMES];

impl Slot {
    /// A new effect, with every parameter at its default. `id` is unique within the chain.
    pub fn new(id: &str, kind: &'static EffectKind, config: &EffectConfig<'_>) -> Self {
        let effect = (kind.make)(config);
        let latency_frames = effect.latency_frames();
        Self {
            id: id.into(),
            kind,
            effect,
            values: kind.parameters.iter().map(|parameter| parameter.default).collect(),
            wet: Glide::new(1.0),
            dry: [DelayLine::new(latency_frames), DelayLine::new(latency_frames)],
            entry: Declicker::new(config.sample_rate_hz),
            is_keyed: false,
        }
    }

    /// What identifies the effect within its chain.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What kind of effect it is.
    pub fn kind(&self) -> &'static EffectKind {
        self.kind
    }

    /// Values of the parameters, in the order of the kind's table, as they were set last.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Moves a parameter to a value, brought into its range, in so many frames; nothing if there is
    /// no such parameter.
    pub fn set(&mut self, parameter: usize, value: f64, glide_frames: u32) {
        let Some(described) = self.kind.parameters.get(parameter) else {
            return;
        };
        let value = described.clamp(value);
        self.values[parameter] = value;
        self.effect.set(parameter, value, glide_frames);
    }

    /// Joins what comes in from here on to what came before.
    pub(super) fn join_entry(&mut self) {
        self.entry.switch();
    }

    /// The music goes on in this time from the next frame.
    pub(super) fn set_time(&mut self, time: MusicalTime) {
        self.effect.set_time(time);
    }

    /// Passes the signal around the effect from here on, or no longer.
    pub(super) fn set_bypass(&mut self, bypass: bool, glide_frames: u32) {
        self.wet.set(if bypass { 0.0 } else { 1.0 }, glide_frames);
    }

    pub(super) fn latency_frames(&self) -> usize {
        self.effect.latency_frames()
    }

    pub(super) fn is_bypassed(&self) -> bool {
        self.wet.is_at_rest() && self.wet.target() == 0.0
    }

    pub(super) fn reset(&mut self, frame: u64) {
        self.effect.reset(frame);
        self.wet.jump();
        self.dry.iter_mut().for_each(DelayLine::clear);
        self.entry.reset();
    }

    /// Processes frames from a place of the clock on, at most [`LONGEST_FRAMES`] and across no
    /// multiple of it.
    pub(super) fn process(&mut self, clock: u64, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        self.is_keyed = side.is_some();
        self.entry.process([&mut *left, &mut *right]);
        self.work(clock, [left, right], side);
    }

    /// As [`Self::process`], where what the side-chain heard is not there any more: silence, if
    /// that was another sound than its own.
    pub(super) fn process_without_key(&mut self, clock: u64, audio: [&mut [f32]; 2]) {
        let frames = audio[0].len();
        self.process(clock, audio, self.is_keyed.then(|| [&SILENCE[..frames]; 2]));
    }

    /// The effect's output, or its input delayed while it is bypassed.
    fn work(&mut self, clock: u64, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        let is_wet = self.wet.is_at_rest() && self.wet.target() == 1.0;
        if is_wet && self.dry[0].frames() == 0 {
            return self.affect(clock, [left, right], side, true);
        }
        let mut dry = [[0.0; LONGEST_FRAMES]; 2];
        for ((dry, delay), values) in dry.iter_mut().zip(&mut self.dry).zip([&*left, &*right]) {
            let dry = &mut dry[..frames];
            dry.copy_from_slice(values);
            delay.process(dry);
        }
        // A bypassed effect goes on working: it is there at once when it is wanted again.
        self.affect(clock, [&mut *left, &mut *right], side, false);
        if is_wet {
            return;
        }
        for frame in 0..frames {
            let wet = self.wet.next() as f32;
            for (values, dry) in [&mut *left, &mut *right].into_iter().zip(&dry) {
                // At both ends exactly one of the two.
                values[frame] = values[frame] * wet + dry[frame] * (1.0 - wet);
            }
        }
    }

    /// The effect's output, in calls as long as it takes them; in silence it may rest.
    fn affect(
        &mut self,
        mut clock: u64,
        [left, right]: [&mut [f32]; 2],
        side: Option<[&[f32]; 2]>,
        may_rest: bool,
    ) {
        let mut done = 0;
        while done < left.len() {
            let most = if self.effect.is_still() { LONGEST_FRAMES } else { CONTROL_FRAMES };
            let part = done..left.len().min(done + frames_to_place(clock, most));
            let side = side.map(|side| side.map(|values| &values[part.clone()]));
            let (left, right) = (&mut left[part.clone()], &mut right[part.clone()]);
            clock = clock.wrapping_add(part.len() as u64);
            done = part.end;
            let hears_nothing = may_rest
                && is_silence(left)
                && is_silence(right)
                && side.is_none_or(|side| side.into_iter().all(is_silence));
            if !(hears_nothing && self.effect.rest(left.len())) {
                self.effect.process([&mut *left, &mut *right], side);
                make_fit([left, right]);
            }
        }
    }
}

/// Whether all values are 0; eight at a time.
fn is_silence(values: &[f32]) -> bool {
    let (eights, rest) = values.as_chunks::<LANES>();
    let sounds = |eight: &[f32; LANES]| eight.iter().fold(false, |sounds, value| sounds | (*value != 0.0));
    !eights.iter().any(sounds) && rest.iter().all(|value| *value == 0.0)
}

on_best_instructions! {
    /// Brings values into the range that effects are given.
    pub(crate) fn make_fit(audio: [&mut [f32]; 2]) = make_fit_here;
}

#[inline(always)]
fn make_fit_here(audio: [&mut [f32]; 2]) {
    for values in audio {
        for value in values {
            // No comparison holds for what is no number.
            let heard = if value.abs() >= FAINTEST { *value } else { 0.0 };
            *value = heard.clamp(-LOUDEST, LOUDEST);
        }
    }
}
