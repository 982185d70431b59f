//! Streamed audio that stays available when clips are edited.

use alloc::vec::Vec;

use super::ring::Ring;
use super::voice::Voice;

/// The clips of a track before an edit, with their streamed audio.
pub(super) struct OldClips {
    pub(super) voices: Vec<Voice>,
    /// Rings that are assigned to `voices`.
    pub(super) rings: Vec<Ring>,
}

impl OldClips {
    /// Fills an empty ring with the available audio of a voice's source. The audio is around the
    /// frame `read_frame` of the clip, which is played next.
    pub(super) fn carry_over(&self, voice: &Voice, ring: &mut Ring, read_frame: u64) {
        let behind_frames = self.sources(voice, read_frame).map(|(old, old_ring, frame)| {
            (frame - old_ring.start()).min(old.loop_frame(frame)).min(voice.loop_frame(read_frame))
        });
        let Some(behind_frames) = behind_frames.max() else { return };
        let mut clip_frame = read_frame - behind_frames.min(ring.behind_frames());
        ring.start_at(clip_frame);
        while clip_frame < voice.sounding_frames {
            let Some((_, old_ring, frame)) = self.sources(voice, clip_frame).next() else { break };
            let (_, to_end) = voice.source(clip_frame);
            let appended_frames = ring.append(read_frame, old_ring.contiguous(frame, to_end));
            if appended_frames == 0 {
                break;
            }
            clip_frame += appended_frames;
        }
        voice.repeat(ring, read_frame);
    }

    /// Returns the old voices and rings that have the audio of a frame of a clip. The third value
    /// is the frame of the old clip with this audio.
    fn sources(&self, voice: &Voice, clip_frame: u64) -> impl Iterator<Item = (&Voice, &Ring, u64)> {
        let (source_frame, _) = voice.source(clip_frame);
        let source = voice.source_id();
        self.rings.iter().filter_map(move |ring| {
            let old = self.voices.get(ring.voice_index()?)?;
            let frame = old.first_frame_that_plays(source_frame, ring.start())?;
            (old.source_id() == source && ring.availability(frame).0).then_some((old, ring, frame))
        })
    }
}
