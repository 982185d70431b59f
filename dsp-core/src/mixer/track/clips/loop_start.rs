//! Keeps the streamed audio at the start of a loop, so that the jump from its end has no gap.

use alloc::vec::Vec;

use super::ring::Ring;
use super::voice::Voice;
use super::{AHEAD_FRAMES, BEHIND_FRAMES, WantedAudio};
use crate::mixer::LoopRegion;

/// The loop of a session, and a buffer for each streamed clip that is audible at the loop's start
/// or begins soon after it.
pub(super) struct LoopStart {
    region: LoopRegion,
    rings: Vec<Ring>,
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
                self.rings.push(ring);
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
        self.rings.iter().filter_map(move |ring| {
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

    /// See [`super::ClipPlayer::fill`].
    pub(super) fn fill(&mut self, voices: &[Voice], audio_slot: u32, source_frame: u64, audio: [&[f32]; 2]) {
        for ring in &mut self.rings {
            let Some(voice) = ring.voice_index().and_then(|voice| voices.get(voice)) else { continue };
            if voice.clip.audio_slot == audio_slot {
                voice.fill(ring, first_frame(voice, self.region), source_frame, audio);
            }
        }
    }

    /// Copies the audio at the start of the loop to the rings from which the voices play.
    pub(super) fn copy_to(&self, rings: &mut [Ring]) {
        for source in &self.rings {
            if let Some(ring) = rings.iter_mut().find(|ring| ring.voice_index() == source.voice_index()) {
                ring.copy_from(source);
            }
        }
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
