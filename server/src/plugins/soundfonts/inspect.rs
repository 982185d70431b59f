//! Looking into one SoundFont file.

use std::path::Path;

use dsp_core::soundfont::{Bank, BankError, BankSummary, SampleEncoding};
use sha2::{Digest as _, Sha256};

use super::{Preset, SoundFontFormat};
use crate::rendering::banks::BANK_MAX_BYTES;
use crate::{bounded_read, panics};

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inspection {
    pub(super) name: String,
    pub(super) format: SoundFontFormat,
    pub(super) content_hash: Option<String>,
    pub(super) presets: Vec<Preset>,
    /// Why it cannot be played.
    pub(super) problem: Option<String>,
}

/// Looks into a file of this size. Never fails: what is wrong is the inspection's problem.
pub(super) fn inspect(path: &Path, size_bytes: u64) -> Inspection {
    let mut inspection = Inspection {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        format: format_of(path),
        content_hash: None,
        presets: Vec::new(),
        problem: None,
    };
    if size_bytes > BANK_MAX_BYTES {
        inspection.problem =
            Some(format!("the file has {size_bytes} bytes; banks of at most {BANK_MAX_BYTES} are read"));
        return inspection;
    }
    let bytes = match bounded_read::read(path, BANK_MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            inspection.problem = Some(format!("the file cannot be read: {error}"));
            return inspection;
        }
    };
    inspection.content_hash = Some(format!("{:x}", Sha256::digest(&bytes)));
    // Files of anybody: a panic is the file's fault, and must not end the scan.
    let opened = std::panic::catch_unwind(|| {
        let summary = BankSummary::read(&bytes)?;
        // Opened whole, because that finds what a summary does not.
        let playable = Bank::from_bytes(&bytes).map(drop);
        Ok::<_, BankError>((summary, playable))
    });
    match opened {
        Ok(Ok((summary, playable))) => {
            inspection.problem = playable.err().map(|error| error.to_string());
            if summary.encoding == SampleEncoding::Vorbis {
                inspection.format = SoundFontFormat::Sf3;
            }
            if let Some(name) = plain_name(&summary.name) {
                inspection.name = name.to_owned();
            }
            let preset = |preset: dsp_core::soundfont::PresetSummary| Preset {
                bank: preset.bank,
                program: preset.program,
                name: preset.name,
            };
            inspection.presets = summary.presets.into_iter().map(preset).collect();
        }
        Ok(Err(error)) => {
            // Whatever else may be wrong with an SF3 file, this is what its owner needs to know.
            let is_sf3 = inspection.format == SoundFontFormat::Sf3 && error != BankError::NotASoundFont;
            let error = if is_sf3 { BankError::CompressedSamples } else { error };
            inspection.problem = Some(error.to_string());
        }
        Err(panic) => {
            inspection.problem =
                Some(format!("reading it made the synthesizer fail: {}", panics::message(&*panic)));
        }
    }
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
