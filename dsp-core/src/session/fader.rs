//! A track's fader and pan, moved by hand or by automation.

use core::ops::Range;

use super::automation::Line;
use super::gliding_gain::GlidingGain;
use super::{AutomationLane, AutomationTarget, TrackMix};
use crate::gain;

/// The gains of a strip. What goes to the shared reverb and chorus follows the fader and not the pan.
pub(super) struct Fader {
    mix: TrackMix,
    left: GlidingGain,
    right: GlidingGain,
    send: GlidingGain,
    volume_db: Option<Line>,
    pan: Option<Line>,
    /// Place from which on the lines have to be asked again.
    next_place: u64,
    /// Whether it is where the lines led it.
    is_aimed: bool,
}

impl Fader {
    /// A fader at rest.
    pub(super) fn new(mix: &TrackMix, sample_rate_hz: u32) -> Self {
        let [left, right, send] = gains(mix.gain, mix.pan).map(|gain| GlidingGain::new(gain, sample_rate_hz));
        Self { mix: *mix, left, right, send, volume_db: None, pan: None, next_place: 0, is_aimed: false }
    }

    /// Where a hand has set it.
    pub(super) fn mix(&self) -> &TrackMix {
        &self.mix
    }

    /// Moves by hand. What is automated follows its line.
    pub(super) fn set_mix(&mut self, mix: &TrackMix) {
        self.mix = *mix;
        if self.is_automated() {
            // Whatever is not moves with the next place.
            (self.next_place, self.is_aimed) = (0, false);
        } else {
            self.aim_by_hand(gains(mix.gain, mix.pan));
        }
    }

    fn aim_by_hand(&mut self, targets: [f32; 3]) {
        for (gain, target) in self.gains_mut().into_iter().zip(targets) {
            gain.set_target(target);
        }
    }

    /// Follows the lanes that are meant for it.
    pub(super) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let line_of = |target| lanes.iter().rfind(|lane| lane.target == target);
        self.volume_db = line_of(AutomationTarget::Volume).and_then(|lane| Line::new(&lane.points));
        self.pan = line_of(AutomationTarget::Pan).and_then(|lane| Line::new(&lane.points));
        (self.next_place, self.is_aimed) = (0, false);
    }

    pub(super) fn is_automated(&self) -> bool {
        self.volume_db.is_some() || self.pan.is_some()
    }

    /// By how many frames what it hears lags the clock.
    pub(super) fn set_lag(&mut self, frames: usize) {
        self.volume_db.iter_mut().chain(&mut self.pan).for_each(|line| line.set_lag(frames));
    }

    /// The session stands still at a frame, and the fader goes to where it is there.
    pub(super) fn stand(&mut self, frame: u64) {
        let targets = self.gains_of(|line| line.value_at_rest(frame));
        self.aim_by_hand(targets);
        (self.next_place, self.is_aimed) = (0, false);
    }

    /// Is where it should be at a place of the clock, at once.
    pub(super) fn jump(&mut self, clock: u64) {
        let targets = self.gains_of(|line| line.value(clock));
        self.aim_by_hand(targets);
        self.gains_mut().into_iter().for_each(GlidingGain::jump);
        (self.next_place, self.is_aimed) = (0, true);
    }

    fn gains_mut(&mut self) -> [&mut GlidingGain; 3] {
        [&mut self.left, &mut self.right, &mut self.send]
    }

    fn gains_of(&self, value: impl Fn(&Line) -> f64) -> [f32; 3] {
        let gain = self.volume_db.as_ref().map_or(self.mix.gain, |line| gain::from_db(value(line)));
        let pan = self.pan.as_ref().map_or(self.mix.pan, |line| value(line) as f32);
        gains(gain, pan)
    }

    /// Where the session moves: aims at the next place and says how many of the frames are before it.
    fn follow(&mut self, clock: u64, frames: usize) -> usize {
        if clock >= self.next_place {
            let is_aimed = core::mem::replace(&mut self.is_aimed, true);
            let next_place =
                |line: &Line| if is_aimed { line.next_place(clock) } else { line.next_place_soon(clock) };
            let places = self.volume_db.iter().chain(&self.pan).map(next_place);
            let next = places.min().unwrap_or(u64::MAX);
            let here = self.gains_of(|line| line.value(clock));
            let there = self.gains_of(|line| line.value_before(clock, next));
            let glide_frames = u32::try_from(next - clock).unwrap_or(u32::MAX);
            for ((gain, here), there) in self.gains_mut().into_iter().zip(here).zip(there) {
                if is_aimed {
                    gain.go_straight(here, 0);
                }
                if there != here || !is_aimed {
                    gain.go_straight(there, glide_frames);
                }
            }
            self.next_place = next;
        }
        frames.min(usize::try_from(self.next_place - clock).unwrap_or(frames))
    }

    /// The gains of left, right and the sends if none of them moves within the next frames.
    pub(super) fn at_rest(&self) -> Option<[f32; 3]> {
        let rests =
            !self.is_automated() && [self.left, self.right, self.send].iter().all(GlidingGain::is_at_rest);
        rests.then(|| [self.left, self.right, self.send].map(|gain| gain.target()))
    }

    /// Passes left and right through the fader, and what goes to the shared effects.
    pub(super) fn apply(
        &mut self,
        clock: u64,
        moves: bool,
        [left, right]: [&mut [f32]; 2],
        mut sends: Option<[&mut [f32]; 2]>,
    ) {
        self.in_parts(clock, moves, left.len(), |fader, part| {
            fader.left.apply(&mut left[part.clone()]);
            fader.right.apply(&mut right[part.clone()]);
            let Some([reverb, chorus]) = &mut sends else { return };
            let mut send = fader.send;
            send.apply(&mut reverb[part.clone()]);
            fader.send.apply(&mut chorus[part]);
        });
    }

    /// Lets frames of silence pass.
    pub(super) fn skip(&mut self, clock: u64, moves: bool, frames: usize) {
        if self.at_rest().is_some() {
            return;
        }
        self.in_parts(clock, moves, frames, |fader, part| {
            fader.gains_mut().into_iter().for_each(|gain| gain.skip(part.len()));
        });
    }

    /// Does something with the frames from one place to the next, until they are done.
    fn in_parts(
        &mut self,
        clock: u64,
        moves: bool,
        frames: usize,
        mut act: impl FnMut(&mut Self, Range<usize>),
    ) {
        let mut done = 0;
        while done < frames {
            let mut part = frames - done;
            if moves && self.is_automated() {
                part = self.follow(clock + done as u64, part);
            }
            act(self, done..done + part);
            done += part;
        }
    }
}

/// The gains of left, right and the sends.
fn gains(gain: f32, pan: f32) -> [f32; 3] {
    let (left, right) = gain::balance(f64::from(pan));
    [gain * left, gain * right, gain]
}
