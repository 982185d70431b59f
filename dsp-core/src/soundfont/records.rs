//! Records of the preset data list (section 7), and the summary made of them.

use alloc::string::String;
use alloc::vec::Vec;

use super::riff::Chunks;
use super::{BankError, BankSummary};

/// One entry of a bank's list of sounds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PresetSummary {
    /// Bank number: 0 for melodic General MIDI sounds, 128 for drum kits.
    pub bank: u16,
    /// Program number, from 0.
    pub program: u16,
    /// Name in the file.
    pub name: String,
}

/// How a bank holds its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleEncoding {
    /// PCM, 16 or 24 bit: an SF2 bank.
    Pcm,
    /// Ogg Vorbis: an SF3 bank.
    Vorbis,
}

/// The records of a table of which each has `N` bytes, the terminal record included.
pub(super) fn table<'a, const N: usize>(
    chunk: &'static str,
    body: Option<&'a [u8]>,
) -> Result<&'a [[u8; N]], BankError> {
    let body = body.ok_or(BankError::MissingChunk { chunk })?;
    match body.as_chunks::<N>() {
        (records, []) if !records.is_empty() => Ok(records),
        _ => Err(BankError::BadTable { chunk, size_bytes: body.len(), record_bytes: N }),
    }
}

pub(super) fn u16_at(record: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes([record[offset], record[offset + 1]])
}

pub(super) fn u32_at(record: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes([record[offset], record[offset + 1], record[offset + 2], record[offset + 3]])
}

/// Text in a fixed field, up to the first zero byte. Names in old files are Latin-1 or ASCII.
pub(super) fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let name: String =
        field[..end].iter().map(|&byte| char::from(byte)).filter(|c| !c.is_control()).collect();
    String::from(name.trim())
}

/// Flag in a sample's type that marks Ogg Vorbis data (SF3).
pub(super) const VORBIS_SAMPLE: u16 = 0x10;

/// Whether a bank's version (`ifil`) or the type of a sample says that samples are compressed.
/// `samples` ends with its terminal record.
pub(super) fn is_vorbis(version: Option<&[u8]>, samples: &[[u8; 46]]) -> bool {
    let major_version = version.filter(|version| version.len() >= 2).map(|version| u16_at(version, 0));
    major_version == Some(3)
        || samples[..samples.len() - 1].iter().any(|sample| u16_at(sample, 44) & VORBIS_SAMPLE != 0)
}

/// Most presets of a bank: 256 banks of 128 programs. The largest banks have a tenth of it.
pub(super) const MOST_PRESETS: usize = 1 << 15;

pub(super) fn summary(chunks: &Chunks<'_>) -> Result<BankSummary, BankError> {
    let headers = table::<38>("phdr", chunks.preset_headers)?;
    let samples = table::<46>("shdr", chunks.sample_headers)?;
    let mut presets: Vec<PresetSummary> = headers[..headers.len() - 1]
        .iter()
        .take(MOST_PRESETS)
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
