//! Crossfades between places where delay lines are read.

use super::CONTROL_FRAMES;

/// Something that a delay is read by, and what it fades over to.
///
/// Both gains of a fade go straight and add up to 1, so that a loop never gains by it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fade<T> {
    now: T,
    next: T,
    /// Frames until only `next` is left; 0: at rest.
    left: usize,
    fade_frames: usize,
}

impl<T: Copy + PartialEq> Fade<T> {
    /// At rest. Fades take so many frames.
    pub(crate) fn new(now: T, fade_frames: usize) -> Self {
        Self { now, next: now, left: 0, fade_frames }
    }

    /// Is there at once.
    pub(crate) fn jump(&mut self, to: T) {
        *self = Self::new(to, self.fade_frames);
    }

    /// Starts to fade over to something else.
    pub(crate) fn aim(&mut self, to: T) {
        if to != self.now {
            (self.next, self.left) = (to, self.fade_frames);
        }
    }

    /// Whether no fade is on its way.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.left == 0
    }

    /// What is heard, or faded away from.
    pub(crate) fn now(&self) -> &T {
        &self.now
    }

    /// What will be heard at the end; at rest the same as [`Self::now`].
    pub(crate) fn next(&self) -> &T {
        &self.next
    }

    /// Values read by `now`, turned into those of the fade.
    #[inline(always)]
    pub(crate) fn blend(&self, values: &mut [f32], read_next: impl FnOnce(&T, &mut [f32])) {
        if self.left == 0 {
            return;
        }
        let mut next = [0.0; CONTROL_FRAMES];
        let next = &mut next[..values.len()];
        read_next(&self.next, next);
        let share = 1.0 / self.fade_frames as f32;
        for (frame, (value, next)) in values.iter_mut().zip(next).enumerate() {
            *value = *next + (*value - *next) * (self.left.saturating_sub(frame) as f32 * share);
        }
    }

    /// Lets frames pass.
    pub(crate) fn pass(&mut self, frames: usize) {
        self.left = self.left.saturating_sub(frames);
        if self.left == 0 {
            self.now = self.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_straight_from_one_to_the_other() {
        let mut fade = Fade::new(1.0_f32, 8);
        fade.aim(3.0);
        let mut heard = Vec::new();
        for _ in 0..3 {
            let mut values = [*fade.now(); 4];
            fade.blend(&mut values, |next, values| values.fill(*next));
            heard.extend(values);
            fade.pass(4);
        }
        assert_eq!(heard, [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.0, 3.0, 3.0]);
        assert!(fade.is_at_rest());
    }
}
