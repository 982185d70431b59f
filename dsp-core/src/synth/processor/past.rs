//! Going on as if events of the past had been played.

use super::super::channel::controller;
use super::super::voice::Glide;
use super::SynthProcessor;
use crate::session::Event;

/// Keys that can be down at a time.
const KEYS: usize = 128;

/// A note of the past whose key is still down.
#[derive(Clone, Copy)]
struct HeldNote {
    key: u8,
    velocity: u8,
    /// The preset that was chosen when it was struck.
    preset: Option<usize>,
    /// Whether the sostenuto pedal went down after it.
    sostenuto: bool,
}

impl SynthProcessor {
    /// Brings controllers, program and the memory for glides to where these events bring a
    /// synthesizer that was reset, whatever they were before.
    ///
    /// Nothing that the events did to voices on their way is done to the voices that sound now:
    /// these follow the outcome, and those end that neither a key nor a pedal holds then. Notes
    /// that come with `true`, at most 128, are struck again at the end: in their order, each by the
    /// preset that it was played by, without a glide.
    pub(crate) fn restore(&mut self, past: impl Iterator<Item = (Event, bool)>) {
        let was_on = self.channel.is_on(controller::SOSTENUTO);
        self.reset_channel();
        let mut held = [None; KEYS];
        let mut count = 0;
        for (event, is_struck_again) in past {
            let sostenuto_was_on = self.channel.is_on(controller::SOSTENUTO);
            self.note_down(event);
            let sostenuto = self.channel.is_on(controller::SOSTENUTO);
            if sostenuto != sostenuto_was_on {
                held[..count].iter_mut().flatten().for_each(|note: &mut HeldNote| note.sostenuto = sostenuto);
            }
            if let Event::NoteOn { key, velocity } = event
                && is_struck_again
                && count < KEYS
            {
                let (key, velocity, preset) = (key & 127, velocity.min(127), self.preset);
                held[count] = Some(HeldNote { key, velocity, preset, sostenuto: false });
                count += 1;
            }
        }
        self.follow_restored(was_on);
        for note in held.into_iter().flatten() {
            self.make_way(note.key);
            let Some(preset) = note.preset else { continue };
            self.strike(note.key, note.velocity, preset, Glide::NONE);
            let serial = self.serial;
            let voices = self.voices.iter_mut().filter(|voice| voice.serial == serial);
            voices.for_each(|voice| voice.sostenuto = note.sostenuto);
        }
        self.interrupt();
    }

    /// Lets the voices that sound follow a channel that has been restored.
    fn follow_restored(&mut self, sostenuto_was_on: bool) {
        match (sostenuto_was_on, self.channel.is_on(controller::SOSTENUTO)) {
            (_, false) => self.voices.iter_mut().for_each(|voice| voice.sostenuto = false),
            (false, true) => self.voices.iter_mut().for_each(|voice| voice.sostenuto = voice.key_down),
            (true, true) => {}
        }
        self.stale = !self.voices.is_empty();
        self.let_go();
    }
}
