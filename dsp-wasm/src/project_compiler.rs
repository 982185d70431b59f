//! Compiles the edits of a project: it keeps the tracks that an edit leaves unchanged.
//!
//! Reading a large project from JavaScript objects takes far longer than compiling it, because each
//! field is a call from WebAssembly to JavaScript. The page therefore sends only the tracks that
//! have changed, and their notes as an array of numbers.

use std::mem;

use js_sys::Float64Array;
use schemas::project::{Item, Note, Track};
use wasm_bindgen::prelude::*;

use crate::compile::{self, CompiledSession};

/// Numbers of a note in the array of notes: tick, length in ticks, pitch and velocity.
const NUMBERS_OF_NOTE: usize = 4;

/// Entry of `order` for the next changed track.
const CHANGED: u32 = u32::MAX;

/// Compiles successive versions of a project, and keeps the unchanged tracks between them.
#[wasm_bindgen]
#[derive(Default)]
pub struct ProjectCompiler {
    /// The tracks of the last version. The list is empty after a call with an invalid `order`.
    tracks: Vec<Option<Track>>,
}

#[wasm_bindgen]
impl ProjectCompiler {
    /// Creates a compiler without tracks.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles the next version of the project.
    ///
    /// `song` is the project without its tracks. `order` has an entry for each of its tracks: the
    /// index of an unchanged track in the previous version, or 4294967295 for the next one of
    /// `changed_tracks`. The MIDI items of `changed_tracks` have no notes. Instead, `notes` has the
    /// notes of all these items, in the order of the tracks and items: tick, length in ticks, pitch
    /// and velocity of each. `note_counts` has the number of notes of each MIDI item. For the other
    /// arguments, see [`compile_session`](compile::compile_session).
    ///
    /// # Errors
    ///
    /// Returns a message with the reason why the project cannot be played. The compiler may lack
    /// tracks after an error, so the page then creates a new compiler.
    #[expect(clippy::too_many_arguments, reason = "JavaScript values that are read in different ways")]
    pub fn compile(
        &mut self,
        song: JsValue,
        order: &[u32],
        changed_tracks: JsValue,
        notes: &Float64Array,
        note_counts: &[u32],
        bank_slots: JsValue,
        sample_rate_hz: u32,
        audio: JsValue,
        plugin_outputs: JsValue,
    ) -> Result<CompiledSession, JsError> {
        let mut project = compile::read_project(song)?;
        let slots = compile::slot_contents(bank_slots, None, audio, plugin_outputs)?;
        let mut changed: Vec<Track> = serde_wasm_bindgen::from_value(changed_tracks)
            .map_err(|error| JsError::new(&format!("a track cannot be read: {error}")))?;
        add_notes(&mut changed, &notes.to_vec(), note_counts).map_err(|reason| JsError::new(&reason))?;
        project.tracks =
            arranged(mem::take(&mut self.tracks), order, changed).map_err(|reason| JsError::new(&reason))?;
        let compiled_project = compile::compile(&project, sample_rate_hz, slots);
        self.tracks = project.tracks.into_iter().map(Some).collect();
        compiled_project
    }
}

/// Returns the kept and the changed tracks in the order of the new version.
fn arranged(
    mut kept_tracks: Vec<Option<Track>>,
    order: &[u32],
    changed: Vec<Track>,
) -> Result<Vec<Track>, String> {
    let mut changed = changed.into_iter();
    let track_at = |index: &u32| match *index {
        CHANGED => changed.next().ok_or_else(|| "a changed track is missing".to_owned()),
        index => kept_tracks
            .get_mut(index as usize)
            .and_then(Option::take)
            .ok_or_else(|| format!("there is no unchanged track {index}")),
    };
    order.iter().map(track_at).collect()
}

