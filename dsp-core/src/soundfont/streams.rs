//! Finds the Ogg Vorbis streams of compressed samples in the sample data (SF3).
//!
//! Several samples may play the same stream, which is decoded once. Streams that overlap are
//! refused, so that the decoding time is bounded by the size of the file.

use alloc::vec::Vec;

use super::records::{VORBIS_SAMPLE, u16_at, u32_at};
use super::skipped::Reason;
use super::stream::Stream;

/// The streams of a bank by ascending position, each once.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    /// The streams of these sample headers in the sample data `wave`.
    pub(super) fn find(headers: &[[u8; 46]], wave: &[u8]) -> Self {
        let compressed = headers.iter().filter(|header| u16_at(*header, 44) & VORBIS_SAMPLE != 0);
        let bytes = compressed.map(|header| (u32_at(header, 20) as usize, u32_at(header, 24) as usize));
        let mut ranges: Vec<_> = bytes.filter(|&(start, end)| start <= end && end <= wave.len()).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let mut last_end = 0;
        let stream = |(start, end): (usize, usize)| {
            let frames = if start < last_end {
                Err(Reason::Vorbis("it overlaps another stream"))
            } else {
                last_end = end;
                frames(&wave[start..end])
            };
            Stream { bytes: start..end, frames }
        };
        Self(ranges.into_iter().map(stream).collect())
    }

    /// Index and number of frames of the stream with these bytes.
    pub(super) fn of(&self, start: u32, end: u32) -> Result<(usize, u32), Reason> {
        let bytes = (start as usize, end as usize);
        let found = self.0.binary_search_by_key(&bytes, |stream| (stream.bytes.start, stream.bytes.end));
        let number = found.map_err(|_| Reason::Vorbis("it is not in the file"))?;
        Ok((number, self.0[number].frames?))
    }

    /// All streams by index.
    pub(super) fn all(&self) -> &[Stream] {
        &self.0
    }
}

#[cfg(feature = "vorbis")]
fn frames(stream: &[u8]) -> Result<u32, Reason> {
    super::vorbis::frames(stream)
}

#[cfg(not(feature = "vorbis"))]
fn frames(_: &[u8]) -> Result<u32, Reason> {
    Err(Reason::Compressed)
}
