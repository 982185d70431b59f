//! What a channel has been told: controllers, wheel, pressure, and registered parameters.

use super::DRUM_BANK;
use super::awe32::{self, Awe32};
use crate::soundfont::{Generator, Generators};

/// Controller numbers of the MIDI 1.0 specification that the channel itself acts on.
pub(super) mod controller {
    pub(crate) const BANK_MSB: u8 = 0;
    pub(crate) const MODULATION: u8 = 1;
    pub(crate) const PORTAMENTO_TIME_MSB: u8 = 5;
    pub(crate) const DATA_ENTRY_MSB: u8 = 6;
    pub(crate) const VOLUME: u8 = 7;
    pub(crate) const PAN: u8 = 10;
    pub(crate) const EXPRESSION: u8 = 11;
    pub(crate) const BANK_LSB: u8 = 32;
    pub(crate) const PORTAMENTO_TIME_LSB: u8 = 37;
    pub(crate) const DATA_ENTRY_LSB: u8 = 38;
    pub(crate) const SUSTAIN: u8 = 64;
    pub(crate) const PORTAMENTO: u8 = 65;
    pub(crate) const SOSTENUTO: u8 = 66;
    pub(crate) const SOFT: u8 = 67;
    pub(crate) const PORTAMENTO_CONTROL: u8 = 84;
    pub(crate) const REVERB: u8 = 91;
    pub(crate) const DATA_INCREMENT: u8 = 96;
    pub(crate) const DATA_DECREMENT: u8 = 97;
    pub(crate) const NRPN_LSB: u8 = 98;
    pub(crate) const NRPN_MSB: u8 = 99;
    pub(crate) const RPN_LSB: u8 = 100;
    pub(crate) const RPN_MSB: u8 = 101;
    pub(crate) const ALL_SOUND_OFF: u8 = 120;
    pub(crate) const RESET_ALL: u8 = 121;
    pub(crate) const ALL_NOTES_OFF: u8 = 123;
    pub(crate) const OMNI_OFF: u8 = 124;
    pub(crate) const OMNI_ON: u8 = 125;
    pub(crate) const MONO: u8 = 126;
    pub(crate) const POLY: u8 = 127;
}

/// Defaults after General MIDI Level 2, section 3.3: volume 100, pan in the middle, expression
/// full, reverb send 40.
const DEFAULTS: [(u8, u8); 4] = [
    (controller::VOLUME, 100),
    (controller::PAN, 64),
    (controller::EXPRESSION, 127),
    (controller::REVERB, 40),
];

/// What data entry changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    None,
    BendRange,
    FineTuning,
    CoarseTuning,
    /// A generator of the SoundFont (section 9.6), by its number.
    Generator(u8),
    /// A parameter of the AWE32, by its NRPN LSB.
    Awe32(u8),
}

/// NRPN MSB under which the generators of a SoundFont are found (section 9.6.1).
const SOUNDFONT_NRPN_MSB: u8 = 120;

/// The value of a 14-bit data entry that means no change.
const DATA_CENTRE: i32 = 8_192;

/// Widest bend range that data entry can say: 127 semitones and 99 cents.
const BEND_RANGE_MAX_CENTS: i32 = 12_799;

/// What one unit of an NRPN's data changes of a generator (section 9.6.2): 2 for times, levels
/// of modulation in cents and the cut-off, 4 for frequencies, 1 for all others.
fn nrpn_scale(generator: u8) -> i32 {
    match generator {
        5..=8 | 10 | 11 | 21 | 23 | 25..=28 | 30 | 33..=36 | 38 => 2,
        22 | 24 => 4,
        _ => 1,
    }
}

