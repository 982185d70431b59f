//! A delay line whose buffer is exactly as long as its delay. The input overwrites the output that
//! was just read. A long delay line thus accesses one region of memory per block instead of two.

use alloc::vec;
use alloc::vec::Vec;

use super::control::CONTROL_FRAMES;
use super::control_block::ControlBlock;
use crate::simd::prefetch;

/// The last frames of one channel.
#[derive(Debug, Clone)]
pub(crate) struct CompactDelayLine {
    /// Buffer with space for the longest delay.
    values: Vec<f32>,
    /// Current length in frames.
    frames: usize,
    /// Index of the oldest sample, which the next input overwrites.
    write_index: usize,
}

impl CompactDelayLine {
    /// Creates a silent delay line of `frames` frames, at least [`CONTROL_FRAMES`]. This is also
    /// its maximum length.
    pub(crate) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], frames, write_index: 0 }
    }

    /// Returns the current length in frames.
    pub(crate) fn frames(&self) -> usize {
        self.frames
    }

    /// Clears all samples.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
        self.write_index = 0;
    }

    /// Sets the length in frames, limited to the maximum. A longer delay needs older samples than
    /// the line has. The missing samples are replaced by the existing samples in reverse order,
    /// which have the same level and join without a step.
    pub(crate) fn set_frames(&mut self, frames: usize) {
        let (old_frames, frames) = (self.frames, frames.min(self.values.len()));
        if frames == old_frames {
            return;
        }
        self.values[..old_frames].rotate_left(self.write_index);
        (self.frames, self.write_index) = (frames, 0);
        let mut known_frames = old_frames.min(frames);
        self.values.copy_within(old_frames - known_frames..old_frames, frames - known_frames);
        while known_frames < frames {
            let (missing_values, past) = self.values[..frames].split_at_mut(frames - known_frames);
            missing_values
                .iter_mut()
                .rev()
                .zip(past)
                .for_each(|(missing_values, past)| *missing_values = *past);
            known_frames = frames.min(2 * known_frames);
        }
    }

    /// Sets the length to the maximum.
    pub(crate) fn set_max_frames(&mut self) {
        self.set_frames(self.values.len());
    }

    #[inline(always)]
    fn start_index(&self, frames_back: usize) -> usize {
        let read_index = self.write_index + self.frames - frames_back;
        if read_index < self.frames { read_index } else { read_index - self.frames }
    }

    /// Returns the [`CONTROL_FRAMES`] samples from `frames_back` frames before the write position
    /// on, if they are contiguous.
    #[inline(always)]
    pub(crate) fn contiguous_samples(&self, frames_back: usize) -> Option<&ControlBlock> {
        self.values[self.start_index(frames_back)..self.frames].first_chunk()
    }

    /// Reads samples from `frames_back` frames before the write position on. `frames_back` is at
    /// most the length, and at least the number of samples.
    #[inline(always)]
    pub(crate) fn read(&self, frames_back: usize, values: &mut [f32]) {
        let read_index = self.start_index(frames_back);
        let (first, wrapped) = values.split_at_mut(values.len().min(self.frames - read_index));
        first.copy_from_slice(&self.values[read_index..read_index + first.len()]);
        wrapped.copy_from_slice(&self.values[..wrapped.len()]);
    }

    /// Returns the oldest [`CONTROL_FRAMES`] samples for overwriting, if they are contiguous, and
    /// advances the write position.
    #[inline(always)]
    pub(crate) fn next_contiguous_samples(&mut self) -> Option<&mut ControlBlock> {
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

    /// Prefetches the samples that the call after the next one will read and write, because long
    /// delay lines do not stay in the cache.
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

    fn last_samples(ring: &CompactDelayLine, count: usize) -> Vec<f32> {
        let mut values = vec![0.0; count];
        ring.read(count, &mut values);
        values
    }

    #[test]
    fn reads_return_written_samples_across_the_end_of_the_ring() {
        let mut ring = CompactDelayLine::new(101);
        let samples_to_write: Vec<f32> = (0..700).map(|number| number as f32).collect();
        let mut written_frames = 0;
        while written_frames < samples_to_write.len() {
            // The test writes whole blocks where they are contiguous, and otherwise parts of 7
            // samples.
            let whole_block = samples_to_write[written_frames..]
                .first_chunk::<CONTROL_FRAMES>()
                .filter(|_| written_frames % 3 != 0);
            if let Some(step) = whole_block
                && let Some(samples) = ring.next_contiguous_samples()
            {
                *samples = *step;
                written_frames += CONTROL_FRAMES;
            } else {
                let chunk = &samples_to_write[written_frames..samples_to_write.len().min(written_frames + 7)];
                ring.write(chunk);
                written_frames += chunk.len();
            }
            let count = written_frames.min(101);
            assert_eq!(last_samples(&ring, count), samples_to_write[written_frames - count..written_frames]);
        }
    }

    #[test]
    fn a_longer_delay_continues_with_the_existing_samples_in_reverse_order() {
        let mut ring = CompactDelayLine::new(100);
        ring.set_frames(40);
        let past: Vec<f32> = (0..40).map(|number| number as f32).collect();
        ring.write(&past[..33]);
        ring.write(&past[33..]);
        ring.write(&[40.0]);
        ring.set_max_frames();
        let mut expected: Vec<f32> = (1..=40).map(|number| number as f32).collect();
        assert_eq!(last_samples(&ring, 40), expected);
        expected.splice(0..0, (1..=40).rev().map(|number| number as f32));
        expected.splice(0..0, (21..=40).map(|number| number as f32));
        assert_eq!(last_samples(&ring, 100), expected);
        ring.set_frames(35);
        assert_eq!(last_samples(&ring, 35), expected[65..]);
    }
}
