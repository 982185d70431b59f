//! Maps the bank numbers of MIDI files to SoundFont banks.
//!
//! The meaning of bank numbers depends on the instrument. A system exclusive message in the file
//! names the standard that the file follows:
//!
//! | standard | melodic bank | drums |
//! |---|---|---|
//! | General MIDI (RP-003) | always bank 0 | channel 10 |
//! | General MIDI 2 (RP-024, 3.3.1) | CC 32 under CC 0 = 121 | CC 0 = 120; channel 10 |
//! | Roland GS | CC 0 | parts set by "use for rhythm part"; channel 10 |
//! | Yamaha XG | CC 32 | CC 0 = 126 or 127; parts set by "part mode"; channel 10 |
//! | unknown | CC 0, or as in General MIDI 2 | CC 0 = 120, 126 or 127; channel 10 |
//!
//! A bank applies from the next program change (MIDI 1.0, "Bank select").

/// Channel of drums, counted from 0 (General MIDI 1).
pub(super) const DRUM_CHANNEL: u8 = 9;
/// SoundFont bank of drum kits (SF2.04, section 7.2).
pub(super) const DRUM_BANK: u8 = 128;

/// The standard that a file follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum MidiStandard {
    /// The file does not name a standard.
    #[default]
    Unknown,
    Gm,
    Gm2,
    Gs,
    Xg,
}

/// A system exclusive message that affects banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BankMessage {
    /// From this message on, the file follows this standard, and all channels are reset to its
    /// defaults.
    System(MidiStandard),
    /// Makes a channel, 0 to 15, a drum part or a melodic one.
    Part { channel: u8, is_drums: bool },
}

/// Identifiers of manufacturers, and of universal messages.
const ROLAND: u8 = 0x41;
const YAMAHA: u8 = 0x43;
const UNIVERSAL: u8 = 0x7e;
/// Model identifiers of Roland GS and Yamaha XG.
const GS: u8 = 0x42;
const XG: u8 = 0x4c;

