//! Errors when a bank is read, prepared or written.

use alloc::string::String;

/// Why a SoundFont bank cannot be read, prepared or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The file is not a SoundFont.
    #[error("not a SoundFont: the file does not begin with a RIFF header of form type sfbk or sfpk")]
    NotASoundFont,
    /// A chunk is shorter than its header states.
    #[error("the file is cut short: chunk {chunk} should have {stated_bytes} bytes but has {present_bytes}")]
    Truncated {
        /// Identifier of the chunk, such as `phdr`.
        chunk: String,
        /// Size in the header of the chunk, in bytes.
        stated_bytes: u64,
        /// Number of bytes of the chunk that exist in the file.
        present_bytes: u64,
    },
    /// The decoded samples would use too much memory.
    #[error(
        "the compressed samples have {frames} frames in total; at most {limit_frames} can be decoded: \
         use fewer presets"
    )]
    TooLong {
        /// Number of frames of the requested samples and of the samples that are already decoded.
        frames: u64,
        /// Maximum number of frames.
        limit_frames: u64,
    },
    /// The Ogg Vorbis setup headers of the samples would take too long to read.
    #[error(
        "reading the Ogg Vorbis headers of the samples costs as much as {cost} codebook entries; \
         the limit is {limit}"
    )]
    TooCostly {
        /// Number of codebook entries of all headers, plus a fixed number for each header.
        cost: u64,
        /// Maximum cost in codebook entries.
        limit: u64,
    },
    /// The caller stopped the preparation.
    #[error("the preparation of the bank was stopped")]
    Stopped,
    /// A written bank would exceed the limits of the SF2 format.
    #[error("the bank has {count} {kind}; an SF2 file can have at most {limit}")]
    TooLarge {
        /// Kind of record or unit that exceeds the limit, in the plural.
        kind: &'static str,
        /// Number of these records or bytes.
        count: u64,
        /// Maximum number of these records or bytes.
        limit: u64,
    },
    /// A required chunk is missing.
    #[error("the {chunk} chunk is missing")]
    MissingChunk {
        /// Identifier of the chunk, such as `phdr`.
        chunk: &'static str,
    },
    /// The size of a table is not a whole number of records, or the table is empty.
    #[error("the {chunk} chunk has {size_bytes} bytes, which is not a table of {record_bytes}-byte records")]
    BadTable {
        /// Identifier of the chunk, such as `phdr`.
        chunk: &'static str,
        /// Size of the chunk in bytes.
        size_bytes: usize,
        /// Size of one record in bytes.
        record_bytes: usize,
    },
}
