//! The frames at which the notes of a track are released.

use alloc::vec::Vec;

use super::held_keys::{ALL_NOTES_OFF, ALL_SOUND_OFF, MONO_ON, POLY_ON};
use crate::session::{Event, TrackEvent};

const SUSTAIN_CONTROLLER: u8 = 64;
const SOSTENUTO_CONTROLLER: u8 = 66;
const RESET_ALL_CONTROLLERS: u8 = 121;

/// Lowest controller value at which a pedal is down (MIDI 1.0).
const PEDAL_DOWN: u8 = 64;

/// Note end of a note that is never released.
const NEVER_FRAME: u64 = u64::MAX - 1;

/// Note end of an event that starts no note.
const NO_NOTE: u64 = u64::MAX;

/// For each event, the frame from which neither the key nor a pedal holds the event's note.
#[derive(Debug, Clone, Default)]
pub(super) struct NoteEnds(Vec<u64>);

impl NoteEnds {
    /// Computes the note ends of a track's events, which must be sorted by frame.
    pub(super) fn from_events(events: &[TrackEvent]) -> Self {
        let mut notes = Notes { ends: Vec::with_capacity(events.len()), ..Notes::default() };
        events.iter().for_each(|event| notes.apply(*event));
        Self(notes.ends)
    }

    /// Returns the note end of the event at an index, or `None` if the event starts no note.
    pub(super) fn get(&self, index: usize) -> Option<u64> {
        self.0.get(index).copied().filter(|end| *end != NO_NOTE)
    }
}

/// A note that has not been released.
#[derive(Debug, Clone, Copy)]
struct Note {
    /// Index of the note-on event that started the note.
    note_on_index: usize,
    key: u8,
    is_key_down: bool,
    /// Whether the sostenuto pedal holds the note.
    is_held_by_sostenuto: bool,
}

/// The state of notes, keys and pedals after a number of events.
#[derive(Debug, Default)]
struct Notes {
    ends: Vec<u64>,
    sounding_notes: Vec<Note>,
    /// Keys that are held, in the order of their note-on events.
    keys_down: Vec<u8>,
    is_sustain_down: bool,
    is_sostenuto_down: bool,
    is_mono: bool,
}