/// Adds the notes to the MIDI items of the tracks.
fn add_notes(tracks: &mut [Track], numbers: &[f64], counts: &[u32]) -> Result<(), String> {
    let mut notes = numbers.chunks_exact(NUMBERS_OF_NOTE);
    let mut counts = counts.iter();
    for item in tracks.iter_mut().flat_map(|track| &mut track.items) {
        let Item::Midi(item) = item else { continue };
        let count = *counts.next().ok_or("`note_counts` has no number for an item")?;
        item.notes = notes.by_ref().take(count as usize).map(note_of).collect::<Result<_, String>>()?;
        if item.notes.len() != count as usize {
            return Err(format!("the item {} has {count} notes, but `notes` has fewer", item.id));
        }
    }
    Ok(())
}

/// Creates a note from its four numbers.
fn note_of(numbers: &[f64]) -> Result<Note, String> {
    let whole_number = |value: f64, limit: f64| {
        if value.fract() == 0.0 && (0.0..=limit).contains(&value) {
            Ok(value)
        } else {
            Err(format!(
                "{value} is not a valid number of a note, which must be a whole number from 0 to {limit}"
            ))
        }
    };
    let &[tick, length_ticks, pitch, velocity] = numbers else {
        return Err("a note must have four numbers".to_owned());
    };
    Ok(Note {
        tick: whole_number(tick, f64::from(u32::MAX))? as u32,
        length_ticks: whole_number(length_ticks, f64::from(u32::MAX))? as u32,
        pitch: whole_number(pitch, 127.0)? as u8,
        velocity,
        extra: Default::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(id: &str) -> Track {
        let json = format!(
            r#"{{"id": "{id}", "kind": "instrument", "items": [
                {{"type": "midi", "id": "a", "start_tick": 0, "length_ticks": 9, "notes": []}},
                {{"type": "section", "sectionId": "s", "start_tick": 0, "length_ticks": 9}},
                {{"type": "midi", "id": "b", "start_tick": 9, "length_ticks": 9, "notes": []}}]}}"#
        );
        serde_json::from_str(&json).expect("a track")
    }

    fn ids(tracks: &[Track]) -> Vec<&str> {
        tracks.iter().map(|track| track.id.as_str()).collect()
    }

    #[test]
    fn tracks_are_kept_moved_replaced_and_removed() {
        let kept_tracks = || ["a", "b", "c"].map(|id| Some(track(id))).to_vec();
        let next = arranged(kept_tracks(), &[2, CHANGED, 0], vec![track("new")]).expect("tracks");
        assert_eq!(ids(&next), ["c", "new", "a"]);
        for (order, changed) in [(vec![3], vec![]), (vec![0, 0], vec![]), (vec![CHANGED], vec![])] {
            assert!(arranged(kept_tracks(), &order, changed).is_err(), "{order:?}");
        }
    }

    #[test]
    fn notes_belong_to_midi_items_in_their_order() {
        let numbers = [0.0, 10.0, 60.0, 0.5, 5.0, 1.0, 127.0, 1.0, 7.0, 2.0, 0.0, 0.25];
        let mut tracks = [track("a")];
        add_notes(&mut tracks, &numbers, &[1, 2]).expect("notes");
        let notes = |index: usize| match &tracks[0].items[index] {
            Item::Midi(item) => {
                item.notes.iter().map(|note| (note.tick, note.pitch, note.velocity)).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(notes(0), [(0, 60, 0.5)]);
        assert_eq!(notes(2), [(5, 127, 1.0), (7, 0, 0.25)]);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for (numbers, counts) in [
            (vec![0.0, 10.0, 60.0], vec![1, 0]),
            (vec![0.0, 10.0, 60.0, 0.5], vec![2, 0]),
            (vec![0.0, 10.0, 60.0, 0.5], vec![1]),
            (vec![0.5, 10.0, 60.0, 0.5], vec![1, 0]),
            (vec![0.0, -1.0, 60.0, 0.5], vec![1, 0]),
            (vec![0.0, 10.0, 128.0, 0.5], vec![1, 0]),
            (vec![f64::NAN, 10.0, 60.0, 0.5], vec![1, 0]),
        ] {
            assert!(add_notes(&mut [track("a")], &numbers, &counts).is_err(), "{numbers:?} {counts:?}");
        }
    }
}
