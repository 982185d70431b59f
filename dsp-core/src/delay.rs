//! Delays by whole frames.

use alloc::vec;
use alloc::vec::Vec;

/// Delays one channel by a number of frames that stays the same.
#[derive(Debug, Clone)]
pub(crate) struct Delay {
    values: Vec<f32>,
    place: usize,
    /// Frames for which it may still give back anything but silence.
    sounding_frames: usize,
}

impl Delay {
    /// A delay that holds silence.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], place: 0, sounding_frames: 0 }
    }

    /// How long it is.
    pub(crate) fn frames(&self) -> usize {
        self.values.len()
    }

    /// Delays values in place.
    pub(crate) fn process(&mut self, mut values: &mut [f32]) {
        self.sounding_frames = self.frames();
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
        self.sounding_frames = self.frames();
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

    /// Whether it may give back anything but silence.
    pub(crate) fn holds_sound(&self) -> bool {
        self.sounding_frames > 0
    }

    /// As [`Self::add_to`], with silence coming in: nothing if it [`Self::holds_sound`] no more.
    pub(crate) fn add_rest_to(&mut self, sum: &mut [f32], silence: &[f32]) {
        if self.holds_sound() {
            let left = self.sounding_frames.saturating_sub(sum.len());
            self.add_to(sum, silence, 1.0);
            self.sounding_frames = left;
        }
    }

    /// Replaces values by what comes out while silence comes in.
    pub(crate) fn give_rest(&mut self, values: &mut [f32]) {
        values.fill(0.0);
        if self.holds_sound() {
            let left = self.sounding_frames.saturating_sub(values.len());
            self.process(values);
            self.sounding_frames = left;
        }
    }

    /// Forgets what it holds.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
        self.sounding_frames = 0;
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
    fn silence_that_comes_in_is_as_good_as_values_of_zero() {
        let (mut one, mut other) = (Delay::new(9), Delay::new(9));
        for piece in 0..40 {
            let values = [piece as f32; 4];
            let (mut sum, mut expected) = ([1.0; 4], [1.0; 4]);
            if piece % 7 < 2 {
                one.add_to(&mut sum, &values, 0.5);
                other.add_to(&mut expected, &values, 0.5);
            } else {
                one.add_rest_to(&mut sum, &[0.0; 4]);
                other.add_to(&mut expected, &[0.0; 4], 0.5);
            }
            assert_eq!(sum, expected, "piece {piece}");
        }
        let (mut rest, mut expected) = ([9.0; 12], [0.0; 12]);
        one.give_rest(&mut rest);
        other.process(&mut expected);
        assert_eq!(rest, expected);
        assert!(!one.holds_sound() && other.holds_sound());
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
