//! The buffer of streamed audio of a clip.

use alloc::vec;
use alloc::vec::Vec;

/// Streamed audio of a clip around the playhead.
pub(super) struct Ring {
    /// Index of the voice whose audio it holds.
    voice: Option<usize>,
    values: [Vec<f32>; 2],
    /// Maximum number of frames ahead of the playhead. The remaining capacity keeps played frames.
    ahead_frames: u64,
    /// Frames of the clip that are available: `start..end`.
    start: u64,
    end: u64,
    /// The first frame of the clip that arrived without a gap up to `end`.
    oldest: u64,
    /// Whether the last frame that was read was missing.
    is_underrun: bool,
}

impl Ring {
    /// A ring for `ahead_frames` frames after the playhead and `behind_frames` before it.
    pub(super) fn new(ahead_frames: u64, behind_frames: u64) -> Self {
        let frames = (ahead_frames + behind_frames) as usize;
        let values = [vec![0.0; frames], vec![0.0; frames]];
        Self { voice: None, values, ahead_frames, start: 0, end: 0, oldest: 0, is_underrun: false }
    }

    pub(super) fn voice(&self) -> Option<usize> {
        self.voice
    }

    /// Ends the assignment to a voice.
    pub(super) fn free(&mut self) {
        self.voice = None;
    }

    /// Clears the ring and assigns it to a voice.
    pub(super) fn begin(&mut self, voice: usize) {
        self.voice = Some(voice);
        self.start_at(0);
        self.is_underrun = false;
    }

    /// Clears the ring; the next audio begins at a frame of the clip.
    pub(super) fn start_at(&mut self, frame: u64) {
        (self.start, self.end, self.oldest) = (frame, frame, frame);
    }

    /// The first frame of the clip that is available, if any is.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Minimum number of played frames that are kept.
    pub(super) fn behind_frames(&self) -> u64 {
        self.frames() - self.ahead_frames
    }

    /// The first missing frame of the clip from `read` on, the next one to be played.
    pub(super) fn missing_from(&self, read: u64) -> u64 {
        if (self.start..=self.end).contains(&read) { self.end } else { read }
    }

    fn frames(&self) -> u64 {
        self.values[0].len() as u64
    }

    /// Number of free frames in the ring if `read` is the next one to be played.
    pub(super) fn free_frames(&self, read: u64) -> usize {
        let unread_frames = if self.start > read { 0 } else { self.end.saturating_sub(read) };
        self.ahead_frames.saturating_sub(unread_frames) as usize
    }

    /// Whether a frame of the clip is available, and for how many frames that stays the same.
    pub(super) fn availability(&self, frame: u64) -> (bool, u64) {
        if frame < self.start {
            (false, self.start - frame)
        } else if frame < self.end {
            (true, self.end - frame)
        } else {
            (false, u64::MAX)
        }
    }

    /// Sets whether the next frame is missing. Returns whether that is new.
    pub(super) fn set_underrun(&mut self, is_underrun: bool) -> bool {
        core::mem::replace(&mut self.is_underrun, is_underrun) != is_underrun
    }

    /// Takes audio that starts at the first missing frame ([`Self::missing_from`]), as far as there
    /// is room. `read` is the next frame to be played.
    pub(super) fn fill(&mut self, read: u64, audio: [&[f32]; 2]) {
        if !(self.start..=self.end).contains(&read) {
            // None of the old frames is needed any longer.
            self.start_at(read);
        }
        self.append(read, audio);
    }

    /// Appends audio as far as there is room, and drops the oldest frames for it. `read` is the
    /// next frame to be played. Returns the number of appended frames.
    pub(super) fn append(&mut self, read: u64, [left, right]: [&[f32]; 2]) -> u64 {
        let size = self.frames();
        let appended_frames = left.len().min(right.len()).min(self.free_frames(read));
        for frame in 0..appended_frames {
            let index = (self.end % size) as usize;
            for (values, audio) in self.values.iter_mut().zip([left, right]) {
                values[index] = if audio[frame].is_finite() { audio[frame] } else { 0.0 };
            }
            self.end += 1;
        }
        self.start = self.start.max(self.end.saturating_sub(size));
        appended_frames as u64
    }

