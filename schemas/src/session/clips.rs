//! Compiles audio items.

use std::collections::BTreeSet;

use dsp_core::gain;
use dsp_core::session::Clip;

use super::Builder;
use super::item_chains::{ClipPosition, ItemChains};
use super::media::{ProjectIssueReason, ResolvedAudio};
use crate::project::{AudioItem, Item, Track};

/// An audio item with its index among the items of its track.
struct IndexedItem<'a> {
    index: usize,
    item: &'a AudioItem,
    /// The audio and the position of the clip; `None` if the audio is missing.
    placement: Option<(ResolvedAudio, ClipPosition)>,
}

impl Builder<'_> {
    /// Compiles the audio items of a track. `pointer` is the JSON pointer to the track's items.
    pub(super) fn compile_clips(&mut self, track: &Track, pointer: &str) -> Vec<Clip> {
        let mut clips = Vec::new();
        for IndexedItem { index, item, placement } in self.indexed_items(track) {
            let pointer = format!("{pointer}/{index}");
            match placement {
                None => {
                    let start = self.clock.frame_at(item.start_tick.into());
                    self.extend_to(start.saturating_add(item.length_frames.unwrap_or(0)));
                    let reason = match file_id(item) {
                        Some(id) => ProjectIssueReason::MissingAudio { id: id.to_owned() },
                        None => ProjectIssueReason::NoAudioFile,
                    };
                    self.report_issue(pointer, reason);
                }
                Some((audio, clip_position)) if clip_position.offset_frames >= audio.frames => {
                    let (offset_frames, frames) = (clip_position.offset_frames, audio.frames);
                    self.report_issue(
                        pointer,
                        ProjectIssueReason::StartsAfterAudio { offset_frames, frames },
                    );
                }
                Some((audio, clip_position)) => {
                    let remaining_frames =
                        if item.looped { u64::MAX } else { audio.frames - clip_position.offset_frames };
                    self.extend_to(
                        clip_position.frame.saturating_add(clip_position.length_frames.min(remaining_frames)),
                    );
                    clips.push(self.clip(item, audio, clip_position));
                }
            }
        }
        clips
    }

    /// Makes the session end no earlier than `frame`.
    pub(super) fn extend_to(&mut self, frame: u64) {
        self.length_frames = self.length_frames.max(frame);
    }

    /// Returns the audio items of a track, in the track's order.
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
                    placement: audio.map(|audio| (audio, item_chains.position(item, audio))),
                }
            })
            .collect();
        indexed_items.sort_by_key(|indexed_item| indexed_item.index);
        indexed_items
    }

    fn clip(&self, item: &AudioItem, audio: ResolvedAudio, clip_position: ClipPosition) -> Clip {
        let frames = |frames: u64| self.clock.frames_of_file(frames, audio.file_rate_hz);
        let fades = item.fades.clone().unwrap_or_default();
        Clip {
            frame: clip_position.frame,
            offset_frames: clip_position.offset_frames,
            length_frames: clip_position.length_frames,
            gain: gain::from_db(item.gain_db),
            fade_in_frames: frames(fades.in_frames),
            fade_out_frames: frames(fades.out_frames),
            looped: item.looped,
            audio_slot: audio.slot,
        }
    }
}

/// Returns the id of an item's audio file; `None` if the item has no file.
pub(super) fn file_id(item: &AudioItem) -> Option<&str> {
    item.source.server_file_id.as_deref().or(item.server_file_id.as_deref())
}

/// Returns the ids of the audio files that audio items, effects and frozen tracks use, without
/// duplicates.
pub fn files_used<'p>(project: &'p crate::Project) -> Vec<String> {
    let (mut used_ids, mut seen_ids) = (Vec::new(), BTreeSet::new());
    let mut add = |id: Option<&'p str>| {
        if let Some(id) = id.filter(|id| seen_ids.insert(*id)) {
            used_ids.push(id.to_owned());
        }
    };
    for item in project.tracks.iter().flat_map(|track| &track.items) {
        if let Item::Audio(item) = item {
            add(file_id(item));
        }
    }
    let frozen_sounds = project.tracks.iter().filter_map(|track| track.frozen.as_ref());
    frozen_sounds.for_each(|frozen_sounds| add(Some(&frozen_sounds.server_file_id)));
    let effects = project.tracks.iter().flat_map(|track| &track.effects).chain(&project.master.effects);
    effects.for_each(|effect| add(effect.impulse.as_deref()));
    used_ids
}

/// Returns the ids of [`files_used`], of the files of takes, and of the files from which processed
/// items were made.
pub fn files_named(project: &crate::Project) -> Vec<String> {
    let mut named_ids = files_used(project);
    let mut seen: BTreeSet<String> = named_ids.iter().cloned().collect();
    let mut add = |id: Option<&str>| {
        if let Some(id) = id
            && seen.insert(id.to_owned())
        {
            named_ids.push(id.to_owned());
        }
    };
    for track in &project.tracks {
        for item in &track.items {
            if let Item::Audio(AudioItem { processing: Some(processing), .. }) = item {
                add(Some(&processing.server_file_id));
            }
        }
        for take in &track.takes {
            if let Item::Audio(take) = take {
                add(file_id(take));
            }
        }
    }
    named_ids
}
