//! Audio that has been handed over and not played yet.

use alloc::vec;
use alloc::vec::Vec;

/// A stretch of a clip's audio, as it was handed over.
pub(super) struct Ring {
    /// Whose audio it is.
    voice: Option<usize>,
    values: [Vec<f32>; 2],
    /// How many frames of those that have not been played it takes at most; the rest of it keeps
    /// some that have.
    ahead_frames: u64,
    /// Frames of the clip that are in it.
    start: u64,
    end: u64,
    /// The first frame that was handed over without a gap behind it, played or not.
    oldest: u64,
    /// Whether what was asked for last was not there.
    is_dry: bool,
}

impl Ring {
    /// Takes so many frames ahead of what has been played, and keeps at least so many behind.
    pub(super) fn new(ahead_frames: u64, behind_frames: u64) -> Self {
        let frames = (ahead_frames + behind_frames) as usize;
        let values = [vec![0.0; frames], vec![0.0; frames]];
        Self { voice: None, values, ahead_frames, start: 0, end: 0, oldest: 0, is_dry: false }
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
        self.start_at(0);
        self.is_dry = false;
    }

    /// Is empty; what is handed over next begins at a frame of the clip.
    pub(super) fn start_at(&mut self, frame: u64) {
        (self.start, self.end, self.oldest) = (frame, frame, frame);
    }

    /// The first frame of the clip that is there, if any is.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// How many frames that have been played it keeps at least.
    pub(super) fn behind_frames(&self) -> u64 {
        self.frames() - self.ahead_frames
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
        let held = if self.start > read { 0 } else { self.end.saturating_sub(read) };
        self.ahead_frames.saturating_sub(held) as usize
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

    /// Takes audio from the first frame on that is not there ([`Self::missing_from`]), as far as
    /// there is room; all before `read` has been played.
    pub(super) fn fill(&mut self, read: u64, audio: [&[f32]; 2]) {
        if !(self.start..=self.end).contains(&read) {
            // Nothing in it is of use any more.
            self.start_at(read);
        }
        self.append(read, audio);
    }

    /// Takes audio directly behind what is there, as far as there is room, and lets go of the
    /// oldest for it; all before `read` has been played. Returns how many frames it took.
    pub(super) fn append(&mut self, read: u64, [left, right]: [&[f32]; 2]) -> u64 {
        let size = self.frames();
        let taken = left.len().min(right.len()).min(self.room(read));
        for place in 0..taken {
            let slot = (self.end % size) as usize;
            for (values, audio) in self.values.iter_mut().zip([left, right]) {
                values[slot] = if audio[place].is_finite() { audio[place] } else { 0.0 };
            }
            self.end += 1;
        }
        self.start = self.start.max(self.end.saturating_sub(size));
        taken as u64
    }

    /// Left and right from a frame of the clip on that is there: as many of `most` as are there and
    /// lie together.
    pub(super) fn stretch(&self, frame: u64, most: u64) -> [&[f32]; 2] {
        let slot = frame % self.frames();
        let frames = most.min(self.end - frame).min(self.frames() - slot);
        self.values.each_ref().map(|values| &values[slot as usize..(slot + frames) as usize])
    }

    /// Goes on with what it still has of the last round, where audio starts over after
    /// `round_frames`: nobody is asked for the same again and again. All before `read` has been
    /// played, and the clip ends at `end`.
    pub(super) fn repeat(&mut self, round_frames: u64, read: u64, end: u64) {
        let size = self.frames();
        if round_frames > size || !(self.start..=self.end).contains(&read) {
            return;
        }
        while self.end < end && self.end - read < self.ahead_frames && self.end - self.oldest >= round_frames
        {
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
        let mut ring = Ring::new(6, 0);
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
    fn some_of_what_has_been_played_is_kept() {
        let mut ring = Ring::new(4, 2);
        ring.begin(0);
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.room(0), ring.room(3)), (4, 0, 3));
        fill(&mut ring, 3, &[4.0, 5.0, 6.0, 7.0]);
        assert_eq!((ring.start(), ring.missing_from(3), ring.room(3)), (1, 7, 0));
        assert_eq!(read(&mut ring, 1), ([1.0, 2.0, 3.0, 4.0], 0));
        // Back to what is kept, which is not asked for again; then to what is not.
        assert_eq!((ring.missing_from(2), ring.room(2)), (7, 0));
        assert_eq!((ring.missing_from(0), ring.room(0)), (0, 4));
        // All of it has been played.
        fill(&mut ring, 7, &[7.0]);
        assert_eq!(read(&mut ring, 5), ([5.0, 6.0, 7.0, 0.0], 1));
        // Up to the end of its memory, and from there on.
        assert_eq!(ring.stretch(4, 9), [[4.0, 5.0], [-4.0, -5.0]]);
        assert_eq!(ring.stretch(6, 9), [[6.0, 7.0], [-6.0, -7.0]]);
        assert_eq!(ring.stretch(6, 1), [[6.0], [-6.0]]);
    }

    #[test]
    fn a_round_that_is_there_is_repeated() {
        let mut ring = Ring::new(6, 0);
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
