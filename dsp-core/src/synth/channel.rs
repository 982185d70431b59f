//! The state of a MIDI channel: controllers, pitch wheel, pressure, held keys and (N)RPNs.

use super::awe32::{self, Awe32};
use super::bank_select::selected_bank;
use super::controllers;
use crate::soundfont::Generator;

/// Initial values of the controllers that do not start at 0 (General MIDI Level 2, section 3.3).
const CONTROLLER_DEFAULTS: [(u8, u8); 4] = [
    (controllers::VOLUME, 100),
    (controllers::PAN, 64),
    (controllers::EXPRESSION, 127),
    (controllers::REVERB_SEND, 40),
];

/// The parameter that data entry changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    None,
    BendRange,
    FineTuning,
    CoarseTuning,
    /// The offset of the generator with this number (section 9.6).
    Generator(u8),
    /// The parameter of the AWE32 with this NRPN LSB.
    Awe32(u8),
}

/// NRPN MSB of the generators of a SoundFont (section 9.6.1).
const SOUNDFONT_NRPN_MSB: u8 = 120;

/// The 14-bit data value that stands for 0.
const DATA_CENTRE: i32 = 8_192;

/// Maximum of the bend range: 127 semitones and 99 cents.
const BEND_RANGE_MAX_CENTS: i32 = 12_799;

/// Returns the change of a generator per unit of NRPN data (section 9.6.2). It is 2 for times,
/// modulation depths in cents and the cutoff, 4 for frequencies, and 1 for all other generators.
fn nrpn_scale(generator: u8) -> i32 {
    match generator {
        5..=8 | 10 | 11 | 21 | 23 | 25..=28 | 30 | 33..=36 | 38 => 2,
        22 | 24 => 4,
        _ => 1,
    }
}

/// The state of a MIDI channel.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    controllers: [u8; 128],
    key_pressures: [u8; 128],
    /// Channel pressure, 0 to 127.
    pub(super) pressure: u8,
    /// Position of the pitch wheel, -8192 to 8191.
    pub(super) pitch_bend: i16,
    bend_range_cents: f32,
    fine_tuning_cents: f32,
    coarse_tuning_semitones: f32,
    parameter: Parameter,
    /// Sum of the numbers that the NRPN LSBs 100 to 102 have added so far: see
    /// [`Self::select_non_registered`].
    nrpn_count: u16,
    /// Offsets that NRPNs add to the generators.
    generator_offsets: [f32; Generator::COUNT],
    awe32: Awe32,
    /// Whether the channel is in mono mode.
    pub(super) is_mono: bool,
    /// For each key that is down, the number and the velocity of its key press. Numbers count up.
    held_keys: [Option<(u64, u8)>; 128],
    press_count: u64,
    /// Whether bank select was received since the last program change.
    has_bank_select: bool,
    /// Key from which the portamento of the next note starts (controller 84).
    portamento_key: Option<u8>,
}

