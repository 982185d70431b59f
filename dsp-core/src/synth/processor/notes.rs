//! Starts, releases and ends notes.

use super::super::controllers;
use super::super::note_start::{self, NoteStart};
use super::super::portamento::Portamento;
use super::super::voice::{Voice, VoiceContext};
use super::state::SynthProcessor;

/// Maximum number of instrument zones that a note plays.
const NOTE_ZONES_MAX: usize = 32;

/// Cost of a voice that starts, in the unit of [`SynthProcessor::steps`].
const START_STEPS: u64 = 8;

impl SynthProcessor {
    pub(super) fn note_on(&mut self, key: u8, velocity: u8, starts_voices: bool) {
        self.channel.press_key(key, velocity);
        self.start_note(key, velocity, starts_voices);
    }

    pub(super) fn note_off(&mut self, key: u8, starts_voices: bool) {
        let last = self.channel.last_held_key();
        self.channel.release_key(key);
        // In mono mode, the last pressed of the keys that are still down plays again.
        if self.channel.is_mono
            && last.is_some_and(|(last, _)| last == key)
            && let Some((previous_key, velocity)) = self.channel.last_held_key()
        {
            self.start_note(previous_key, velocity, starts_voices);
            return;
        }
        self.voices.iter_mut().filter(|voice| voice.key == key).for_each(|voice| voice.is_key_down = false);
        self.release_voices_not_held();
    }

    /// Starts a note with the selected preset.
    fn start_note(&mut self, key: u8, velocity: u8, starts_voices: bool) {
        let portamento = match self.channel.take_portamento_key(self.last_key) {
            Some(from_key) => Portamento::between(&self.channel, from_key, key, self.sample_rate_hz),
            None => Portamento::NONE,
        };
        self.last_key = Some(key);
        self.release_replaced(key);
        match self.preset {
            Some(preset) if starts_voices => self.start_voices(key, velocity, preset, portamento),
            Some(preset) => self.fade_out_exclusive_classes(key, velocity, preset),
            None => {}
        }
    }

    /// Releases the notes that a new note of a key replaces: earlier notes of the key, or all notes
    /// in mono mode. Assigns the next note id.
    pub(super) fn release_replaced(&mut self, key: u8) {
        self.advance_voices();
        self.note_id += 1;
        let is_mono = self.channel.is_mono;
        for voice in self.voices.iter_mut().filter(|voice| is_mono || voice.key == key) {
            voice.is_key_down = false;
            voice.is_held_by_sostenuto = false;
            voice.release();
        }
    }

    /// Starts the voices of a note. The caller must call [`Self::release_replaced`] before.
    pub(super) fn start_voices(&mut self, key: u8, velocity: u8, preset: usize, portamento: Portamento) {
        let bank = self.bank.clone();
        let max_zones = NOTE_ZONES_MAX.min(self.voices.polyphony());
        let zones = || note_start::matching_zones(&bank, preset, key, velocity).take(max_zones);
        self.voices.steal_voices(zones().count(), self.clock, self.sample_rate_hz);
        let start = NoteStart { note_id: self.note_id, key, velocity, portamento };
        for zone in zones() {
            let Some(voice) = note_start::start_voice(self.voice_context(), zone, start) else { continue };
            self.fade_out_exclusive_class(voice.exclusive_class, voice.preset());
            self.voices.insert(voice);
            self.steps += START_STEPS;
        }
        let context = VoiceContext {
            bank: &bank,
            channel: &self.channel,
            sample_rate_hz: self.sample_rate_hz,
            velocity_to_cutoff: self.velocity_to_cutoff,
            grid: self.grid,
            clock: self.clock,
        };
        self.voices.link_stereo_pairs(self.note_id, context);
    }

    /// Fades out earlier notes of a preset that belong to an exclusive class (section 8.1.2,
    /// generator 57).
    fn fade_out_exclusive_class(&mut self, class: i16, preset: usize) {
        let note_id = self.note_id;
        if class != 0 {
            self.fade_out_where(|voice| {
                voice.exclusive_class == class && voice.preset() == preset && voice.note_id != note_id
            });
        }
    }

    /// Fades out the notes of the exclusive classes of a note, without starting its voices.
    fn fade_out_exclusive_classes(&mut self, key: u8, velocity: u8, preset: usize) {
        let bank = self.bank.clone();
        for zone in note_start::matching_zones(&bank, preset, key, velocity).take(NOTE_ZONES_MAX) {
            self.fade_out_exclusive_class(note_start::exclusive_class(&bank, zone), preset);
        }
    }

    /// Fades out the voices for which `predicate` returns true.
    pub(super) fn fade_out_where(&mut self, mut predicate: impl FnMut(&Voice) -> bool) {
        self.advance_voices();
        let sample_rate_hz = self.sample_rate_hz;
        let voices = self.voices.iter_mut().filter(|voice| predicate(voice));
        voices.for_each(|voice| voice.fade_out(sample_rate_hz));
    }

    /// Releases the voices that neither a key nor a pedal holds.
    pub(super) fn release_voices_not_held(&mut self) {
        self.advance_voices();
        if self.channel.is_on(controllers::SUSTAIN) {
            return;
        }
        let (clock, sample_rate_hz) = (self.clock, self.sample_rate_hz);
        let voices_not_held =
            self.voices.iter_mut().filter(|voice| !voice.is_key_down && !voice.is_held_by_sostenuto);
        voices_not_held.for_each(|voice| voice.release_after_minimum(clock, sample_rate_hz));
    }

    /// Fades out all notes as fast as possible without a click. Their releases are not played.
    pub(crate) fn fade_out_all(&mut self) {
        self.fade_out_where(|_| true);
        self.request_control_point();
    }

    /// Ends all notes immediately, without a fade-out.
    pub(crate) fn cut_all(&mut self) {
        self.voices.clear();
    }
}
