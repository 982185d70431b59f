//! Delays by whole frames.

use alloc::vec;
use alloc::vec::Vec;

/// Delays one channel by a number of frames that stays the same.
pub(crate) struct Delay {
    values: Vec<f32>,
    place: usize,
}

impl Delay {
    /// A delay that holds silence.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], place: 0 }
    }

    /// How long it is.
    pub(crate) fn frames(&self) -> usize {
        self.values.len()
    }

    /// Delays values in place.
    pub(crate) fn process(&mut self, mut values: &mut [f32]) {
        while !values.is_empty() && !self.values.is_empty() {
            let part = values.len().min(self.values.len() - self.place);
            let (now, later) = values.split_at_mut(part);
            now.swap_with_slice(&mut self.values[self.place..self.place + part]);
            self.place = (self.place + part) % self.values.len();
            values = later;
        }
    }

    /// Forgets what it holds.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_later_whatever_the_pieces() {
        for frames in [0, 1, 3, 7, 100] {
            for piece in [1, 2, 5, 64] {
                let mut delay = Delay::new(frames);
                let mut values: Vec<f32> = (1..=50).map(|value| value as f32).collect();
                values.chunks_mut(piece).for_each(|values| delay.process(values));
                let expected =
                    (0..50).map(|place| if place < frames { 0.0 } else { (place - frames + 1) as f32 });
                assert!(values.iter().copied().eq(expected), "{frames} frames by {piece}");
            }
        }
    }
}
