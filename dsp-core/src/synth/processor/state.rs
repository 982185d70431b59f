//! The data of a synthesizer. Creates and resets it.

use super::super::bank_select::DRUM_BANK;
use super::super::channel::Channel;
use super::super::config::{SynthConfig, SynthError};
use super::super::control_grid::ControlGrid;
use super::super::interpolation::Kernel;
use super::super::voice::VoiceContext;
use super::super::voice_pool::VoicePool;
use crate::session::{Instrument, VelocityToCutoff};
use crate::soundfont::Bank;

/// Plays the notes and controllers of one track on one bank.
pub(crate) struct SynthProcessor {
    pub(super) bank: Bank,
    instrument: Instrument,
    pub(super) sample_rate_hz: f32,
    pub(super) velocity_to_cutoff: VelocityToCutoff,
    pub(super) grid: ControlGrid,
    pub(super) kernel: Kernel,
    pub(super) channel: Channel,
    /// The selected bank number.
    pub(super) bank_number: u16,
    /// Index of the selected preset in the bank; `None` if the bank has no such preset.
    pub(super) preset: Option<usize>,
    /// Whether the instrument of the track is a drum kit. Program changes do not change this.
    pub(super) is_drum_track: bool,
    pub(super) voices: VoicePool,
    /// Frames since the last reset, plus the `clock` of that reset.
    pub(super) clock: u64,
    /// Number of frames to the next control point of any voice.
    pub(super) frames_to_control_point: u32,
    /// Whether events arrived since the last control point.
    pub(super) has_new_events: bool,
    /// Whether controllers changed since the voices last updated their parameters.
    pub(super) has_new_controllers: bool,
    /// Number of notes since the last reset.
    pub(super) note_id: u64,
    /// The key of the last note.
    pub(super) last_key: Option<u8>,
    /// See [`Self::steps`].
    pub(super) steps: u64,
}

impl SynthProcessor {
    /// Returns the memory of a synthesizer with `polyphony` voices in bytes.
    pub(crate) fn memory_bytes(polyphony: u16) -> u64 {
        VoicePool::memory_bytes(polyphony.into()) + size_of::<Self>() as u64
    }

    /// Creates a silent synthesizer that plays an instrument of a bank.
    ///
    /// # Errors
    ///
    /// [`SynthError`] for a sample rate outside 16 to 192 kHz or a polyphony outside 8 to 256.
    pub(crate) fn new(bank: &Bank, instrument: Instrument, config: SynthConfig) -> Result<Self, SynthError> {
        config.validate()?;
        let SynthConfig { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff } = config;
        let mut synth = Self {
            bank: bank.clone(),
            instrument,
            sample_rate_hz: sample_rate_hz as f32,
            velocity_to_cutoff,
            grid: ControlGrid::new(sample_rate_hz),
            kernel: Kernel::new(interpolation),
            channel: Channel::new(),
            bank_number: 0,
            preset: None,
            is_drum_track: false,
            voices: VoicePool::new(usize::from(polyphony)),
            clock: 0,
            frames_to_control_point: 0,
            has_new_events: false,
            has_new_controllers: false,
            note_id: 0,
            last_key: None,
            steps: 0,
        };
        synth.reset(0);
        Ok(synth)
    }

    /// Ends all voices immediately, resets all controllers and selects the instrument of the track.
    /// The control points are those of a synthesizer that has run for `clock` frames.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.voices.clear();
        self.clock = clock;
        self.frames_to_control_point = 0;
        self.has_new_events = false;
        self.has_new_controllers = false;
        self.note_id = 0;
        self.steps = 0;
        self.reset_channel();
    }

    /// Resets all controllers and selects the instrument of the track.
    pub(super) fn reset_channel(&mut self) {
        self.channel = Channel::new();
        self.last_key = None;
        let Instrument { bank, program, .. } = self.instrument;
        self.is_drum_track = bank >= DRUM_BANK;
        self.select_preset(bank, program);
    }

    pub(super) fn select_preset(&mut self, bank_number: u16, program: u8) {
        self.bank_number = bank_number;
        self.preset = self.bank.resolve(bank_number, program);
    }

    /// Returns the computation cost since the last reset in steps. A control point of a voice is
    /// one step. The cost of other work is an estimate in this unit.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of voices that are computed.
    pub(crate) fn active_voices(&self) -> usize {
        self.voices.iter().count()
    }

    pub(super) fn voice_context(&self) -> VoiceContext<'_> {
        let Self { bank, channel, sample_rate_hz, velocity_to_cutoff, grid, clock, .. } = self;
        VoiceContext {
            bank,
            channel,
            sample_rate_hz: *sample_rate_hz,
            velocity_to_cutoff: *velocity_to_cutoff,
            grid: *grid,
            clock: *clock,
        }
    }

    /// Advances the state of all voices to the clock.
    pub(super) fn advance_voices(&mut self) {
        let clock = self.clock;
        self.voices.iter_mut().for_each(|voice| voice.advance_to(clock));
    }
}