    /// Left and right from an available frame of the clip on: at most `max_frames` that are
    /// contiguous in memory.
    pub(super) fn contiguous(&self, frame: u64, max_frames: u64) -> [&[f32]; 2] {
        let index = frame % self.frames();
        let frames = max_frames.min(self.end - frame).min(self.frames() - index);
        self.values.each_ref().map(|values| &values[index as usize..(index + frames) as usize])
    }

    /// Continues a loop of `round_frames` frames with its last round if that is still available, so
    /// that the same audio is not requested again. `read` is the next frame to be played, and the
    /// clip ends at `end`.
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

    /// Reads frames of the clip; missing frames are silent. Returns the number of missing frames.
    pub(super) fn read(&mut self, frame: u64, [left, right]: [&mut [f32]; 2]) -> u64 {
        let mut missing = 0;
        let size = self.frames();
        for (offset, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let frame = frame + offset as u64;
            if (self.start..self.end).contains(&frame) {
                let index = (frame % size) as usize;
                (*left, *right) = (self.values[0][index], self.values[1][index]);
            } else {
                (*left, *right) = (0.0, 0.0);
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
    fn audio_that_has_arrived_is_read_and_other_frames_are_missing() {
        let mut ring = Ring::new(6, 0);
        ring.begin(3);
        assert_eq!((ring.voice(), ring.free_frames(0)), (Some(3), 6));
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.free_frames(0), ring.free_frames(4)), (5, 1, 5));
        assert_eq!(read(&mut ring, 0), ([0.0, 1.0, 2.0, 3.0], 0));
        // More frames than there is room for.
        fill(&mut ring, 4, &[5.0, 6.0]);
        fill(&mut ring, 4, &[7.0, 8.0, 9.0, 10.0, 11.0]);
        assert_eq!((ring.missing_from(4), ring.free_frames(4)), (10, 0));
        assert_eq!(read(&mut ring, 4), ([4.0, 5.0, 6.0, 7.0], 0));
        assert_eq!(read(&mut ring, 8), ([8.0, 9.0, 0.0, 0.0], 2));
        // The playhead has passed all available frames.
        fill(&mut ring, 12, &[12.0, 13.0]);
        assert_eq!(read(&mut ring, 12), ([12.0, 13.0, 0.0, 0.0], 2));
        assert_eq!((ring.missing_from(12), ring.missing_from(30), ring.missing_from(2)), (14, 30, 2));
    }

    #[test]
    fn some_played_frames_are_kept() {
        let mut ring = Ring::new(4, 2);
        ring.begin(0);
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.free_frames(0), ring.free_frames(3)), (4, 0, 3));
        fill(&mut ring, 3, &[4.0, 5.0, 6.0, 7.0]);
        assert_eq!((ring.start(), ring.missing_from(3), ring.free_frames(3)), (1, 7, 0));
        assert_eq!(read(&mut ring, 1), ([1.0, 2.0, 3.0, 4.0], 0));
        // Back to kept frames, which are not requested again; then to dropped ones.
        assert_eq!((ring.missing_from(2), ring.free_frames(2)), (7, 0));
        assert_eq!((ring.missing_from(0), ring.free_frames(0)), (0, 4));
        // All frames have been played.
        fill(&mut ring, 7, &[7.0]);
        assert_eq!(read(&mut ring, 5), ([5.0, 6.0, 7.0, 0.0], 1));
        // Up to the end of the memory, and from its start.
        assert_eq!(ring.contiguous(4, 9), [[4.0, 5.0], [-4.0, -5.0]]);
        assert_eq!(ring.contiguous(6, 9), [[6.0, 7.0], [-6.0, -7.0]]);
        assert_eq!(ring.contiguous(6, 1), [[6.0], [-6.0]]);
    }

    #[test]
    fn an_available_round_of_a_loop_is_repeated() {
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
            assert_eq!(ring.free_frames(read), 0);
            let expected = [0, 1, 2, 3].map(|offset| ((read + offset) % 3 + 1) as f32);
            assert_eq!(self::read(&mut ring, read), (expected, 0));
        }
        assert_eq!(ring.missing_from(11), 11, "frames that later ones have replaced");
        assert_eq!(read(&mut ring, 10), ([0.0, 0.0, 1.0, 2.0], 2));
        // A frame that is no longer available, and a round that is too long for the ring.
        ring.repeat(3, 1, 100);
        ring.repeat(7, 16, 100);
        assert_eq!((ring.missing_from(16), ring.missing_from(30)), (18, 30));
    }
}
