//! Looking into one SoundFont file.

use std::path::Path;

use dsp_core::soundfont::{Bank, BankError, SampleEncoding};
use sha2::{Digest as _, Sha256};

use super::{Preset, SkippedParts, SoundFontFormat};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::rendering::memory::{self, Bytes};

/// Most reasons that are told why parts of a bank are left out.
const REASONS_MAX: usize = 20;

/// The contents of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inspection {
    pub(super) name: String,
    pub(super) format: SoundFontFormat,
    pub(super) content_hash: Option<String>,
    pub(super) presets: Vec<Preset>,
    /// What the bank is played without.
    pub(super) skipped: SkippedParts,
    /// Why it cannot be played.
    pub(super) problem: Option<String>,
}

/// Looks into a file. Never fails: what is wrong is the inspection's problem.
pub(super) fn inspect(path: &Path) -> Inspection {
    let mut inspection = Inspection {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        format: format_of(path),
        content_hash: None,
        presets: Vec::new(),
        skipped: SkippedParts::default(),
        problem: None,
    };
    let bytes = match memory::map(path, BANK_MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            inspection.problem = Some(format!("the file cannot be read: {error}"));
            return inspection;
        }
    };
    inspection.content_hash = Some(format!("{:x}", Sha256::digest((*bytes).as_ref())));
    match look_into(bytes) {
        Ok(found) => {
            inspection.problem = found.problem().map(str::to_owned);
            inspection.name = found.name.unwrap_or(inspection.name);
            inspection.format = found.format;
            inspection.presets = found.presets;
            inspection.skipped = found.skipped;
        }
        Err(error) => inspection.problem = Some(error.to_string()),
    }
    inspection
}

/// The contents of a bank.
#[derive(Debug)]
pub(super) struct Found {
    /// The name that it gives itself.
    pub(super) name: Option<String>,
    pub(super) format: SoundFontFormat,
    pub(super) presets: Vec<Preset>,
    /// What the bank is played without.
    pub(super) skipped: SkippedParts,
}

impl Found {
    /// Why nothing of it can be played.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.presets.is_empty().then_some("it holds no preset that could be played")
    }
}

/// Opens a bank and says what is in it.
pub(super) fn look_into(bytes: Bytes) -> Result<Found, BankError> {
    let bank = Bank::from_shared(bytes)?;
    let summary = bank.summary();
    let preset = |preset: &dsp_core::soundfont::PresetSummary| Preset {
        bank: preset.bank,
        program: preset.program,
        name: preset.name.clone(),
    };
    Ok(Found {
        name: plain_name(&summary.name).map(str::to_owned),
        format: match summary.encoding {
            SampleEncoding::Pcm => SoundFontFormat::Sf2,
            SampleEncoding::Vorbis => SoundFontFormat::Sf3,
        },
        presets: summary.presets.iter().map(preset).collect(),
        skipped: SkippedParts {
            count: bank.skipped_total(),
            reasons: bank.skipped().iter().take(REASONS_MAX).map(ToString::to_string).collect(),
        },
    })
}

/// The name in a file without the file extension that some carry; `None` if it is empty.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.trim();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    Some(if SoundFontFormat::of_extension(extension).is_some() { stem } else { name })
        .filter(|name| !name.is_empty())
}

/// The format that a file's name promises.
pub(super) fn format_of(path: &Path) -> SoundFontFormat {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("sf3") { SoundFontFormat::Sf3 } else { SoundFontFormat::Sf2 }
}
