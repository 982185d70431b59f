//! Which bytes of the sample data are the Ogg Vorbis streams of compressed samples (SF3).
//!
//! Several samples may play one stream, which is then decoded once. Two streams never share some of
//! their bytes only: so decoding all of them costs no more than the file is large.

use alloc::vec::Vec;
use core::ops::Range;

use super::records::{VORBIS_SAMPLE, u16_at, u32_at};
use super::skipped::Reason;

/// A stream of the sample data.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    /// Its bytes in the sample data.
    pub(super) bytes: Range<usize>,
    /// How many frames it says it has, or why it cannot be played.
    pub(super) frames: Result<u32, Reason>,
}

/// The streams of a bank by ascending position, each once.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    /// The streams that these sample headers name in the sample data `wave`.
    pub(super) fn find(headers: &[[u8; 46]], wave: &[u8]) -> Self {
        let compressed = headers.iter().filter(|header| u16_at(*header, 44) & VORBIS_SAMPLE != 0);
        let bytes = compressed.map(|header| (u32_at(header, 20) as usize, u32_at(header, 24) as usize));
        let mut ranges: Vec<_> = bytes.filter(|&(start, end)| start <= end && end <= wave.len()).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let mut taken_end = 0;
        let stream = |(start, end): (usize, usize)| {
            let frames = if start < taken_end {
                Err(Reason::Vorbis("it overlaps another stream"))
            } else {
                taken_end = end;
                frames(&wave[start..end])
            };
            Stream { bytes: start..end, frames }
        };
        Self(ranges.into_iter().map(stream).collect())
    }

    /// The stream of these bytes: its number and its frames.
    pub(super) fn of(&self, start: u32, end: u32) -> Result<(usize, u32), Reason> {
        let key = (start as usize, end as usize);
        let found = self.0.binary_search_by_key(&key, |stream| (stream.bytes.start, stream.bytes.end));
        let number = found.map_err(|_| Reason::Vorbis("it is not in the file"))?;
        Ok((number, self.0[number].frames?))
    }

    /// The streams by their numbers.
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
