//! A delay line of exactly the length of its delay. Its output is overwritten by its input, so that
//! a long delay line touches one region of memory per block instead of two.

use alloc::vec;
use alloc::vec::Vec;

use super::control::CONTROL_FRAMES;
use super::control_block::ControlBlock;
use crate::simd::prefetch;

/// The last frames of one channel.
#[derive(Debug, Clone)]
pub(crate) struct CompactDelayLine {
    /// A buffer for the longest delay.
    values: Vec<f32>,
    /// Current length in frames.
    frames: usize,
    /// Index of the oldest sample, where the next one is written.
    write_index: usize,
}

impl CompactDelayLine {
    /// A silent delay line of `frames` frames, at least [`CONTROL_FRAMES`] and its maximum.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], frames, write_index: 0 }
    }

    /// Current length in frames.
    pub(crate) fn frames(&self) -> usize {
        self.frames
    }

    /// Clears all samples.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.write_index = 0;
    }

    /// Sets the length, at most the maximum. Missing past samples are replaced by the known past in
    /// reverse order, which has the same level and no step.
    pub(crate) fn set_frames(&mut self, frames: usize) {
        let (before, frames) = (self.frames, frames.min(self.values.len()));
        if frames == before {
            return;
        }
        self.values[..before].rotate_left(self.write_index);
        (self.frames, self.write_index) = (frames, 0);
        let mut known = before.min(frames);
        self.values.copy_within(before - known..before, frames - known);
        while known < frames {
            let (missing, past) = self.values[..frames].split_at_mut(frames - known);
            missing.iter_mut().rev().zip(past).for_each(|(missing, past)| *missing = *past);
            known = frames.min(2 * known);
        }
    }

    /// Sets the length to the maximum.
    pub(crate) fn set_max_frames(&mut self) {
        self.set_frames(self.values.len());
    }

    #[inline(always)]
    fn start_index(&self, frames_back: usize) -> usize {
        let from = self.write_index + self.frames - frames_back;
        if from < self.frames { from } else { from - self.frames }
    }

    /// The [`CONTROL_FRAMES`] samples from `frames_back` frames before the write position on, if
    /// they are contiguous.
    #[inline(always)]
    pub(crate) fn contiguous(&self, frames_back: usize) -> Option<&ControlBlock> {
        self.values[self.start_index(frames_back)..self.frames].first_chunk()
    }

    /// Reads samples from `frames_back` frames before the write position on. `frames_back` is at
    /// most the length, and at least the number of samples.
    #[inline(always)]
    pub(crate) fn read(&self, frames_back: usize, values: &mut [f32]) {
        let from = self.start_index(frames_back);
        let (first, wrapped) = values.split_at_mut(values.len().min(self.frames - from));
        first.copy_from_slice(&self.values[from..from + first.len()]);
        wrapped.copy_from_slice(&self.values[..wrapped.len()]);
    }

    /// The next [`CONTROL_FRAMES`] samples to overwrite, the oldest ones, if they are contiguous.
    /// Advances the write position.
    #[inline(always)]
    pub(crate) fn next_contiguous(&mut self) -> Option<&mut ControlBlock> {
        let samples = self.values[self.write_index..self.frames].first_chunk_mut()?;
        self.write_index += CONTROL_FRAMES;
        if self.write_index == self.frames {
            self.write_index = 0;
        }
        Some(samples)
    }

    /// Overwrites the oldest samples.
    #[inline(always)]
    pub(crate) fn write(&mut self, values: &[f32]) {
        let (first, wrapped) = values.split_at(values.len().min(self.frames - self.write_index));
        self.values[self.write_index..self.write_index + first.len()].copy_from_slice(first);
        self.values[..wrapped.len()].copy_from_slice(wrapped);
        self.write_index = self.start_index(self.frames - values.len());
    }

    /// Prefetches the samples that the next call but one will read and write: the delay lines are
    /// too long for the cache.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        for chunk in 0..=CONTROL_FRAMES / 16 {
            let index = self.write_index + CONTROL_FRAMES + 16 * chunk;
            prefetch(&self.values[if index < self.frames { index } else { 0 }]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(ring: &CompactDelayLine, count: usize) -> Vec<f32> {
        let mut values = vec![0.0; count];
        ring.read(count, &mut values);
        values
    }

    #[test]
    fn reads_return_written_samples_across_the_end_of_the_ring() {
        let mut ring = CompactDelayLine::new(101);
        let all: Vec<f32> = (0..700).map(|number| number as f32).collect();
        let mut done = 0;
        while done < all.len() {
            // The test writes whole blocks where they are contiguous, and uneven parts.
            let whole = all[done..].first_chunk::<CONTROL_FRAMES>().filter(|_| done % 3 != 0);
            if let Some(step) = whole
                && let Some(samples) = ring.next_contiguous()
            {
                *samples = *step;
                done += CONTROL_FRAMES;
            } else {
                let chunk = &all[done..all.len().min(done + 7)];
                ring.write(chunk);
                done += chunk.len();
            }
            let count = done.min(101);
            assert_eq!(last(&ring, count), all[done - count..done]);
        }
    }

    #[test]
    fn a_change_of_length_makes_no_step() {
        let mut ring = CompactDelayLine::new(100);
        ring.set_frames(40);
        let past: Vec<f32> = (0..40).map(|number| number as f32).collect();
        ring.write(&past[..33]);
        ring.write(&past[33..]);
        ring.write(&[40.0]);
        ring.set_max_frames();
        let mut expected: Vec<f32> = (1..=40).map(|number| number as f32).collect();
        assert_eq!(last(&ring, 40), expected);
        expected.splice(0..0, (1..=40).rev().map(|number| number as f32));
        expected.splice(0..0, (21..=40).map(|number| number as f32));
        assert_eq!(last(&ring, 100), expected);
        ring.set_frames(35);
        assert_eq!(last(&ring, 35), expected[65..]);
    }
}
