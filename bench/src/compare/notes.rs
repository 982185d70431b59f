//! The compared notes and their times.

use std::fmt;

use dsp_core::soundfont::BankSummary;

use crate::song::RATE_HZ;

/// Bank number of drum kits.
pub(crate) const DRUM_BANK: u16 = 128;
/// Keys of a melodic preset: low, middle C and high.
const MELODIC_KEYS: [u8; 3] = [36, 60, 84];
/// Keys of the drum map of General MIDI (General MIDI Level 1, table 3).
const DRUM_KEYS: core::ops::RangeInclusive<u8> = 35..=81;
/// Keys in which kits differ: kick, side stick, snare, hi-hat, tom, crash and ride.
const MAIN_DRUM_KEYS: [u8; 12] = [35, 36, 37, 38, 40, 42, 46, 41, 45, 48, 49, 51];

/// Milliseconds from the start of a slot, where the program changes, to the start of its note.
pub(crate) const ON_MS: u32 = 50;
/// Milliseconds that a note is held.
pub(crate) const HELD_MS: u32 = 2_000;
/// Milliseconds from the end of a note to the all sound off message.
pub(crate) const RELEASE_MS: u32 = 3_000;
/// Length in milliseconds of a slot, in which one note is played.
pub(crate) const SLOT_MS: u32 = ON_MS + HELD_MS + RELEASE_MS + 100;

/// Returns the number of frames in a number of milliseconds.
pub(crate) const fn frames(millis: u32) -> usize {
    (millis as u64 * RATE_HZ as u64 / 1000) as usize
}

/// One note of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Note {
    /// Bank number of the preset, [`DRUM_BANK`] for drum kits.
    pub(crate) bank: u16,
    /// Program number of the preset, 0 to 127.
    pub(crate) program: u8,
    /// MIDI key number, 0 to 127.
    pub(crate) key: u8,
}

impl Note {
    /// Returns whether the note belongs to a drum kit.
    pub(crate) fn is_drum(self) -> bool {
        self.bank == DRUM_BANK
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} key {}", self.bank, self.program, self.key)
    }
}

/// Returns the compared notes of a bank: three of every General MIDI program, the drum map of the
/// first kit, and the main keys of the other kits.
pub(crate) fn compared_notes(summary: &BankSummary) -> Vec<Note> {
    let mut notes = Vec::new();
    for preset in &summary.presets {
        let (bank, Ok(program)) = (preset.bank, u8::try_from(preset.program)) else { continue };
        let keys: Vec<u8> = match (bank, program) {
            (0, 0..128) => MELODIC_KEYS.to_vec(),
            (DRUM_BANK, 0) => DRUM_KEYS.collect(),
            (DRUM_BANK, _) => MAIN_DRUM_KEYS.to_vec(),
            _ => continue,
        };
        notes.extend(keys.into_iter().map(|key| Note { bank, program, key }));
    }
    notes
}
