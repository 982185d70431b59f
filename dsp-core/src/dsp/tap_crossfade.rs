//! Crossfades between the taps of delay lines.

use super::control::CONTROL_FRAMES;

/// The tap of a delay line, with a crossfade to another tap.
///
/// Both gains of the crossfade are linear and add up to 1. A crossfade thus never raises the gain
/// of a feedback loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapCrossfade<T> {
    current: T,
    next: T,
    /// Frames until the crossfade ends; 0 if no crossfade is in progress.
    remaining_frames: usize,
    fade_frames: usize,
}

impl<T: Copy + PartialEq> TapCrossfade<T> {
    /// Creates a steady tap. Crossfades take `fade_frames` frames.
    pub(crate) fn new(current: T, fade_frames: usize) -> Self {
        Self { current, next: current, remaining_frames: 0, fade_frames }
    }

    /// Sets the tap immediately, without a crossfade.
    pub(crate) fn reset_to(&mut self, target: T) {
        *self = Self::new(target, self.fade_frames);
    }

    /// Starts a crossfade to another tap.
    pub(crate) fn fade_to(&mut self, target: T) {
        if target != self.current {
            (self.next, self.remaining_frames) = (target, self.fade_frames);
        }
    }

    /// Whether no crossfade is in progress.
    pub(crate) fn is_steady(&self) -> bool {
        self.remaining_frames == 0
    }

    /// Returns the current tap. During a crossfade, that is the tap that fades out.
    pub(crate) fn current(&self) -> &T {
        &self.current
    }

    /// Returns the tap that fades in. It equals [`Self::current`] while no crossfade is in
    /// progress.
    pub(crate) fn next(&self) -> &T {
        &self.next
    }

    /// Crossfades `values`, which the caller has read from [`Self::current`], to the values that
    /// `read_next` reads from [`Self::next`].
    #[inline(always)]
    pub(crate) fn crossfade(&self, values: &mut [f32], read_next: impl FnOnce(&T, &mut [f32])) {
        if self.remaining_frames == 0 {
            return;
        }
        let mut next = [0.0; CONTROL_FRAMES];
        let next = &mut next[..values.len()];
        read_next(&self.next, next);
        let step = 1.0 / self.fade_frames as f32;
        for (frame, (value, next)) in values.iter_mut().zip(next).enumerate() {
            *value = *next + (*value - *next) * (self.remaining_frames.saturating_sub(frame) as f32 * step);
        }
    }

    /// Advances by `frames` frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        self.remaining_frames = self.remaining_frames.saturating_sub(frames);
        if self.remaining_frames == 0 {
            self.current = self.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossfade_is_linear() {
        let mut fade = TapCrossfade::new(1.0_f32, 8);
        fade.fade_to(3.0);
        let mut output = Vec::new();
        for _ in 0..3 {
            let mut values = [*fade.current(); 4];
            fade.crossfade(&mut values, |next, values| values.fill(*next));
            output.extend(values);
            fade.advance(4);
        }
        assert_eq!(output, [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.0, 3.0, 3.0]);
        assert!(fade.is_steady());
    }
}