#[derive(Debug, Clone)]
pub(super) struct Channel {
    controllers: [u8; 128],
    key_pressures: [u8; 128],
    pub(super) pressure: u8,
    /// -8192 to 8191.
    pub(super) bend: i16,
    bend_range_cents: f32,
    fine_tuning_cents: f32,
    coarse_tuning_semitones: f32,
    parameter: Parameter,
    /// The generator number that the NRPN's steps of hundred and thousand have counted up to.
    nrpn_count: u16,
    generator_offsets: [f32; Generator::COUNT],
    awe32: Awe32,
    pub(super) mono: bool,
    /// The keys that are down, with when they went down, counted, and how fast.
    held: [Option<(u64, u8)>; 128],
    held_count: u64,
    /// Whether bank select has come since the last program change.
    bank_selected: bool,
    /// Key from which the next note glides (controller 84).
    portamento_key: Option<u8>,
}

impl Channel {
    pub(super) fn new() -> Self {
        let mut controllers = [0; 128];
        for (number, value) in DEFAULTS {
            controllers[usize::from(number)] = value;
        }
        Self {
            controllers,
            key_pressures: [0; 128],
            pressure: 0,
            bend: 0,
            bend_range_cents: 200.0,
            fine_tuning_cents: 0.0,
            coarse_tuning_semitones: 0.0,
            parameter: Parameter::None,
            nrpn_count: 0,
            generator_offsets: [0.0; Generator::COUNT],
            awe32: Awe32::default(),
            mono: false,
            held: [None; 128],
            held_count: 0,
            bank_selected: false,
            portamento_key: None,
        }
    }

    pub(super) fn controller(&self, number: u8) -> u8 {
        self.controllers[usize::from(number & 127)]
    }

    pub(super) fn key_pressure(&self, key: u8) -> u8 {
        self.key_pressures[usize::from(key & 127)]
    }

    pub(super) fn set_key_pressure(&mut self, key: u8, value: u8) {
        self.key_pressures[usize::from(key & 127)] = value & 127;
    }

    /// Takes down that a key has been struck.
    pub(super) fn press(&mut self, key: u8, velocity: u8) {
        self.held_count += 1;
        self.held[usize::from(key & 127)] = Some((self.held_count, velocity));
    }

    /// Takes down that a key has been let go.
    pub(super) fn lift(&mut self, key: u8) {
        self.held[usize::from(key & 127)] = None;
    }

    /// Takes down that all keys have been let go.
    fn lift_all(&mut self) {
        self.held = [None; 128];
    }

    /// Of the keys that are down, the one that was struck last, and its velocity.
    pub(super) fn last_held(&self) -> Option<(u8, u8)> {
        let held = (0u8..).zip(&self.held).filter_map(|(key, held)| held.map(|held| (held, key)));
        held.max().map(|((_, velocity), key)| (key, velocity))
    }

    /// Whether a pedal or switch is down (MIDI 1.0: from 64 on).
    pub(super) fn is_on(&self, number: u8) -> bool {
        self.controller(number) >= 64
    }

    pub(super) fn bend_range_cents(&self) -> f32 {
        self.bend_range_cents
    }

    /// Tuning of the channel in cents (RPN 1 and 2, and the AWE32's pitch).
    pub(super) fn tuning_cents(&self) -> f32 {
        self.fine_tuning_cents + 100.0 * self.coarse_tuning_semitones + self.awe32.pitch_cents()
    }

    /// What NRPNs add to the generators of every voice.
    pub(super) fn generator_offsets(&self) -> &[f32; Generator::COUNT] {
        &self.generator_offsets
    }

    /// Values from AWE32 NRPNs, which replace those of the generators.
    pub(super) fn awe32(&self) -> &Awe32 {
        &self.awe32
    }

    /// Takes a controller; what only voices act on is kept for them.
    pub(super) fn set_controller(&mut self, number: u8, value: u8) {
        use controller::*;
        let (number, value) = (number & 127, value & 127);
        self.controllers[usize::from(number)] = value;
        match number {
            RPN_MSB | RPN_LSB => self.select_registered(),
            NRPN_MSB => {
                self.nrpn_count = 0;
                self.parameter = Parameter::None;
                self.select_awe32();
            }
            NRPN_LSB => self.select_non_registered(value),
            DATA_ENTRY_MSB | DATA_ENTRY_LSB => self.enter_data(number == DATA_ENTRY_LSB),
            DATA_INCREMENT => self.step_data(1),
            DATA_DECREMENT => self.step_data(-1),
            RESET_ALL => self.reset_controllers(),
            BANK_MSB | BANK_LSB => self.bank_selected = true,
            PORTAMENTO_CONTROL => self.portamento_key = Some(value),
            ALL_SOUND_OFF | ALL_NOTES_OFF | OMNI_OFF | OMNI_ON => self.lift_all(),
            MONO | POLY => {
                self.lift_all();
                self.mono = number == MONO;
            }
            _ => {}
        }
    }

