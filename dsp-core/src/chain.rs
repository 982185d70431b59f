//! Effects in a row, each of which can be bypassed without a click and without a change of latency.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::delay::Delay;
use crate::effects::{
    CONTROL_FRAMES, Effect, EffectConfig, EffectKind, FAINTEST, Glide, LONGEST_FRAMES, LOUDEST, LineSum,
    MusicalTime,
};
use crate::eight::LANES;
use crate::join::Join;
use crate::simd::on_best_instructions;

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
    /// Share of the input that passes by as it comes, without even the latency: what comes and goes
    /// while the session plays fades between that and its output.
    direct: Glide,
    /// Share of the input that a new effect hears, which has heard nothing before.
    hears: Glide,
    /// Frames for which nothing of a new effect is heard yet: until what comes out is of all that it hears.
    wait_frames: u32,
    /// Joins what comes in where other effects stand before it now.
    entry: Join,
    /// Whether it only fades.
    leaves: bool,
}

/// An effect of a chain that changes.
pub enum Wanted {
    /// One that is in the chain already, by its place.
    Kept(usize),
    /// A new one.
    New(Box<Slot>),
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
            direct: Glide::new(0.0),
            hears: Glide::new(1.0),
            wait_frames: 0,
            entry: Join::new(config.sample_rate_hz),
            leaves: false,
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

    /// Comes into a chain that sounds.
    fn enter(&mut self, fade_frames: u32) {
        self.direct = Glide::new(1.0);
        self.direct.set(0.0, fade_frames);
        self.hears = Glide::new(0.0);
        self.hears.set(1.0, fade_frames);
        let latency_frames = u32::try_from(self.effect.latency_frames()).unwrap_or(u32::MAX);
        self.wait_frames = latency_frames.saturating_add(fade_frames);
    }

    /// Goes from a chain that sounds.
    fn leave(&mut self, fade_frames: u32) {
        self.leaves = true;
        self.wait_frames = 0;
        self.direct.set(1.0, fade_frames);
    }

    fn has_gone(&self) -> bool {
        self.leaves && self.direct.is_at_rest()
    }

    /// Passes the signal around the effect from here on, or no longer.
    fn set_bypass(&mut self, bypass: bool, glide_frames: u32) {
        self.wet.set(if bypass { 0.0 } else { 1.0 }, glide_frames);
    }

    fn is_bypassed(&self) -> bool {
        self.wet.is_at_rest() && self.wet.target() == 0.0
    }

    fn reset(&mut self, frame: u64) {
        self.effect.reset(frame);
        self.wet.jump();
        self.dry.iter_mut().for_each(Delay::clear);
        self.direct.jump();
        self.hears.jump();
        self.wait_frames = 0;
        self.entry.reset();
    }

