//! A delay line that is written and read several frames at a time.

use alloc::vec;
use alloc::vec::Vec;

/// What came in lately, one side of it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// A power of two of them.
    values: Vec<f32>,
    /// Where the next value goes.
    place: usize,
}

impl Line {
    /// A silent line that can be read up to so many frames back.
    pub(crate) fn new(longest_frames: usize) -> Self {
        Self { values: vec![0.0; (longest_frames + 1).next_power_of_two()], place: 0 }
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    /// Puts values at the end.
    #[inline(always)]
    pub(crate) fn write(&mut self, values: &[f32]) {
        let first = values.len().min(self.values.len() - self.place);
        let (start, rest) = values.split_at(first);
        self.values[self.place..self.place + first].copy_from_slice(start);
        self.values[..rest.len()].copy_from_slice(rest);
        self.place = (self.place + values.len()) & (self.values.len() - 1);
    }

    /// The values from so many frames before the next one on. There are at most as many as `frames_back`.
    #[inline(always)]
    pub(crate) fn read(&self, frames_back: usize, values: &mut [f32]) {
        let (start, rest) = self.parts(frames_back, values.len());
        values[..start.len()].copy_from_slice(start);
        values[start.len()..].copy_from_slice(rest);
    }

    /// As [`Self::read`], times a gain and added.
    #[inline(always)]
    pub(crate) fn add(&self, frames_back: usize, gain: f32, values: &mut [f32]) {
        let (start, rest) = self.parts(frames_back, values.len());
        let (first, last) = values.split_at_mut(start.len());
        for (value, read) in first.iter_mut().zip(start).chain(last.iter_mut().zip(rest)) {
            *value += read * gain;
        }
    }

    #[inline(always)]
    fn parts(&self, frames_back: usize, frames: usize) -> (&[f32], &[f32]) {
        debug_assert!(frames <= frames_back && frames_back < self.values.len(), "what has been written");
        let from = self.place.wrapping_sub(frames_back) & (self.values.len() - 1);
        let first = frames.min(self.values.len() - from);
        (&self.values[from..from + first], &self.values[..frames - first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_written_around_its_end() {
        let mut line = Line::new(11);
        for number in 0..10 {
            let values: [f32; 7] = core::array::from_fn(|frame| (number * 7 + frame) as f32);
            line.write(&values);
        }
        for back in 5..=11 {
            let mut values = [0.0; 5];
            line.read(back, &mut values);
            assert_eq!(values, core::array::from_fn(|frame| (70 - back + frame) as f32));
            line.add(back, -1.0, &mut values);
            assert_eq!(values, [0.0; 5]);
        }
    }
}
