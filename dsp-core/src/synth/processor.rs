//! The synthesizer of one channel.

mod past;

use super::channel::{Channel, controller};
use super::grid::Grid;
use super::interpolation::{CHUNK_FRAMES, Kernel};
use super::voice::{Glide, Surroundings, Voice};
use super::voices::Voices;
use super::{DRUM_BANK, portamento, start};
use crate::session::{Event, Instrument, Interpolation, Session, Sounding, TRACK_OUTPUTS, VelocityToCutoff};
use crate::soundfont::Bank;

/// Sample rates that can be played, in hertz.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 16_000..=192_000;

/// How many voices a synthesizer may be asked for.
const POLYPHONIES: core::ops::RangeInclusive<u16> = 8..=256;

/// Most zones that one note plays.
const NOTE_ZONES_MAX: usize = 32;

/// As how many steps it counts to take an event, to start a voice, to let one follow controllers,
/// and to let the filter of one pass a chunk.
const EVENT_STEPS: u64 = 4;
const START_STEPS: u64 = 8;
const FOLLOW_STEPS: u64 = 4;
const FILTER_STEPS: u64 = 3;

/// Why a synthesizer could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SynthError {
    /// A sample rate that cannot be played.
    #[error("instruments cannot be played at {sample_rate_hz} Hz; 16000 to 192000 can")]
    SampleRate {
        /// The rate that was asked for, in hertz.
        sample_rate_hz: u32,
    },
    /// A number of voices that cannot be had.
    #[error("instruments cannot be played with {polyphony} voices; 8 to 256 can be had")]
    Polyphony {
        /// The number that was asked for.
        polyphony: u16,
    },
}

/// What a synthesizer is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SynthConfig {
    sample_rate_hz: u32,
    polyphony: u16,
    interpolation: Interpolation,
    velocity_to_cutoff: VelocityToCutoff,
}

impl SynthConfig {
    pub(crate) fn of(session: &Session) -> Self {
        let Session { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff, .. } = *session;
        Self { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff }
    }

    /// A time in frames.
    pub(crate) fn frames(&self, secs: f32) -> u32 {
        (secs * self.sample_rate_hz as f32) as u32
    }
}

/// Plays the notes and controls of one track on one bank.
pub(crate) struct SynthProcessor {
    bank: Bank,
    instrument: Instrument,
    sample_rate_hz: f32,
    velocity_to_cutoff: VelocityToCutoff,
    grid: Grid,
    kernel: Kernel,
    channel: Channel,
    /// Bank number in force, and the preset that its last program change chose.
    bank_number: u16,
    preset: Option<usize>,
    /// Whether its own instrument, whatever controllers select, is a drum kit.
    is_drum_track: bool,
    voices: Voices,
    /// Frames since the last reset, plus what it began with.
    clock: u64,
    /// Frames until the next voice is where it has been aimed at.
    stretch_frames: u32,
    /// Whether events have come since the voices were aimed.
    interrupted: bool,
    /// Whether controllers have changed since the voices last followed them.
    stale: bool,
    serial: u64,
    last_key: Option<u8>,
    steps: u64,
}

impl SynthProcessor {
    /// Bytes of a synthesizer of `polyphony` voices.
    pub(crate) fn memory_bytes(polyphony: u16) -> u64 {
        Voices::memory_bytes(polyphony.into()) + size_of::<Self>() as u64
    }

    pub(crate) fn new(bank: &Bank, instrument: Instrument, config: SynthConfig) -> Result<Self, SynthError> {
        let SynthConfig { sample_rate_hz, polyphony, interpolation, velocity_to_cutoff } = config;
        if !SAMPLE_RATES_HZ.contains(&sample_rate_hz) {
            return Err(SynthError::SampleRate { sample_rate_hz });
        }
        if !POLYPHONIES.contains(&polyphony) {
            return Err(SynthError::Polyphony { polyphony });
        }
        let mut synth = Self {
            bank: bank.clone(),
            instrument,
            sample_rate_hz: sample_rate_hz as f32,
            velocity_to_cutoff,
            grid: Grid::new(sample_rate_hz),
            kernel: Kernel::new(interpolation),
            channel: Channel::new(),
            bank_number: 0,
            preset: None,
            is_drum_track: false,
            voices: Voices::new(usize::from(polyphony)),
            clock: 0,
            stretch_frames: 0,
            interrupted: false,
            stale: false,
            serial: 0,
            last_key: None,
            steps: 0,
        };
        synth.reset(0);
        Ok(synth)
    }