    /// Processes frames from a place of the clock on, at most [`LONGEST_FRAMES`] and across no multiple of it.
    fn process(&mut self, clock: u64, [left, right]: [&mut [f32]; 2], side: Option<[&[f32]; 2]>) {
        self.entry.process([&mut *left, &mut *right]);
        if self.direct.is_at_rest() {
            if !self.leaves {
                self.work(clock, [left, right], side);
            }
            return;
        }
        let mut direct = [[0.0; LONGEST_FRAMES]; 2];
        for (direct, values) in direct.iter_mut().zip([&*left, &*right]) {
            direct[..values.len()].copy_from_slice(values);
        }
        if !self.hears.is_at_rest() {
            for (left, right) in left.iter_mut().zip(&mut *right) {
                let share = self.hears.next() as f32;
                (*left, *right) = (*left * share, *right * share);
            }
        }
        self.work(clock, [&mut *left, &mut *right], side);
        for frame in 0..left.len() {
            let share = if self.wait_frames > 0 { self.direct.value() } else { self.direct.next() } as f32;
            self.wait_frames = self.wait_frames.saturating_sub(1);
            for (values, direct) in [&mut *left, &mut *right].into_iter().zip(&direct) {
                values[frame] = values[frame] * (1.0 - share) + direct[frame] * share;
            }
        }
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

/// Joins what comes into each effect from the first on that is not where it was among those that stay. Says for how long
/// there comes out of these what went in in the old order; `None` if all are where they were.
fn join_reordered(slots: &mut [(Option<usize>, Slot)]) -> Option<usize> {
    let mut in_order: Vec<usize> = slots.iter().filter_map(|(place, _)| *place).collect();
    in_order.sort_unstable();
    let kept = slots.iter_mut().filter_map(|(place, slot)| Some(((*place)?, slot)));
    let moved = kept.zip(in_order).skip_while(|((place, _), expected)| place == expected);
    moved.fold(None, |latency_frames, ((_, slot), _)| {
        slot.entry.begin();
        Some(latency_frames.unwrap_or(0) + slot.effect.latency_frames())
    })
}

/// Frames from a place of the clock to the next multiple of so many frames.
fn frames_to_place(clock: u64, frames: usize) -> usize {
    frames - (clock % frames as u64) as usize
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

/// Effects in a row.
///
/// It stands on the session's clock, so that what it computes depends on where the session is, never on
/// how many frames a call asks for.
pub struct Chain {
    sample_rate_hz: u32,
    clock: u64,
    /// Also those that fade, each where it was.
    slots: Vec<Slot>,
    join: Join,
    /// Share of the output that is heard; less than 1 behind a change of order, until what was on its way has passed.
    heard: Glide,
    wait_frames: usize,
}

impl Chain {
    /// A chain without effects, at frame 0.
    pub fn new(sample_rate_hz: u32) -> Self {
        Self {
            sample_rate_hz,
            clock: 0,
            slots: Vec::new(),
            join: Join::new(sample_rate_hz),
            heard: Glide::new(1.0),
            wait_frames: 0,
        }
    }

    /// Puts an effect at the end.
    pub fn push(&mut self, mut slot: Slot) {
        slot.reset(self.clock);
        self.slots.push(slot);
    }

    /// Its effects, in the order in which they are heard.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.leaves)
    }

    fn slot(&mut self, place: usize) -> Option<&mut Slot> {
        self.slots.iter_mut().filter(|slot| !slot.leaves).nth(place)
    }

    /// Goes on with these effects in this order, without a click: the state of those that are kept
    /// sounds on, new ones hear what comes from silence on and fade in when that has passed their latency, the others fade
    /// out where they were. Where effects with latency change places, there is silence until what was on its way has
    /// passed. What is kept twice, or is not there, is passed over.
    pub fn change(&mut self, wanted: Vec<Wanted>) {
        let fade_frames = self.frames(BYPASS_SECS);
        let mut old: Vec<Option<Slot>> =
            core::mem::take(&mut self.slots).into_iter().filter(|slot| !slot.has_gone()).map(Some).collect();
        let places: Vec<usize> =
            (0..old.len()).filter(|&place| old[place].as_ref().is_some_and(|slot| !slot.leaves)).collect();
        // Each with its place in the old order.
        let mut slots: Vec<(Option<usize>, Slot)> = Vec::with_capacity(wanted.len() + old.len());
        for wanted in wanted {
            match wanted {
                Wanted::Kept(place) => {
                    let kept = places.get(place).and_then(|&place| Some((Some(place), old[place].take()?)));
                    slots.extend(kept);
                }
                Wanted::New(mut slot) => {
                    slot.reset(self.clock);
                    slot.enter(fade_frames);
                    slots.push((None, *slot));
                }
            }
        }
        if let Some(latency_frames) = join_reordered(&mut slots) {
            self.join.begin();
            if latency_frames > 0 {
                self.wait_frames = latency_frames;
                self.heard = Glide::new(0.0);
                self.heard.set(1.0, fade_frames);
            }
        }
        for (place, slot) in old.into_iter().enumerate() {
            let Some(mut slot) = slot else { continue };
            if !slot.leaves {
                slot.leave(fade_frames);
            }
            let before = slots.iter().rposition(|(other, _)| other.is_some_and(|other| other < place));
            slots.insert(before.map_or(0, |before| before + 1), (Some(place), slot));
        }
        self.slots = slots.into_iter().map(|(_, slot)| slot).collect();
    }

    /// Whether it changes nothing, for it has no effects.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Frames by which the output lags the input, bypassed effects included.
    pub fn latency_frames(&self) -> usize {
        self.slots().map(|slot| slot.effect.latency_frames()).sum()
    }

    /// Frames by which the input of an effect lags that of the chain.
    pub fn latency_frames_before(&self, place: usize) -> usize {
        self.slots().take(place).map(|slot| slot.effect.latency_frames()).sum()
    }

    /// Most frames for which it may be silent and sound again with nothing new coming in: the gaps of its effects, but
    /// for those that are bypassed, together.
    pub fn gap_frames(&self) -> usize {
        let heard = self.slots().filter(|slot| !slot.is_bypassed());
        heard.map(|slot| slot.effect.gap_frames()).sum()
    }

    /// Falls silent and stands at `frame` of the session.
    pub fn reset(&mut self, frame: u64) {
        self.clock = frame;
        self.join.reset();
        self.heard.jump();
        self.wait_frames = 0;
        self.slots.iter_mut().for_each(|slot| slot.reset(frame));
    }

    /// The music goes on in this time from the next frame.
    pub fn set_time(&mut self, time: MusicalTime) {
        self.slots.iter_mut().for_each(|slot| slot.effect.set_time(time));
    }

    /// Whether an effect counts what a parameter adds up to: see [`Effect::counts`].
    pub(crate) fn counts(&self, slot: usize, parameter: usize) -> bool {
        self.slots().nth(slot).is_some_and(|slot| slot.effect.counts(parameter))
    }

    /// Says what the line that a parameter follows has added up to at a control place and at the next one, as sums over
    /// frames, or that it follows none: see [`Effect::follow`].
    pub(crate) fn follow(&mut self, slot: usize, parameter: usize, line: Option<(u64, [f64; 2])>) {
        let sample_rate_hz = f64::from(self.sample_rate_hz);
        if let Some(slot) = self.slot(slot) {
            let line =
                line.map(|(place, sums)| LineSum { place, value_secs: sums.map(|sum| sum / sample_rate_hz) });
            slot.effect.follow(parameter, line);
        }
    }

    /// Moves a parameter as an automation does: in so many frames. Nothing if there is no such
    /// effect or parameter.
    pub fn automate(&mut self, slot: usize, parameter: usize, value: f64, glide_frames: u32) {
        if let Some(slot) = self.slot(slot) {
            slot.set(parameter, value, glide_frames);
        }
    }

    /// Moves a parameter as a hand does: soon, and without a click.
    pub fn set(&mut self, slot: usize, parameter: usize, value: f64) {
        self.automate(slot, parameter, value, self.frames(FOLLOW_SECS));
    }

    /// As [`Self::set`], unless the parameter was set to this value last.
    pub(crate) fn set_if_other(&mut self, slot: usize, parameter: usize, value: f64) {
        let is_set = |slot: &Slot| {
            let described = slot.kind.parameters.get(parameter);
            described.is_none_or(|described| slot.values[parameter] == described.clamp(value))
        };
        if !self.slots().nth(slot).is_none_or(is_set) {
            self.set(slot, parameter, value);
        }
    }

    /// Passes the signal around an effect from here on, or no longer, without a click.
    pub fn set_bypass(&mut self, slot: usize, bypass: bool) {
        let glide_frames = self.frames(BYPASS_SECS);
        if let Some(slot) = self.slot(slot) {
            slot.set_bypass(bypass, glide_frames);
        }
    }

    fn frames(&self, secs: f64) -> u32 {
        libm::round(secs * f64::from(self.sample_rate_hz)) as u32
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    pub fn gain_reduction_db(&self, slot: usize) -> Option<f32> {
        self.slots().nth(slot)?.effect.gain_reduction_db()
    }

    /// The last frame that came in; `None` without effects.
    pub(crate) fn last_input(&self) -> Option<[f32; 2]> {
        self.slots.first().map(|slot| slot.entry.last())
    }

    /// Processes left and right in place, any number of frames. `sides` has an entry for each effect: what
    /// its side-chain hears, as long as `left`; effects behind its end have none.
    pub fn process(&mut self, left: &mut [f32], right: &mut [f32], sides: &[Option<[&[f32]; 2]>]) {
        let mut done = 0;
        while done < left.len() {
            let step = done..left.len().min(done + frames_to_place(self.clock, LONGEST_FRAMES));
            let (left, right) = (&mut left[step.clone()], &mut right[step.clone()]);
            make_fit([&mut *left, &mut *right]);
            let mut sides = sides.iter();
            for slot in &mut self.slots {
                let side = if slot.leaves { None } else { sides.next().copied().flatten() };
                let side = side.map(|side| side.map(|values| &values[step.clone()]));
                slot.process(self.clock, [&mut *left, &mut *right], side);
            }
            self.clock = self.clock.wrapping_add(step.len() as u64);
            done = step.end;
        }
        if !self.heard.is_at_rest() {
            for (left, right) in left.iter_mut().zip(&mut *right) {
                let share = if self.wait_frames > 0 { self.heard.value() } else { self.heard.next() } as f32;
                self.wait_frames = self.wait_frames.saturating_sub(1);
                (*left, *right) = (*left * share, *right * share);
            }
        }
        self.join.process([left, right]);
    }
}
