//! Finds SoundFonts and presets that a project uses but that are missing, and their replacements.

use dsp_core::session::{Event, Track};
use dsp_core::soundfont::Bank;
use dsp_core::synth::{DRUM_BANK, selected_bank};
use serde::Serialize;
use utoipa::ToSchema;

/// Controller numbers of bank select: most and least significant byte. A selected bank applies from
/// the next program change (MIDI 1.0, "Bank Select").
const BANK_SELECT_MSB: u8 = 0;
const BANK_SELECT_LSB: u8 = 32;

/// A bank that was opened for a `soundfont_id` of a project.
#[derive(Debug, Clone)]
pub struct OpenedBank {
    /// The opened bank.
    pub bank: Bank,
    /// Id of the opened bank.
    pub soundfont_id: String,
    /// Text that changes with the content of the bank's file.
    pub version: String,
    /// Whether this bank replaces a missing SoundFont.
    pub is_substitute: bool,
    /// Whether a user uploaded this bank.
    pub is_upload: bool,
}

/// A missing SoundFont or preset of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MissingSound {
    /// Ids of the tracks whose notes use the SoundFont or preset.
    pub tracks: Vec<String>,
    /// Id of the SoundFont that is missing, or that lacks the preset.
    pub soundfont_id: String,
    /// The missing preset; null if the whole SoundFont is missing.
    pub preset: Option<PresetNumbers>,
    /// Id of the SoundFont that played instead; null if nothing played.
    pub played_soundfont_id: Option<String>,
    /// The preset that played instead of the missing one; null if the whole SoundFont is missing,
    /// or if nothing played.
    pub played_preset: Option<NamedPreset>,
}

/// Bank and program number of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
pub struct PresetNumbers {
    /// SoundFont bank number; 128 contains drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u16,
}

/// A preset with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamedPreset {
    /// SoundFont bank number; 128 contains drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u16,
    /// Name of the preset in the SoundFont.
    pub name: String,
}

/// A preset that a bank lacks, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPreset {
    /// The preset that the notes use.
    pub requested: PresetNumbers,
    /// The preset that plays instead; `None` if nothing plays.
    pub played: Option<NamedPreset>,
}

impl std::fmt::Display for PresetNumbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.bank, self.program)
    }
}

impl MissingSound {
    /// Describes the missing SoundFont or preset in a sentence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let id = &self.soundfont_id;
        let tracks: Vec<String> = self.tracks.iter().map(|track| format!("`{track}`")).collect();
        let missing_text = match self.preset {
            None => format!("The SoundFont `{id}` is missing"),
            Some(preset) => format!("The SoundFont `{id}` has no preset {preset} (bank:program)"),
        };
        let played_sound = match (&self.played_preset, &self.played_soundfont_id) {
            (Some(NamedPreset { bank, program, name }), _) => {
                format!("{bank}:{program} `{name}` played instead")
            }
            (None, Some(id)) => format!("`{id}` played instead"),
            (None, None) => "no other preset played instead".to_owned(),
        };
        let noun = if tracks.len() == 1 { "track" } else { "tracks" };
        format!("{missing_text}; {played_sound} ({noun} {}).", tracks.join(", "))
    }
}

/// Returns the presets that the notes of a track use but the bank lacks, each only once.
pub(super) fn missing_presets(track: &Track, bank: &Bank) -> Vec<MissingPreset> {
    let mut requested_preset = track.instrument.map(|instrument| (instrument.bank, instrument.program));
    let (mut msb, mut lsb, mut bank_is_selected) = (0, 0, false);
    let mut plays_drums = requested_preset.is_some_and(|(bank, _)| bank >= DRUM_BANK);
    let mut missing_presets: Vec<MissingPreset> = Vec::new();
    for event in &track.events {
        match event.event {
            Event::Preset { bank, program } => {
                (requested_preset, plays_drums) = (Some((bank, program)), bank >= DRUM_BANK);
            }
            Event::Controller { controller: BANK_SELECT_MSB, value } => {
                (msb, bank_is_selected) = (value, true);
            }
            Event::Controller { controller: BANK_SELECT_LSB, value } => {
                (lsb, bank_is_selected) = (value, true);
            }
            Event::Program { program } => {
                let is_selected = core::mem::take(&mut bank_is_selected);
                let bank = is_selected.then(|| selected_bank(msb, lsb, plays_drums));
                requested_preset =
                    bank.or(requested_preset.map(|(bank, _)| bank)).map(|bank| (bank, program));
            }
            Event::NoteOn { velocity: 1.., .. } => {
                if let Some((number, program)) = requested_preset {
                    missing_presets.extend(
                        missing_preset(bank, number, program)
                            .filter(|preset| !missing_presets.contains(preset)),
                    );
                }
            }
            _ => {}
        }
    }
    missing_presets
}

fn missing_preset(bank: &Bank, number: u16, program: u8) -> Option<MissingPreset> {
    let requested_preset = PresetNumbers { bank: number, program: program.into() };
    let resolved_preset = bank.resolved_preset(number, program);
    if resolved_preset == Some((requested_preset.bank, requested_preset.program)) {
        return None;
    }
    let played_preset = resolved_preset.map(|(number, program)| {
        let mut presets = bank.summary().presets.iter();
        let named_preset = presets.find(|preset| (preset.bank, preset.program) == (number, program));
        NamedPreset {
            bank: number,
            program,
            name: named_preset.map(|preset| preset.name.clone()).unwrap_or_default(),
        }
    });
    Some(MissingPreset { requested: requested_preset, played: played_preset })
}
