//! Delays by whole frames.

use alloc::vec;
use alloc::vec::Vec;

/// Delays one channel by a number of frames that stays the same.
#[derive(Debug, Clone)]
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

    /// Adds what comes out to a sum, and takes in values times a gain; both slices are as long.
    pub(crate) fn add_to(&mut self, mut sum: &mut [f32], mut values: &[f32], gain: f32) {
        while !values.is_empty() && !self.values.is_empty() {
            let part = values.len().min(self.values.len() - self.place);
            let held = &mut self.values[self.place..self.place + part];
            for ((sum, held), value) in sum.iter_mut().zip(held).zip(values) {
                *sum += *held;
                *held = value * gain;
            }
            self.place = (self.place + part) % self.values.len();
            (sum, values) = (&mut sum[part..], &values[part..]);
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
    fn what_is_added_is_what_would_come_out() {
        let (mut one, mut other) = (Delay::new(5), Delay::new(5));
        let values: Vec<f32> = (1..=40).map(|value| value as f32).collect();
        let (mut processed, mut sum) = (values.clone(), values.clone());
        processed.iter_mut().for_each(|value| *value *= 0.5);
        processed.chunks_mut(7).for_each(|values| one.process(values));
        sum.chunks_mut(3).zip(values.chunks(3)).for_each(|(sum, values)| other.add_to(sum, values, 0.5));
        let expected = values.iter().zip(processed).map(|(value, late)| value + late);
        assert!(sum.into_iter().eq(expected));
    }

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
