//! Streamed audio that stays available when clips are edited.

use alloc::vec::Vec;

use super::ring::Ring;
use super::voice::Voice;

/// The clips before an edit, with their streamed audio.
pub(super) struct OldClips {
    pub(super) voices: Vec<Voice>,
    /// Assigned to the voices above.
    pub(super) rings: Vec<Ring>,
}

impl OldClips {
    /// Fills an empty ring with the available audio of a voice's source, around the frame `read` of
    /// the clip, which is played next.
    pub(super) fn carry_over(&self, voice: &Voice, ring: &mut Ring, read: u64) {
        let behind = self.sources(voice, read).map(|(old, from, frame)| {
            (frame - from.start()).min(old.round_frame(frame)).min(voice.round_frame(read))
        });
        let Some(behind) = behind.max() else { return };
        let mut clip_frame = read - behind.min(ring.behind_frames());
        ring.start_at(clip_frame);
        while clip_frame < voice.sounding_frames {
            let Some((_, from, frame)) = self.sources(voice, clip_frame).next() else { break };
            let (_, to_end) = voice.source(clip_frame);
            let appended_frames = ring.append(read, from.contiguous(frame, to_end));
            if appended_frames == 0 {
                break;
            }
            clip_frame += appended_frames;
        }
        voice.repeat(ring, read);
    }

    /// The old voices and rings that hold the audio of a frame of a clip, with the frame of the old
    /// clip.
    fn sources(&self, voice: &Voice, clip_frame: u64) -> impl Iterator<Item = (&Voice, &Ring, u64)> {
        let (source_frame, _) = voice.source(clip_frame);
        let source = voice.source_id();
        self.rings.iter().filter_map(move |ring| {
            let old = self.voices.get(ring.voice()?)?;
            let frame = old.first_that_plays(source_frame, ring.start())?;
            (old.source_id() == source && ring.availability(frame).0).then_some((old, ring, frame))
        })
    }
}
