//! Which SoundFont bank a MIDI file means.
//!
//! MIDI leaves the meaning of bank numbers to the instrument. Files say by a system exclusive
//! message which kind of instrument they were made for:
//!
//! | made for | melodic bank | drums |
//! |---|---|---|
//! | General MIDI (RP-003) | there is only one | channel 10 |
//! | General MIDI 2 (RP-024, 3.3.1) | CC 32 under CC 0 = 121 | CC 0 = 120; channel 10 |
//! | Roland GS | CC 0 | parts that "use for rhythm part" says; channel 10 |
//! | Yamaha XG | CC 32 | CC 0 = 126 or 127; parts by "part mode"; channel 10 |
//! | anything else | CC 0, or as in General MIDI 2 | CC 0 = 120, 126 or 127; channel 10 |
//!
//! A bank takes effect with the next program change (MIDI 1.0, "Bank select").

/// Channel of drums, counted from 0 (General MIDI 1).
pub(super) const DRUM_CHANNEL: u8 = 9;
/// SoundFont bank of drum kits (SF2.04, section 7.2).
pub(super) const DRUM_BANK: u8 = 128;

/// The kind of instrument that a file is made for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum System {
    /// The file does not say.
    #[default]
    Unknown,
    Gm,
    Gm2,
    Gs,
    Xg,
}

/// What a system exclusive message says about banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BankMessage {
    /// From here on the file is for this kind of instrument, and every channel is what it is there
    /// from the start.
    System(System),
    /// A channel, 0 to 15, plays drums from here on, or no longer does.
    Part { channel: u8, drums: bool },
}

/// Manufacturers' and universal identifiers.
const ROLAND: u8 = 0x41;
const YAMAHA: u8 = 0x43;
const UNIVERSAL: u8 = 0x7e;
/// Models of these makers.
const GS: u8 = 0x42;
const XG: u8 = 0x4c;

/// Reads a system exclusive message, without its first byte 0xf0; the last byte is 0xf7.
/// `None`: it says nothing about banks.
pub(super) fn bank_message(message: &[u8]) -> Option<BankMessage> {
    use BankMessage::{Part, System as Whole};
    let body = message.strip_suffix(&[0xf7])?;
    match *body {
        // General MIDI system messages, for any device (RP-003, RP-024).
        [UNIVERSAL, _, 0x09, what] => match what {
            0x01 => Some(Whole(System::Gm)),
            0x02 => Some(Whole(System::Unknown)),
            0x03 => Some(Whole(System::Gm2)),
            _ => None,
        },
        // Roland's "data set 1": address, data, checksum.
        [ROLAND, _, GS, 0x12, ref address_data @ .., _checksum] => match *address_data {
            [0x40, 0x00, 0x7f, 0x00] | [0x00, 0x00, 0x7f, _] => Some(Whole(System::Gs)),
            [0x40, 0x00, 0x7f, 0x7f] => Some(Whole(System::Unknown)),
            // "Use for rhythm part": off, map 1 or map 2.
            [0x40, block @ 0x10..=0x1f, 0x15, map] => {
                Some(Part { channel: channel_of_block(block & 0x0f), drums: map != 0 })
            }
            _ => None,
        },
        // Yamaha's "parameter change": address, data.
        [YAMAHA, 0x10..=0x1f, XG, ref address_data @ ..] => match *address_data {
            [0x00, 0x00, 0x7e | 0x7f, 0x00] => Some(Whole(System::Xg)),
            // "Part mode": normal, drums, or one of the drum set-ups.
            [0x08, part @ 0..=15, 0x07, mode] => Some(Part { channel: part, drums: mode != 0 }),
            _ => None,
        },
        _ => None,
    }
}

/// The channel of one of GS's blocks: the drums of channel 10 come first.
fn channel_of_block(block: u8) -> u8 {
    match block {
        0 => DRUM_CHANNEL,
        1..=9 => block - 1,
        _ => block,
    }
}

/// What one channel was told about its bank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BankSelect {
    /// Controllers 0 and 32; `None` until they are sent.
    pub(super) most: Option<u8>,
    pub(super) least: Option<u8>,
    /// What a system exclusive message says of the channel's part.
    pub(super) drums: Option<bool>,
}

