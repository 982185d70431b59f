//! Bank select messages of General MIDI 2, GS and XG.

/// Lowest bank number of drum kits in a SoundFont (section 7.2).
pub const DRUM_BANK: u16 = 128;

/// The SoundFont bank number that bank select chooses: controller 0 is `msb`, controller 32 `lsb`.
/// `is_drum_channel` is whether the channel's own instrument is a drum kit.
///
/// An MSB of 120 (GM2), 126 or 127 (XG) selects drum kits. Otherwise the MSB is the bank (GS); if
/// it is 0 (XG) or 121 (GM2), the LSB is.
#[must_use]
pub fn selected_bank(msb: u8, lsb: u8, is_drum_channel: bool) -> u16 {
    match msb {
        120 | 126 | 127 => DRUM_BANK,
        121 => u16::from(lsb),
        _ if is_drum_channel => DRUM_BANK,
        0 => u16::from(lsb),
        bank => u16::from(bank),
    }
}
