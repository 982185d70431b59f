//! Finds the Ogg Vorbis streams of compressed samples in the sample data (SF3).
//!
//! Several samples may play the same stream, which is decoded only once. A stream that begins
//! before the end of an accepted stream is refused. This limits the decoding time in proportion to
//! the size of the file.

use alloc::vec::Vec;

use super::records::{VORBIS_SAMPLE, u16_at, u32_at};
use super::skipped::BankIssueReason;
use super::stream::Stream;

/// The streams of a bank by ascending position, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    /// Finds the streams of the samples with these headers. `wave` holds the sample data.
    pub(super) fn find(headers: &[[u8; 46]], wave: &[u8]) -> Self {
        let compressed_headers = headers.iter().filter(|header| u16_at(*header, 44) & VORBIS_SAMPLE != 0);
        let bytes =
            compressed_headers.map(|header| (u32_at(header, 20) as usize, u32_at(header, 24) as usize));
        let mut ranges: Vec<_> = bytes.filter(|&(start, end)| start <= end && end <= wave.len()).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let mut last_end = 0;
        let stream = |(start, end): (usize, usize)| {
            let frames = if start < last_end {
                Err(BankIssueReason::Vorbis("it overlaps another stream"))
            } else {
                last_end = end;
                frames(&wave[start..end])
            };
            Stream { bytes: start..end, frames }
        };
        Self(ranges.into_iter().map(stream).collect())
    }

    /// Returns the index and the number of frames of the stream with this byte range.
    pub(super) fn find_range(&self, start: u32, end: u32) -> Result<(usize, u32), BankIssueReason> {
        let bytes = (start as usize, end as usize);
        let index = self.0.binary_search_by_key(&bytes, |stream| (stream.bytes.start, stream.bytes.end));
        let number = index.map_err(|_| BankIssueReason::Vorbis("it lies outside the sample data"))?;
        Ok((number, self.0[number].frames?))
    }

    /// Returns all streams.
    pub(super) fn as_slice(&self) -> &[Stream] {
        &self.0
    }
}

#[cfg(feature = "vorbis")]
fn frames(stream: &[u8]) -> Result<u32, BankIssueReason> {
    super::vorbis::frames(stream)
}

#[cfg(not(feature = "vorbis"))]
fn frames(_: &[u8]) -> Result<u32, BankIssueReason> {
    Err(BankIssueReason::Compressed)
}
