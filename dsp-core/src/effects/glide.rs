//! A value that goes straight to where it is set.

use super::step::Step;

/// A value on its way to a target, one step a frame. At rest it is exactly its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Glide {
    target: f64,
    step: f64,
    /// Frames until the target is reached.
    left: u32,
}

impl Glide {
    /// A value at rest.
    pub(crate) const fn new(value: f64) -> Self {
        Self { target: value, step: 0.0, left: 0 }
    }

    /// Goes to a target in so many frames; 0: at once.
    pub(crate) fn set(&mut self, target: f64, frames: u32) {
        let start = self.value();
        self.target = target;
        self.left = if start == target { 0 } else { frames };
        self.step = if self.left == 0 { 0.0 } else { (target - start) / f64::from(frames) };
    }

    /// As [`Self::set`]; on its way to that target already, it goes on as it does.
    pub(crate) fn go_over(&mut self, target: f64, frames: u32) {
        if target != self.target {
            self.set(target, frames);
        }
    }

    /// Where it is now.
    pub(crate) fn value(&self) -> f64 {
        // From the target backwards, so that rounding does not add up on the way.
        self.target - self.step * f64::from(self.left)
    }

    /// Where it goes.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// Whether it is there.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.left == 0
    }

    /// Frames until it is there.
    pub(crate) fn left_frames(&self) -> u32 {
        self.left
    }

    /// Lets frames pass.
    pub(crate) fn pass(&mut self, frames: usize) {
        self.left = self.left.saturating_sub(u32::try_from(frames).unwrap_or(u32::MAX));
    }

    /// The value of this frame, and one frame further.
    #[inline]
    pub(crate) fn next(&mut self) -> f64 {
        let value = self.value();
        self.left = self.left.saturating_sub(1);
        value
    }

    /// As [`Self::steps`], of at most a control step.
    #[inline(always)]
    pub(crate) fn step(&mut self, frames: usize) -> Step {
        self.steps(frames)
    }

    /// The values of the next frames, and as many frames further. What lies behind them is of no
    /// meaning.
    #[inline(always)]
    pub(crate) fn steps<const FRAMES: usize>(&mut self, frames: usize) -> Step<FRAMES> {
        let mut values = [self.value() as f32; FRAMES];
        if !self.is_at_rest() {
            values[..frames].iter_mut().for_each(|value| *value = self.next() as f32);
        }
        values
    }

    /// Is at its target at once.
    pub(crate) fn jump(&mut self) {
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_straight_and_arrives_exactly() {
        let mut glide = Glide::new(1.0);
        glide.set(0.1, 3);
        let way: [f64; 5] = core::array::from_fn(|_| glide.next());
        assert!((way[0] - 1.0).abs() < 1e-15 && (way[1] - 0.7).abs() < 1e-15 && (way[2] - 0.4).abs() < 1e-15);
        assert_eq!(way[3..], [0.1, 0.1]);
    }

    #[test]
    fn a_new_target_on_the_way_starts_where_it_is() {
        let mut glide = Glide::new(0.0);
        glide.set(8.0, 8);
        glide.pass(4);
        glide.set(0.0, 2);
        assert_eq!([glide.next(), glide.next(), glide.next()], [4.0, 2.0, 0.0]);
        assert!(glide.is_at_rest());
        glide.set(5.0, 0);
        assert_eq!(glide.value(), 5.0);
    }
}
