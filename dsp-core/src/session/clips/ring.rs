//! Audio that has been handed over and not played yet.

use alloc::vec;
use alloc::vec::Vec;

/// A stretch of a clip's audio, as it was handed over.
pub(super) struct Ring {
    /// Whose audio it is.
    voice: Option<usize>,
    values: [Vec<f32>; 2],
    /// Frames of the clip that are in it.
    start: u64,
    end: u64,
    /// The first frame that was handed over without a gap behind it, played or not.
    oldest: u64,
    /// Whether what was asked for last was not there.
    is_dry: bool,
}

impl Ring {
    pub(super) fn new(frames: usize) -> Self {
        let values = [vec![0.0; frames], vec![0.0; frames]];
        Self { voice: None, values, start: 0, end: 0, oldest: 0, is_dry: false }
    }

    pub(super) fn voice(&self) -> Option<usize> {
        self.voice
    }

    /// Belongs to nobody.
    pub(super) fn free(&mut self) {
        self.voice = None;
    }

    /// Is empty, and belongs to a voice.
    pub(super) fn begin(&mut self, voice: usize) {
        self.voice = Some(voice);
        (self.start, self.end, self.oldest) = (0, 0, 0);
        self.is_dry = false;
    }

    /// Belongs to a voice of another number, with what is in it.
    pub(super) fn goes_on_for(&mut self, voice: usize) {
        self.voice = Some(voice);
    }

    /// The first frame of the clip that is not there, when all before `read` have been played.
    pub(super) fn missing_from(&self, read: u64) -> u64 {
        if (self.start..=self.end).contains(&read) { self.end } else { read }
    }

    fn frames(&self) -> u64 {
        self.values[0].len() as u64
    }

    /// How many frames more it can take when all before `read` have been played.
    pub(super) fn room(&self, read: u64) -> usize {
        let held = self.end.saturating_sub(read);
        if self.start > read { self.frames() as usize } else { self.frames().saturating_sub(held) as usize }
    }

    /// Whether a frame of the clip is there, and for how many frames that stays so.
    pub(super) fn is_there(&self, frame: u64) -> (bool, u64) {
        if frame < self.start {
            (false, self.start - frame)
        } else if frame < self.end {
            (true, self.end - frame)
        } else {
            (false, u64::MAX)
        }
    }

    /// From here on it has what it is asked for, or not. Says whether that is new.
    pub(super) fn runs_dry(&mut self, is_dry: bool) -> bool {
        core::mem::replace(&mut self.is_dry, is_dry) != is_dry
    }

    /// Takes audio from the first frame on that is not there ([`Self::missing_from`]), as far as there is room; all
    /// before `read` has been played.
    pub(super) fn fill(&mut self, read: u64, [left, right]: [&[f32]; 2]) {
        if self.end <= read || self.start > read {
            // Nothing in it is of use any more.
            (self.start, self.end, self.oldest) = (read, read, read);
        }
        self.start = self.start.max(read);
        let size = self.frames();
        for place in 0..left.len().min(right.len()).min(self.room(read)) {
            let slot = (self.end % size) as usize;
            for (values, audio) in self.values.iter_mut().zip([left, right]) {
                values[slot] = if audio[place].is_finite() { audio[place] } else { 0.0 };
            }
            self.end += 1;
        }
    }

    /// Goes on with what it still has of the last round, where audio starts over after `round_frames`: nobody is
    /// asked for the same again and again. All before `read` has been played, and the clip ends at `end`.
    pub(super) fn repeat(&mut self, round_frames: u64, read: u64, end: u64) {
        let size = self.frames();
        if round_frames > size || !(self.start..=self.end).contains(&read) {
            return;
        }
        while self.end < end && self.end - read < size && self.end - self.oldest >= round_frames {
            let [from, to] = [self.end - round_frames, self.end].map(|frame| (frame % size) as usize);
            self.values.iter_mut().for_each(|values| values[to] = values[from]);
            self.end += 1;
        }
        self.start = self.start.max(self.end.saturating_sub(size));
    }

    /// Reads frames of the clip; what is not there is silence. Returns how many were not there.
    pub(super) fn read(&mut self, frame: u64, [left, right]: [&mut [f32]; 2]) -> u64 {
        let mut missing = 0;
        let size = self.frames();
        for place in 0..left.len() {
            let frame = frame + place as u64;
            if (self.start..self.end).contains(&frame) {
                let slot = (frame % size) as usize;
                (left[place], right[place]) = (self.values[0][slot], self.values[1][slot]);
            } else {
                (left[place], right[place]) = (0.0, 0.0);
                missing += 1;
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ring: &mut Ring, frame: u64) -> ([f32; 4], u64) {
        let (mut left, mut right) = ([9.0; 4], [9.0; 4]);
        let missing = ring.read(frame, [&mut left, &mut right]);
        assert_eq!(left.map(|value| -value), right);
        (left, missing)
    }

    fn fill(ring: &mut Ring, played: u64, values: &[f32]) {
        let other: Vec<f32> = values.iter().map(|value| -value).collect();
        ring.fill(played, [values, &other]);
    }

    #[test]
    fn what_is_handed_over_is_read_and_the_rest_is_missing() {
        let mut ring = Ring::new(6);
        ring.begin(3);
        assert_eq!((ring.voice(), ring.room(0)), (Some(3), 6));
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.room(0), ring.room(4)), (5, 1, 5));
        assert_eq!(read(&mut ring, 0), ([0.0, 1.0, 2.0, 3.0], 0));
        // More than there is room for.
        fill(&mut ring, 4, &[5.0, 6.0]);
        fill(&mut ring, 4, &[7.0, 8.0, 9.0, 10.0, 11.0]);
        assert_eq!((ring.missing_from(4), ring.room(4)), (10, 0));
        assert_eq!(read(&mut ring, 4), ([4.0, 5.0, 6.0, 7.0], 0));
        assert_eq!(read(&mut ring, 8), ([8.0, 9.0, 0.0, 0.0], 2));
        // All that was there has been played, and more.
        fill(&mut ring, 12, &[12.0, 13.0]);
        assert_eq!(read(&mut ring, 12), ([12.0, 13.0, 0.0, 0.0], 2));
        assert_eq!((ring.missing_from(12), ring.missing_from(30), ring.missing_from(2)), (14, 30, 2));
    }

    #[test]
    fn a_round_that_is_there_is_repeated() {
        let mut ring = Ring::new(6);
        ring.begin(0);
        fill(&mut ring, 0, &[1.0, 2.0]);
        ring.repeat(3, 0, 100);
        assert_eq!(ring.missing_from(0), 2, "half a round");
        fill(&mut ring, 0, &[3.0]);
        ring.repeat(3, 0, 5);
        assert_eq!(ring.missing_from(0), 5, "to the end of the clip");
        for read in [0, 4, 8, 12] {
            ring.repeat(3, read, 100);
            assert_eq!(ring.room(read), 0);
            let expected = [0, 1, 2, 3].map(|place| ((read + place) % 3 + 1) as f32);
            assert_eq!(self::read(&mut ring, read), (expected, 0));
        }
        assert_eq!(ring.missing_from(11), 11, "a place that later frames have taken");
        assert_eq!(read(&mut ring, 10), ([0.0, 0.0, 1.0, 2.0], 2));
        // A place that it has left, and a round that it cannot hold.
        ring.repeat(3, 1, 100);
        ring.repeat(7, 16, 100);
        assert_eq!((ring.missing_from(16), ring.missing_from(30)), (18, 30));
    }
}