    fn select_registered(&mut self) {
        self.parameter = match (self.controller(controller::RPN_MSB), self.controller(controller::RPN_LSB)) {
            (0, 0) => Parameter::BendRange,
            (0, 1) => Parameter::FineTuning,
            (0, 2) => Parameter::CoarseTuning,
            _ => Parameter::None,
        };
        self.show_parameter();
    }

    /// Lets data entry begin from the parameter that has been selected.
    fn show_parameter(&mut self) {
        let data = match self.parameter {
            Parameter::None | Parameter::Awe32(_) => return,
            Parameter::BendRange => {
                let cents = self.bend_range_cents as i32;
                ((cents / 100) << 7) | (cents % 100)
            }
            Parameter::FineTuning => (self.fine_tuning_cents * (8_192.0 / 100.0)) as i32 + DATA_CENTRE,
            Parameter::CoarseTuning => (self.coarse_tuning_semitones as i32 + 64) << 7,
            Parameter::Generator(number) => {
                self.generator_offsets[usize::from(number)] as i32 / nrpn_scale(number) + DATA_CENTRE
            }
        };
        self.controllers[usize::from(controller::DATA_ENTRY_MSB)] = (data >> 7 & 127) as u8;
        self.controllers[usize::from(controller::DATA_ENTRY_LSB)] = (data & 127) as u8;
    }

    /// Selects a parameter of the AWE32 if both bytes of the number name one, whichever came first.
    ///
    /// The least significant byte of data entry becomes 0, so that a song may send the most
    /// significant byte alone; the latter stays, because many songs send the former alone.
    fn select_awe32(&mut self) {
        let number = self.controller(controller::NRPN_LSB);
        if self.controller(controller::NRPN_MSB) == awe32::MSB && Awe32::has(number) {
            self.parameter = Parameter::Awe32(number);
            self.controllers[usize::from(controller::DATA_ENTRY_LSB)] = 0;
        }
    }

    /// Section 9.6.2: 100, 101 and 102 count up by hundred, thousand and ten thousand; a number
    /// below 100 is added and selects.
    fn select_non_registered(&mut self, value: u8) {
        self.parameter = Parameter::None;
        self.select_awe32();
        if self.controller(controller::NRPN_MSB) != SOUNDFONT_NRPN_MSB {
            return;
        }
        let step = match value {
            100 => 100,
            101 => 1_000,
            102 => 10_000,
            103.. => return,
            last => u16::from(last),
        };
        self.nrpn_count = self.nrpn_count.saturating_add(step);
        if value < 100 {
            if usize::from(self.nrpn_count) < Generator::COUNT {
                self.parameter = Parameter::Generator(self.nrpn_count as u8);
                self.show_parameter();
            }
            self.nrpn_count = 0;
        }
    }

    fn enter_data(&mut self, fine: bool) {
        let msb = i32::from(self.controller(controller::DATA_ENTRY_MSB));
        let lsb = i32::from(self.controller(controller::DATA_ENTRY_LSB));
        match self.parameter {
            Parameter::None => {}
            // A range is entered by its semitones; its cents follow if at all.
            Parameter::BendRange if fine => self.bend_range_cents = (100 * msb + lsb.min(99)) as f32,
            Parameter::BendRange => self.bend_range_cents = (100 * msb) as f32,
            Parameter::FineTuning => {
                self.fine_tuning_cents = ((msb << 7 | lsb) - DATA_CENTRE) as f32 * (100.0 / 8_192.0);
            }
            Parameter::CoarseTuning => self.coarse_tuning_semitones = (msb - 64) as f32,
            Parameter::Generator(number) => {
                let offset = ((msb << 7 | lsb) - DATA_CENTRE) * nrpn_scale(number);
                self.generator_offsets[usize::from(number)] = offset as f32;
            }
            Parameter::Awe32(number) => self.awe32.enter(number, msb as u8, lsb as u8),
        }
    }

