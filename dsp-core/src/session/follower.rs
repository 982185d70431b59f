//! Following a line from one of its places to the next.

use super::automation::Line;

/// How long what is heard takes to a line that is new, or has changed, in seconds.
const APPROACH_SECS: f64 = 0.01;

/// A line, and how far something has followed it.
pub(super) struct Follower {
    line: Line,
    aim: Aim,
    /// The place at which it has to be asked again.
    next_place: u64,
    approach_frames: u32,
}

/// Where what follows is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    /// Anywhere: nothing has been heard of it yet.
    Unheard,
    /// Elsewhere than the line.
    Away,
    /// On the line, or on the way to this value at the next place.
    Sent(f64),
}

/// What is to be done at a place, in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leg {
    /// A value to be at, at once.
    pub(super) jump: Option<f64>,
    /// A value to go straight to, in so many frames.
    pub(super) way: Option<(f64, u32)>,
}

impl Follower {
    /// Of a line that something is yet to follow: at once where it `is_new`, else soon, for it was
    /// heard elsewhere.
    pub(super) fn new(line: Line, is_new: bool, sample_rate_hz: u32) -> Self {
        let approach_frames = libm::round(APPROACH_SECS * f64::from(sample_rate_hz)) as u32;
        let aim = if is_new { Aim::Unheard } else { Aim::Away };
        Self { line, aim, next_place: 0, approach_frames }
    }

    /// As [`Self::new`]; where an old one is of the same line, that goes on as it was.
    pub(super) fn instead_of(old: Option<Self>, line: Line, is_new: bool, sample_rate_hz: u32) -> Self {
        let same = old.filter(|old| old.line.is_same_as(&line));
        same.unwrap_or_else(|| Self::new(line, is_new, sample_rate_hz))
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// The value where it was sent last, if it follows.
    pub(super) fn sent(&self) -> Option<f64> {
        if let Aim::Sent(value) = self.aim { Some(value) } else { None }
    }

    /// By how many frames what follows lags the clock.
    pub(super) fn set_lag(&mut self, frames: usize) {
        if self.line.set_lag(frames) && self.aim != Aim::Unheard {
            self.leave();
        }
    }

    /// What follows goes elsewhere.
    fn leave(&mut self) {
        (self.aim, self.next_place) = (Aim::Away, 0);
    }

    /// What follows stands still at a frame, at the value that this says.
    pub(super) fn stand(&mut self, frame: u64) -> f64 {
        self.leave();
        self.line.value_at_rest(frame)
    }

    /// What follows is at a place of the clock at once, at the value that this says.
    pub(super) fn jump(&mut self, clock: u64) -> f64 {
        let value = self.line.value(clock);
        (self.aim, self.next_place) = (Aim::Sent(value), 0);
        value
    }

    /// The place up to which nothing is to be done.
    pub(super) fn next_place(&self) -> u64 {
        self.next_place
    }

    /// What is to be done at a place of the clock; `None` before the next place.
    pub(super) fn leg(&mut self, clock: u64) -> Option<Leg> {
        if clock < self.next_place {
            return None;
        }
        if self.aim == Aim::Away {
            return Some(self.approach(clock));
        }
        let here = self.line.value(clock);
        self.next_place = self.line.next_place(clock);
        let there = self.line.value_before(clock, self.next_place);
        let jump = (self.aim != Aim::Sent(here)).then_some(here);
        self.aim = Aim::Sent(there);
        let frames = u32::try_from(self.next_place - clock).unwrap_or(u32::MAX);
        Some(Leg { jump, way: (there != here).then_some((there, frames)) })
    }

    /// The way to the line: as long wherever it begins, so that it never clicks.
    fn approach(&mut self, clock: u64) -> Leg {
        self.next_place = clock + u64::from(self.approach_frames);
        let there = self.line.value_before(self.next_place - 1, self.next_place);
        self.aim = Aim::Sent(there);
        Leg { jump: None, way: Some((there, self.approach_frames)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{AutomationPoint, Curve};

    fn line(points: &[(u64, f64)]) -> Line {
        let point = |&(frame, value): &(u64, f64)| AutomationPoint { frame, value, curve: Curve::Linear };
        Line::new(&points.iter().map(point).collect::<Vec<_>>()).unwrap()
    }

    fn leg(jump: Option<f64>, way: Option<(f64, u32)>) -> Option<Leg> {
        Some(Leg { jump, way })
    }

    #[test]
    fn what_is_heard_elsewhere_takes_as_long_to_the_line_wherever_it_begins() {
        for clock in [0, 31, 32] {
            let mut follower = Follower::new(line(&[(0, 0.0), (48_000, 48_000.0)]), false, 48_000);
            let there = clock as f64 + 480.0;
            assert_eq!(follower.leg(clock), leg(None, Some((there, 480))));
            assert_eq!(follower.leg(clock + 479), None);
            let next = (clock + 480) / 32 * 32 + 32;
            assert_eq!(
                follower.leg(clock + 480),
                leg(None, Some((next as f64, (next - clock - 480) as u32)))
            );
        }
    }

    #[test]
    fn what_is_new_is_on_the_line_at_once_and_jumps_where_the_line_does() {
        let mut follower = Follower::new(line(&[(0, 5.0), (100, 5.0), (100, 7.0)]), true, 48_000);
        assert_eq!(follower.leg(50), leg(Some(5.0), None));
        assert_eq!(follower.leg(99), None);
        assert_eq!(follower.leg(100), leg(Some(7.0), None));
        assert_eq!(follower.jump(20), 5.0);
        assert_eq!(follower.leg(20), leg(None, None));
    }

    #[test]
    fn the_same_points_are_followed_on() {
        let points = [(0, 0.0), (100, 5.0)];
        let of = |points: &[(u64, f64)], old| Follower::instead_of(old, line(points), false, 48_000);
        let mut follower = of(&points, None);
        follower.jump(10);
        let mut follower = of(&points, Some(follower));
        assert_eq!(follower.sent(), Some(0.5));
        follower.set_lag(0);
        assert_eq!(follower.sent(), Some(0.5));
        follower.set_lag(3);
        assert_eq!(follower.sent(), None);
        follower.jump(10);
        assert_eq!(of(&[(0, 1.0)], Some(follower)).sent(), None);
    }
}
