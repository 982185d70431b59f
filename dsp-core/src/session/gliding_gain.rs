//! Gains that move without a click.

use super::follower::Leg;

/// A gain that glides to where a hand sets it, or goes straight where an automation leads it, one
/// step a frame. At rest it is exactly its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct GlidingGain {
    /// In double precision: the last steps of a glide vanish in an f32.
    current: f64,
    target: f64,
    per_frame: f64,
    /// Of a straight way: frames that are left, and the step of each; 0 frames while a hand moves
    /// it.
    straight_frames: u32,
    straight_step: f64,
}

/// Time constant of a glide, in seconds.
const GLIDE_SECS: f64 = 0.005;

impl GlidingGain {
    /// A gain at rest; one that is no number is 0.
    pub(super) fn new(gain: f32, sample_rate_hz: u32) -> Self {
        let gain = if gain.is_finite() { gain } else { 0.0 };
        let per_frame = 1.0 - libm::exp(-1.0 / (GLIDE_SECS * f64::from(sample_rate_hz)));
        let gain = f64::from(gain);
        Self { current: gain, target: gain, per_frame, straight_frames: 0, straight_step: 0.0 }
    }

    /// Where it glides from here on; what is no number is passed over.
    pub(super) fn set_target(&mut self, gain: f32) {
        if gain.is_finite() {
            self.target = f64::from(gain);
            self.straight_frames = 0;
        }
    }

    /// Goes straight to a gain in so many frames, 0: at once; what is no number is passed over.
    pub(super) fn go_straight(&mut self, gain: f32, frames: u32) {
        if !gain.is_finite() {
            return;
        }
        self.target = f64::from(gain);
        if frames == 0 || self.current == self.target {
            return self.jump();
        }
        // Half a day at 48 kHz: nothing moves for longer without a place in between.
        self.straight_frames = frames.min(i32::MAX as u32);
        self.straight_step = (self.target - self.current) / f64::from(self.straight_frames);
    }

    /// Goes on along a line, at the gains that its values mean.
    pub(super) fn follow(&mut self, leg: Leg, gain: impl Fn(f64) -> f32) {
        if let Some(value) = leg.jump {
            self.go_straight(gain(value), 0);
        }
        if let Some((value, frames)) = leg.way {
            self.go_straight(gain(value), frames);
        }
    }

    pub(super) fn jump(&mut self) {
        self.current = self.target;
        self.straight_frames = 0;
    }

    /// Where it is at rest.
    pub(super) fn target(&self) -> f32 {
        self.target as f32
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.current == self.target && self.straight_frames == 0
    }

    /// The gain of the next frame, while a hand moves it.
    fn next(&mut self) -> f32 {
        if self.current != self.target {
            let distance = self.target - self.current;
            self.current =
                if distance.abs() < 1e-6 { self.target } else { self.current + distance * self.per_frame };
        }
        self.current as f32
    }

    /// The gains of the next frames, as many as there are places in `gains`, which pass.
    pub(super) fn fill(&mut self, gains: &mut [f32]) {
        let on_the_way = gains.len().min(self.straight_frames as usize);
        let (straight, gains) = gains.split_at_mut(on_the_way);
        if !straight.is_empty() {
            let Self { target, straight_step, straight_frames, .. } = *self;
            // From the target backwards, so that rounding does not add up on the way.
            for (passed, gain) in (0..).zip(straight) {
                let left = straight_frames as i32 - passed;
                *gain = (target - straight_step * f64::from(left)) as f32;
            }
            self.pass_straight(on_the_way);
        }
        if self.is_at_rest() {
            gains.fill(self.target());
        } else {
            gains.iter_mut().for_each(|gain| *gain = self.next());
        }
    }

    fn pass_straight(&mut self, frames: usize) {
        if frames > 0 {
            self.straight_frames -= frames as u32;
            self.current = self.target - self.straight_step * f64::from(self.straight_frames);
        }
    }

    /// Lets frames of silence pass.
    pub(super) fn skip(&mut self, frames: usize) {
        let on_the_way = frames.min(self.straight_frames as usize);
        self.pass_straight(on_the_way);
        for _ in on_the_way..frames {
            if self.is_at_rest() {
                return;
            }
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_way_starts_where_it_is_and_arrives_exactly() {
        let mut gain = GlidingGain::new(1.0, 48_000);
        gain.go_straight(0.5, 4);
        let mut gains = [0.0; 6];
        gain.fill(&mut gains);
        assert_eq!(gains, [1.0, 0.875, 0.75, 0.625, 0.5, 0.5]);
        assert!(gain.is_at_rest());
        gain.go_straight(0.25, 0);
        gain.go_straight(f32::NAN, 0);
        assert_eq!((gain.target(), gain.is_at_rest()), (0.25, true));
    }

    #[test]
    fn a_hand_takes_over_on_the_way() {
        let mut gain = GlidingGain::new(0.0, 48_000);
        gain.go_straight(1.0, 100);
        gain.skip(50);
        gain.set_target(0.5);
        gain.skip(10);
        assert_eq!(gain.target(), 0.5);
        assert!(gain.is_at_rest());
    }
}