impl Channel {
    pub(super) fn new() -> Self {
        let mut controllers = [0; 128];
        for (number, value) in CONTROLLER_DEFAULTS {
            controllers[usize::from(number)] = value;
        }
        Self {
            controllers,
            key_pressures: [0; 128],
            pressure: 0,
            pitch_bend: 0,
            bend_range_cents: 200.0,
            fine_tuning_cents: 0.0,
            coarse_tuning_semitones: 0.0,
            parameter: Parameter::None,
            nrpn_count: 0,
            generator_offsets: [0.0; Generator::COUNT],
            awe32: Awe32::default(),
            is_mono: false,
            held_keys: [None; 128],
            press_count: 0,
            has_bank_select: false,
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

    /// Records that a key is pressed.
    pub(super) fn press_key(&mut self, key: u8, velocity: u8) {
        self.press_count += 1;
        self.held_keys[usize::from(key & 127)] = Some((self.press_count, velocity));
    }

    /// Records that a key is released.
    pub(super) fn release_key(&mut self, key: u8) {
        self.held_keys[usize::from(key & 127)] = None;
    }

    /// Records that all keys are released.
    fn release_all_keys(&mut self) {
        self.held_keys = [None; 128];
    }

    /// Returns key and velocity of the last key press among the keys that are down.
    pub(super) fn last_held_key(&self) -> Option<(u8, u8)> {
        let presses = (0u8..).zip(&self.held_keys).filter_map(|(key, press)| press.map(|press| (press, key)));
        presses.max().map(|((_, velocity), key)| (key, velocity))
    }

    /// Whether the controller of a pedal or switch is on: 64 or above (MIDI 1.0).
    pub(super) fn is_on(&self, number: u8) -> bool {
        self.controller(number) >= 64
    }

    /// Returns the pitch bend range in cents (RPN 0).
    pub(super) fn bend_range_cents(&self) -> f32 {
        self.bend_range_cents
    }

    /// Returns the tuning of the channel in cents: the sum of RPN 1, RPN 2 and the pitch NRPN of
    /// the AWE32.
    pub(super) fn tuning_cents(&self) -> f32 {
        self.fine_tuning_cents + 100.0 * self.coarse_tuning_semitones + self.awe32.pitch_cents()
    }

    /// Returns the offsets that NRPNs add to the generators of every voice.
    pub(super) fn generator_offsets(&self) -> &[f32; Generator::COUNT] {
        &self.generator_offsets
    }

    /// Returns the values of the AWE32 NRPNs, which replace those of the generators.
    pub(super) fn awe32(&self) -> &Awe32 {
        &self.awe32
    }

    /// Sets a controller and applies its effect on the channel.
    pub(super) fn set_controller(&mut self, number: u8, value: u8) {
        use controllers::*;
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
            BANK_MSB | BANK_LSB => self.has_bank_select = true,
            PORTAMENTO_CONTROL => self.portamento_key = Some(value),
            ALL_SOUND_OFF | ALL_NOTES_OFF | OMNI_OFF | OMNI_ON => self.release_all_keys(),
            MONO | POLY => {
                self.release_all_keys();
                self.is_mono = number == MONO;
            }
            _ => {}
        }
    }

    /// Selects the parameter with the number of the RPN controllers.
    fn select_registered(&mut self) {
        self.parameter = match (self.controller(controllers::RPN_MSB), self.controller(controllers::RPN_LSB))
        {
            (0, 0) => Parameter::BendRange,
            (0, 1) => Parameter::FineTuning,
            (0, 2) => Parameter::CoarseTuning,
            _ => Parameter::None,
        };
        self.load_data_entry();
    }

    /// Sets the data entry controllers to the value of the selected parameter. Increments then
    /// start from this value.
    fn load_data_entry(&mut self) {
        let data_value = match self.parameter {
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
        self.controllers[usize::from(controllers::DATA_ENTRY_MSB)] = (data_value >> 7 & 127) as u8;
        self.controllers[usize::from(controllers::DATA_ENTRY_LSB)] = (data_value & 127) as u8;
    }

    /// Selects a parameter of the AWE32 if the current NRPN MSB and LSB are those of a parameter.
    ///
    /// Sets the LSB of data entry to 0, because songs may send only the MSB. The MSB stays the
    /// same, because many songs send only the LSB.
    fn select_awe32(&mut self) {
        let number = self.controller(controllers::NRPN_LSB);
        if self.controller(controllers::NRPN_MSB) == awe32::NRPN_MSB && Awe32::has(number) {
            self.parameter = Parameter::Awe32(number);
            self.controllers[usize::from(controllers::DATA_ENTRY_LSB)] = 0;
        }
    }

    /// Receives an NRPN LSB (section 9.6.2). The LSBs 100, 101 and 102 add 100, 1,000 and 10,000 to
    /// the number of the generator. An LSB below 100 is added too and selects the generator.
    fn select_non_registered(&mut self, value: u8) {
        self.parameter = Parameter::None;
        self.select_awe32();
        if self.controller(controllers::NRPN_MSB) != SOUNDFONT_NRPN_MSB {
            return;
        }
        let step = match value {
            100 => 100,
            101 => 1_000,
            102 => 10_000,
            103.. => return,
            lsb => u16::from(lsb),
        };
        self.nrpn_count = self.nrpn_count.saturating_add(step);
        if value < 100 {
            if usize::from(self.nrpn_count) < Generator::COUNT {
                self.parameter = Parameter::Generator(self.nrpn_count as u8);
                self.load_data_entry();
            }
            self.nrpn_count = 0;
        }
    }

    /// Sets the selected parameter to the value of the data entry controllers.
    fn enter_data(&mut self, is_lsb: bool) {
        let msb = i32::from(self.controller(controllers::DATA_ENTRY_MSB));
        let lsb = i32::from(self.controller(controllers::DATA_ENTRY_LSB));
        match self.parameter {
            Parameter::None => {}
            // The MSB sets the semitones and clears the cents. An LSB with the cents may follow.
            Parameter::BendRange if is_lsb => self.bend_range_cents = (100 * msb + lsb.min(99)) as f32,
            Parameter::BendRange => self.bend_range_cents = (100 * msb) as f32,
            Parameter::FineTuning => {
                self.fine_tuning_cents = ((msb << 7 | lsb) - DATA_CENTRE) as f32 * (100.0 / 8_192.0);
            }
            Parameter::CoarseTuning => self.coarse_tuning_semitones = (msb - 64) as f32,
            Parameter::Generator(number) => {
                let offset = ((msb << 7 | lsb) - DATA_CENTRE) * nrpn_scale(number);
                self.generator_offsets[usize::from(number)] = offset as f32;
            }
            Parameter::Awe32(number) => self.awe32.set_parameter(number, msb as u8, lsb as u8),
        }
    }

    /// Applies data increment or decrement (MIDI RP-018). A step is one cent for the bend range,
    /// one semitone for the coarse tuning, and one unit of the LSB for other parameters.
    fn step_data(&mut self, step: i32) {
        let msb = i32::from(self.controller(controllers::DATA_ENTRY_MSB));
        let lsb = i32::from(self.controller(controllers::DATA_ENTRY_LSB));
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
        self.controllers[usize::from(controllers::DATA_ENTRY_MSB)] = msb as u8;
        self.controllers[usize::from(controllers::DATA_ENTRY_LSB)] = lsb as u8;
        self.enter_data(true);
    }

    /// Applies Reset All Controllers (MIDI RP-015). Volume, pan, sends, tuning, bank and program
    /// stay the same.
    fn reset_controllers(&mut self) {
        use controllers::*;
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
        self.pitch_bend = 0;
    }

    /// Returns the bank that the bank select controllers have chosen since the last call. `None` if
    /// they were not received.
    pub(super) fn take_selected_bank(&mut self, is_drum_channel: bool) -> Option<u16> {
        if !core::mem::take(&mut self.has_bank_select) {
            return None;
        }
        let msb = self.controller(controllers::BANK_MSB);
        let lsb = self.controller(controllers::BANK_LSB);
        Some(selected_bank(msb, lsb, is_drum_channel))
    }

    /// Returns the key from which the portamento of a new note starts. It is the key of controller
    /// 84 if one was received since the last note, otherwise the last key if portamento is on.
    pub(super) fn take_portamento_key(&mut self, last_key: Option<u8>) -> Option<u8> {
        let last_key = last_key.filter(|_| self.is_on(controllers::PORTAMENTO));
        self.portamento_key.take().or(last_key)
    }
}
