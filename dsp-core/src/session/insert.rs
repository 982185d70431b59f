//! A strip's effects in the path of its sound, with their automation and the time of the music.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::audio::{Audio, AudioSlot};
use super::automation::{Line, control_place, next_control};
use super::follower::Follower;
use super::musical_time::Tempo;
use super::strip::{Key, StereoBlock};
use super::wait::Wait;
use super::{AutomationLane, AutomationTarget, EffectSettings, TRACK_OUTPUTS};
use crate::chain::{Chain, Slot, Wanted};
use crate::effects::{EffectConfig, EffectKind, effect_kind};

/// Most effects of one track.
pub const MAX_EFFECTS: usize = 64;

/// Outputs of a track that go to the shared effects.
const SENDS: usize = TRACK_OUTPUTS - 2;

/// What an insert is told by a session.
pub(super) struct InsertSettings<'a> {
    /// Id of the track; empty for the master.
    pub(super) track_id: &'a str,
    pub(super) effects: &'a [EffectSettings],
    pub(super) bypass: bool,
    pub(super) lanes: &'a [AutomationLane],
    pub(super) seed: u64,
    pub(super) audio: &'a [Option<AudioSlot>],
    pub(super) tempo: &'a Tempo,
    pub(super) sample_rate_hz: u32,
    /// Place of the clock where the session is.
    pub(super) clock: u64,
}

impl InsertSettings<'_> {
    /// The impulse response of an effect: one that is all there and not too long for it.
    fn impulse(&self, kind: &EffectKind, effect: &EffectSettings) -> Option<Audio> {
        let max_frames = kind.impulse_max_frames(self.sample_rate_hz);
        match self.audio.get(effect.impulse? as usize)? {
            Some(AudioSlot::Whole(audio)) if audio.frames() <= max_frames => Some(audio.clone()),
            _ => None,
        }
    }

    /// An effect that has its values from the start.
    fn new_slot(&self, kind: &'static EffectKind, effect: &EffectSettings, impulse: Option<&Audio>) -> Slot {
        let impulse = impulse.map(Audio::channels);
        let config = EffectConfig {
            sample_rate_hz: self.sample_rate_hz,
            seed: seed_of(self.seed, self.track_id, &effect.id),
            impulse: impulse.as_ref().map(|[left, right]| [&left[..], &right[..]]),
        };
        let mut slot = Slot::new(&effect.id, kind, &config);
        for (parameter, value) in effect.values.iter().enumerate() {
            slot.set(parameter, *value, 0);
        }
        slot
    }
}

