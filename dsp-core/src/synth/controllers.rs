//! Numbers of the MIDI controllers that the synthesizer uses (MIDI 1.0 Detailed Specification,
//! table III).

pub(super) const BANK_MSB: u8 = 0;
pub(super) const MODULATION: u8 = 1;
pub(super) const PORTAMENTO_TIME_MSB: u8 = 5;
pub(super) const DATA_ENTRY_MSB: u8 = 6;
pub(super) const VOLUME: u8 = 7;
pub(super) const PAN: u8 = 10;
pub(super) const EXPRESSION: u8 = 11;
pub(super) const BANK_LSB: u8 = 32;
pub(super) const PORTAMENTO_TIME_LSB: u8 = 37;
pub(super) const DATA_ENTRY_LSB: u8 = 38;
pub(super) const SUSTAIN: u8 = 64;
pub(super) const PORTAMENTO: u8 = 65;
pub(super) const SOSTENUTO: u8 = 66;
pub(super) const SOFT: u8 = 67;
pub(super) const PORTAMENTO_CONTROL: u8 = 84;
pub(super) const REVERB_SEND: u8 = 91;
pub(super) const DATA_INCREMENT: u8 = 96;
pub(super) const DATA_DECREMENT: u8 = 97;
pub(super) const NRPN_LSB: u8 = 98;
pub(super) const NRPN_MSB: u8 = 99;
pub(super) const RPN_LSB: u8 = 100;
pub(super) const RPN_MSB: u8 = 101;
pub(super) const ALL_SOUND_OFF: u8 = 120;
pub(super) const RESET_ALL: u8 = 121;
pub(super) const ALL_NOTES_OFF: u8 = 123;
pub(super) const OMNI_OFF: u8 = 124;
pub(super) const OMNI_ON: u8 = 125;
pub(super) const MONO: u8 = 126;
pub(super) const POLY: u8 = 127;
