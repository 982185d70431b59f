//! The voices of one track.

use super::EVENT_GRID_FRAMES;
use crate::session::{Event, Instrument};
use crate::soundfont::Bank;

/// Bank number from which on a SoundFont holds drum kits (SF2.04, section 7.2).
const DRUM_BANK: u16 = 128;

const MELODIC_CHANNEL: i32 = 0;
const DRUM_CHANNEL: i32 = rustysynth::Synthesizer::PERCUSSION_CHANNEL as i32;

/// Why a synthesizer could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no synthesizer at {sample_rate_hz} Hz with {polyphony} voices: {reason}")]
pub struct SynthError {
    sample_rate_hz: u32,
    polyphony: u16,
    reason: String,
}

/// Plays the notes and controls of one track on one bank.
pub(crate) struct SynthProcessor {
    synthesizer: rustysynth::Synthesizer,
    instrument: Instrument,
    channel: i32,
}

impl SynthProcessor {
    pub(crate) fn new(
        bank: &Bank,
        instrument: Instrument,
        sample_rate_hz: u32,
        polyphony: u16,
    ) -> Result<Self, SynthError> {
        let mut settings = rustysynth::SynthesizerSettings::new(sample_rate_hz as i32);
        settings.block_size = EVENT_GRID_FRAMES as usize;
        settings.maximum_polyphony = usize::from(polyphony);
        settings.enable_reverb_and_chorus = false;
        let synthesizer = rustysynth::Synthesizer::new(bank.font(), &settings)
            .map_err(|error| SynthError { sample_rate_hz, polyphony, reason: error.to_string() })?;
        let channel = if instrument.bank >= DRUM_BANK { DRUM_CHANNEL } else { MELODIC_CHANNEL };
        let mut synth = Self { synthesizer, instrument, channel };
        synth.select_instrument();
        Ok(synth)
    }

    /// Silence, every controller at its default, the track's own instrument.
    pub(crate) fn reset(&mut self) {
        self.synthesizer.reset();
        self.select_instrument();
    }

    fn select_instrument(&mut self) {
        let Instrument { bank, program, .. } = self.instrument;
        self.select(bank, program);
    }

    fn select(&mut self, bank: u16, program: u8) {
        // The drum channel counts its banks from 128 by itself.
        let offset = if self.channel == DRUM_CHANNEL { DRUM_BANK } else { 0 };
        self.send(0xb0, 0, i32::from(bank) - i32::from(offset));
        self.send(0xc0, i32::from(program), 0);
    }

    pub(crate) fn apply(&mut self, event: Event) {
        match event {
            Event::NoteOn { key, velocity } => self.send(0x90, i32::from(key), i32::from(velocity)),
            Event::NoteOff { key } => self.send(0x80, i32::from(key), 0),
            Event::Controller { controller, value } => {
                self.send(0xb0, i32::from(controller), i32::from(value));
            }
            Event::PitchBend { value } => {
                let bits = i32::from(value) + 8_192;
                self.send(0xe0, bits & 0x7f, bits >> 7);
            }
            Event::ChannelPressure { value } => self.send(0xd0, i32::from(value), 0),
            Event::KeyPressure { key, value } => self.send(0xa0, i32::from(key), i32::from(value)),
            Event::Preset { bank, program } => self.select(bank, program),
            Event::Program { program } => self.send(0xc0, i32::from(program), 0),
        }
    }

    fn send(&mut self, command: i32, data1: i32, data2: i32) {
        self.synthesizer.process_midi_message(self.channel, command, data1, data2);
    }

    /// Ends every note with its release.
    pub(crate) fn release_all(&mut self) {
        const SUSTAIN_PEDAL: i32 = 64;
        self.send(0xb0, SUSTAIN_PEDAL, 0);
        self.synthesizer.note_off_all(false);
    }

    /// Ends every note at once, without its release.
    pub(crate) fn cut_all(&mut self) {
        self.synthesizer.note_off_all(true);
    }

    pub(crate) fn render(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.synthesizer.render(left, right);
    }
}
