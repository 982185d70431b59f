//! Audio items in the engine's terms.

use dsp_core::gain;
use dsp_core::session::Clip;

use super::Builder;
use super::sounds::{AudioPlace, LeftOutReason};
use crate::project::{AudioItem, Item, Track};

impl Builder<'_> {
    /// The clips of a track whose audio is there; `pointer` is its items'.
    pub(super) fn clips(&mut self, track: &Track, pointer: &str) -> Vec<Clip> {
        let mut clips = Vec::new();
        for (place, item) in track.items.iter().enumerate() {
            let Item::Audio(item) = item else { continue };
            let clip = file_id(item).and_then(|id| self.sounds.audio(id)).map(|audio| self.clip(item, audio));
            let length_frames = clip.map_or(item.length_frames.unwrap_or(0), |clip| clip.length_frames);
            let end = self.clock.frame_at(item.start_tick.into()).saturating_add(length_frames);
            self.length_frames = self.length_frames.max(end);
            clips.extend(clip);
            if clip.is_none() {
                self.leave_out(format!("{pointer}/{place}"), LeftOutReason::Audio);
            }
        }
        clips
    }

    fn clip(&self, item: &AudioItem, audio: AudioPlace) -> Clip {
        let frames = |frames: u64| self.frames_of_file(frames, audio.file_rate_hz);
        let offset_frames = frames(item.offset_frames);
        let to_end = audio.frames.saturating_sub(offset_frames);
        let fades = item.fades.clone().unwrap_or_default();
        Clip {
            frame: self.clock.frame_at(item.start_tick.into()),
            offset_frames,
            length_frames: item.length_frames.map_or(to_end, frames),
            gain: gain::from_db(item.gain_db),
            fade_in_frames: frames(fades.in_frames),
            fade_out_frames: frames(fades.out_frames),
            looped: item.looped,
            audio_slot: audio.slot,
        }
    }

    /// Frames at the session's sample rate, to the nearest.
    fn frames_of_file(&self, frames: u64, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) =
            (u128::from(self.clock.sample_rate_hz), u128::from(file_rate_hz.max(1)));
        let scaled = (u128::from(frames) * rate_hz + file_rate_hz / 2) / file_rate_hz;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// The file of an item.
pub(super) fn file_id(item: &AudioItem) -> Option<&str> {
    item.source.server_file_id.as_deref().or(item.server_file_id.as_deref())
}

/// The files of the service that a project plays: those of its audio items and of its effects, each once.
pub fn files_used(project: &crate::Project) -> Vec<String> {
    let mut used = Vec::new();
    let mut add = |id: Option<&str>| {
        if let Some(id) = id.filter(|id| !used.iter().any(|other| other == id)) {
            used.push(id.to_owned());
        }
    };
    for item in project.tracks.iter().flat_map(|track| &track.items) {
        if let Item::Audio(item) = item {
            add(file_id(item));
        }
    }
    let effects = project.tracks.iter().flat_map(|track| &track.effects).chain(&project.master.effects);
    effects.for_each(|effect| add(effect.impulse.as_deref()));
    used
}
