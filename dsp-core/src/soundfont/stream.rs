//! An Ogg Vorbis stream in the sample data (SF3).

use core::ops::Range;

use super::skipped::BankIssueReason;

/// An Ogg Vorbis stream in the sample data.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// Byte range in the sample data.
    pub(super) bytes: Range<usize>,
    /// Number of frames according to the last page, or why the stream cannot be played.
    pub(super) frames: Result<u32, BankIssueReason>,
}
