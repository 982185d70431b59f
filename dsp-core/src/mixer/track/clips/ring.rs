//! The buffer for the streamed audio of a clip.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Ring buffer of a clip's streamed audio around the playhead.
pub(super) struct Ring {
    /// Index of the voice to which the ring is assigned.
    voice_index: Option<usize>,
    values: [Vec<f32>; 2],
    /// Maximum number of frames ahead of the playhead. The remaining capacity is for frames that
    /// have been played.
    ahead_frames: u64,
    /// The frames `start..end` of the clip are available.
    start: u64,
    end: u64,
    /// The first frame of the clip since which all audio up to `end` arrived without a gap.
    oldest: u64,
    /// Whether the last frame that was played was missing.
    is_underrun: bool,
}

impl Ring {
    /// Creates a ring for `ahead_frames` frames after the playhead and `behind_frames` frames
    /// before it.
    pub(super) fn new(ahead_frames: u64, behind_frames: u64) -> Self {
        let frames = (ahead_frames + behind_frames) as usize;
        let values = [vec![0.0; frames], vec![0.0; frames]];
        Self { voice_index: None, values, ahead_frames, start: 0, end: 0, oldest: 0, is_underrun: false }
    }

    pub(super) fn voice_index(&self) -> Option<usize> {
        self.voice_index
    }

    /// Ends the assignment to a voice.
    pub(super) fn free(&mut self) {
        self.voice_index = None;
    }

    /// Clears the ring and assigns it to a voice.
    pub(super) fn begin(&mut self, voice: usize) {
        self.voice_index = Some(voice);
        self.start_at(0);
        self.is_underrun = false;
    }

    /// Clears the ring. The next audio will start at a frame of the clip.
    pub(super) fn start_at(&mut self, frame: u64) {
        (self.start, self.end, self.oldest) = (frame, frame, frame);
    }

    /// Returns the first available frame of the clip. If no frame is available, this is the frame
    /// at which the next audio will start.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the minimum number of played frames that remain available.
    pub(super) fn behind_frames(&self) -> u64 {
        self.frames() - self.ahead_frames
    }

