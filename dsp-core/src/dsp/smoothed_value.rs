//! A value that ramps linearly to its target.

/// A value that ramps to a target in equal steps, one per frame. A steady value equals its target
/// exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SmoothedValue {
    target: f64,
    step: f64,
    remaining_frames: u32,
}

impl SmoothedValue {
    /// Creates a steady value.
    pub(crate) const fn new(value: f64) -> Self {
        Self { target: value, step: 0.0, remaining_frames: 0 }
    }

    /// Ramps to a target within `ramp_frames` frames. With 0 frames, the value changes immediately.
    pub(crate) fn set_target(&mut self, target: f64, ramp_frames: u32) {
        let start = self.value();
        self.target = target;
        self.remaining_frames = if start == target { 0 } else { ramp_frames };
        let is_steady = self.remaining_frames == 0;
        self.step = if is_steady { 0.0 } else { (target - start) / f64::from(ramp_frames) };
    }

    /// Calls [`Self::set_target`] unless `target` is already the target.
    pub(crate) fn set_if_new(&mut self, target: f64, ramp_frames: u32) {
        if target != self.target {
            self.set_target(target, ramp_frames);
        }
    }

    /// Returns the current value.
    pub(crate) fn value(&self) -> f64 {
        // Counting back from the target keeps rounding errors from accumulating.
        self.target - self.step * f64::from(self.remaining_frames)
    }

    /// Returns the value at the end of the ramp.
    pub(crate) fn target(&self) -> f64 {
        self.target
    }

    /// Whether the value has reached its target.
    pub(crate) fn is_steady(&self) -> bool {
        self.remaining_frames == 0
    }

    /// Whether the value equals `value` and stays there.
    pub(crate) fn is_steady_at(&self, value: f64) -> bool {
        self.is_steady() && self.target == value
    }

    /// Advances by `frames` frames.
    pub(crate) fn advance(&mut self, frames: usize) {
        let frames = u32::try_from(frames).unwrap_or(u32::MAX);
        self.remaining_frames = self.remaining_frames.saturating_sub(frames);
    }

    /// Returns the current value and advances by one frame.
    #[inline]
    pub(crate) fn next(&mut self) -> f64 {
        let value = self.value();
        self.remaining_frames = self.remaining_frames.saturating_sub(1);
        value
    }

    /// Writes the values of the next frames into `values` and advances by as many frames.
    pub(crate) fn fill(&mut self, values: &mut [f32]) {
        let ramp_frames = values.len().min(self.remaining_frames as usize);
        let (ramp, steady) = values.split_at_mut(ramp_frames);
        ramp.iter_mut().for_each(|value| *value = self.next() as f32);
        steady.fill(self.target as f32);
    }

    /// Returns the values of the next `frames` frames and advances by as many frames. Values at
    /// higher indices are unspecified.
    #[inline(always)]
    pub(crate) fn next_values<const FRAMES: usize>(&mut self, frames: usize) -> [f32; FRAMES] {
        let mut values = [self.value() as f32; FRAMES];
        if !self.is_steady() {
            values[..frames].iter_mut().for_each(|value| *value = self.next() as f32);
        }
        values
    }

    /// Skips to the end of the ramp.
    pub(crate) fn finish(&mut self) {
        self.remaining_frames = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_is_linear_and_ends_exactly_at_its_target() {
        let mut value = SmoothedValue::new(1.0);
        value.set_target(0.1, 3);
        let values: [f64; 5] = core::array::from_fn(|_| value.next());
        assert!((values[0] - 1.0).abs() < 1e-15 && (values[1] - 0.7).abs() < 1e-15);
        assert!((values[2] - 0.4).abs() < 1e-15);
        assert_eq!(values[3..], [0.1, 0.1]);
        value.set_target(0.5, 2);
        let mut filled_values = [0.0; 4];
        value.fill(&mut filled_values);
        assert_eq!(filled_values, [0.1, 0.3, 0.5, 0.5]);
    }

    #[test]
    fn a_new_target_ramps_from_the_current_value() {
        let mut value = SmoothedValue::new(0.0);
        value.set_target(8.0, 8);
        value.advance(4);
        value.set_target(0.0, 2);
        assert_eq!([value.next(), value.next(), value.next()], [4.0, 2.0, 0.0]);
        assert!(value.is_steady());
        value.set_target(5.0, 0);
        assert_eq!(value.value(), 5.0);
    }
}
