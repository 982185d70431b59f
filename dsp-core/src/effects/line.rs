//! A delay line that is written and read several frames at a time.

use alloc::vec;
use alloc::vec::Vec;

use super::CONTROL_FRAMES;
use super::memory::values_bytes;

/// What came in lately, one side of it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// A power of two of them.
    values: Vec<f32>,
    mask: usize,
    /// Where the next value goes.
    place: usize,
}

impl Line {
    /// A silent line that can be read up to so many frames back.
    pub(crate) fn new(longest_frames: usize) -> Self {
        let frames = (longest_frames + 1).next_power_of_two();
        Self { values: vec![0.0; frames], mask: frames - 1, place: 0 }
    }

    /// Bytes of the values of such a line.
    pub(super) fn memory_bytes(longest_frames: usize) -> u64 {
        values_bytes((longest_frames + 1).next_power_of_two())
    }

    /// Falls silent.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    /// Puts values at the end.
    #[inline(always)]
    pub(crate) fn write(&mut self, values: &[f32]) {
        if let Some(step) = values.as_array()
            && let Some(row) = self.row_to_write()
        {
            *row = *step;
            return;
        }
        let first = values.len().min(self.values.len() - self.place);
        let (start, rest) = values.split_at(first);
        self.values[self.place..self.place + first].copy_from_slice(start);
        if !rest.is_empty() {
            self.values[..rest.len()].copy_from_slice(rest);
        }
        self.place = (self.place + values.len()) & self.mask;
    }

    /// The values from so many frames before the next one on. There are at most as many as
    /// `frames_back`.
    #[inline(always)]
    pub(crate) fn read(&self, frames_back: usize, values: &mut [f32]) {
        if let Some(step) = values.as_mut_array()
            && let Some(row) = self.row(frames_back)
        {
            *step = *row;
            return;
        }
        let (start, rest) = self.parts(frames_back, values.len());
        let (first, last) = values.split_at_mut(start.len());
        first.copy_from_slice(start);
        if !rest.is_empty() {
            last.copy_from_slice(rest);
        }
    }

    /// A control step of values from so many frames before the next one on, where they stand in a
    /// row; of them those that come after the next one mean nothing.
    #[inline(always)]
    pub(crate) fn row(&self, frames_back: usize) -> Option<&[f32; CONTROL_FRAMES]> {
        let from = self.place.wrapping_sub(frames_back) & self.mask;
        self.values[from..].first_chunk()
    }

    /// Room at the end for a control step of values, where it is in a row: all of them count as
    /// written.
    #[inline(always)]
    fn row_to_write(&mut self) -> Option<&mut [f32; CONTROL_FRAMES]> {
        let row = self.values[self.place..].first_chunk_mut();
        if row.is_some() {
            self.place = (self.place + CONTROL_FRAMES) & self.mask;
        }
        row
    }

    /// As [`Self::read`], times a gain and added.
    #[inline(always)]
    pub(crate) fn add(&self, frames_back: usize, gain: f32, values: &mut [f32]) {
        let (start, rest) = self.parts(frames_back, values.len());
        let (first, last) = values.split_at_mut(start.len());
        for (values, reads) in [(first, start), (last, rest)] {
            for (value, read) in values.iter_mut().zip(reads) {
                *value += read * gain;
            }
        }
    }

    #[inline(always)]
    fn parts(&self, frames_back: usize, frames: usize) -> (&[f32], &[f32]) {
        debug_assert!(frames <= frames_back && frames_back < self.values.len(), "what has been written");
        let from = self.place.wrapping_sub(frames_back) & self.mask;
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
