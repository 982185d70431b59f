//! A delay line that is no longer than its delay (but while that changes): what comes out makes
//! room for what goes in, so that a long line is one place in memory at a time rather than two.

use alloc::vec;
use alloc::vec::Vec;

use crate::effects::CONTROL_FRAMES;
use crate::effects::step::Step;
use crate::simd::prefetch;

/// The values of the last so many frames.
#[derive(Debug, Clone)]
pub(super) struct Ring {
    /// Room for the longest delay.
    values: Vec<f32>,
    /// How many of them are in use.
    frames: usize,
    /// Where the oldest value is, and the next one goes.
    place: usize,
}

impl Ring {
    /// A silent ring of so many frames, at least a control step; it can never have more.
    pub(super) fn new(frames: usize) -> Self {
        Self { values: vec![0.0; frames], frames, place: 0 }
    }

    /// How many frames it remembers.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Falls silent.
    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
        self.place = 0;
    }

    /// Remembers so many frames from here on, at most as many as it was made for. What it had
    /// forgotten before is its own past backwards: as loud, and without a step.
    pub(super) fn remember(&mut self, frames: usize) {
        let (before, frames) = (self.frames, frames.min(self.values.len()));
        if frames == before {
            return;
        }
        self.values[..before].rotate_left(self.place);
        (self.frames, self.place) = (frames, 0);
        let mut known = before.min(frames);
        self.values.copy_within(before - known..before, frames - known);
        while known < frames {
            let (forgotten, past) = self.values[..frames].split_at_mut(frames - known);
            forgotten.iter_mut().rev().zip(past).for_each(|(forgotten, past)| *forgotten = *past);
            known = frames.min(2 * known);
        }
    }

    /// As [`Self::remember`], as many frames as it can.
    pub(super) fn remember_all(&mut self) {
        self.remember(self.values.len());
    }

    #[inline(always)]
    fn from(&self, frames_back: usize) -> usize {
        let from = self.place + self.frames - frames_back;
        if from < self.frames { from } else { from - self.frames }
    }

    /// A control step of values from so many frames before the next one on, where they stand in a
    /// row.
    #[inline(always)]
    pub(super) fn row(&self, frames_back: usize) -> Option<&Step> {
        self.values[self.from(frames_back)..self.frames].first_chunk()
    }

    /// The values from so many frames before the next one on. There are at most as many as
    /// `frames_back`, which are at most as many as it remembers.
    #[inline(always)]
    pub(super) fn read(&self, frames_back: usize, values: &mut [f32]) {
        let from = self.from(frames_back);
        let (first, rest) = values.split_at_mut(values.len().min(self.frames - from));
        first.copy_from_slice(&self.values[from..from + first.len()]);
        rest.copy_from_slice(&self.values[..rest.len()]);
    }

    /// The place of the next so many values, the oldest ones, where they stand in a row: they count
    /// as written.
    #[inline(always)]
    pub(super) fn next_row(&mut self) -> Option<&mut Step> {
        let row = self.values[self.place..self.frames].first_chunk_mut()?;
        self.place += CONTROL_FRAMES;
        if self.place == self.frames {
            self.place = 0;
        }
        Some(row)
    }

    /// Puts values in the place of the oldest.
    #[inline(always)]
    pub(super) fn write(&mut self, values: &[f32]) {
        let (first, rest) = values.split_at(values.len().min(self.frames - self.place));
        self.values[self.place..self.place + first.len()].copy_from_slice(first);
        self.values[..rest.len()].copy_from_slice(rest);
        self.place = self.from(self.frames - values.len());
    }

    /// Asks for what the next control step but one reads and writes, one step ahead: rings are
    /// long, and many of them go on at a time.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        for part in 0..=CONTROL_FRAMES / 16 {
            let place = self.place + CONTROL_FRAMES + 16 * part;
            prefetch(&self.values[if place < self.frames { place } else { 0 }]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(ring: &Ring, count: usize) -> Vec<f32> {
        let mut values = vec![0.0; count];
        ring.read(count, &mut values);
        values
    }

    #[test]
    fn gives_back_what_was_written_around_its_end() {
        let mut ring = Ring::new(101);
        let all: Vec<f32> = (0..700).map(|number| number as f32).collect();
        let mut done = 0;
        while done < all.len() {
            // Whole steps where they fit, and uneven parts.
            let whole = all[done..].first_chunk::<CONTROL_FRAMES>().filter(|_| done % 3 != 0);
            if let Some(step) = whole
                && let Some(row) = ring.next_row()
            {
                *row = *step;
                done += CONTROL_FRAMES;
            } else {
                let part = &all[done..all.len().min(done + 7)];
                ring.write(part);
                done += part.len();
            }
            let count = done.min(101);
            assert_eq!(last(&ring, count), all[done - count..done]);
        }
    }

    #[test]
    fn becomes_longer_and_shorter_without_a_step() {
        let mut ring = Ring::new(100);
        ring.remember(40);
        let past: Vec<f32> = (0..40).map(|number| number as f32).collect();
        ring.write(&past[..33]);
        ring.write(&past[33..]);
        ring.write(&[40.0]);
        ring.remember_all();
        let mut expected: Vec<f32> = (1..=40).map(|number| number as f32).collect();
        assert_eq!(last(&ring, 40), expected);
        expected.splice(0..0, (1..=40).rev().map(|number| number as f32));
        expected.splice(0..0, (21..=40).map(|number| number as f32));
        assert_eq!(last(&ring, 100), expected);
        ring.remember(35);
        assert_eq!(last(&ring, 35), expected[65..]);
    }
}
