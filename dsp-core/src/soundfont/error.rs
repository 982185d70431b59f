//! Errors of reading and writing banks.

use alloc::string::String;

/// Why a SoundFont file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BankError {
    /// The file is something else.
    #[error("not a SoundFont: the file does not begin with a RIFF header of form type sfbk")]
    NotASoundFont,
    /// The file ends before its headers say.
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
    /// Compressed samples that would use too much memory together.
    #[error("the samples to be decoded have {frames} frames together; at most {limit_frames} are decoded")]
    TooLong {
        /// Frames of the requested samples and of those already decoded.
        frames: u64,
        /// Maximum number of frames.
        limit_frames: u64,
    },
    /// Compressed samples whose setup headers would take too long to read together.
    #[error("the setup headers of its samples cost {cost} to read; at most {limit} are accepted")]
    TooCostly {
        /// Number of codebook entries, plus a fixed number per header.
        cost: u64,
        /// Maximum cost.
        limit: u64,
    },
    /// The caller stopped the preparation.
    #[error("preparing the bank was stopped")]
    Stopped,
    /// A bank that exceeds the limits of the SF2 format.
    #[error("the bank has {count} {kind}; an SF2 file has room for {limit}")]
    TooLarge {
        /// The kind of record.
        kind: &'static str,
        /// Number of records.
        count: u64,
        /// Maximum number of records.
        limit: u64,
    },
    /// A required chunk is missing.
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
        /// Size of the chunk.
        size_bytes: usize,
        /// Size of one record.
        record_bytes: usize,
    },
}