impl Notes {
    fn apply(&mut self, TrackEvent { frame, event }: TrackEvent) {
        self.ends.push(NO_NOTE);
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.release_key(key & 127, frame),
            Event::NoteOn { key, .. } => {
                self.keys_down.retain(|down| *down != key & 127);
                self.keys_down.push(key & 127);
                self.start_note(key & 127, frame);
            }
            Event::Controller { controller, value } => self.apply_control(controller & 127, value, frame),
            _ => {}
        }
    }

    /// Starts a note. The note ends an earlier note of its key, or in mono mode all earlier notes,
    /// even if a pedal holds them.
    fn start_note(&mut self, key: u8, frame: u64) {
        let note_on_index = self.ends.len() - 1;
        self.ends[note_on_index] = NEVER_FRAME;
        let mono = self.is_mono;
        self.end_where(frame, |note| mono || note.key == key);
        self.sounding_notes.push(Note { note_on_index, key, is_key_down: true, is_held_by_sostenuto: false });
    }

    fn release_key(&mut self, key: u8, frame: u64) {
        let was_last = self.keys_down.last() == Some(&key);
        self.keys_down.retain(|down| *down != key);
        // In mono mode, the previously pressed key sounds again.
        if let (true, true, Some(held)) = (self.is_mono, was_last, self.keys_down.last()) {
            return self.start_note(*held, frame);
        }
        self.sounding_notes
            .iter_mut()
            .filter(|note| note.key == key)
            .for_each(|note| note.is_key_down = false);
        self.end_released_notes(frame);
    }

    fn apply_control(&mut self, controller: u8, value: u8, frame: u64) {
        match controller {
            SUSTAIN_CONTROLLER => self.is_sustain_down = value >= PEDAL_DOWN,
            SOSTENUTO_CONTROLLER => self.press_sostenuto(value >= PEDAL_DOWN),
            RESET_ALL_CONTROLLERS => {
                self.is_sustain_down = false;
                self.press_sostenuto(false);
            }
            ALL_SOUND_OFF => {
                self.keys_down.clear();
                return self.end_where(frame, |_| true);
            }
            ALL_NOTES_OFF..=POLY_ON => {
                self.is_mono = controller == MONO_ON || self.is_mono && controller != POLY_ON;
                self.keys_down.clear();
                self.sounding_notes.iter_mut().for_each(|note| note.is_key_down = false);
            }
            _ => return,
        }
        self.end_released_notes(frame);
    }

    fn press_sostenuto(&mut self, is_down: bool) {
        if is_down != self.is_sostenuto_down {
            self.is_sostenuto_down = is_down;
            self.sounding_notes
                .iter_mut()
                .for_each(|note| note.is_held_by_sostenuto = is_down && note.is_key_down);
        }
    }

    /// Ends the notes that neither a key nor a pedal holds any longer.
    fn end_released_notes(&mut self, frame: u64) {
        if !self.is_sustain_down {
            self.end_where(frame, |note| !note.is_key_down && !note.is_held_by_sostenuto);
        }
    }

    fn end_where(&mut self, frame: u64, ends: impl Fn(&Note) -> bool) {
        for note in self.sounding_notes.extract_if(.., |note| ends(note)) {
            self.ends[note.note_on_index] = frame;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn on(frame: u64, key: u8) -> TrackEvent {
        TrackEvent { frame, event: Event::NoteOn { key, velocity: 100 } }
    }

    const fn off(frame: u64, key: u8) -> TrackEvent {
        TrackEvent { frame, event: Event::NoteOff { key } }
    }

    const fn control(frame: u64, controller: u8, value: u8) -> TrackEvent {
        TrackEvent { frame, event: Event::Controller { controller, value } }
    }

    #[track_caller]
    fn check(events: &[TrackEvent], ends: &[u64]) {
        assert_eq!(NoteEnds::from_events(events).0, ends);
    }

    #[test]
    fn a_note_ends_with_its_key_or_at_the_next_note_of_the_key() {
        check(&[on(1, 60), on(2, 64), off(5, 60), on(6, 64)], &[5, 6, NO_NOTE, NEVER_FRAME]);
        let silent = TrackEvent { frame: 4, event: Event::NoteOn { key: 60, velocity: 0 } };
        check(&[on(1, 60), silent], &[4, NO_NOTE]);
    }

    #[test]
    fn pedals_hold_notes_after_their_keys_are_released() {
        let sustained = [on(1, 60), control(2, SUSTAIN_CONTROLLER, 64), off(3, 60), on(4, 62), off(5, 62)];
        check(
            &[&sustained[..], &[control(9, SUSTAIN_CONTROLLER, 63)]].concat(),
            &[9, NO_NOTE, NO_NOTE, 9, NO_NOTE, NO_NOTE],
        );
        check(
            &[&sustained[..], &[control(9, RESET_ALL_CONTROLLERS, 0)]].concat(),
            &[9, NO_NOTE, NO_NOTE, 9, NO_NOTE, NO_NOTE],
        );
        check(
            &[&sustained[..], &[on(8, 60)]].concat(),
            &[8, NO_NOTE, NO_NOTE, NEVER_FRAME, NO_NOTE, NEVER_FRAME],
        );
        // The sostenuto pedal holds the notes whose keys are down when the pedal is pressed.
        let pressed = [on(1, 60), control(2, SOSTENUTO_CONTROLLER, 127), on(3, 62), off(4, 60), off(5, 62)];
        check(
            &[&pressed[..], &[control(9, SOSTENUTO_CONTROLLER, 0)]].concat(),
            &[9, NO_NOTE, 5, NO_NOTE, NO_NOTE, NO_NOTE],
        );
    }

    #[test]
    fn mode_messages_release_all_keys_and_all_sound_off_also_ends_notes_that_pedals_hold() {
        for mode in [ALL_NOTES_OFF, 124, 125, MONO_ON, POLY_ON] {
            check(&[on(1, 60), control(5, mode, 0)], &[5, NO_NOTE]);
            let pedal = control(0, SUSTAIN_CONTROLLER, 127);
            check(
                &[pedal, on(1, 60), control(5, mode, 0), control(7, SUSTAIN_CONTROLLER, 0)],
                &[NO_NOTE, 7, NO_NOTE, NO_NOTE],
            );
        }
        let pedal = control(0, SUSTAIN_CONTROLLER, 127);
        check(&[pedal, on(1, 60), control(5, ALL_SOUND_OFF, 0)], &[NO_NOTE, 5, NO_NOTE]);
    }

    #[test]
    fn in_mono_mode_the_release_of_a_key_returns_to_the_key_before() {
        let mono = control(0, MONO_ON, 1);
        check(&[mono, on(1, 60), on(3, 64), off(5, 64), off(8, 60)], &[NO_NOTE, 3, 5, 8, NO_NOTE]);
        check(&[mono, on(1, 60), on(3, 64), off(5, 60), off(8, 64)], &[NO_NOTE, 3, 8, NO_NOTE, NO_NOTE]);
    }
}