impl BankSelect {
    /// The SoundFont bank that a program change on the channel selects.
    pub(super) fn soundfont_bank(self, system: System, channel: u8) -> u8 {
        let part_drums = self.drums.unwrap_or(channel == DRUM_CHANNEL);
        let (most, least) = (self.most.unwrap_or(0), self.least.unwrap_or(0));
        let (drums, melodic) = match (system, self.most) {
            (System::Gm, _) => (part_drums, 0),
            (System::Gm2, Some(120)) => (true, least),
            (System::Gm2, Some(121)) => (false, least),
            (System::Gm2, _) => (part_drums, 0),
            (System::Xg, Some(126 | 127)) => (true, least),
            // Other banks turn a part into a melodic one.
            (System::Xg, Some(_)) => (false, least),
            (System::Xg, None) => (part_drums, least),
            (System::Gs, _) => (part_drums, most),
            // Numbers that mean the same wherever they mean anything.
            (System::Unknown, Some(120 | 126 | 127)) => (true, most),
            (System::Unknown, Some(121)) => (false, least),
            (System::Unknown, _) => (part_drums, most),
        };
        if drums { DRUM_BANK } else { melodic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_message(message: &[u8], expected: Option<BankMessage>) {
        let whole: Vec<u8> = message.iter().copied().chain([0xf7]).collect();
        assert_eq!(bank_message(&whole), expected, "{message:02x?}");
    }

    #[test]
    fn resets_and_parts_are_recognised() {
        let system = |system| Some(BankMessage::System(system));
        let part = |channel, drums| Some(BankMessage::Part { channel, drums });
        check_message(&[0x7e, 0x7f, 0x09, 0x01], system(System::Gm));
        check_message(&[0x7e, 0x10, 0x09, 0x02], system(System::Unknown));
        check_message(&[0x7e, 0x7f, 0x09, 0x03], system(System::Gm2));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x00, 0x7f, 0x00, 0x41], system(System::Gs));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x00, 0x00, 0x7f, 0x01, 0x00], system(System::Gs));
        check_message(&[0x43, 0x10, 0x4c, 0x00, 0x00, 0x7e, 0x00], system(System::Xg));
        check_message(&[0x43, 0x1f, 0x4c, 0x00, 0x00, 0x7f, 0x00], system(System::Xg));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x10, 0x15, 0x00, 0x1b], part(9, false));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x11, 0x15, 0x01, 0x19], part(0, true));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x19, 0x15, 0x02, 0x10], part(8, true));
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x1a, 0x15, 0x02, 0x0f], part(10, true));
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x0a, 0x07, 0x02], part(10, true));
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x09, 0x07, 0x00], part(9, false));
    }

    #[test]
    fn other_messages_say_nothing() {
        // Master volume, a GS reverb macro, an XG part's volume, a part that there is not, bulk
        // data, nothing.
        check_message(&[0x7f, 0x7f, 0x04, 0x01, 0x00, 0x7f], None);
        check_message(&[0x41, 0x10, 0x42, 0x12, 0x40, 0x01, 0x30, 0x04, 0x0b], None);
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x00, 0x0b, 0x64], None);
        check_message(&[0x43, 0x10, 0x4c, 0x08, 0x10, 0x07, 0x01], None);
        check_message(&[0x43, 0x00, 0x4c, 0x00, 0x00, 0x7e, 0x00], None);
        check_message(&[], None);
        assert_eq!(bank_message(&[0x7e, 0x7f, 0x09, 0x01]), None, "not ended");
        assert_eq!(bank_message(&[]), None);
    }

    #[track_caller]
    fn check_bank(system: System, channel: u8, most: Option<u8>, least: Option<u8>, expected: u8) {
        let select = BankSelect { most, least, drums: None };
        assert_eq!(select.soundfont_bank(system, channel), expected, "{system:?} {channel} {select:?}");
    }

    #[test]
    fn banks_are_numbered_as_the_system_does() {
        check_bank(System::Unknown, 0, Some(8), Some(3), 8);
        check_bank(System::Unknown, 0, None, Some(3), 0);
        check_bank(System::Unknown, 9, Some(8), None, 128);
        check_bank(System::Unknown, 0, Some(126), None, 128);
        check_bank(System::Unknown, 9, Some(121), Some(1), 1);
        check_bank(System::Gm, 0, Some(8), Some(3), 0);
        check_bank(System::Gm, 9, Some(8), None, 128);
        check_bank(System::Gm2, 0, Some(121), Some(3), 3);
        check_bank(System::Gm2, 0, Some(120), None, 128);
        check_bank(System::Gm2, 9, Some(121), Some(1), 1);
        check_bank(System::Gm2, 9, None, None, 128);
        check_bank(System::Gm2, 2, Some(5), Some(1), 0);
        check_bank(System::Gs, 0, Some(8), Some(3), 8);
        check_bank(System::Gs, 9, Some(8), None, 128);
        check_bank(System::Xg, 0, Some(0), Some(3), 3);
        check_bank(System::Xg, 0, None, Some(3), 3);
        check_bank(System::Xg, 0, Some(64), Some(0), 0);
        check_bank(System::Xg, 0, Some(126), None, 128);
        check_bank(System::Xg, 0, Some(127), Some(0), 128);
        check_bank(System::Xg, 9, None, None, 128);
        check_bank(System::Xg, 9, Some(0), Some(0), 0);
    }

    #[test]
    fn a_part_is_what_its_message_says() {
        let part = |drums| BankSelect { most: Some(8), least: None, drums: Some(drums) };
        for (system, melodic) in [(System::Gs, 8), (System::Unknown, 8), (System::Gm, 0)] {
            assert_eq!(part(true).soundfont_bank(system, 3), DRUM_BANK, "{system:?}");
            assert_eq!(part(false).soundfont_bank(system, 9), melodic, "{system:?}");
        }
        let xg = BankSelect { drums: Some(true), ..BankSelect::default() };
        assert_eq!(xg.soundfont_bank(System::Xg, 3), DRUM_BANK);
    }
}
