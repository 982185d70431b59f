//! Audio that was handed over, through an edit of the clips.

use alloc::vec::Vec;

use super::ring::Ring;
use super::voice::Voice;

/// What the clips before an edit have been handed over, for those after it.
pub(super) struct Held {
    pub(super) voices: Vec<Voice>,
    /// By the voices above.
    pub(super) rings: Vec<Ring>,
}

impl Held {
    /// Gives an empty ring what there is of a voice's source: from the frame `read` of the clip on,
    /// before which all has been played, and what of that lies directly before it.
    pub(super) fn hand_over(&self, voice: &Voice, ring: &mut Ring, read: u64) {
        let behind = self.stretches(voice, read).map(|(old, from, frame)| {
            (frame - from.start()).min(old.round_frame(frame)).min(voice.round_frame(read))
        });
        let Some(behind) = behind.max() else { return };
        let mut clip_frame = read - behind.min(ring.behind_frames());
        ring.start_at(clip_frame);
        while clip_frame < voice.sounding_frames {
            let Some((_, from, frame)) = self.stretches(voice, clip_frame).next() else { break };
            let (_, to_end) = voice.source(clip_frame);
            let taken = ring.append(read, from.stretch(frame, to_end));
            if taken == 0 {
                break;
            }
            clip_frame += taken;
        }
        voice.repeat(ring, read);
    }

    /// Where the audio of a frame of a clip is: the voices and rings that have it, and the frame by
    /// which they do.
    fn stretches(&self, voice: &Voice, clip_frame: u64) -> impl Iterator<Item = (&Voice, &Ring, u64)> {
        let (source_frame, _) = voice.source(clip_frame);
        let source = voice.source_id();
        self.rings.iter().filter_map(move |ring| {
            let old = self.voices.get(ring.voice()?)?;
            let frame = old.first_that_plays(source_frame, ring.start())?;
            (old.source_id() == source && ring.is_there(frame).0).then_some((old, ring, frame))
        })
    }
}
