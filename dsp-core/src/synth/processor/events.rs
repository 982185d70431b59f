//! Applies events: notes, controllers, pedals and program changes.

use super::super::bank_select::DRUM_BANK;
use super::super::controllers;
use super::state::SynthProcessor;
use crate::session::Event;

/// Cost of an event, in the unit of [`SynthProcessor::steps`].
const EVENT_STEPS: u64 = 4;

impl SynthProcessor {
    /// Applies an event at the next frame that is rendered.
    pub(crate) fn apply(&mut self, event: Event) {
        self.apply_event(event, true);
    }

    /// Like [`Self::apply`], but if `starts_voices` is false, a note that starts gets no voices.
    /// The note still releases the notes that it replaces.
    pub(crate) fn apply_event(&mut self, event: Event, starts_voices: bool) {
        self.steps += EVENT_STEPS;
        match event {
            Event::NoteOn { key, velocity: 0 } => self.note_off(key & 127, starts_voices),
            Event::NoteOn { key, velocity } => self.note_on(key & 127, velocity.min(127), starts_voices),
            Event::NoteOff { key } => self.note_off(key & 127, starts_voices),
            Event::Controller { controller, value } => self.apply_controller(controller & 127, value & 127),
            Event::PitchBend { .. } | Event::ChannelPressure { .. } | Event::KeyPressure { .. } => {
                self.update_channel(event);
                self.has_new_controllers = true;
            }
            Event::Preset { .. } | Event::Program { .. } => self.update_channel(event),
        }
        self.request_control_point();
    }

    /// Makes the next frame a control point of all voices.
    pub(super) fn request_control_point(&mut self) {
        self.frames_to_control_point = 0;
        self.has_new_events = true;
    }

    /// Applies an event to the channel, but not to the voices.
    pub(super) fn update_channel(&mut self, event: Event) {
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.channel.release_key(key),
            Event::NoteOn { key, velocity } => {
                self.channel.press_key(key, velocity);
                self.channel.take_portamento_key(None);
                self.last_key = Some(key & 127);
            }
            Event::Controller { controller, value } => self.channel.set_controller(controller, value),
            Event::PitchBend { value } => self.channel.pitch_bend = value.clamp(-8_192, 8_191),
            Event::ChannelPressure { value } => self.channel.pressure = value & 127,
            Event::KeyPressure { key, value } => self.channel.set_key_pressure(key, value),
            Event::Preset { bank, program } => {
                self.is_drum_track = bank >= DRUM_BANK;
                self.select_preset(bank, program & 127);
            }
            Event::Program { program } => {
                let selected_bank = self.channel.take_selected_bank(self.is_drum_track);
                self.select_preset(selected_bank.unwrap_or(self.bank_number), program & 127);
            }
        }
    }

    fn apply_controller(&mut self, number: u8, value: u8) {
        use controllers::*;
        let sostenuto_was_on = self.channel.is_on(SOSTENUTO);
        self.channel.set_controller(number, value);
        self.has_new_controllers = true;
        match number {
            SUSTAIN => self.release_voices_not_held(),
            SOSTENUTO => {
                let is_on = self.channel.is_on(SOSTENUTO);
                if is_on != sostenuto_was_on {
                    self.voices
                        .iter_mut()
                        .for_each(|voice| voice.is_held_by_sostenuto = is_on && voice.is_key_down);
                    self.release_voices_not_held();
                }
            }
            ALL_SOUND_OFF => self.fade_out_where(|_| true),
            RESET_ALL => {
                self.voices.iter_mut().for_each(|voice| voice.is_held_by_sostenuto = false);
                self.release_voices_not_held();
            }
            ALL_NOTES_OFF | OMNI_OFF | OMNI_ON | MONO | POLY => {
                self.voices.iter_mut().for_each(|voice| voice.is_key_down = false);
                self.release_voices_not_held();
            }
            _ => {}
        }
    }

    /// Releases all notes, even those that pedals hold.
    pub(crate) fn release_all(&mut self) {
        self.lift_pedals();
        self.apply(Event::Controller { controller: controllers::ALL_NOTES_OFF, value: 0 });
    }

    /// Releases the sustain and sostenuto pedals.
    pub(crate) fn lift_pedals(&mut self) {
        for pedal in [controllers::SUSTAIN, controllers::SOSTENUTO] {
            self.apply(Event::Controller { controller: pedal, value: 0 });
        }
    }
}
