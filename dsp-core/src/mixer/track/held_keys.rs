//! The keys that the events of a track hold down.

use crate::session::{Event, TrackEvent};

/// Controllers that end notes (MIDI 1.0): all sound off, all notes off, and the channel mode
/// messages 124 to 127. The last two of them are mono mode on and poly mode on.
pub(super) const ALL_SOUND_OFF: u8 = 120;
pub(super) const ALL_NOTES_OFF: u8 = 123;
pub(super) const MONO_ON: u8 = 126;
pub(super) const POLY_ON: u8 = 127;

/// The keys that a track's events hold down. Keys of live events are not included.
#[derive(Debug, Clone)]
pub(super) struct HeldKeys {
    /// Index of the note-on event of each key; `None` for a key that is not held.
    note_on_index: [Option<usize>; 128],
}

impl HeldKeys {
    pub(super) const NONE: Self = Self { note_on_index: [None; 128] };

    /// Returns the keys that are held after `events`, which are the first events of a track.
    pub(super) fn after(events: &[TrackEvent]) -> Self {
        let mut keys = Self::NONE;
        for (index, event) in events.iter().enumerate() {
            keys.apply(index, event.event);
        }
        keys
    }

    /// Applies the event at an index of the track.
    pub(super) fn apply(&mut self, index: usize, event: Event) {
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.release(key),
            // In mono mode, earlier keys also remain held. They sound again when this key is
            // released.
            Event::NoteOn { key, .. } => self.note_on_index[usize::from(key & 127)] = Some(index),
            Event::Controller { controller: ALL_SOUND_OFF | ALL_NOTES_OFF..=POLY_ON, .. } => {
                self.release_all();
            }
            _ => {}
        }
    }

    fn release(&mut self, key: u8) {
        self.note_on_index[usize::from(key & 127)] = None;
    }

    pub(super) fn release_all(&mut self) {
        self.note_on_index = [None; 128];
    }

    /// Whether the event at an index of the track is the note-on of a held key.
    pub(super) fn is_held_note_on(&self, index: usize, event: Event) -> bool {
        matches!(event, Event::NoteOn { key, .. } if self.note_on_index[usize::from(key & 127)] == Some(index))
    }

    /// Releases the keys that `new_keys` does not hold, and calls `release` for each of them.
    pub(super) fn retain_keys(&mut self, new_keys: &Self, mut release: impl FnMut(u8)) {
        for (key, (note_on_index, new_note_on_index)) in
            (0..).zip(self.note_on_index.iter_mut().zip(&new_keys.note_on_index))
        {
            if note_on_index.is_some() && new_note_on_index.is_none() {
                release(key);
            }
            // A key that both hold gets the index of its note-on among the new events.
            *note_on_index = note_on_index.and(*new_note_on_index);
        }
    }
}