/// A seed of its own for each effect of a session: FNV-1a (Fowler, Noll and Vo) of the session's
/// and of the ids.
fn seed_of(seed: u64, track_id: &str, effect_id: &str) -> u64 {
    let ids = track_id.bytes().chain([0]).chain(effect_id.bytes());
    seed.to_le_bytes().into_iter().chain(ids).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A parameter that follows a line.
struct ParameterLine {
    effect: usize,
    effect_id: String,
    parameter: usize,
    follower: Follower,
    /// Whether the effect counts what the line adds up to.
    is_counted: bool,
    /// The place at which it has to be told that again.
    next_count: u64,
}

/// What is remembered of an effect beside what its slot knows.
struct Facts {
    id: String,
    impulse: Option<Audio>,
    bypass: bool,
}

/// The chain of a strip at work.
pub(super) struct Insert {
    chain: Chain,
    facts: Vec<Facts>,
    bypass: bool,
    lines: Vec<ParameterLine>,
    tempo: Tempo,
    sample_rate_hz: u32,
    /// By how many frames the input of the chain lags the clock.
    lag_frames: usize,
    clock: u64,
    next_tempo: u64,
    next_place: u64,
    sends: Wait<SENDS>,
}

impl Insert {
    /// One without effects, at frame 0.
    pub(super) fn new(tempo: &Tempo, sample_rate_hz: u32) -> Self {
        Self {
            chain: Chain::new(sample_rate_hz),
            facts: Vec::new(),
            bypass: false,
            lines: Vec::new(),
            tempo: tempo.clone(),
            sample_rate_hz,
            lag_frames: 0,
            clock: 0,
            next_tempo: 0,
            next_place: 0,
            sends: Wait::new(sample_rate_hz),
        }
    }

    /// Whether it changes nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }

    pub(super) fn latency_frames(&self) -> usize {
        self.chain.latency_frames()
    }

    /// The last frame that came in; `None` where none has come to the effects.
    pub(super) fn last_input(&self) -> Option<[f32; TRACK_OUTPUTS]> {
        let ([left, right], [reverb, chorus]) = (self.chain.last_input()?, self.sends.last_input());
        Some([left, right, reverb, chorus])
    }

    /// See [`Chain::lose_keys`].
    pub(super) fn lose_keys(&mut self) {
        self.chain.lose_keys();
    }

    /// See [`Chain::gap_frames`].
    pub(super) fn gap_frames(&self) -> usize {
        self.chain.gap_frames()
    }

    /// Frames by which the input of an effect lags that of the chain.
    pub(super) fn latency_frames_before(&self, effect: usize) -> usize {
        self.chain.latency_frames_before(effect)
    }

    /// Goes on with the effects that a session says: those of the same id, kind and impulse
    /// response keep their state.
    pub(super) fn set(&mut self, settings: &InsertSettings<'_>) {
        self.tempo = settings.tempo.clone();
        self.bypass = settings.bypass;
        self.chain.let_go();
        if self.is_empty() {
            self.clock = settings.clock;
            self.chain.reset(self.clock);
        }
        self.set_effects(settings);
        self.set_lines(settings.lanes);
        self.next_tempo = 0;
        self.sends.set(self.latency_frames());
    }

    fn set_effects(&mut self, settings: &InsertSettings<'_>) {
        let known = settings.effects.iter().filter_map(|effect| Some((effect, effect_kind(&effect.kind)?)));
        let known: Vec<_> = known.take(MAX_EFFECTS).collect();
        let mut wanted = Vec::with_capacity(known.len());
        let mut facts = Vec::with_capacity(known.len());
        for &(effect, kind) in &known {
            let impulse = settings.impulse(kind, effect);
            let kept = self.chain.slots().zip(&self.facts).position(|(slot, facts)| {
                slot.id() == effect.id && core::ptr::eq(slot.kind(), kind) && same(&facts.impulse, &impulse)
            });
            wanted.push(match kept {
                Some(place) => Wanted::Kept(place),
                None => Wanted::New(Box::new(settings.new_slot(kind, effect, impulse.as_ref()))),
            });
            facts.push(Facts { id: effect.id.clone(), impulse, bypass: effect.bypass });
        }
        let stays = self.facts.len() == facts.len()
            && wanted
                .iter()
                .enumerate()
                .all(|(place, wanted)| matches!(wanted, Wanted::Kept(kept) if *kept == place));
        if !stays {
            self.chain.change(wanted);
        }
        self.facts = facts;
        for (place, (effect, kind)) in known.into_iter().enumerate() {
            for (number, parameter) in kind.parameters.iter().enumerate() {
                let value = effect.values.get(number).copied().unwrap_or(parameter.default);
                if !is_automated(settings.lanes, place, number) {
                    self.chain.set_if_other(place, number, value);
                }
            }
            self.chain.set_bypass(place, self.bypass || effect.bypass);
        }
    }

    fn set_lines(&mut self, lanes: &[AutomationLane]) {
        let mut old = core::mem::take(&mut self.lines);
        for lane in lanes {
            let AutomationTarget::Effect { effect, parameter } = lane.target else { continue };
            let (effect, parameter) = (effect as usize, parameter as usize);
            let Some(slot) = self.chain.slots().nth(effect) else { continue };
            let Some(described) = slot.kind().parameters.get(parameter) else { continue };
            let Some(mut line) = Line::new(&lane.points) else { continue };
            let is_counted = self.chain.counts(effect, parameter);
            if is_counted {
                line.count_within([described.min, described.max]);
            }
            let goes_on = |old: &ParameterLine| {
                let sent = old.follower.sent().map(|value| described.clamp(value));
                (&*old.effect_id, old.parameter) == (slot.id(), parameter)
                    && sent == Some(slot.values()[parameter])
            };
            let old = old.iter().position(goes_on).map(|place| old.swap_remove(place).follower);
            let follower = Follower::instead_of(old, line, false, self.sample_rate_hz);
            self.lines.push(ParameterLine {
                effect,
                effect_id: slot.id().into(),
                parameter,
                follower,
                is_counted,
                next_count: 0,
            });
        }
        let counts: Vec<usize> = self.chain.slots().map(|slot| slot.kind().parameters.len()).collect();
        for (effect, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|parameter| self.chain.follow(effect, parameter, None));
        }
        self.next_place = 0;
    }

    /// By how many frames the input of the chain lags the clock.
    pub(super) fn set_lag(&mut self, frames: usize) {
        self.lag_frames = frames;
        for line in &mut self.lines {
            line.follower.set_lag(frames + self.chain.latency_frames_before(line.effect));
            line.count(self.clock, &mut self.chain);
        }
        self.next_tempo = 0;
        self.next_place = 0;
    }

    /// Moves a parameter by hand; an automated one follows its line.
    pub(super) fn set_parameter(&mut self, effect: usize, parameter: usize, value: f64) {
        let is_automated = |line: &ParameterLine| line.effect == effect && line.parameter == parameter;
        if !self.lines.iter().any(is_automated) {
            self.chain.set(effect, parameter, value);
        }
    }

    /// Bypasses one effect, or no longer.
    pub(super) fn set_effect_bypass(&mut self, effect: usize, bypass: bool) {
        if let Some(facts) = self.facts.get_mut(effect) {
            facts.bypass = bypass;
            self.chain.set_bypass(effect, self.bypass || bypass);
        }
    }

    /// Bypasses all effects, or no longer those that are not bypassed by themselves.
    pub(super) fn set_bypass(&mut self, bypass: bool) {
        self.bypass = bypass;
        for (place, facts) in self.facts.iter().enumerate() {
            self.chain.set_bypass(place, bypass || facts.bypass);
        }
    }

    /// Place of an effect by its id.
    pub(super) fn effect_place(&self, id: &str) -> Option<usize> {
        self.facts.iter().position(|facts| facts.id == id)
    }

    /// How much an effect turns its input down now, in decibels, where it does such a thing.
    pub(super) fn gain_reduction_db(&self, effect: usize) -> Option<f32> {
        self.chain.gain_reduction_db(effect)
    }

    /// Falls silent and stands at a place of the clock, with everything where it is there.
    pub(super) fn reset(&mut self, clock: u64) {
        self.clock = clock;
        for line in &mut self.lines {
            self.chain.automate(line.effect, line.parameter, line.follower.jump(clock), 0);
            line.count(clock, &mut self.chain);
        }
        self.chain.reset(clock);
        self.sends.jump();
        self.next_place = 0;
        self.tell_time();
    }

    /// The session stands still at a frame: parameters go to where they are there.
    pub(super) fn stand(&mut self, frame: u64) {
        for line in &mut self.lines {
            self.chain.set(line.effect, line.parameter, line.follower.stand(frame));
        }
        self.next_place = 0;
    }

    fn tell_time(&mut self) {
        let frame = self.clock as i64 - self.lag_frames as i64;
        self.chain.set_time(self.tempo.at(frame));
        let next = self.tempo.next_change(frame);
        self.next_tempo = next.map_or(u64::MAX, |next| (next + self.lag_frames as i64) as u64);
    }

    /// Where the session moves: aims at the next place, and says how many of the frames are before
    /// it.
    fn follow(&mut self, frames: usize) -> usize {
        let clock = self.clock;
        if clock >= self.next_place {
            if clock >= self.next_tempo {
                self.tell_time();
            }
            let mut next = self.next_tempo;
            for line in &mut self.lines {
                line.aim(clock, &mut self.chain);
                if clock >= line.next_count {
                    line.count(clock, &mut self.chain);
                }
                next = next.min(line.follower.next_place()).min(line.next_count);
            }
            self.next_place = next;
        }
        frames.min(usize::try_from(self.next_place - clock).unwrap_or(frames))
    }

    /// Processes the next frames in place. `moves` while the session does.
    pub(super) fn process(&mut self, moves: bool, [left, right]: [&mut [f32]; 2], keys: &[Key]) {
        if self.is_empty() {
            return;
        }
        let frames = left.len();
        let mut done = 0;
        while done < frames {
            let part = if moves { self.follow(frames - done) } else { frames - done };
            let part = done..done + part;
            let (left, right) = (&mut left[part.clone()], &mut right[part.clone()]);
            if keys.is_empty() {
                self.chain.process(left, right, &[]);
            } else {
                let mut sides = [None; MAX_EFFECTS];
                for key in keys.iter().filter(|key| key.effect < MAX_EFFECTS) {
                    sides[key.effect] = Some(key.audio().each_ref().map(|values| &values[part.clone()]));
                }
                self.chain.process(left, right, &sides);
            }
            self.clock = self.clock.wrapping_add(part.len() as u64);
            done = part.end;
        }
    }

    /// Lets what goes to the shared effects wait for the chain: see [`Wait::process`].
    pub(super) fn delay_sends(&mut self, sends: [&mut [f32]; SENDS], sounding: &mut [bool; SENDS]) {
        self.sends.process(sends, sounding);
    }
}

