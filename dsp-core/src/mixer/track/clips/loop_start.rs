//! Keeps the streamed audio at the start of a loop, so that the jump from the end of the loop has
//! no gap.

use alloc::vec::Vec;
use core::ops::Range;

use super::ring::Ring;
use super::voice::Voice;
use super::{AHEAD_FRAMES, BEHIND_FRAMES, WantedAudio};
use crate::mixer::LoopRegion;

/// Number of frames that are copied back for each frame that is played after a jump.
const COPIED_FRAMES_PER_FRAME: u64 = 8;

// All frames are copied before the voice's ring overwrites the first of them.
const _: () = assert!(AHEAD_FRAMES < COPIED_FRAMES_PER_FRAME * BEHIND_FRAMES);

/// The loop of a session, and a buffer for each streamed clip that is audible at the loop's start
/// or begins soon after it.
pub(super) struct LoopStart {
    region: LoopRegion,
    rings: Vec<LoopRing>,
}

/// Keeps the audio of a voice at the start of the loop.
pub(super) struct LoopRing {
    ring: Ring,
    /// Frames of the clip that the last jump moved to the voice's ring and that are not yet copied
    /// back. The following blocks copy a part each, because one block has not enough time for all.
    uncopied: Range<u64>,
}

impl LoopRing {
    /// Copies back at most `max_frames` frames. `rings` are those from which the voices play.
    fn copy_back(&mut self, rings: &[Ring], max_frames: u64) {
        if self.uncopied.is_empty() {
            return;
        }
        let end = self.uncopied.end.min(self.uncopied.start.saturating_add(max_frames));
        match rings.iter().find(|ring| ring.voice_index() == self.ring.voice_index()) {
            Some(source) => {
                self.ring.copy_frames(source, self.uncopied.start..end);
                self.uncopied.start = end;
            }
            // The audio is requested again.
            None => {
                self.ring.start_at(self.ring.start());
                self.uncopied = 0..0;
            }
        }
    }
}

impl LoopStart {
    pub(super) fn new(region: LoopRegion, voices: &[Voice]) -> Self {
        let mut start = Self { region, rings: Vec::new() };
        start.set_voices(voices);
        start
    }

    pub(super) fn region(&self) -> LoopRegion {
        self.region
    }

    /// Creates empty buffers for the voices of edited clips.
    pub(super) fn set_voices(&mut self, voices: &[Voice]) {
        self.rings.clear();
        for (index, voice) in voices.iter().enumerate() {
            if voice.audio.is_none() && is_at_loop_start(voice, self.region) {
                let mut ring = Ring::new(AHEAD_FRAMES, BEHIND_FRAMES);
                ring.begin(index);
                ring.start_at(first_frame(voice, self.region));
                self.rings.push(LoopRing { ring, uncopied: 0..0 });
            }
        }
    }

    /// Returns the blocks that are missing. `position_frames` is the next frame to be played.
    pub(super) fn wanted(
        &self,
        track: usize,
        voices: &[Voice],
        position_frames: u64,
    ) -> impl Iterator<Item = WantedAudio> {
        let frames_to_jump = self.region.end_frame.saturating_sub(position_frames);
        self.rings.iter().filter_map(move |LoopRing { ring, .. }| {
            let voice = voices.get(ring.voice_index()?)?;
            let first_frame = first_frame(voice, self.region);
            let wanted = voice.wanted(track, ring, first_frame, self.region.end_frame)?;
            let frames_after_jump = voice.clip.frame.saturating_sub(self.region.start_frame);
            Some(WantedAudio {
                ahead_frames: wanted.ahead_frames + frames_to_jump + frames_after_jump,
                ..wanted
            })
        })
    }

