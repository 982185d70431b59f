//! Reads the summary of a bank, without its samples.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::BankError;
use super::records::{VORBIS_SAMPLE, table, text, u16_at};
use super::riff::Chunks;

/// Name, encoding and presets of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSummary {
    /// The name in the file (`INAM`); empty if the file has no name.
    pub name: String,
    /// The encoding of the samples: PCM (SF2) or Ogg Vorbis (SF3).
    pub encoding: SampleEncoding,
    /// The presets by ascending bank and program number, at most 32,768. Presets may share both
    /// numbers.
    pub presets: Vec<PresetSummary>,
}

impl BankSummary {
    /// Reads the summary of a whole SoundFont file.
    ///
    /// # Errors
    ///
    /// [`BankError`] with the first problem of the file, such as a missing chunk.
    pub fn read(file: &[u8]) -> Result<Self, BankError> {
        summary(&Chunks::read(file)?)
    }
}

/// Numbers and name of a preset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PresetSummary {
    /// Bank number: 0 for melodic General MIDI sounds, 128 for drum kits.
    pub bank: u16,
    /// Program number, 0 to 127.
    pub program: u16,
    /// Name of the preset in the file.
    pub name: String,
}

/// The encoding of a bank's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleEncoding {
    /// PCM with 16 or 24 bits: an SF2 bank.
    Pcm,
    /// Ogg Vorbis: an SF3 bank.
    Vorbis,
}

/// Maximum number of presets: 256 banks of 128 programs. The largest known banks have a tenth of
/// this number.
pub(super) const PRESETS_MAX: usize = 1 << 15;

/// Reads the summary from the chunks of a file.
pub(super) fn summary(chunks: &Chunks<'_>) -> Result<BankSummary, BankError> {
    let headers = table::<38>("phdr", chunks.preset_headers)?;
    let samples = table::<46>("shdr", chunks.sample_headers)?;
    let mut presets: Vec<PresetSummary> = headers[..headers.len() - 1]
        .iter()
        .take(PRESETS_MAX)
        .map(|header| PresetSummary {
            bank: u16_at(header, 22),
            program: u16_at(header, 20),
            name: text(&header[..20]),
        })
        .collect();
    presets.sort();
    Ok(BankSummary {
        name: chunks.name.map(text).unwrap_or_default(),
        encoding: if is_vorbis(chunks.version, samples) {
            SampleEncoding::Vorbis
        } else {
            SampleEncoding::Pcm
        },
        presets,
    })
}

/// Whether a bank has compressed samples. The version of the file (`ifil`) or the type of a sample
/// shows this. `samples` are the sample headers with the terminal record.
fn is_vorbis(version: Option<&[u8]>, samples: &[[u8; 46]]) -> bool {
    let major_version = version.filter(|version| version.len() >= 2).map(|version| u16_at(version, 0));
    major_version == Some(3)
        || samples[..samples.len() - 1].iter().any(|sample| u16_at(sample, 44) & VORBIS_SAMPLE != 0)
}