impl Insert {
    /// As [`Self::process`]; side-chains hear what comes by their keys, which take it from `taps`.
    pub(super) fn process_with_keys(
        &mut self,
        moves: bool,
        audio: [&mut [f32]; 2],
        keys: &mut [Key],
        taps: &[Option<Box<StereoBlock>>],
    ) {
        keys.iter_mut().for_each(|key| key.take(taps, audio[0].len()));
        self.process(moves, audio, keys);
    }
}

impl ParameterLine {
    /// Tells the effect what the line adds up to around a place, if it wants to know.
    fn count(&mut self, clock: u64, chain: &mut Chain) {
        if !self.is_counted {
            self.next_count = u64::MAX;
            return;
        }
        let (place, next) = (control_place(clock), next_control(clock));
        let sums = [place, next].map(|clock| self.follower.line().sum(clock));
        chain.follow(self.effect, self.parameter, Some((place, sums)));
        self.next_count = next;
    }

    /// Goes on along the line.
    fn aim(&mut self, clock: u64, chain: &mut Chain) {
        let Some(leg) = self.follower.leg(clock) else { return };
        if let Some(value) = leg.jump {
            chain.automate(self.effect, self.parameter, value, 0);
        }
        if let Some((value, frames)) = leg.way {
            chain.automate(self.effect, self.parameter, value, frames);
        }
    }
}

fn is_automated(lanes: &[AutomationLane], effect: usize, parameter: usize) -> bool {
    let target = AutomationTarget::Effect { effect: effect as u32, parameter: parameter as u32 };
    lanes.iter().any(|lane| lane.target == target && Line::new(&lane.points).is_some())
}

fn same(one: &Option<Audio>, other: &Option<Audio>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same(other),
        (None, None) => true,
        _ => false,
    }
}
