//! SoundFont 2 files: their structure, what they offer, and banks ready to be played.
//!
//! Section numbers refer to the "SoundFont Technical Specification" 2.04.

mod bank;
mod content;
mod default_modulators_table;
mod generator_table;
mod generators;
mod modulator_lists;
mod modulators;
pub(crate) mod places;
mod records;
mod reduce;
mod riff;
mod samples;
mod skipped;
mod streams;
#[cfg(test)]
mod tests;
#[cfg(feature = "vorbis")]
mod vorbis;
mod zones;

pub use bank::Bank;
pub(crate) use default_modulators_table::VELOCITY_TO_CUTOFF;
pub(crate) use generators::{Generator, Generators};
pub(crate) use modulators::{Controller, Curve, Destination, Modulator, Source, Transform};
pub use records::{PresetSummary, SampleEncoding};
pub(crate) use samples::{Sample, Wave};
pub use skipped::{Place, Reason, Skipped};

use alloc::string::String;
use alloc::vec::Vec;

/// What a bank offers, read without its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSummary {
    /// The name that the file gives itself (`INAM`); empty when it gives none.
    pub name: String,
    /// Whether its samples are PCM (SF2) or Ogg Vorbis (SF3).
    pub encoding: SampleEncoding,
    /// Its presets by ascending bank and program.
    pub presets: Vec<PresetSummary>,
}

impl BankSummary {
    /// Reads a summary of a whole SoundFont file: every size is checked against the file.
    ///
    /// # Errors
    ///
    /// [`BankError`], naming the first thing that is wrong.
    pub fn read(file: &[u8]) -> Result<Self, BankError> {
        let chunks = riff::Chunks::read(file)?;
        records::summary(&chunks)
    }
}

/// Why a SoundFont file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The file is something else.
    #[error("not a SoundFont: the file does not begin with a RIFF header of form type sfbk")]
    NotASoundFont,
    /// The file ends before what its headers promise.
    #[error(
        "the file is cut short: {chunk} should hold {promised_bytes} bytes and {present_bytes} are there"
    )]
    Truncated {
        /// Chunk identifier.
        chunk: String,
        /// Size in its header.
        promised_bytes: u64,
        /// Bytes that the file has left for it.
        present_bytes: u64,
    },
    /// Compressed samples that are too long to be played from memory, all together.
    #[error("the samples to be decoded have {frames} frames together; at most {limit_frames} are decoded")]
    TooLong {
        /// Frames asked for, and those decoded before.
        frames: u64,
        /// Most frames.
        limit_frames: u64,
    },
    /// Compressed samples whose setup headers take too long to read, all together.
    #[error("the setup headers of its samples cost {cost} to read; at most {limit} are accepted")]
    TooCostly {
        /// Entries of codebooks, and a fixed number for each different header.
        cost: u64,
        /// Most that are accepted.
        limit: u64,
    },
    /// The caller stopped the preparation.
    #[error("preparing the bank was stopped")]
    Stopped,
    /// A bank that an SF2 file has no room for.
    #[error("the bank has {count} {what}; an SF2 file has room for {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many fit.
        limit: u64,
    },
    /// A chunk that a bank cannot do without.
    #[error("the {chunk} chunk is missing")]
    MissingChunk {
        /// Chunk identifier.
        chunk: &'static str,
    },
    /// The size of a table is not a whole number of records, or the table is empty.
    #[error("the {chunk} chunk has {size_bytes} bytes, which is not a table of {record_bytes}-byte records")]
    BadTable {
        /// Chunk identifier.
        chunk: &'static str,
        /// Its size.
        size_bytes: usize,
        /// Size of one record.
        record_bytes: usize,
    },
}
