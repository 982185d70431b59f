//! Audio items in the engine's terms.

use std::collections::BTreeSet;

use dsp_core::gain;
use dsp_core::session::Clip;

use super::Builder;
use super::runs::{Place, Runs};
use super::sounds::{AudioPlace, LeftOutReason};
use crate::project::{AudioItem, Item, Track};

/// An audio item with its place among the items of its track.
struct Placed<'a> {
    place: usize,
    item: &'a AudioItem,
    /// What plays and where it lies; `None` where the audio is not there.
    found: Option<(AudioPlace, Place)>,
}

impl Builder<'_> {
    /// The clips of a track whose audio is there; `pointer` is its items'.
    pub(super) fn clips(&mut self, track: &Track, pointer: &str) -> Vec<Clip> {
        let mut clips = Vec::new();
        for Placed { place, item, found } in self.placed(track) {
            let pointer = format!("{pointer}/{place}");
            match found {
                None => {
                    let start = self.clock.frame_at(item.start_tick.into());
                    self.reach(start.saturating_add(item.length_frames.unwrap_or(0)));
                    self.leave_out(pointer, LeftOutReason::Audio);
                }
                Some((audio, at)) if at.offset_frames >= audio.frames => {
                    self.leave_out(pointer, LeftOutReason::BehindAudio);
                }
                Some((audio, at)) => {
                    let to_end = if item.looped { u64::MAX } else { audio.frames - at.offset_frames };
                    self.reach(at.frame.saturating_add(at.length_frames.min(to_end)));
                    clips.push(self.clip(item, audio, at));
                }
            }
        }
        clips
    }

    /// The session is as long as to this frame, at least.
    fn reach(&mut self, frame: u64) {
        self.length_frames = self.length_frames.max(frame);
    }

    /// The audio items of a track, in its order.
    fn placed<'t>(&mut self, track: &'t Track) -> Vec<Placed<'t>> {
        let audio = |(place, item): (usize, &'t Item)| match item {
            Item::Audio(item) => Some((place, item)),
            _ => None,
        };
        let mut items: Vec<_> = track.items.iter().enumerate().filter_map(audio).collect();
        items.sort_by_key(|(_, item)| item.start_tick);
        let mut runs = Runs::new(&self.clock);
        let mut placed: Vec<_> = items
            .into_iter()
            .map(|(place, item)| {
                let audio = file_id(item).and_then(|id| self.sounds.audio(id));
                Placed { place, item, found: audio.map(|audio| (audio, runs.place(item, audio))) }
            })
            .collect();
        placed.sort_by_key(|placed| placed.place);
        placed
    }

    fn clip(&self, item: &AudioItem, audio: AudioPlace, at: Place) -> Clip {
        let frames = |frames: u64| self.clock.frames_of_file(frames, audio.file_rate_hz);
        let fades = item.fades.clone().unwrap_or_default();
        Clip {
            frame: at.frame,
            offset_frames: at.offset_frames,
            length_frames: at.length_frames,
            gain: gain::from_db(item.gain_db),
            fade_in_frames: frames(fades.in_frames),
            fade_out_frames: frames(fades.out_frames),
            looped: item.looped,
            audio_slot: audio.slot,
        }
    }
}

/// The file of an item.
pub(super) fn file_id(item: &AudioItem) -> Option<&str> {
    item.source.server_file_id.as_deref().or(item.server_file_id.as_deref())
}

/// The files of the service that a project plays: those of its audio items and of its effects, each
/// once.
pub fn files_used<'p>(project: &'p crate::Project) -> Vec<String> {
    let (mut used, mut known) = (Vec::new(), BTreeSet::new());
    let mut add = |id: Option<&'p str>| {
        if let Some(id) = id.filter(|id| known.insert(*id)) {
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
