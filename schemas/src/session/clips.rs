//! Compiles audio items.

use std::collections::BTreeSet;

use dsp_core::gain;
use dsp_core::session::Clip;

use super::Builder;
use super::item_chains::{ClipPosition, ItemChains};
use super::media::{LeftOutReason, ResolvedAudio};
use crate::project::{AudioItem, Item, Track};

/// An audio item with its index among the items of its track.
struct IndexedItem<'a> {
    index: usize,
    item: &'a AudioItem,
    /// The audio and the position of the item; `None` if the audio is missing.
    placed: Option<(ResolvedAudio, ClipPosition)>,
}

impl Builder<'_> {
    /// The clips of a track with available audio; `pointer` points to its items.
    pub(super) fn clips(&mut self, track: &Track, pointer: &str) -> Vec<Clip> {
        let mut clips = Vec::new();
        for IndexedItem { index, item, placed } in self.indexed_items(track) {
            let pointer = format!("{pointer}/{index}");
            match placed {
                None => {
                    let start = self.clock.frame_at(item.start_tick.into());
                    self.extend_to(start.saturating_add(item.length_frames.unwrap_or(0)));
                    self.leave_out(pointer, LeftOutReason::MissingAudio);
                }
                Some((audio, at)) if at.offset_frames >= audio.frames => {
                    self.leave_out(pointer, LeftOutReason::StartsAfterAudio);
                }
                Some((audio, at)) => {
                    let to_end = if item.looped { u64::MAX } else { audio.frames - at.offset_frames };
                    self.extend_to(at.frame.saturating_add(at.length_frames.min(to_end)));
                    clips.push(self.clip(item, audio, at));
                }
            }
        }
        clips
    }

    /// Extends the session at least to a frame.
    fn extend_to(&mut self, frame: u64) {
        self.length_frames = self.length_frames.max(frame);
    }

    /// The audio items of a track, in the track's order.
    fn indexed_items<'t>(&mut self, track: &'t Track) -> Vec<IndexedItem<'t>> {
        let audio = |(index, item): (usize, &'t Item)| match item {
            Item::Audio(item) => Some((index, item)),
            _ => None,
        };
        let mut items: Vec<_> = track.items.iter().enumerate().filter_map(audio).collect();
        items.sort_by_key(|(_, item)| item.start_tick);
        let mut item_chains = ItemChains::new(&self.clock);
        let mut indexed_items: Vec<_> = items
            .into_iter()
            .map(|(index, item)| {
                let audio = file_id(item).and_then(|id| self.media.audio(id));
                IndexedItem {
                    index,
                    item,
                    placed: audio.map(|audio| (audio, item_chains.position(item, audio))),
                }
            })
            .collect();
        indexed_items.sort_by_key(|indexed| indexed.index);
        indexed_items
    }

    fn clip(&self, item: &AudioItem, audio: ResolvedAudio, at: ClipPosition) -> Clip {
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

/// The ids of the audio files of a project's audio items and effects, without duplicates.
pub fn files_used<'p>(project: &'p crate::Project) -> Vec<String> {
    let (mut used, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |id: Option<&'p str>| {
        if let Some(id) = id.filter(|id| seen.insert(*id)) {
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
