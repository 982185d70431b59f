//! The keys of a track that are held down.

use crate::session::{Event, TrackEvent};

/// Controllers that end notes (MIDI 1.0): all sound off, all notes off, and the four channel mode
/// messages after it. The last two are mono on and poly on.
pub(super) const ALL_SOUND_OFF: u8 = 120;
pub(super) const ALL_NOTES_OFF: u8 = 123;
pub(super) const MONO: u8 = 126;
pub(super) const POLY: u8 = 127;

/// The keys that a track's events hold down. Keys of live events are not included.
#[derive(Debug, Clone)]
pub(super) struct HeldKeys {
    /// For each held key, the index of its note-on event.
    note_on: [Option<usize>; 128],
}

impl HeldKeys {
    pub(super) const NONE: Self = Self { note_on: [None; 128] };

    /// The keys that are held after these events, the first ones of a track.
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
            // Also in mono mode: the keys pressed before sound again when this one is released.
            Event::NoteOn { key, .. } => self.note_on[usize::from(key & 127)] = Some(index),
            Event::Controller { controller: ALL_SOUND_OFF | ALL_NOTES_OFF..=POLY, .. } => self.release_all(),
            _ => {}
        }
    }

    fn release(&mut self, key: u8) {
        self.note_on[usize::from(key & 127)] = None;
    }

    pub(super) fn release_all(&mut self) {
        self.note_on = [None; 128];
    }

    /// Whether the event at an index of the track is the note-on of a held key.
    pub(super) fn is_held_note_on(&self, index: usize, event: Event) -> bool {
        matches!(event, Event::NoteOn { key, .. } if self.note_on[usize::from(key & 127)] == Some(index))
    }

    /// Releases the keys that `wanted` does not hold, and calls `release` for each.
    pub(super) fn keep(&mut self, wanted: &Self, mut release: impl FnMut(u8)) {
        for (key, (note_on, wanted)) in (0..).zip(self.note_on.iter_mut().zip(&wanted.note_on)) {
            if note_on.is_some() && wanted.is_none() {
                release(key);
            }
            // A key that both hold gets the index among the new events.
            *note_on = note_on.and(*wanted);
        }
    }
}
