//! Restores the state of the synthesizer after past events.

use super::super::controllers;
use super::super::portamento::Portamento;
use super::state::SynthProcessor;
use crate::session::Event;

/// Number of MIDI keys.
const KEY_COUNT: usize = 128;

/// A past note whose key is still down.
#[derive(Clone, Copy)]
struct HeldNote {
    key: u8,
    velocity: u8,
    /// The preset that was selected when the note started; `None` if the bank had no such preset.
    preset: Option<usize>,
    /// Whether the sostenuto pedal went down after the note started.
    is_held_by_sostenuto: bool,
}

impl SynthProcessor {
    /// Sets controllers, program and portamento to the state after a reset and the `past` events.
    ///
    /// Active voices follow the resulting controllers, but not the single `past` events. Voices
    /// that neither a key nor a pedal holds are then released. The note-on events whose flag is
    /// true, at most 128, start again in their order, with their presets and without portamento.
    pub(crate) fn restore(&mut self, past: impl Iterator<Item = (Event, bool)>) {
        let was_on = self.channel.is_on(controllers::SOSTENUTO);
        self.reset_channel();
        let mut held = [None; KEY_COUNT];
        let mut count = 0;
        for (event, starts_again) in past {
            let sostenuto_was_on = self.channel.is_on(controllers::SOSTENUTO);
            self.update_channel(event);
            let is_on = self.channel.is_on(controllers::SOSTENUTO);
            if is_on != sostenuto_was_on {
                let notes = held[..count].iter_mut().flatten();
                notes.for_each(|note: &mut HeldNote| note.is_held_by_sostenuto = is_on);
            }
            if let Event::NoteOn { key, velocity } = event
                && starts_again
                && count < KEY_COUNT
            {
                let (key, velocity, preset) = (key & 127, velocity.min(127), self.preset);
                held[count] = Some(HeldNote { key, velocity, preset, is_held_by_sostenuto: false });
                count += 1;
            }
        }
        self.update_active_voices(was_on);
        for note in held.into_iter().flatten() {
            self.release_replaced(note.key);
            let Some(preset) = note.preset else { continue };
            self.start_voices(note.key, note.velocity, preset, Portamento::NONE);
            let note_id = self.note_id;
            let voices = self.voices.iter_mut().filter(|voice| voice.note_id == note_id);
            voices.for_each(|voice| voice.is_held_by_sostenuto = note.is_held_by_sostenuto);
        }
        self.request_control_point();
    }

    /// Applies the restored pedals and controllers to active voices.
    fn update_active_voices(&mut self, sostenuto_was_on: bool) {
        let is_on = self.channel.is_on(controllers::SOSTENUTO);
        for voice in self.voices.iter_mut() {
            match (sostenuto_was_on, is_on) {
                (_, false) => voice.is_held_by_sostenuto = false,
                (false, true) => voice.is_held_by_sostenuto = voice.is_key_down,
                (true, true) => {}
            }
        }
        self.has_new_controllers = !self.voices.is_empty();
        self.release_voices_not_held();
    }
}
