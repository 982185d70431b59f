//! A delay of a fixed number of frames, accessed as slices of a ring buffer.

use alloc::vec;
use alloc::vec::Vec;

/// The last values of a signal, as many as the delay has frames.
#[derive(Debug, Clone)]
pub(crate) struct RingBuffer {
    values: Vec<f32>,
    /// Index of the oldest value, which the next value replaces.
    index: usize,
}

impl RingBuffer {
    /// Creates a silent delay of `frames` frames, at least 1.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], index: 0 }
    }

    /// Fills the delay with silence.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.index = 0;
    }

    /// Returns the number of frames before the index wraps to 0.
    pub(crate) fn frames_to_wrap(&self) -> usize {
        self.values.len() - self.index
    }

    /// Returns the oldest `frames` values, which the caller replaces by the newest values. `frames`
    /// is at most [`Self::frames_to_wrap`].
    pub(crate) fn next_mut(&mut self, frames: usize) -> &mut [f32] {
        let first = self.index;
        self.index += frames;
        if self.index == self.values.len() {
            self.index = 0;
        }
        &mut self.values[first..first + frames]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_returned_after_the_delay() {
        let mut ring = RingBuffer::new(3);
        ring.next_mut(2).copy_from_slice(&[1.0, 2.0]);
        assert_eq!(ring.frames_to_wrap(), 1);
        ring.next_mut(1)[0] = 3.0;
        assert_eq!(ring.next_mut(3), [1.0, 2.0, 3.0]);
        ring.clear();
        assert_eq!(ring.next_mut(3), [0.0; 3]);
    }
}
