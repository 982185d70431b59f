//! A delay line that is written and read in blocks, at several taps.

use alloc::vec;
use alloc::vec::Vec;

use super::control::CONTROL_FRAMES;
use super::memory::values_bytes;

/// The last samples of one channel, in a ring buffer.
#[derive(Debug, Clone)]
pub(crate) struct TappedDelayLine {
    /// Ring buffer, whose length is a power of two.
    values: Vec<f32>,
    mask: usize,
    /// Index at which the next sample is written.
    write_index: usize,
}

impl TappedDelayLine {
    /// Creates a silent delay line with delays of up to `longest_frames` frames.
    pub(crate) fn new(longest_frames: usize) -> Self {
        let frames = (longest_frames + 1).next_power_of_two();
        Self { values: vec![0.0; frames], mask: frames - 1, write_index: 0 }
    }

    /// Returns the memory, in bytes, that a delay line with delays of up to `longest_frames` frames
    /// needs for its samples.
    pub(crate) fn memory_bytes(longest_frames: usize) -> u64 {
        values_bytes((longest_frames + 1).next_power_of_two())
    }

    /// Clears all samples.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.write_index = 0;
    }

    /// Appends samples.
    #[inline(always)]
    pub(crate) fn write(&mut self, values: &[f32]) {
        if let Some(step) = values.as_array()
            && let Some(samples) = self.next_contiguous_samples()
        {
            *samples = *step;
            return;
        }
        let first = values.len().min(self.values.len() - self.write_index);
        let (start, wrapped) = values.split_at(first);
        self.values[self.write_index..self.write_index + first].copy_from_slice(start);
        if !wrapped.is_empty() {
            self.values[..wrapped.len()].copy_from_slice(wrapped);
        }
        self.write_index = (self.write_index + values.len()) & self.mask;
    }

    /// Reads samples from `frames_back` frames before the write position on, at most `frames_back`
    /// of them.
    #[inline(always)]
    pub(crate) fn read(&self, frames_back: usize, values: &mut [f32]) {
        if let Some(step) = values.as_mut_array()
            && let Some(samples) = self.contiguous_samples(frames_back)
        {
            *step = *samples;
            return;
        }
        let (start, wrapped) = self.split_at_wrap(frames_back, values.len());
        let (first, last) = values.split_at_mut(start.len());
        first.copy_from_slice(start);
        if !wrapped.is_empty() {
            last.copy_from_slice(wrapped);
        }
    }

    /// Returns the [`CONTROL_FRAMES`] samples from `frames_back` frames before the write position
    /// on, if they are contiguous. Samples at and after the write position are unspecified.
    #[inline(always)]
    pub(crate) fn contiguous_samples(&self, frames_back: usize) -> Option<&[f32; CONTROL_FRAMES]> {
        let read_index = self.write_index.wrapping_sub(frames_back) & self.mask;
        self.values[read_index..].first_chunk()
    }

    /// Returns the next [`CONTROL_FRAMES`] samples for writing, if they are contiguous, and
    /// advances the write position.
    #[inline(always)]
    fn next_contiguous_samples(&mut self) -> Option<&mut [f32; CONTROL_FRAMES]> {
        let samples = self.values[self.write_index..].first_chunk_mut();
        if samples.is_some() {
            self.write_index = (self.write_index + CONTROL_FRAMES) & self.mask;
        }
        samples
    }

    /// Adds the samples that [`Self::read`] would read, multiplied by a gain.
    #[inline(always)]
    pub(crate) fn add(&self, frames_back: usize, gain: f32, values: &mut [f32]) {
        let (start, wrapped) = self.split_at_wrap(frames_back, values.len());
        let (first, last) = values.split_at_mut(start.len());
        for (values, read_slices) in [(first, start), (last, wrapped)] {
            for (value, read_value) in values.iter_mut().zip(read_slices) {
                *value += read_value * gain;
            }
        }
    }

    #[inline(always)]
    fn split_at_wrap(&self, frames_back: usize, frames: usize) -> (&[f32], &[f32]) {
        debug_assert!(
            frames <= frames_back && frames_back < self.values.len(),
            "`frames_back` is {frames_back}; it must be at least {frames} and less than {}",
            self.values.len()
        );
        let read_index = self.write_index.wrapping_sub(frames_back) & self.mask;
        let first = frames.min(self.values.len() - read_index);
        (&self.values[read_index..read_index + first], &self.values[..frames - first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_return_written_samples_across_the_end_of_the_ring() {
        let mut line = TappedDelayLine::new(11);
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