    /// Returns the frames of the clip that are available.
    pub(super) fn available(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Moves the audio of a ring of the same size here. `other` keeps its range of frames, and the
    /// caller must copy the frames back with [`Self::copy_frames`].
    pub(super) fn move_audio_from(&mut self, other: &mut Self) {
        core::mem::swap(&mut self.values, &mut other.values);
        (self.start, self.end, self.oldest) = (other.start, other.end, other.oldest);
    }

    /// Copies the values of frames of the clip from a ring of the same size.
    pub(super) fn copy_frames(&mut self, source: &Self, frames: Range<u64>) {
        let size_frames = self.frames();
        let mut frame = frames.start;
        while frame < frames.end {
            let index = frame % size_frames;
            let chunk_frames = (frames.end - frame).min(size_frames - index);
            let range = index as usize..(index + chunk_frames) as usize;
            for (values, source_values) in self.values.iter_mut().zip(&source.values) {
                values[range.clone()].copy_from_slice(&source_values[range.clone()]);
            }
            frame += chunk_frames;
        }
    }

    /// Returns the first missing frame of the clip from `read_frame` on, where `read_frame` is the
    /// next frame to be played.
    pub(super) fn missing_from(&self, read_frame: u64) -> u64 {
        if (self.start..=self.end).contains(&read_frame) { self.end } else { read_frame }
    }

    fn frames(&self) -> u64 {
        self.values[0].len() as u64
    }

    /// Returns the number of frames that the ring can receive if `read_frame` is the next frame to
    /// be played.
    pub(super) fn free_frames(&self, read_frame: u64) -> usize {
        let unread_frames = if self.start > read_frame { 0 } else { self.end.saturating_sub(read_frame) };
        self.ahead_frames.saturating_sub(unread_frames) as usize
    }

    /// Returns whether a frame of the clip is available, and for how many frames this stays the
    /// same.
    pub(super) fn availability(&self, frame: u64) -> (bool, u64) {
        if frame < self.start {
            (false, self.start - frame)
        } else if frame < self.end {
            (true, self.end - frame)
        } else {
            (false, u64::MAX)
        }
    }

    /// Sets whether the next frame is missing. Returns whether this has changed.
    pub(super) fn set_underrun(&mut self, is_underrun: bool) -> bool {
        core::mem::replace(&mut self.is_underrun, is_underrun) != is_underrun
    }

    /// Stores audio that starts at the first missing frame ([`Self::missing_from`]), as far as the
    /// ring has space. `read_frame` is the next frame to be played.
    pub(super) fn fill(&mut self, read_frame: u64, audio: [&[f32]; 2]) {
        if !(self.start..=self.end).contains(&read_frame) {
            // The old frames are no longer needed.
            self.start_at(read_frame);
        }
        self.append(read_frame, audio);
    }

    /// Appends audio as far as the ring has space, and overwrites the oldest frames. `read_frame`
    /// is the next frame to be played. Returns the number of appended frames.
    pub(super) fn append(&mut self, read_frame: u64, [left, right]: [&[f32]; 2]) -> u64 {
        let size_frames = self.frames();
        let appended_frames = left.len().min(right.len()).min(self.free_frames(read_frame));
        for frame in 0..appended_frames {
            let index = (self.end % size_frames) as usize;
            for (values, audio) in self.values.iter_mut().zip([left, right]) {
                values[index] = if audio[frame].is_finite() { audio[frame] } else { 0.0 };
            }
            self.end += 1;
        }
        self.start = self.start.max(self.end.saturating_sub(size_frames));
        appended_frames as u64
    }

    /// Returns left and right from an available frame of the clip on. They have at most
    /// `max_frames` frames, which are contiguous in memory.
    pub(super) fn contiguous(&self, frame: u64, max_frames: u64) -> [&[f32]; 2] {
        let index = frame % self.frames();
        let frames = max_frames.min(self.end - frame).min(self.frames() - index);
        self.values.each_ref().map(|values| &values[index as usize..(index + frames) as usize])
    }

    /// Appends the last iteration of a loop of `round_frames` frames again, if that iteration is
    /// still available. The same audio is thus not requested again. `read_frame` is the next frame
    /// to be played, and the clip ends at `end`.
    pub(super) fn repeat(&mut self, round_frames: u64, read_frame: u64, end: u64) {
        let size_frames = self.frames();
        if round_frames > size_frames || !(self.start..=self.end).contains(&read_frame) {
            return;
        }
        while self.end < end
            && self.end - read_frame < self.ahead_frames
            && self.end - self.oldest >= round_frames
        {
            let [source_offset, destination_offset] =
                [self.end - round_frames, self.end].map(|frame| (frame % size_frames) as usize);
            self.values.iter_mut().for_each(|values| values[destination_offset] = values[source_offset]);
            self.end += 1;
        }
        self.start = self.start.max(self.end.saturating_sub(size_frames));
    }

    /// Reads frames of the clip. Missing frames are silent. Returns the number of missing frames.
    pub(super) fn read(&mut self, frame: u64, [left, right]: [&mut [f32]; 2]) -> u64 {
        let mut missing_frames = 0;
        let size_frames = self.frames();
        for (offset, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let frame = frame + offset as u64;
            if (self.start..self.end).contains(&frame) {
                let index = (frame % size_frames) as usize;
                (*left, *right) = (self.values[0][index], self.values[1][index]);
            } else {
                (*left, *right) = (0.0, 0.0);
                missing_frames += 1;
            }
        }
        missing_frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ring: &mut Ring, frame: u64) -> ([f32; 4], u64) {
        let (mut left, mut right) = ([9.0; 4], [9.0; 4]);
        let missing_frames = ring.read(frame, [&mut left, &mut right]);
        assert_eq!(left.map(|value| -value), right);
        (left, missing_frames)
    }

    fn fill(ring: &mut Ring, played: u64, values: &[f32]) {
        let inverted: Vec<f32> = values.iter().map(|value| -value).collect();
        ring.fill(played, [values, &inverted]);
    }

    #[test]
    fn available_audio_is_read_and_other_frames_are_missing_and_silent() {
        let mut ring = Ring::new(6, 0);
        ring.begin(3);
        assert_eq!((ring.voice_index(), ring.free_frames(0)), (Some(3), 6));
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.free_frames(0), ring.free_frames(4)), (5, 1, 5));
        assert_eq!(read(&mut ring, 0), ([0.0, 1.0, 2.0, 3.0], 0));
        // The second call has more frames than the ring has space for.
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
    fn played_frames_remain_available_up_to_the_capacity() {
        let mut ring = Ring::new(4, 2);
        ring.begin(0);
        fill(&mut ring, 0, &[0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((ring.missing_from(0), ring.free_frames(0), ring.free_frames(3)), (4, 0, 3));
        fill(&mut ring, 3, &[4.0, 5.0, 6.0, 7.0]);
        assert_eq!((ring.start(), ring.missing_from(3), ring.free_frames(3)), (1, 7, 0));
        assert_eq!(read(&mut ring, 1), ([1.0, 2.0, 3.0, 4.0], 0));
        // A seek back to available frames does not request them again. A seek to overwritten frames
        // requests them again.
        assert_eq!((ring.missing_from(2), ring.free_frames(2)), (7, 0));
        assert_eq!((ring.missing_from(0), ring.free_frames(0)), (0, 4));
        // All frames have been played.
        fill(&mut ring, 7, &[7.0]);
        assert_eq!(read(&mut ring, 5), ([5.0, 6.0, 7.0, 0.0], 1));
        // Contiguous frames reach up to the end of the buffer, or start at its beginning.
        assert_eq!(ring.contiguous(4, 9), [[4.0, 5.0], [-4.0, -5.0]]);
        assert_eq!(ring.contiguous(6, 9), [[6.0, 7.0], [-6.0, -7.0]]);
        assert_eq!(ring.contiguous(6, 1), [[6.0], [-6.0]]);
    }

    #[test]
    fn an_available_iteration_of_a_loop_is_repeated_without_a_request() {
        let mut ring = Ring::new(6, 0);
        ring.begin(0);
        fill(&mut ring, 0, &[1.0, 2.0]);
        ring.repeat(3, 0, 100);
        assert_eq!(ring.missing_from(0), 2, "an incomplete iteration must not be repeated");
        fill(&mut ring, 0, &[3.0]);
        ring.repeat(3, 0, 5);
        assert_eq!(ring.missing_from(0), 5, "the iteration must be repeated up to the end of the clip");
        for read in [0, 4, 8, 12] {
            ring.repeat(3, read, 100);
            assert_eq!(ring.free_frames(read), 0);
            let expected = [0, 1, 2, 3].map(|offset| ((read + offset) % 3 + 1) as f32);
            assert_eq!(self::read(&mut ring, read), (expected, 0));
        }
        assert_eq!(ring.missing_from(11), 11, "overwritten frames are missing");
        assert_eq!(read(&mut ring, 10), ([0.0, 0.0, 1.0, 2.0], 2));
        // These calls do nothing: frame 1 is no longer available, and an iteration of 7 frames is
        // too long for the ring.
        ring.repeat(3, 1, 100);
        ring.repeat(7, 16, 100);
        assert_eq!((ring.missing_from(16), ring.missing_from(30)), (18, 30));
    }
}
