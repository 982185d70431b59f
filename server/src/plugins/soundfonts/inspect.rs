//! Looking into one SoundFont file.

use std::path::Path;

use dsp_core::soundfont::{Bank, SampleEncoding};
use sha2::{Digest as _, Sha256};

use super::{Preset, SkippedParts, SoundFontFormat};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::rendering::memory;

/// Most reasons that are told why parts of a bank are left out.
const REASONS_MAX: usize = 20;

/// What is in a file.
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
    let bank = match Bank::from_shared(bytes) {
        Ok(bank) => bank,
        Err(error) => {
            inspection.problem = Some(error.to_string());
            return inspection;
        }
    };
    let summary = bank.summary();
    inspection.format = match summary.encoding {
        SampleEncoding::Pcm => SoundFontFormat::Sf2,
        SampleEncoding::Vorbis => SoundFontFormat::Sf3,
    };
    if let Some(name) = plain_name(&summary.name) {
        inspection.name = name.to_owned();
    }
    let preset = |preset: &dsp_core::soundfont::PresetSummary| Preset {
        bank: preset.bank,
        program: preset.program,
        name: preset.name.clone(),
    };
    inspection.presets = summary.presets.iter().map(preset).collect();
    if inspection.presets.is_empty() {
        inspection.problem = Some("it holds no preset that could be played".to_owned());
    }
    inspection.skipped = SkippedParts {
        count: bank.skipped_total(),
        reasons: bank.skipped().iter().take(REASONS_MAX).map(ToString::to_string).collect(),
    };
    inspection
}

/// The name in a file without the file extension that some carry; `None` if it is empty.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.trim();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_extension = ["sf2", "sf3"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    Some(if is_extension { stem } else { name }).filter(|name| !name.is_empty())
}

/// What a file's name says that it is.
pub(super) fn format_of(path: &Path) -> SoundFontFormat {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("sf3") { SoundFontFormat::Sf3 } else { SoundFontFormat::Sf2 }
}
