//! Effects in a row, each of which can be bypassed without a click and without a change of latency.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::effects::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, FAINTEST, Glide, LOUDEST, MusicalTime,
};

/// How long a parameter that somebody moves by hand takes to follow, in seconds.
const FOLLOW_SECS: f64 = 0.02;

/// How long a bypass takes, in seconds.
const BYPASS_SECS: f64 = 0.01;

/// An effect in a chain.
pub struct Slot {
    id: String,
    kind: &'static EffectKind,
    effect: Box<dyn Effect>,
    /// Values of the parameters, as they were set last.
    values: Vec<f64>,
    /// Share of the effect's output: 0 while it is bypassed.
    wet: Glide,
    dry: [Delay; 2],
}

/// A delay by whole frames.
struct Delay {
    values: Vec<f32>,
    place: usize,
}

impl Delay {
    fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], place: 0 }
    }

    fn next(&mut self, value: f32) -> f32 {
        let Some(stored) = self.values.get_mut(self.place) else {
            return value;
        };
        let delayed = core::mem::replace(stored, value);
        self.place += 1;
        if self.place == self.values.len() {
            self.place = 0;
        }
        delayed
    }

    fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }
}

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
            dry: [Delay::new(latency_frames), Delay::new(latency_frames)],
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

    /// Passes the signal around the effect from here on, or no longer.
    fn set_bypass(&mut self, bypass: bool, glide_frames: u32) {
        self.wet.set(if bypass { 0.0 } else { 1.0 }, glide_frames);
    }

    fn reset(&mut self, frame: u64) {
        self.effect.reset(frame);
        self.wet.jump();
        self.dry.iter_mut().for_each(Delay::clear);
    }

    fn process(&mut self, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        let frames = left.len();
        let mut dry = [[0.0; CONTROL_FRAMES]; 2];
        for ((dry, delay), values) in dry.iter_mut().zip(&mut self.dry).zip([&*left, &*right]) {
            for (dry, value) in dry.iter_mut().zip(values) {
                *dry = delay.next(*value);
            }
        }
        // A bypassed effect goes on working: it is there at once when it is wanted again.
        self.effect.process([&mut *left, &mut *right], side);
        make_fit([&mut *left, &mut *right]);
        if self.wet.is_at_rest() && self.wet.target() == 1.0 {
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
}

/// Brings values into the range that effects are given.
fn make_fit(audio: [&mut [f32]; 2]) {
    for value in audio.into_iter().flatten() {
        let magnitude = value.abs();
        // No comparison holds for what is no number.
        let fits = (FAINTEST..=LOUDEST).contains(&magnitude);
        *value = if fits {
            *value
        } else if magnitude > LOUDEST {
            LOUDEST.copysign(*value)
        } else {
            0.0
        };
    }
}

/// Effects in a row.
///
/// It stands on the session's clock, so that what it computes depends on where the session is, never on
/// how many frames a call asks for.
pub struct Chain {
    sample_rate_hz: u32,
    clock: u64,
    slots: Vec<Slot>,
}

impl Chain {
    /// A chain without effects, at frame 0.
    pub fn new(sample_rate_hz: u32) -> Self {
        Self { sample_rate_hz, clock: 0, slots: Vec::new() }
    }

    /// Puts an effect at the end.
    pub fn push(&mut self, mut slot: Slot) {
        slot.reset(self.clock);
        self.slots.push(slot);
    }

    /// Its effects, in the order in which they are heard.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Takes its effects away, so that they can be put together anew.
    pub fn take_slots(&mut self) -> Vec<Slot> {
        core::mem::take(&mut self.slots)
    }

    /// Whether it changes nothing, for it has no effects.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Frames by which the output lags the input, bypassed effects included.
    pub fn latency_frames(&self) -> usize {
        self.slots.iter().map(|slot| slot.effect.latency_frames()).sum()
    }

    /// Falls silent and stands at `frame` of the session.
    pub fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.slots.iter_mut().for_each(|slot| slot.reset(frame));
    }

    /// The music goes on in this time from the next frame.
    pub fn set_time(&mut self, time: MusicalTime) {
        self.slots.iter_mut().for_each(|slot| slot.effect.set_time(time));
    }

    /// Moves a parameter as an automation does: in so many frames. Nothing if there is no such
    /// effect or parameter.
    pub fn automate(&mut self, slot: usize, parameter: usize, value: f64, glide_frames: u32) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.set(parameter, value, glide_frames);
        }
    }

    /// Moves a parameter as a hand does: soon, and without a click.
    pub fn set(&mut self, slot: usize, parameter: usize, value: f64) {
        self.automate(slot, parameter, value, self.frames(FOLLOW_SECS));
    }

    /// Passes the signal around an effect from here on, or no longer, without a click.
    pub fn set_bypass(&mut self, slot: usize, bypass: bool) {
        let glide_frames = self.frames(BYPASS_SECS);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.set_bypass(bypass, glide_frames);
        }
    }

    fn frames(&self, secs: f64) -> u32 {
        libm::round(secs * f64::from(self.sample_rate_hz)) as u32
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    pub fn gain_reduction_db(&self, slot: usize) -> Option<f32> {
        self.slots.get(slot)?.effect.gain_reduction_db()
    }

    /// Processes left and right in place, any number of frames. `sides` has an entry for each effect: what
    /// its side-chain hears, as long as `left`; effects behind its end have none.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], sides: &[Option<[&[f32]; 2]>]) {
        let mut done = 0;
        while done < left.len() {
            let to_control_place = CONTROL_FRAMES - (self.clock % CONTROL_FRAMES as u64) as usize;
            let step = done..left.len().min(done + to_control_place);
            let (left, right) = (&mut left[step.clone()], &mut right[step.clone()]);
            make_fit([&mut *left, &mut *right]);
            for (place, slot) in self.slots.iter_mut().enumerate() {
                let side = sides.get(place).copied().flatten();
                let side = side.map(|side| side.map(|values| &values[step.clone()]));
                slot.process([&mut *left, &mut *right], side);
            }
            self.clock += step.len() as u64;
            done = step.end;
        }
    }
}
