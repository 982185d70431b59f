//! Selects the source frames that a clip plays and computes their gains.

use super::ring::Ring;
use super::{AHEAD_FRAMES, WantedAudio};
use crate::session::{Audio, AudioSlot, Clip};

/// A clip with its source.
pub(super) struct Voice {
    pub(super) clip: Clip,
    /// Index of the clip in its track.
    pub(super) clip_index: usize,
    /// Length of the audible part in frames.
    pub(super) sounding_frames: u64,
    /// Length in frames of the part of the source that the clip plays, once or in a loop.
    pub(super) region_frames: u64,
    /// Audio of the source; `None` for streamed audio.
    pub(super) audio: Option<Audio>,
}

impl Voice {
    /// Creates a voice. Returns `None` for a clip that is silent.
    pub(super) fn new(clip_index: usize, clip: &Clip, slots: &[Option<AudioSlot>]) -> Option<Self> {
        let slot = slots.get(clip.audio_slot as usize)?.as_ref()?;
        let region_frames = slot.frames().saturating_sub(clip.offset_frames);
        let sounding_frames =
            if clip.looped { clip.length_frames } else { clip.length_frames.min(region_frames) };
        let audio = match slot {
            AudioSlot::Whole(audio) => Some(audio.clone()),
            AudioSlot::Streamed { .. } => None,
        };
        let is_audible =
            region_frames > 0 && sounding_frames > 0 && clip.gain.is_finite() && clip.gain != 0.0;
        is_audible.then_some(Self { clip: *clip, clip_index, sounding_frames, region_frames, audio })
    }

    pub(super) fn end(&self) -> u64 {
        self.clip.frame.saturating_add(self.sounding_frames)
    }

    /// Returns the frame of the session from which the voice needs streamed audio.
    pub(super) fn first_frame_needing_audio(&self) -> u64 {
        self.clip.frame.saturating_sub(AHEAD_FRAMES)
    }

    /// Returns the frame of the source for a frame of the clip, and the number of frames that
    /// follow without a jump.
    pub(super) fn source(&self, clip_frame: u64) -> (u64, u64) {
        let frame_in_region = self.loop_frame(clip_frame);
        let to_end = (self.region_frames - frame_in_region).min(self.sounding_frames - clip_frame);
        (self.clip.offset_frames + frame_in_region, to_end)
    }

    /// Returns the identity of the source: its slot and its length in frames.
    pub(super) fn source_id(&self) -> (u32, u64) {
        (self.clip.audio_slot, self.clip.offset_frames + self.region_frames)
    }

    /// Returns the number of frames from the start of the clip, or of the current iteration of its
    /// loop, to a frame of the clip.
    pub(super) fn loop_frame(&self, clip_frame: u64) -> u64 {
        if self.clip.looped { clip_frame % self.region_frames } else { clip_frame }
    }

    /// Returns the first frame of the clip, at or after `first_frame`, that plays a frame of the
    /// source.
    pub(super) fn first_frame_that_plays(&self, source_frame: u64, first_frame: u64) -> Option<u64> {
        let frame_in_region = source_frame.checked_sub(self.clip.offset_frames)?;
        if !self.clip.looped {
            return (frame_in_region >= first_frame).then_some(frame_in_region);
        }
        let frames_to_go = frame_in_region + self.region_frames - self.loop_frame(first_frame);
        (frame_in_region < self.region_frames).then(|| first_frame + frames_to_go % self.region_frames)
    }

    /// Fills a ring with missing frames, from audio that starts at `source_frame`. `read_frame` is
    /// the next frame of the clip to be played.
    pub(super) fn fill(&self, ring: &mut Ring, read_frame: u64, source_frame: u64, audio: [&[f32]; 2]) {
        let clip_frame = ring.missing_from(read_frame);
        if clip_frame >= self.sounding_frames {
            return;
        }
        let (missing, to_end) = self.source(clip_frame);
        let Some(first) = missing.checked_sub(source_frame) else { return };
        let missing_audio = audio.map(|side| {
            let available_frames = usize::try_from(first).map_or(side.len(), |first| first.min(side.len()));
            let missing = &side[available_frames..];
            &missing[..usize::try_from(to_end).map_or(missing.len(), |to_end| to_end.min(missing.len()))]
        });
        ring.fill(read_frame, missing_audio);
        self.repeat(ring, read_frame);
    }

