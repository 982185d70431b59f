//! Reads the contents of a SoundFont file.

use std::path::Path;

use dsp_core::soundfont::{Bank, BankError, SampleEncoding};
use sha2::{Digest as _, Sha256};

use super::{Preset, SkippedParts, SoundFontFormat};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::rendering::memory::{self, Bytes};

/// Maximum number of reasons for skipped parts that are reported for a bank.
const REASONS_MAX: usize = 20;

/// Contents of a SoundFont file in a folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inspection {
    pub(super) name: String,
    pub(super) format: SoundFontFormat,
    pub(super) content_hash: Option<String>,
    pub(super) presets: Vec<Preset>,
    /// Parts that cannot be played.
    pub(super) skipped_parts: SkippedParts,
    /// Reason why the bank cannot be played; `None` if it can.
    pub(super) problem: Option<String>,
}

/// Inspects a file. An error becomes the `problem` of the inspection.
pub(super) fn inspect(path: &Path) -> Inspection {
    let mut inspection = Inspection {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        format: format_of(path),
        content_hash: None,
        presets: Vec::new(),
        skipped_parts: SkippedParts::default(),
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
    match read_bank(bytes) {
        Ok(contents) => {
            inspection.problem = contents.problem().map(str::to_owned);
            inspection.name = contents.name.unwrap_or(inspection.name);
            inspection.format = contents.format;
            inspection.presets = contents.presets;
            inspection.skipped_parts = contents.skipped_parts;
        }
        Err(error) => inspection.problem = Some(error.to_string()),
    }
    inspection
}

/// Contents of a bank.
#[derive(Debug)]
pub(super) struct BankContents {
    /// Name in the file; `None` if it has none.
    pub(super) name: Option<String>,
    pub(super) format: SoundFontFormat,
    pub(super) presets: Vec<Preset>,
    /// Parts that cannot be played.
    pub(super) skipped_parts: SkippedParts,
}

impl BankContents {
    /// Returns the reason why the bank cannot be played; `None` if it can.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.presets.is_empty().then_some("the SoundFont has no playable preset")
    }
}

/// Opens a bank and reads its contents.
pub(super) fn read_bank(bytes: Bytes) -> Result<BankContents, BankError> {
    let bank = Bank::from_shared(bytes)?;
    let summary = bank.summary();
    let preset = |preset: &dsp_core::soundfont::PresetSummary| Preset {
        bank: preset.bank,
        program: preset.program,
        name: preset.name.clone(),
    };
    Ok(BankContents {
        name: plain_name(&summary.name).map(str::to_owned),
        format: match summary.encoding {
            SampleEncoding::Pcm => SoundFontFormat::Sf2,
            SampleEncoding::Vorbis => SoundFontFormat::Sf3,
        },
        presets: summary.presets.iter().map(preset).collect(),
        skipped_parts: SkippedParts {
            count: bank.skipped_total(),
            reasons: bank.issues().iter().take(REASONS_MAX).map(ToString::to_string).collect(),
        },
    })
}

/// Returns the name in a file without the file extension that some names have. Returns `None` if it
/// is empty.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.trim();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    Some(if SoundFontFormat::of_extension(extension).is_some() { stem } else { name })
        .filter(|name| !name.is_empty())
}

/// Returns the format of a file according to its extension.
pub(super) fn format_of(path: &Path) -> SoundFontFormat {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("sf3") { SoundFontFormat::Sf3 } else { SoundFontFormat::Sf2 }
}
