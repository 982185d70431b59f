//! A track's fader and pan, moved by hand or by automation.

use core::ops::Range;

use super::automation::Line;
use super::follower::Follower;
use super::gliding_gain::GlidingGain;
use super::{AutomationLane, AutomationTarget, TrackMix};
use crate::block::BLOCK_FRAMES;
use crate::gain;

/// The gains of a strip: left and right go by the volume and the pan, each of which glides for
/// itself. What goes to the shared reverb and chorus follows the volume and not the pan.
pub(super) struct Fader {
    mix: TrackMix,
    volume: GlidingGain,
    /// Of left and right.
    pan: [GlidingGain; 2],
    volume_db_line: Option<Follower>,
    pan_line: Option<Follower>,
    /// Whether it has not been told its lanes yet.
    is_new: bool,
    sample_rate_hz: u32,
}

impl Fader {
    /// A fader at rest.
    pub(super) fn new(mix: &TrackMix, sample_rate_hz: u32) -> Self {
        Self {
            mix: *mix,
            volume: GlidingGain::new(mix.gain, sample_rate_hz),
            pan: balance(mix.pan).map(|gain| GlidingGain::new(gain, sample_rate_hz)),
            volume_db_line: None,
            pan_line: None,
            is_new: true,
            sample_rate_hz,
        }
    }

    /// Where a hand has set it.
    pub(super) fn mix(&self) -> &TrackMix {
        &self.mix
    }

    /// Moves by hand. What is automated follows its line.
    pub(super) fn set_mix(&mut self, mix: &TrackMix) {
        self.mix = *mix;
        if self.volume_db_line.is_none() {
            self.volume.set_target(mix.gain);
        }
        if self.pan_line.is_none() {
            self.aim_pan(mix.pan);
        }
    }

    fn aim_pan(&mut self, pan: f32) {
        for (gain, target) in self.pan.iter_mut().zip(balance(pan)) {
            gain.set_target(target);
        }
    }

    /// Follows the lanes that are meant for it.
    pub(super) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let (is_new, sample_rate_hz) = (core::mem::take(&mut self.is_new), self.sample_rate_hz);
        let follow = |target, follower: &mut Option<Follower>| {
            let lane = lanes.iter().rfind(|lane| lane.target == target);
            let line = lane.and_then(|lane| Line::new(&lane.points)).map(Line::with_waiting_places);
            let old = follower.take();
            *follower = line.map(|line| Follower::instead_of(old, line, is_new, sample_rate_hz));
        };
        follow(AutomationTarget::Volume, &mut self.volume_db_line);
        follow(AutomationTarget::Pan, &mut self.pan_line);
    }

    fn is_automated(&self) -> bool {
        self.volume_db_line.is_some() || self.pan_line.is_some()
    }

    /// By how many frames what it hears lags the clock.
    pub(super) fn set_lag(&mut self, frames: usize) {
        self.volume_db_line.iter_mut().chain(&mut self.pan_line).for_each(|line| line.set_lag(frames));
    }

    /// The session stands still at a frame, and the fader goes to where it is there.
    pub(super) fn stand(&mut self, frame: u64) {
        self.aim_by(|line| line.stand(frame));
    }

    /// Is where it should be at a place of the clock, at once.
    pub(super) fn jump(&mut self, clock: u64) {
        self.aim_by(|line| line.jump(clock));
        self.gains_mut().into_iter().for_each(GlidingGain::jump);
    }

    /// Goes to where lines say, or a hand where there are none.
    fn aim_by(&mut self, value: impl Fn(&mut Follower) -> f64) {
        let volume = self.volume_db_line.as_mut().map_or(self.mix.gain, |line| gain::from_db(value(line)));
        let pan = self.pan_line.as_mut().map_or(self.mix.pan, |line| value(line) as f32);
        self.volume.set_target(volume);
        self.aim_pan(pan);
    }

    fn gains_mut(&mut self) -> [&mut GlidingGain; 3] {
        let [left, right] = &mut self.pan;
        [&mut self.volume, left, right]
    }

    /// Where the session moves: goes on along the lines and says how many of the frames are before
    /// their next place.
    fn follow(&mut self, clock: u64, frames: usize) -> usize {
        let mut next_place = u64::MAX;
        if let Some(line) = &mut self.volume_db_line {
            if let Some(leg) = line.leg(clock) {
                self.volume.follow(leg, gain::from_db);
            }
            next_place = line.next_place();
        }
        if let Some(line) = &mut self.pan_line {
            if let Some(leg) = line.leg(clock) {
                for (side, gain) in self.pan.iter_mut().enumerate() {
                    gain.follow(leg, |pan| balance(pan as f32)[side]);
                }
            }
            next_place = next_place.min(line.next_place());
        }
        frames.min(usize::try_from(next_place - clock).unwrap_or(frames))
    }

    /// The gains of left, right and the sends if none of them moves within the next frames.
    pub(super) fn at_rest(&self) -> Option<[f32; 3]> {
        if self.is_automated() { None } else { self.resting_gains() }
    }

    /// As [`Self::at_rest`], before the lines have to be asked again.
    fn resting_gains(&self) -> Option<[f32; 3]> {
        let rests = self.volume.is_at_rest() && self.pan.iter().all(GlidingGain::is_at_rest);
        let ([left, right], volume) = (self.pan.each_ref().map(GlidingGain::target), self.volume.target());
        rests.then_some([volume * left, volume * right, volume])
    }

    /// Passes left and right through the fader, and what goes to the shared effects; at most a
    /// block.
    pub(super) fn apply(
        &mut self,
        clock: u64,
        moves: bool,
        [left, right]: [&mut [f32]; 2],
        mut sends: Option<[&mut [f32]; 2]>,
    ) {
        self.in_parts(clock, moves, left.len(), |fader, part| {
            let sends = sends.as_mut().map(|sends| sends.each_mut().map(|values| &mut values[part.clone()]));
            fader.pass([&mut left[part.clone()], &mut right[part]], sends);
        });
    }

    /// Passes frames before the next place of a line.
    fn pass(&mut self, sides: [&mut [f32]; 2], sends: Option<[&mut [f32]; 2]>) {
        let sends = sends.into_iter().flatten();
        if let Some([left, right, volume]) = self.resting_gains() {
            let all = sides.into_iter().zip([left, right]).chain(sends.map(|values| (values, volume)));
            for (values, gain) in all.filter(|(_, gain)| *gain != 1.0) {
                values.iter_mut().for_each(|value| *value *= gain);
            }
            return;
        }
        let (mut volume, mut pan) = ([0.0; BLOCK_FRAMES], [0.0; BLOCK_FRAMES]);
        let frames = sides[0].len();
        let (volume, pan) = (&mut volume[..frames], &mut pan[..frames]);
        self.volume.fill(volume);
        for (values, gain) in sides.into_iter().zip(&mut self.pan) {
            gain.fill(pan);
            for (value, (volume, pan)) in values.iter_mut().zip(volume.iter().zip(&*pan)) {
                *value *= volume * pan;
            }
        }
        for values in sends {
            values.iter_mut().zip(&*volume).for_each(|(value, volume)| *value *= volume);
        }
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

/// The gains of left and right.
fn balance(pan: f32) -> [f32; 2] {
    gain::balance(f64::from(pan)).into()
}