    /// Returns the block that a ring needs next, up to the frame `end_frame` of the session.
    /// `read_frame` is the next frame of the clip to be played.
    pub(super) fn wanted(
        &self,
        track: usize,
        ring: &Ring,
        read_frame: u64,
        end_frame: u64,
    ) -> Option<WantedAudio> {
        let clip_end = self.sounding_frames.min(end_frame.saturating_sub(self.clip.frame));
        let clip_frame = ring.missing_from(read_frame);
        let free_frames = ring.free_frames(read_frame);
        if clip_frame >= clip_end || free_frames == 0 {
            return None;
        }
        let (source_frame, to_end) = self.source(clip_frame);
        let to_end = to_end.min(clip_end - clip_frame);
        Some(WantedAudio {
            track,
            clip: self.clip_index,
            audio_slot: self.clip.audio_slot,
            source_frame,
            frames: free_frames.min(usize::try_from(to_end).unwrap_or(free_frames)),
            ahead_frames: clip_frame - read_frame,
        })
    }

    /// If the clip is looped, lets a ring repeat the last iteration of the loop. `read_frame` is
    /// the next frame of the clip to be played.
    pub(super) fn repeat(&self, ring: &mut Ring, read_frame: u64) {
        if self.clip.looped {
            ring.repeat(self.region_frames, read_frame, self.sounding_frames);
        }
    }

    /// Reads frames of `audio`, the source of this voice, from a frame of the clip on. The voice
    /// must have all of these frames.
    pub(super) fn read(&self, audio: &Audio, clip_frame: u64, [left, right]: [&mut [f32]; 2]) {
        let frames = left.len();
        let round_frames = usize::try_from(self.region_frames).map_or(frames, |region| region.min(frames));
        let mut filled_frames = 0;
        while filled_frames < round_frames {
            let (source_frame, to_end) = self.source(clip_frame + filled_frames as u64);
            let end = usize::try_from(to_end)
                .map_or(round_frames, |to_end| round_frames.min(filled_frames + to_end));
            audio.read(source_frame, [&mut left[filled_frames..end], &mut right[filled_frames..end]]);
            filled_frames = end;
        }
        // The remaining frames repeat whole iterations of a short loop. Copying them in growing
        // parts is faster than reading each iteration from the source.
        while filled_frames < frames {
            let copied_frames = filled_frames.min(frames - filled_frames);
            for side in [&mut *left, &mut *right] {
                side.copy_within(..copied_frames, filled_frames);
            }
            filled_frames += copied_frames;
        }
    }

    fn gain(&self, clip_frame: u64) -> f32 {
        let mut gain = self.clip.gain;
        if clip_frame < self.clip.fade_in_frames {
            gain *= clip_frame as f32 / self.clip.fade_in_frames as f32;
        }
        let remaining_frames = self.sounding_frames - clip_frame;
        if remaining_frames < self.clip.fade_out_frames {
            gain *= remaining_frames as f32 / self.clip.fade_out_frames as f32;
        }
        gain
    }

    /// Multiplies frames of the source by the clip's gain and adds them to `sums`.
    pub(super) fn add(&self, clip_frame: u64, values: [&mut [f32]; 2], sums: [&mut [f32]; 2]) {
        if self.fades_within(clip_frame, values[0].len() as u64) {
            let ([left, right], [sum_left, sum_right]) = (values, sums);
            for frame in 0..left.len() {
                let gain = self.gain(clip_frame + frame as u64);
                sum_left[frame] += left[frame] * gain;
                sum_right[frame] += right[frame] * gain;
            }
            return;
        }
        for (values, sum) in values.into_iter().zip(sums) {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += *value * self.clip.gain);
        }
    }

    fn fades_within(&self, clip_frame: u64, frames: u64) -> bool {
        clip_frame < self.clip.fade_in_frames
            || self.sounding_frames - clip_frame - frames < self.clip.fade_out_frames
    }
}