    /// See [`super::ClipPlayer::fill`]. `rings` are those from which the voices play.
    pub(super) fn fill(
        &mut self,
        voices: &[Voice],
        rings: &[Ring],
        audio_slot: u32,
        source_frame: u64,
        audio: [&[f32]; 2],
    ) {
        for loop_ring in &mut self.rings {
            let voice_index = loop_ring.ring.voice_index();
            let Some(voice) = voice_index.and_then(|voice| voices.get(voice)) else { continue };
            if voice.clip.audio_slot == audio_slot {
                if voice.clip.looped {
                    // The voice repeats frames that the ring has.
                    loop_ring.copy_back(rings, u64::MAX);
                }
                voice.fill(&mut loop_ring.ring, first_frame(voice, self.region), source_frame, audio);
            }
        }
    }

    /// Moves the audio at the start of the loop to the rings from which the voices play. It must be
    /// copied back before these rings are assigned to other voices or receive audio for another
    /// position than the following one.
    pub(super) fn move_audio_to(&mut self, rings: &mut [Ring]) {
        for LoopRing { ring: source, uncopied } in &mut self.rings {
            if let Some(ring) = rings.iter_mut().find(|ring| ring.voice_index() == source.voice_index()) {
                ring.move_audio_from(source);
                *uncopied = source.available();
            }
        }
    }

    /// Copies back some of the audio that [`Self::move_audio_to`] moved to `rings`, before the next
    /// `frames` frames are played.
    pub(super) fn copy_back(&mut self, rings: &[Ring], frames: usize) {
        let max_frames = COPIED_FRAMES_PER_FRAME * frames as u64;
        self.rings.iter_mut().for_each(|ring| ring.copy_back(rings, max_frames));
    }

    /// Copies back all audio that [`Self::move_audio_to`] moved to `rings`.
    pub(super) fn copy_all_back(&mut self, rings: &[Ring]) {
        self.rings.iter_mut().for_each(|ring| ring.copy_back(rings, u64::MAX));
    }
}

/// Returns the frame of the clip that is played first after a jump to the start of the loop.
fn first_frame(voice: &Voice, region: LoopRegion) -> u64 {
    region.start_frame.saturating_sub(voice.clip.frame)
}

fn is_at_loop_start(voice: &Voice, region: LoopRegion) -> bool {
    voice.end() > region.start_frame
        && voice.first_frame_needing_audio() <= region.start_frame
        && voice.clip.frame < region.end_frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{AudioSlot, Clip};

    #[test]
    fn a_jump_copies_the_audio_in_parts_and_keeps_it_for_the_next_jump() {
        let clip = Clip {
            frame: 0,
            offset_frames: 0,
            length_frames: 200_000,
            gain: 1.0,
            fade_in_frames: 0,
            fade_out_frames: 0,
            looped: false,
            audio_slot: 0,
        };
        let voices: Vec<Voice> =
            Voice::new(0, &clip, &[Some(AudioSlot::Streamed { frames: 200_000 })]).into_iter().collect();
        let values: Vec<f32> = (0..200_000).map(|frame| frame as f32).collect();
        let first = 10_000;
        let region = LoopRegion::new(first, 150_000).expect("the loop is long enough");
        let mut start = LoopStart::new(region, &voices);
        let mut rings = [Ring::new(AHEAD_FRAMES, BEHIND_FRAMES)];
        rings[0].begin(0);
        start.fill(&voices, &rings, 0, 0, [&values, &values]);
        assert_eq!(start.wanted(0, &voices, first).count(), 0);
        let block_frames = 128;
        for _ in 0..3 {
            start.copy_all_back(&rings);
            start.move_audio_to(&mut rings);
            for frame in (first..first + 40_000).step_by(block_frames) {
                let uncopied_frames = start.rings[0].uncopied.clone().count();
                start.copy_back(&rings, block_frames);
                let copied_frames = uncopied_frames - start.rings[0].uncopied.clone().count();
                assert!(copied_frames <= 8 * block_frames, "{copied_frames} frames at once");
                let (mut left, mut right) = ([0.0; 128], [0.0; 128]);
                assert_eq!(rings[0].read(frame, [&mut left, &mut right]), 0);
                assert_eq!(left[..], values[frame as usize..][..block_frames]);
                assert_eq!(left, right);
                voices[0].fill(&mut rings[0], frame + block_frames as u64, 0, [&values, &values]);
            }
            assert!(start.rings[0].uncopied.is_empty());
        }
    }
}