/// Reads a system exclusive message that starts after its first byte 0xf0 and ends with 0xf7.
/// Returns `None` if it does not affect banks.
pub(super) fn bank_message(message: &[u8]) -> Option<BankMessage> {
    use BankMessage::{Part, System as Reset};
    let body = message.strip_suffix(&[0xf7])?;
    match *body {
        // General MIDI system messages, for any device (RP-003, RP-024).
        [UNIVERSAL, _, 0x09, sub_id] => match sub_id {
            0x01 => Some(Reset(MidiStandard::Gm)),
            0x02 => Some(Reset(MidiStandard::Unknown)),
            0x03 => Some(Reset(MidiStandard::Gm2)),
            _ => None,
        },
        // Roland's "data set 1": address, data, checksum.
        [ROLAND, _, GS, 0x12, ref address_data @ .., _checksum] => match *address_data {
            [0x40, 0x00, 0x7f, 0x00] | [0x00, 0x00, 0x7f, _] => Some(Reset(MidiStandard::Gs)),
            [0x40, 0x00, 0x7f, 0x7f] => Some(Reset(MidiStandard::Unknown)),
            // "Use for rhythm part": off, map 1 or map 2.
            [0x40, block @ 0x10..=0x1f, 0x15, map] => {
                Some(Part { channel: channel_of_block(block & 0x0f), is_drums: map != 0 })
            }
            _ => None,
        },
        // Yamaha's "parameter change": address, data.
        [YAMAHA, 0x10..=0x1f, XG, ref address_data @ ..] => match *address_data {
            [0x00, 0x00, 0x7e | 0x7f, 0x00] => Some(Reset(MidiStandard::Xg)),
            // "Part mode": normal, drums, or one of the drum set-ups.
            [0x08, part @ 0..=15, 0x07, mode] => Some(Part { channel: part, is_drums: mode != 0 }),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the channel (from 0) of a GS block. Block 0 is channel 10, the drums.
fn channel_of_block(block: u8) -> u8 {
    match block {
        0 => DRUM_CHANNEL,
        1..=9 => block - 1,
        _ => block,
    }
}

/// State of bank selection on a channel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BankSelect {
    /// Values of controllers 0 (`msb`) and 32 (`lsb`); `None` until the file sends them.
    pub(super) msb: Option<u8>,
    pub(super) lsb: Option<u8>,
    /// Whether the channel is a drum part; `None` unless a system exclusive message set it.
    pub(super) is_drum_part: Option<bool>,
}

impl BankSelect {
    /// Returns the SoundFont bank that a program change on the channel selects.
    pub(super) fn soundfont_bank(self, system: MidiStandard, channel: u8) -> u8 {
        let is_drum_part = self.is_drum_part.unwrap_or(channel == DRUM_CHANNEL);
        let (msb, lsb) = (self.msb.unwrap_or(0), self.lsb.unwrap_or(0));
        let (drums, melodic) = match (system, self.msb) {
            (MidiStandard::Gm, _) => (is_drum_part, 0),
            (MidiStandard::Gm2, Some(120)) => (true, lsb),
            (MidiStandard::Gm2, Some(121)) => (false, lsb),
            (MidiStandard::Gm2, _) => (is_drum_part, 0),
            (MidiStandard::Xg, Some(126 | 127)) => (true, lsb),
            // Every other bank number makes the part melodic.
            (MidiStandard::Xg, Some(_)) => (false, lsb),
            (MidiStandard::Xg, None) => (is_drum_part, lsb),
            (MidiStandard::Gs, _) => (is_drum_part, msb),
            // Every standard that defines these bank numbers uses them in this way.
            (MidiStandard::Unknown, Some(120 | 126 | 127)) => (true, msb),
            (MidiStandard::Unknown, Some(121)) => (false, lsb),
            (MidiStandard::Unknown, _) => (is_drum_part, msb),
        };
        if drums { DRUM_BANK } else { melodic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_message(message: &[u8], expected: Option<BankMessage>) {
        let complete: Vec<u8> = message.iter().copied().chain([0xf7]).collect();
        assert_eq!(bank_message(&complete), expected, "{message:02x?}");
    }

    #[test]
    fn resets_and_parts_are_recognized() {
        let system = |system| Some(BankMessage::System(system));
        let part = |channel, drums| Some(BankMessage::Part { channel, is_drums: drums });
        check_message(&[0x7e, 0x7f, 0x09, 0x01], system(MidiStandard::Gm));
        check_message(&[0x7e, 0x10, 0x09, 0x02], system(MidiStandard::Unknown));
        check_message(&[0x7e, 0x7f, 0x09, 0x03], system(MidiStandard::Gm2));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x00, 0x7f, 0x00, 0x41], system(MidiStandard::Gs));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x00, 0x00, 0x7f, 0x01, 0x00], system(MidiStandard::Gs));
        check_message(&[0x43, 0x10, 0x4c, 0x00, 0x00, 0x7e, 0x00], system(MidiStandard::Xg));
        check_message(&[0x43, 0x1f, 0x4c, 0x00, 0x00, 0x7f, 0x00], system(MidiStandard::Xg));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x10, 0x15, 0x00, 0x1b], part(9, false));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x11, 0x15, 0x01, 0x19], part(0, true));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x19, 0x15, 0x02, 0x10], part(8, true));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x1a, 0x15, 0x02, 0x0f], part(10, true));
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x0a, 0x07, 0x02], part(10, true));
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x09, 0x07, 0x00], part(9, false));
    }

    #[test]
    fn other_messages_are_ignored() {
        // Master volume, a GS reverb macro, an XG part's volume, a part out of range, bulk data,
        // an empty message.
        check_message(&[0x7f, 0x7f, 0x04, 0x01, 0x00, 0x7f], None);
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x01, 0x30, 0x04, 0x0b], None);
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x00, 0x0b, 0x64], None);
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x10, 0x07, 0x01], None);
        check_message(&[0x43, 0x00, 0x4c, 0x00, 0x00, 0x7e, 0x00], None);
        check_message(&[], None);
        assert_eq!(bank_message(&[0x7e, 0x7f, 0x09, 0x01]), None, "a message without its last byte 0xf7");
        assert_eq!(bank_message(&[]), None);
    }

    #[track_caller]
    fn check_bank(system: MidiStandard, channel: u8, msb: Option<u8>, lsb: Option<u8>, expected: u8) {
        let select = BankSelect { msb, lsb, is_drum_part: None };
        assert_eq!(select.soundfont_bank(system, channel), expected, "{system:?} {channel} {select:?}");
    }

    #[test]
    fn bank_select_follows_the_rules_of_each_system() {
        check_bank(MidiStandard::Unknown, 0, Some(8), Some(3), 8);
        check_bank(MidiStandard::Unknown, 0, None, Some(3), 0);
        check_bank(MidiStandard::Unknown, 9, Some(8), None, 128);
        check_bank(MidiStandard::Unknown, 0, Some(126), None, 128);
        check_bank(MidiStandard::Unknown, 9, Some(121), Some(1), 1);
        check_bank(MidiStandard::Gm, 0, Some(8), Some(3), 0);
        check_bank(MidiStandard::Gm, 9, Some(8), None, 128);
        check_bank(MidiStandard::Gm2, 0, Some(121), Some(3), 3);
        check_bank(MidiStandard::Gm2, 0, Some(120), None, 128);
        check_bank(MidiStandard::Gm2, 9, Some(121), Some(1), 1);
        check_bank(MidiStandard::Gm2, 9, None, None, 128);
        check_bank(MidiStandard::Gm2, 2, Some(5), Some(1), 0);
        check_bank(MidiStandard::Gs, 0, Some(8), Some(3), 8);
        check_bank(MidiStandard::Gs, 9, Some(8), None, 128);
        check_bank(MidiStandard::Xg, 0, Some(0), Some(3), 3);
        check_bank(MidiStandard::Xg, 0, None, Some(3), 3);
        check_bank(MidiStandard::Xg, 0, Some(64), Some(0), 0);
        check_bank(MidiStandard::Xg, 0, Some(126), None, 128);
        check_bank(MidiStandard::Xg, 0, Some(127), Some(0), 128);
        check_bank(MidiStandard::Xg, 9, None, None, 128);
        check_bank(MidiStandard::Xg, 9, Some(0), Some(0), 0);
    }

    #[test]
    fn a_part_message_makes_a_channel_drums_or_melodic() {
        let part = |drums| BankSelect { msb: Some(8), lsb: None, is_drum_part: Some(drums) };
        for (system, melodic) in [(MidiStandard::Gs, 8), (MidiStandard::Unknown, 8), (MidiStandard::Gm, 0)] {
            assert_eq!(part(true).soundfont_bank(system, 3), DRUM_BANK, "{system:?}");
            assert_eq!(part(false).soundfont_bank(system, 9), melodic, "{system:?}");
        }
        let xg = BankSelect { is_drum_part: Some(true), ..BankSelect::default() };
        assert_eq!(xg.soundfont_bank(MidiStandard::Xg, 3), DRUM_BANK);
    }
}
