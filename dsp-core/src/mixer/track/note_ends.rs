//! The frames at which the notes of a track are released.

use alloc::vec::Vec;

use super::held_keys::{ALL_NOTES_OFF, ALL_SOUND_OFF, MONO, POLY};
use crate::session::{Event, TrackEvent};

const SUSTAIN: u8 = 64;
const SOSTENUTO: u8 = 66;
const RESET_ALL: u8 = 121;

/// A pedal is down at this value and above (MIDI 1.0).
const DOWN: u8 = 64;

/// The end of a note that is never released.
const NEVER: u64 = u64::MAX - 1;

/// For events that strike no note.
const NONE: u64 = u64::MAX;

/// For each event, the frame at which both its key and the pedals release its note.
#[derive(Debug, Clone, Default)]
pub(super) struct NoteEnds(Vec<u64>);

impl NoteEnds {
    /// The note ends of a track's events, which must be sorted by frame.
    pub(super) fn of(events: &[TrackEvent]) -> Self {
        let mut notes = Notes { ends: Vec::with_capacity(events.len()), ..Notes::default() };
        events.iter().for_each(|event| notes.apply(*event));
        Self(notes.ends)
    }

    /// The note end of the event at an index, if that strikes a note.
    pub(super) fn get(&self, index: usize) -> Option<u64> {
        self.0.get(index).copied().filter(|end| *end != NONE)
    }
}

/// A note that has not been released.
#[derive(Debug, Clone, Copy)]
struct Note {
    /// Index of its note-on event.
    note_on: usize,
    key: u8,
    key_down: bool,
    /// Whether the sostenuto pedal holds it.
    sostenuto: bool,
}

/// The state of keys and pedals after some events.
#[derive(Debug, Default)]
struct Notes {
    ends: Vec<u64>,
    sounding: Vec<Note>,
    /// Keys that are held, in the order of their note-ons.
    down: Vec<u8>,
    sustain: bool,
    sostenuto: bool,
    mono: bool,
}

impl Notes {
    fn apply(&mut self, TrackEvent { frame, event }: TrackEvent) {
        self.ends.push(NONE);
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.lift(key & 127, frame),
            Event::NoteOn { key, .. } => {
                self.down.retain(|down| *down != key & 127);
                self.down.push(key & 127);
                self.start_note(key & 127, frame);
            }
            Event::Controller { controller, value } => self.control(controller & 127, value, frame),
            _ => {}
        }
    }

    /// Starts a note. It ends an earlier note of its key, in mono mode any note, whatever the
    /// pedals.
    fn start_note(&mut self, key: u8, frame: u64) {
        let note_on = self.ends.len() - 1;
        self.ends[note_on] = NEVER;
        let mono = self.mono;
        self.end_where(frame, |note| mono || note.key == key);
        self.sounding.push(Note { note_on, key, key_down: true, sostenuto: false });
    }

    fn lift(&mut self, key: u8, frame: u64) {
        let was_last = self.down.last() == Some(&key);
        self.down.retain(|down| *down != key);
        // In mono mode the key pressed before this one sounds again.
        if let (true, true, Some(held)) = (self.mono, was_last, self.down.last()) {
            return self.start_note(*held, frame);
        }
        self.sounding.iter_mut().filter(|note| note.key == key).for_each(|note| note.key_down = false);
        self.release_free(frame);
    }

    fn control(&mut self, controller: u8, value: u8, frame: u64) {
        match controller {
            SUSTAIN => self.sustain = value >= DOWN,
            SOSTENUTO => self.press_sostenuto(value >= DOWN),
            RESET_ALL => {
                self.sustain = false;
                self.press_sostenuto(false);
            }
            ALL_SOUND_OFF => {
                self.down.clear();
                return self.end_where(frame, |_| true);
            }
            ALL_NOTES_OFF..=POLY => {
                self.mono = controller == MONO || self.mono && controller != POLY;
                self.down.clear();
                self.sounding.iter_mut().for_each(|note| note.key_down = false);
            }
            _ => return,
        }
        self.release_free(frame);
    }

    fn press_sostenuto(&mut self, is_down: bool) {
        if is_down != self.sostenuto {
            self.sostenuto = is_down;
            self.sounding.iter_mut().for_each(|note| note.sostenuto = is_down && note.key_down);
        }
    }

    /// Ends the notes that neither a key nor a pedal holds.
    fn release_free(&mut self, frame: u64) {
        if !self.sustain {
            self.end_where(frame, |note| !note.key_down && !note.sostenuto);
        }
    }

    fn end_where(&mut self, frame: u64, ends: impl Fn(&Note) -> bool) {
        for note in self.sounding.extract_if(.., |note| ends(note)) {
            self.ends[note.note_on] = frame;
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
        assert_eq!(NoteEnds::of(events).0, ends);
    }

    #[test]
    fn a_note_ends_with_its_key_or_at_the_next_note_of_the_key() {
        check(&[on(1, 60), on(2, 64), off(5, 60), on(6, 64)], &[5, 6, NONE, NEVER]);
        let silent = TrackEvent { frame: 4, event: Event::NoteOn { key: 60, velocity: 0 } };
        check(&[on(1, 60), silent], &[4, NONE]);
    }

    #[test]
    fn pedals_hold_notes() {
        let sustained = [on(1, 60), control(2, SUSTAIN, 64), off(3, 60), on(4, 62), off(5, 62)];
        check(&[&sustained[..], &[control(9, SUSTAIN, 63)]].concat(), &[9, NONE, NONE, 9, NONE, NONE]);
        check(&[&sustained[..], &[control(9, RESET_ALL, 0)]].concat(), &[9, NONE, NONE, 9, NONE, NONE]);
        check(&[&sustained[..], &[on(8, 60)]].concat(), &[8, NONE, NONE, NEVER, NONE, NEVER]);
        // Sostenuto holds the notes whose keys were down as it was pressed.
        let pressed = [on(1, 60), control(2, SOSTENUTO, 127), on(3, 62), off(4, 60), off(5, 62)];
        check(&[&pressed[..], &[control(9, SOSTENUTO, 0)]].concat(), &[9, NONE, 5, NONE, NONE, NONE]);
    }

    #[test]
    fn mode_messages_end_notes_and_all_sound_off_also_those_of_pedals() {
        for mode in [ALL_NOTES_OFF, 124, 125, MONO, POLY] {
            check(&[on(1, 60), control(5, mode, 0)], &[5, NONE]);
            let pedal = control(0, SUSTAIN, 127);
            check(&[pedal, on(1, 60), control(5, mode, 0), control(7, SUSTAIN, 0)], &[NONE, 7, NONE, NONE]);
        }
        let pedal = control(0, SUSTAIN, 127);
        check(&[pedal, on(1, 60), control(5, ALL_SOUND_OFF, 0)], &[NONE, 5, NONE]);
    }

    #[test]
    fn in_mono_mode_a_released_key_returns_to_the_one_before() {
        let mono = control(0, MONO, 1);
        check(&[mono, on(1, 60), on(3, 64), off(5, 64), off(8, 60)], &[NONE, 3, 5, 8, NONE]);
        check(&[mono, on(1, 60), on(3, 64), off(5, 60), off(8, 64)], &[NONE, 3, 8, NONE, NONE]);
    }
}
