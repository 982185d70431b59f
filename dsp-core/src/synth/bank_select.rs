//! Bank select messages of General MIDI 2, GS and XG.

/// Lowest bank number of drum kits in a SoundFont (section 7.2).
pub const DRUM_BANK: u16 = 128;

/// Returns the SoundFont bank number that the bank select controllers choose. `msb` is the value of
/// controller 0, `lsb` that of controller 32. `is_drum_channel` says whether the instrument of the
/// channel is a drum kit.
///
/// An MSB of 120 (GM2), 126 or 127 (XG) selects drum kits. An MSB of 121 (GM2) selects the bank
/// with the number of the LSB. On drum channels, every other MSB selects drum kits. On other
/// channels, an MSB of 0 (XG) selects the bank with the number of the LSB. Any other MSB is the
/// bank number (GS).
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
