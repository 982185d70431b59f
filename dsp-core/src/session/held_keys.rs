//! Which keys of a track are down.

use super::{Event, TrackEvent};

/// Controllers that end notes (MIDI 1.0): all sound off, all notes off, and the four that change
/// the mode, of which two are mono on and poly on.
pub(super) const ALL_SOUND_OFF: u8 = 120;
pub(super) const ALL_NOTES_OFF: u8 = 123;
pub(super) const MONO: u8 = 126;
pub(super) const POLY: u8 = 127;

/// The keys that a track's events hold down; those of live notes are not in here.
#[derive(Debug, Clone)]
pub(super) struct HeldKeys {
    /// Place among the track's events of the one that struck the key.
    struck_by: [Option<usize>; 128],
}

impl HeldKeys {
    pub(super) const NONE: Self = Self { struck_by: [None; 128] };

    /// What is held when these events, a track's first ones, have taken effect.
    pub(super) fn after(events: &[TrackEvent]) -> Self {
        let mut keys = Self::NONE;
        for (place, event) in events.iter().enumerate() {
            keys.take(place, event.event);
        }
        keys
    }

    /// Takes the event at a place among the track's.
    pub(super) fn take(&mut self, place: usize, event: Event) {
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.let_go(key),
            // Also in mono mode: the keys before it sound again when it is let go.
            Event::NoteOn { key, .. } => self.struck_by[usize::from(key & 127)] = Some(place),
            Event::Controller { controller: ALL_SOUND_OFF | ALL_NOTES_OFF..=POLY, .. } => self.let_all_go(),
            _ => {}
        }
    }

    fn let_go(&mut self, key: u8) {
        self.struck_by[usize::from(key & 127)] = None;
    }

    pub(super) fn let_all_go(&mut self) {
        self.struck_by = [None; 128];
    }

    /// Whether the event at a place among the track's struck a key that is still down.
    pub(super) fn is_struck_by(&self, place: usize, event: Event) -> bool {
        matches!(event, Event::NoteOn { key, .. } if self.struck_by[usize::from(key & 127)] == Some(place))
    }

    /// Lets the keys go that `wanted` does not hold, and calls `ends` with each.
    pub(super) fn keep(&mut self, wanted: &Self, mut ends: impl FnMut(u8)) {
        for (key, (own, wanted)) in (0..).zip(self.struck_by.iter_mut().zip(&wanted.struck_by)) {
            if own.is_some() && wanted.is_none() {
                ends(key);
            }
            // Where it is held by both, its place is that among the new events.
            *own = own.and(*wanted);
        }
    }
}
