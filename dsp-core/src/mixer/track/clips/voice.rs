//! A clip with its source: which frames it plays, and at which gain.

use super::AHEAD_FRAMES;
use super::ring::Ring;
use crate::session::{Audio, AudioSlot, Clip};

/// A clip with its source.
pub(super) struct Voice {
    pub(super) clip: Clip,
    /// Index of the clip in its track.
    pub(super) number: usize,
    /// Length of the audible part in frames.
    pub(super) sounding_frames: u64,
    /// Length of the part of the source that it plays, once or in a loop.
    pub(super) region_frames: u64,
    /// `None` for streamed audio.
    pub(super) audio: Option<Audio>,
}

impl Voice {
    /// `None` for a clip that is silent.
    pub(super) fn new(number: usize, clip: &Clip, slots: &[Option<AudioSlot>]) -> Option<Self> {
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
        is_audible.then_some(Self { clip: *clip, number, sounding_frames, region_frames, audio })
    }

    pub(super) fn end(&self) -> u64 {
        self.clip.frame.saturating_add(self.sounding_frames)
    }

    /// The frame of the session from which on it needs audio.
    pub(super) fn near(&self) -> u64 {
        self.clip.frame.saturating_sub(AHEAD_FRAMES)
    }

    /// The frame of the source for a frame of the clip, and the number of contiguous frames there.
    pub(super) fn source(&self, clip_frame: u64) -> (u64, u64) {
        let into = self.round_frame(clip_frame);
        let to_end = (self.region_frames - into).min(self.sounding_frames - clip_frame);
        (self.clip.offset_frames + into, to_end)
    }

    /// The identity of its source: slot and length in frames.
    pub(super) fn source_id(&self) -> (u32, u64) {
        (self.clip.audio_slot, self.clip.offset_frames + self.region_frames)
    }

    /// Frames from the start of the clip, or of the current round of its loop, to a frame of the
    /// clip.
    pub(super) fn round_frame(&self, clip_frame: u64) -> u64 {
        if self.clip.looped { clip_frame % self.region_frames } else { clip_frame }
    }

    /// The first frame of the clip, at or after `from`, that plays a frame of the source.
    pub(super) fn first_that_plays(&self, source_frame: u64, from: u64) -> Option<u64> {
        let into = source_frame.checked_sub(self.clip.offset_frames)?;
        if !self.clip.looped {
            return (into >= from).then_some(into);
        }
        let to_go = into + self.region_frames - self.round_frame(from);
        (into < self.region_frames).then(|| from + to_go % self.region_frames)
    }

    /// Fills a ring with the frames that it misses, from audio that starts at a frame of the
    /// source. `read` is the next frame of the clip to be played.
    pub(super) fn fill(&self, ring: &mut Ring, read: u64, source_frame: u64, audio: [&[f32]; 2]) {
        let clip_frame = ring.missing_from(read);
        if clip_frame >= self.sounding_frames {
            return;
        }
        let (missing, to_end) = self.source(clip_frame);
        let Some(first) = missing.checked_sub(source_frame) else { return };
        let piece = audio.map(|side| {
            let known = usize::try_from(first).map_or(side.len(), |first| first.min(side.len()));
            let missing = &side[known..];
            &missing[..usize::try_from(to_end).map_or(missing.len(), |to_end| to_end.min(missing.len()))]
        });
        ring.fill(read, piece);
        self.repeat(ring, read);
    }

    /// Lets a ring repeat the last round if the clip is looped. `read` is the next frame of the
    /// clip to be played.
    pub(super) fn repeat(&self, ring: &mut Ring, read: u64) {
        if self.clip.looped {
            ring.repeat(self.region_frames, read, self.sounding_frames);
        }
    }

    fn gain(&self, clip_frame: u64) -> f32 {
        let mut gain = self.clip.gain;
        if clip_frame < self.clip.fade_in_frames {
            gain *= clip_frame as f32 / self.clip.fade_in_frames as f32;
        }
        let left = self.sounding_frames - clip_frame;
        if left < self.clip.fade_out_frames {
            gain *= left as f32 / self.clip.fade_out_frames as f32;
        }
        gain
    }

    /// Adds frames of the source times the clip's gain.
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
