//! An Ogg Vorbis stream in the sample data (SF3).

use core::ops::Range;

use super::skipped::Reason;

/// A stream of the sample data.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// Byte range in the sample data.
    pub(super) bytes: Range<usize>,
    /// Number of frames by its last page, or why it cannot be played.
    pub(super) frames: Result<u32, Reason>,
}
