//! Delay by a fixed number of frames.

use alloc::vec;
use alloc::vec::Vec;

/// Delays one channel by a fixed number of frames.
#[derive(Debug, Clone)]
pub(crate) struct DelayLine {
    /// A ring of the last values.
    values: Vec<f32>,
    /// Where the next value is read, and then replaced by the one that comes in.
    index: usize,
    /// Frames during which the output may still be anything but silence if the input is silent.
    tail_frames: usize,
}

impl DelayLine {
    /// A delay of `frames` frames, filled with silence.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], index: 0, tail_frames: 0 }
    }

    /// The delay in frames.
    pub(crate) fn frames(&self) -> usize {
        self.values.len()
    }

    /// Delays values in place.
    pub(crate) fn process(&mut self, mut values: &mut [f32]) {
        self.tail_frames = self.frames();
        while !values.is_empty() && !self.values.is_empty() {
            let part = values.len().min(self.values.len() - self.index);
            let (now, later) = values.split_at_mut(part);
            now.swap_with_slice(&mut self.values[self.index..self.index + part]);
            self.index = (self.index + part) % self.values.len();
            values = later;
        }
    }

    /// Delays `values` times `gain` and adds the output to `sum`, a slice of the same length.
    pub(crate) fn process_into(&mut self, mut sum: &mut [f32], mut values: &[f32], gain: f32) {
        self.tail_frames = self.frames();
        while !values.is_empty() && !self.values.is_empty() {
            let part = values.len().min(self.values.len() - self.index);
            let held = &mut self.values[self.index..self.index + part];
            for ((sum, held), value) in sum.iter_mut().zip(held).zip(values) {
                *sum += *held;
                *held = value * gain;
            }
            self.index = (self.index + part) % self.values.len();
            (sum, values) = (&mut sum[part..], &values[part..]);
        }
    }

    /// Whether the output may be anything but silence while the input is silent.
    pub(crate) fn is_ringing(&self) -> bool {
        self.tail_frames > 0
    }

    /// [`Self::process_into`] for silent input; does nothing unless the line [`Self::is_ringing`].
    /// `silence` is as long as `sum`.
    pub(crate) fn drain_into(&mut self, sum: &mut [f32], silence: &[f32]) {
        if self.is_ringing() {
            let tail_frames = self.tail_frames.saturating_sub(sum.len());
            self.process_into(sum, silence, 1.0);
            self.tail_frames = tail_frames;
        }
    }

    /// [`Self::process`] for silent input; replaces `values` by the output.
    pub(crate) fn drain(&mut self, values: &mut [f32]) {
        values.fill(0.0);
        if self.is_ringing() {
            let tail_frames = self.tail_frames.saturating_sub(values.len());
            self.process(values);
            self.tail_frames = tail_frames;
        }
    }

    /// Fills the line with silence.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.index = 0;
        self.tail_frames = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processing_into_a_sum_adds_the_output_of_processing() {
        let (mut one, mut other) = (DelayLine::new(5), DelayLine::new(5));
        let values: Vec<f32> = (1..=40).map(|value| value as f32).collect();
        let (mut processed, mut sum) = (values.clone(), values.clone());
        processed.iter_mut().for_each(|value| *value *= 0.5);
        processed.chunks_mut(7).for_each(|values| one.process(values));
        sum.chunks_mut(3)
            .zip(values.chunks(3))
            .for_each(|(sum, values)| other.process_into(sum, values, 0.5));
        let expected = values.iter().zip(processed).map(|(value, late)| value + late);
        assert!(sum.into_iter().eq(expected));
    }

    #[test]
    fn draining_equals_processing_zeros() {
        let (mut one, mut other) = (DelayLine::new(9), DelayLine::new(9));
        for piece in 0..40 {
            let values = [piece as f32; 4];
            let (mut sum, mut expected) = ([1.0; 4], [1.0; 4]);
            if piece % 7 < 2 {
                one.process_into(&mut sum, &values, 0.5);
                other.process_into(&mut expected, &values, 0.5);
            } else {
                one.drain_into(&mut sum, &[0.0; 4]);
                other.process_into(&mut expected, &[0.0; 4], 0.5);
            }
            assert_eq!(sum, expected, "piece {piece}");
        }
        let (mut drained, mut expected) = ([9.0; 12], [0.0; 12]);
        one.drain(&mut drained);
        other.process(&mut expected);
        assert_eq!(drained, expected);
        assert!(!one.is_ringing() && other.is_ringing());
    }

    #[test]
    fn the_delay_does_not_depend_on_the_call_size() {
        for frames in [0, 1, 3, 7, 100] {
            for call_frames in [1, 2, 5, 64] {
                let mut delay = DelayLine::new(frames);
                let mut values: Vec<f32> = (1..=50).map(|value| value as f32).collect();
                values.chunks_mut(call_frames).for_each(|values| delay.process(values));
                let expected =
                    (0..50).map(|index| if index < frames { 0.0 } else { (index - frames + 1) as f32 });
                assert!(values.iter().copied().eq(expected), "{frames} frames in calls of {call_frames}");
            }
        }
    }
}