    /// Silence, every controller at its default, the track's own instrument. The grid on which
    /// slow things are computed is that of a synthesizer that has run for `clock` frames.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.voices.clear();
        self.clock = clock;
        self.stretch_frames = 0;
        self.interrupted = false;
        self.stale = false;
        self.serial = 0;
        self.steps = 0;
        self.reset_channel();
    }

    fn reset_channel(&mut self) {
        self.channel = Channel::new();
        self.last_key = None;
        let Instrument { bank, program, .. } = self.instrument;
        self.is_drum_track = bank >= DRUM_BANK;
        self.select(bank, program);
    }

    /// How much has been computed since the last reset, in steps of one voice from a place of its
    /// grid to the next; what else takes as long as some of them counts as so many.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Voices that are computed now.
    pub(crate) fn active_voices(&self) -> usize {
        self.voices.iter().count()
    }

    fn select(&mut self, bank_number: u16, program: u8) {
        self.bank_number = bank_number;
        self.preset = self.bank.resolve(bank_number, program);
    }

    /// Takes an event, with the next frame that is rendered.
    pub(crate) fn apply(&mut self, event: Event) {
        self.take(event, true);
    }

    /// As [`Self::apply`]; a note that begins is only `heard` if that is said, and does to others
    /// what it does.
    pub(crate) fn take(&mut self, event: Event, heard: bool) {
        self.steps += EVENT_STEPS;
        match event {
            Event::NoteOn { key, velocity: 0 } => self.note_off(key & 127, heard),
            Event::NoteOn { key, velocity } => self.note_on(key & 127, velocity.min(127), heard),
            Event::NoteOff { key } => self.note_off(key & 127, heard),
            Event::Controller { controller, value } => self.control(controller & 127, value & 127),
            Event::PitchBend { .. } | Event::ChannelPressure { .. } | Event::KeyPressure { .. } => {
                self.note_down(event);
                self.stale = true;
            }
            Event::Preset { .. } | Event::Program { .. } => self.note_down(event),
        }
        self.interrupt();
    }

    /// Has all voices aimed anew from here.
    fn interrupt(&mut self) {
        self.stretch_frames = 0;
        self.interrupted = true;
    }

    /// What an event leaves behind in the channel, whatever it does to voices.
    fn note_down(&mut self, event: Event) {
        match event {
            Event::NoteOn { key, velocity: 0 } | Event::NoteOff { key } => self.channel.lift(key),
            Event::NoteOn { key, velocity } => {
                self.channel.press(key, velocity);
                self.channel.take_glide_key(None);
                self.last_key = Some(key & 127);
            }
            Event::Controller { controller, value } => self.channel.set_controller(controller, value),
            Event::PitchBend { value } => self.channel.bend = value.clamp(-8_192, 8_191),
            Event::ChannelPressure { value } => self.channel.pressure = value & 127,
            Event::KeyPressure { key, value } => self.channel.set_key_pressure(key, value),
            Event::Preset { bank, program } => {
                self.is_drum_track = bank >= DRUM_BANK;
                self.select(bank, program & 127);
            }
            Event::Program { program } => {
                let selected = self.channel.take_selected_bank(self.is_drum_track);
                self.select(selected.unwrap_or(self.bank_number), program & 127);
            }
        }
    }

    fn control(&mut self, number: u8, value: u8) {
        use controller::*;
        let sostenuto_was_on = self.channel.is_on(SOSTENUTO);
        self.channel.set_controller(number, value);
        self.stale = true;
        match number {
            SUSTAIN => self.let_go(),
            SOSTENUTO => {
                let is_on = self.channel.is_on(SOSTENUTO);
                if is_on != sostenuto_was_on {
                    self.voices.iter_mut().for_each(|voice| voice.sostenuto = is_on && voice.key_down);
                    self.let_go();
                }
            }
            ALL_SOUND_OFF => self.fade_where(|_| true),
            RESET_ALL => {
                self.voices.iter_mut().for_each(|voice| voice.sostenuto = false);
                self.let_go();
            }
            ALL_NOTES_OFF | OMNI_OFF | OMNI_ON | MONO | POLY => {
                self.voices.iter_mut().for_each(|voice| voice.key_down = false);
                self.let_go();
            }
            _ => {}
        }
    }

    fn surroundings(&self) -> Surroundings<'_> {
        let Self { bank, channel, sample_rate_hz, velocity_to_cutoff, grid, clock, .. } = self;
        Surroundings {
            bank,
            channel,
            sample_rate_hz: *sample_rate_hz,
            velocity_to_cutoff: *velocity_to_cutoff,
            grid: *grid,
            clock: *clock,
        }
    }

    fn catch_up(&mut self) {
        let clock = self.clock;
        self.voices.iter_mut().for_each(|voice| voice.catch_up(clock));
    }

    fn note_on(&mut self, key: u8, velocity: u8, heard: bool) {
        self.channel.press(key, velocity);
        self.sound(key, velocity, heard);
    }

    /// Starts a note of the instrument that is chosen now.
    fn sound(&mut self, key: u8, velocity: u8, heard: bool) {
        let glide = match self.channel.take_glide_key(self.last_key) {
            Some(from) => portamento::glide(&self.channel, from, key, self.sample_rate_hz),
            None => Glide::NONE,
        };
        self.last_key = Some(key);
        self.make_way(key);
        match self.preset {
            Some(preset) if heard => self.strike(key, velocity, preset, glide),
            Some(preset) => self.end_classes(key, velocity, preset),
            None => {}
        }
    }

    /// Ends what a note of a key ends by being struck, besides the notes of its exclusive classes.
    fn make_way(&mut self, key: u8) {
        self.catch_up();
        self.serial += 1;
        let mono = self.channel.mono;
        // A key that is struck again lets its earlier note go.
        for voice in self.voices.iter_mut().filter(|voice| mono || voice.key == key) {
            voice.key_down = false;
            voice.sostenuto = false;
            voice.release();
        }
    }

    /// Starts the voices of a note that has made its way.
    fn strike(&mut self, key: u8, velocity: u8, preset: usize, glide: Glide) {
        let bank = self.bank.clone();
        let most = NOTE_ZONES_MAX.min(self.voices.polyphony());
        let zones = || start::zones(&bank, preset, key, velocity).take(most);
        self.voices.make_room(zones().count(), self.clock, self.sample_rate_hz);
        for zone in zones() {
            let Some(voice) = start::voice(self.surroundings(), zone, self.serial, key, velocity, glide)
            else {
                continue;
            };
            self.end_class(voice.exclusive_class, voice.preset());
            self.voices.place(voice);
            self.steps += START_STEPS;
        }
        let around = Surroundings {
            bank: &bank,
            channel: &self.channel,
            sample_rate_hz: self.sample_rate_hz,
            velocity_to_cutoff: self.velocity_to_cutoff,
            grid: self.grid,
            clock: self.clock,
        };
        self.voices.tie_stereo(self.serial, around);
    }

    /// Ends the earlier notes of an exclusive class of a preset (section 8.1.2, generator 57).
    fn end_class(&mut self, class: i16, preset: usize) {
        let serial = self.serial;
        if class != 0 {
            self.fade_where(|voice| {
                voice.exclusive_class == class && voice.preset() == preset && voice.serial != serial
            });
        }
    }

    /// Ends what the voices of a note would end, without starting them.
    fn end_classes(&mut self, key: u8, velocity: u8, preset: usize) {
        let bank = self.bank.clone();
        for zone in start::zones(&bank, preset, key, velocity).take(NOTE_ZONES_MAX) {
            self.end_class(start::exclusive_class(&bank, zone), preset);
        }
    }

    fn fade_where(&mut self, mut ends: impl FnMut(&Voice) -> bool) {
        self.catch_up();
        let sample_rate_hz = self.sample_rate_hz;
        self.voices.iter_mut().filter(|voice| ends(voice)).for_each(|voice| voice.fade(sample_rate_hz));
    }

    fn note_off(&mut self, key: u8, heard: bool) {
        let sounded = self.channel.last_held();
        self.channel.lift(key);
        // In mono mode the key that was struck before it sounds again, if it is still down.
        if self.channel.mono
            && sounded.is_some_and(|(sounded, _)| sounded == key)
            && let Some((held, velocity)) = self.channel.last_held()
        {
            self.sound(held, velocity, heard);
            return;
        }
        self.voices.iter_mut().filter(|voice| voice.key == key).for_each(|voice| voice.key_down = false);
        self.let_go();
    }

    /// Releases the voices that neither a key nor a pedal holds.
    fn let_go(&mut self) {
        self.catch_up();
        if self.channel.is_on(controller::SUSTAIN) {
            return;
        }
        let (clock, sample_rate_hz) = (self.clock, self.sample_rate_hz);
        let free = self.voices.iter_mut().filter(|voice| !voice.key_down && !voice.sostenuto);
        free.for_each(|voice| voice.release_in_time(clock, sample_rate_hz));
    }

    /// Ends every note with its release, pedals or not.
    pub(crate) fn release_all(&mut self) {
        self.lift_pedals();
        self.apply(Event::Controller { controller: controller::ALL_NOTES_OFF, value: 0 });
    }

    /// Lifts the pedals that hold notes.
    pub(crate) fn lift_pedals(&mut self) {
        for pedal in [controller::SUSTAIN, controller::SOSTENUTO] {
            self.apply(Event::Controller { controller: pedal, value: 0 });
        }
    }

    /// Ends every note without its release, as fast as it goes without a click.
    pub(crate) fn fade_all(&mut self) {
        self.fade_where(|_| true);
        self.interrupt();
    }

    /// Ends every note at once, without its release.
    pub(crate) fn cut_all(&mut self) {
        self.voices.clear();
    }

    /// Renders the next frames, left, right, and what goes to the reverb and to the chorus, behind
    /// the first `done` of a block. Outputs are only written where `sounding` says, which is kept:
    /// those that begin to sound get silence before.
    pub(crate) fn render(
        &mut self,
        mut block: [&mut [f32]; TRACK_OUTPUTS],
        mut done: usize,
        sounding: &mut Sounding,
    ) {
        let frames = block[0].len();
        while done < frames {
            let part = self.begin_part(frames - done, CHUNK_FRAMES);
            let written = if self.voices.is_empty() {
                [false; TRACK_OUTPUTS]
            } else {
                let mut outputs = block.each_mut().map(|output| &mut output[done..done + part]);
                self.voices.render(&self.bank, &self.kernel, &mut outputs)
            };
            for ((output, sounding), written) in block.iter_mut().zip(&mut *sounding).zip(written) {
                match (*sounding, written) {
                    (true, false) => output[done..done + part].fill(0.0),
                    (false, true) => output[..done].fill(0.0),
                    _ => {}
                }
                *sounding |= written;
            }
            done += part;
            self.clock += part as u64;
        }
    }

    /// Lets the next frames pass unheard. Voices are then what rendering would have made them, but
    /// for what their filters remember: of that only what came while it `filters`, which takes
    /// longer. Ends before its time if so many steps have been taken.
    pub(crate) fn skip(&mut self, mut frames: u64, filters: bool, most_steps: u64) {
        let longest = if filters { CHUNK_FRAMES } else { usize::MAX };
        while frames > 0 && self.steps <= most_steps {
            let part = self.begin_part(usize::try_from(frames).unwrap_or(usize::MAX), longest);
            if filters {
                self.voices.filter(&self.bank, &self.kernel, part);
                self.steps += FILTER_STEPS * self.active_voices() as u64;
            } else {
                self.voices.skip(&self.bank, part);
            }
            frames -= part as u64;
            self.clock += part as u64;
        }
    }

    /// Lets the voices that are there be heard from here on, without a click.
    pub(crate) fn rise(&mut self) {
        self.voices.rise(self.clock, self.sample_rate_hz);
    }

    /// Aims voices if that is due. Says how many of the next frames come before the next of it, at
    /// most so many, and at most the longest that can be, if there are voices.
    fn begin_part(&mut self, frames: usize, longest: usize) -> usize {
        if self.stretch_frames == 0 {
            self.aim();
        }
        if self.voices.is_empty() {
            self.stretch_frames = 0;
            return frames;
        }
        let part = (self.stretch_frames as usize).min(frames).min(longest);
        self.stretch_frames -= part as u32;
        part
    }

    /// Aims the voices that are where they were aimed at; all of them, if events have come in
    /// between or this is a place of the coarse grid.
    fn aim(&mut self) {
        let clock = self.clock;
        let is_stale = core::mem::take(&mut self.stale);
        let grid = self.grid;
        let to_grid = |grid_frames: u32| grid_frames - (clock % u64::from(grid_frames)) as u32;
        let is_grid = to_grid(grid.coarse_frames()) == grid.coarse_frames();
        let aims_all = core::mem::take(&mut self.interrupted) || is_grid;
        let (kernel, bank) = (&self.kernel, &self.bank);
        let sample_rate_hz = self.sample_rate_hz;
        let velocity_to_cutoff = self.velocity_to_cutoff;
        let channel = &self.channel;
        let around = Surroundings { bank, channel, sample_rate_hz, velocity_to_cutoff, grid, clock };
        self.stretch_frames = to_grid(grid.coarse_frames());
        let (stretch_frames, steps) = (&mut self.stretch_frames, &mut self.steps);
        self.voices.aim(aims_all, |voice, offset| {
            if aims_all || voice.has_gone_its_way(clock) {
                voice.catch_up(clock);
                if is_grid {
                    voice.filter.forget_silence();
                }
                if voice.has_ended(kernel) || voice.is_inaudible(bank) {
                    return false;
                }
                *steps += 1;
                if is_stale {
                    voice.follow_smoothly(around);
                    *steps += FOLLOW_STEPS;
                }
                // The release, if it is due, comes first: it may ask for another grid.
                let to_release = voice.frames_to_release(clock);
                let frames = to_grid(voice.grid_frames(grid));
                let corners = [to_release, voice.frames_to_corner(), voice.frames_to_silence()];
                let frames = corners.into_iter().flatten().fold(frames, u32::min);
                voice.aim(frames, offset, sample_rate_hz);
            }
            *stretch_frames = (*stretch_frames).min(voice.frames_to_go(clock));
            true
        });
    }
}
