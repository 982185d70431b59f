//! The ways from a strip into sums: its output and its sends.

use alloc::vec::Vec;

use super::automation::Line;
use super::follower::Follower;
use super::gliding_gain::GlidingGain;
use super::strip::{Own, SILENT_BLOCK, TrackBlock};
use super::{AutomationLane, AutomationTarget, SWITCH_SECS, SendSettings, TRACK_OUTPUTS};
use crate::block::BLOCK_FRAMES;
use crate::dsp::delay_line::DelayLine;
use crate::effects::Glide;
use crate::gain;

/// What a way takes from its strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tap {
    /// All outputs behind the fader.
    Output,
    /// Left and right behind the fader, by the place of the send among the track's.
    PostFader(u32),
    /// Left and right before the fader, by the place of the send among the track's.
    PreFader(u32),
}

impl Tap {
    /// Where a send of a track is taken.
    pub(super) fn of(place: usize, send: &SendSettings) -> Self {
        let place = place as u32;
        if send.pre_fader { Self::PreFader(place) } else { Self::PostFader(place) }
    }

    fn channels(self) -> usize {
        if self == Self::Output { TRACK_OUTPUTS } else { 2 }
    }
}

/// Where a way leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Master,
    /// The strip at a place.
    Strip(usize),
}

/// One way from a strip into a sum. It waits for the slowest of all that meet there.
pub(super) struct Edge {
    pub(super) tap: Tap,
    pub(super) to: Destination,
    level: GlidingGain,
    /// Where a hand has set the level, as a linear gain.
    hand_level: f32,
    level_db_line: Option<Follower>,
    /// Whether it has not been told its lanes yet.
    is_new: bool,
    sample_rate_hz: u32,
    /// 1 while something may come in.
    gate: Glide,
    /// 1 while something may come out of the delay.
    exit: Glide,
    switch_frames: u32,
    /// Whether the gate has not been told yet.
    is_fresh: bool,
    leaves: bool,
    /// None where there is nothing to wait for.
    delays: Vec<DelayLine>,
    /// Frames for which the delays may still hold sound.
    ringing_frames: usize,
}

impl Edge {
    pub(super) fn new(
        tap: Tap,
        to: Destination,
        level: f32,
        delay_frames: usize,
        sample_rate_hz: u32,
    ) -> Self {
        let channels = if delay_frames == 0 { 0 } else { tap.channels() };
        Self {
            tap,
            to,
            level: GlidingGain::new(level, sample_rate_hz),
            hand_level: level,
            level_db_line: None,
            is_new: true,
            sample_rate_hz,
            gate: Glide::new(1.0),
            exit: Glide::new(1.0),
            switch_frames: libm::round(SWITCH_SECS * f64::from(sample_rate_hz)) as u32,
            is_fresh: true,
            leaves: false,
            delays: (0..channels).map(|_| DelayLine::new(delay_frames)).collect(),
            ringing_frames: 0,
        }
    }

    /// How many of a strip's outputs it takes.
    pub(super) fn channels(&self) -> usize {
        self.tap.channels()
    }

    pub(super) fn delay_frames(&self) -> usize {
        self.delays.first().map_or(0, DelayLine::frames)
    }

    /// Comes into a mix that sounds.
    pub(super) fn enter(&mut self) {
        self.is_fresh = false;
        self.gate = Glide::new(0.0);
        self.gate.set(1.0, self.switch_frames);
    }

    /// Goes from a mix that sounds; one that takes its place has the delay `next_frames`. What is
    /// in the delay is heard to its end unless that one is quicker.
    pub(super) fn leave(&mut self, next_frames: usize) {
        self.leaves = true;
        let gate = if next_frames < self.delay_frames() { &mut self.exit } else { &mut self.gate };
        gate.set(0.0, self.switch_frames);
    }

    /// Is heard no more.
    pub(super) fn cut(&mut self) {
        (self.gate, self.exit) = (Glide::new(0.0), Glide::new(0.0));
    }

    pub(super) fn leaves(&self) -> bool {
        self.leaves
    }

    /// Where it leads, unless it leaves.
    pub(super) fn stays_to(&self) -> Option<Destination> {
        (!self.leaves).then_some(self.to)
    }

    pub(super) fn has_gone(&self) -> bool {
        self.leaves && self.passes_nothing()
    }

    /// Lets sound pass, or no longer; not to be asked of one that leaves.
    pub(super) fn open(&mut self, open: bool) {
        let target = if open { 1.0 } else { 0.0 };
        if core::mem::take(&mut self.is_fresh) {
            self.gate = Glide::new(target);
        } else if self.gate.target() != target {
            self.gate.set(target, self.switch_frames);
        }
    }

    /// Moves a send's level by hand to a linear gain; an automated one follows its line.
    pub(super) fn set_level(&mut self, level: f32) {
        self.hand_level = level;
        if self.level_db_line.is_none() {
            self.level.set_target(level);
        }
    }

    /// Whether it is the send at a place among the track's, as the session has it now.
    pub(super) fn is_send(&self, place: usize) -> bool {
        !self.leaves && matches!(self.tap, Tap::PostFader(own) | Tap::PreFader(own) if own as usize == place)
    }