    /// Data increment and decrement (MIDI RP-018): a cent of a bend range, a semitone of a coarse
    /// tuning, the least significant byte of all others.
    fn step_data(&mut self, step: i32) {
        let msb = i32::from(self.controller(controller::DATA_ENTRY_MSB));
        let lsb = i32::from(self.controller(controller::DATA_ENTRY_LSB));
        let (msb, lsb) = match self.parameter {
            Parameter::BendRange => {
                let cents = (100 * msb + lsb.min(99) + step).clamp(0, BEND_RANGE_MAX_CENTS);
                (cents / 100, cents % 100)
            }
            Parameter::CoarseTuning => ((msb + step).clamp(0, 127), lsb),
            _ => {
                let value = (msb << 7 | lsb).saturating_add(step).clamp(0, (1 << 14) - 1);
                (value >> 7, value & 127)
            }
        };
        self.controllers[usize::from(controller::DATA_ENTRY_MSB)] = msb as u8;
        self.controllers[usize::from(controller::DATA_ENTRY_LSB)] = lsb as u8;
        self.enter_data(true);
    }

    /// Response to Reset All Controllers (MIDI RP-015): volume, pan, sends, tuning, bank and
    /// program stay.
    fn reset_controllers(&mut self) {
        use controller::*;
        for number in [MODULATION, SUSTAIN, PORTAMENTO, SOSTENUTO, SOFT] {
            self.controllers[usize::from(number)] = 0;
        }
        self.controllers[usize::from(EXPRESSION)] = 127;
        for number in [NRPN_LSB, NRPN_MSB, RPN_LSB, RPN_MSB] {
            self.controllers[usize::from(number)] = 127;
        }
        self.parameter = Parameter::None;
        self.key_pressures = [0; 128];
        self.pressure = 0;
        self.bend = 0;
    }

    /// The bank that the bank select controllers ask for ([`selected_bank`]), of a channel that
    /// plays drums or not. `None` if none has come since this was asked last.
    pub(super) fn take_selected_bank(&mut self, drums: bool) -> Option<u16> {
        if !core::mem::take(&mut self.bank_selected) {
            return None;
        }
        let msb = self.controller(controller::BANK_MSB);
        let lsb = self.controller(controller::BANK_LSB);
        Some(selected_bank(msb, lsb, drums))
    }

    /// The key from which a new note glides: that of controller 84, once, else the last one if
    /// the switch is on.
    pub(super) fn take_glide_key(&mut self, last_key: Option<u8>) -> Option<u8> {
        let last_key = last_key.filter(|_| self.is_on(controller::PORTAMENTO));
        self.portamento_key.take().or(last_key)
    }
}

/// The bank of a SoundFont that the most and the least significant byte of bank select (controllers
/// 0 and 32) ask for, on a channel that plays drums or not. Drum kits are asked for by 120 (GM2),
/// 126 and 127 (XG). Otherwise the bank is the most significant byte (GS), or the least where that
/// is 0 (XG) or 121 (GM2).
#[must_use]
pub fn selected_bank(msb: u8, lsb: u8, drums: bool) -> u16 {
    match msb {
        120 | 126 | 127 => DRUM_BANK,
        121 => u16::from(lsb),
        _ if drums => DRUM_BANK,
        0 => u16::from(lsb),
        bank => u16::from(bank),
    }
}

/// Base values of a voice's generators: those of the instrument's zone plus the preset's.
pub(super) fn summed(instrument: &Generators, preset: &Generators) -> [f32; Generator::COUNT] {
    let mut sums = [0.0; Generator::COUNT];
    for ((sum, own), offset) in sums.iter_mut().zip(instrument.values()).zip(preset.values()) {
        *sum = f32::from(*own) + f32::from(*offset);
    }
    sums
}