    /// Follows the lane that is meant for it.
    pub(super) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let (Tap::PostFader(place) | Tap::PreFader(place)) = self.tap else { return };
        let lane = lanes.iter().rfind(|lane| lane.target == AutomationTarget::Send(place));
        let line = lane.and_then(|lane| Line::new(&lane.points)).map(Line::with_waiting_places);
        let (old, is_new) = (self.level_db_line.take(), core::mem::take(&mut self.is_new));
        self.level_db_line = line.map(|line| Follower::instead_of(old, line, is_new, self.sample_rate_hz));
        self.set_level(self.hand_level);
    }

    /// By how many frames what it hears lags the clock.
    pub(super) fn set_lag(&mut self, frames: usize) {
        self.level_db_line.iter_mut().for_each(|line| line.set_lag(frames));
    }

    /// The session stands still at a frame.
    pub(super) fn stand(&mut self, frame: u64) {
        if let Some(line) = &mut self.level_db_line {
            self.level.set_target(gain::from_db(line.stand(frame)));
        }
    }

    /// The session goes on somewhere else: nothing rings on, and what moved is where it should be.
    pub(super) fn jump(&mut self, clock: u64) {
        if let Some(line) = &mut self.level_db_line {
            self.level.set_target(gain::from_db(line.jump(clock)));
        }
        self.level.jump();
        self.gate.jump();
        self.exit.jump();
        self.delays.iter_mut().for_each(DelayLine::clear);
        self.ringing_frames = 0;
    }

    /// Whether mute and solo let something pass.
    pub(super) fn lets_through(&self) -> bool {
        !self.leaves && self.gate.target() == 1.0
    }

    /// Whether it adds all that comes as it comes.
    pub(super) fn is_plain(&self) -> bool {
        self.tap == Tap::Output && self.delays.is_empty() && self.is_open()
    }

    /// Whether it adds all that comes as it comes, only later.
    pub(super) fn only_waits(&self) -> bool {
        self.tap == Tap::Output && !self.delays.is_empty() && self.is_open()
    }

    /// Adds what has waited long enough to a sum and takes in values times gains, while it
    /// [`Self::only_waits`].
    pub(super) fn wait(
        &mut self,
        sum: &mut TrackBlock,
        values: Own<'_>,
        gains: [f32; TRACK_OUTPUTS],
        frames: usize,
    ) {
        for (((delay, sum), values), gain) in self.delays.iter_mut().zip(sum).zip(values).zip(gains) {
            match values {
                Some(values) => delay.process_into(&mut sum[..frames], &values[..frames], gain),
                None => delay.drain_into(&mut sum[..frames], &SILENT_BLOCK[0][..frames]),
            }
        }
        self.count(true, frames);
    }

    /// Whether it is open, and stays so.
    pub(super) fn is_open(&self) -> bool {
        [&self.gate, &self.exit].into_iter().all(|gate| stays_at(gate, 1.0))
    }

    /// Whether nothing comes in, and it stays so.
    pub(super) fn is_closed(&self) -> bool {
        stays_at(&self.gate, 0.0)
    }

    /// Whether nothing comes out of it when nothing comes in.
    pub(super) fn is_silent(&self) -> bool {
        self.ringing_frames == 0
    }

    /// Whether nothing comes out of it whatever comes in.
    pub(super) fn passes_nothing(&self) -> bool {
        stays_at(&self.exit, 0.0) || self.is_closed() && self.ringing_frames == 0
    }

    /// Lets frames of silence pass while it [`Self::is_silent`], or whatever while it passes
    /// nothing.
    pub(super) fn skip(&mut self, clock: u64, moves: bool, frames: usize) {
        let gates_rest = self.gate.is_at_rest() && self.exit.is_at_rest();
        if self.level_db_line.is_none() && self.level.is_at_rest() && gates_rest {
            return;
        }
        self.in_parts(clock, moves, frames, |edge, part| edge.level.skip(part));
        self.gate.pass(frames);
        self.exit.pass(frames);
    }

    /// Passes what comes in the first channels of `block` through the way, in place.
    pub(super) fn pass(&mut self, clock: u64, moves: bool, block: &mut TrackBlock, frames: usize) {
        let channels = self.tap.channels();
        let block = &mut block[..channels];
        if channels == 2 {
            let mut done = 0;
            let mut gains = [0.0; BLOCK_FRAMES];
            self.in_parts(clock, moves, frames, |edge, part| {
                edge.level.fill(&mut gains[done..done + part]);
                done += part;
            });
            for values in &mut *block {
                values.iter_mut().zip(&gains[..frames]).for_each(|(value, gain)| *value *= gain);
            }
        }
        apply(&mut self.gate, block, frames);
        for (delay, values) in self.delays.iter_mut().zip(&mut *block) {
            delay.process(&mut values[..frames]);
        }
        apply(&mut self.exit, block, frames);
    }

    /// Says whether sound has come in while it was not closed, for so many frames.
    pub(super) fn count(&mut self, rings: bool, frames: usize) {
        self.ringing_frames =
            if rings { self.delay_frames() } else { self.ringing_frames.saturating_sub(frames) };
    }

    /// Does something with the frames from one place of the line to the next, until they are done.
    fn in_parts(&mut self, clock: u64, moves: bool, frames: usize, mut act: impl FnMut(&mut Self, usize)) {
        let mut done = 0;
        while done < frames {
            let clock = clock + done as u64;
            let mut part = frames - done;
            if let (true, Some(line)) = (moves, &mut self.level_db_line) {
                if let Some(leg) = line.leg(clock) {
                    self.level.follow(leg, gain::from_db);
                }
                part = part.min(usize::try_from(line.next_place() - clock).unwrap_or(part));
            }
            act(self, part);
            done += part;
        }
    }
}

/// Whether a gate is there, and stays so.
fn stays_at(gate: &Glide, value: f64) -> bool {
    gate.is_at_rest() && gate.target() == value
}

fn apply(gate: &mut Glide, block: &mut [[f32; BLOCK_FRAMES]], frames: usize) {
    if stays_at(gate, 1.0) {
        return;
    }
    for frame in 0..frames {
        let gate = gate.next() as f32;
        block.iter_mut().for_each(|values| values[frame] *= gate);
    }
}
