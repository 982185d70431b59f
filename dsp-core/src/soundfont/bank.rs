//! A bank ready to be played.

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::records::table;
use super::riff::Chunks;
use super::{BankError, BankSummary, SampleEncoding, check, records};

/// A loop shorter than this many frames is not looped: the synthesizer steps over at most one
/// loop per output frame, so a high note on a very short loop would run out of the sample.
const SHORTEST_LOOP_FRAMES: u32 = 8;

/// A loaded SoundFont bank, cheap to clone and to share between renderers.
#[derive(Debug, Clone)]
pub struct Bank {
    summary: Arc<BankSummary>,
    font: Arc<rustysynth::SoundFont>,
}

impl Bank {
    /// Loads a bank from the bytes of an SF2 file, after the checks of [`BankSummary::read`].
    ///
    /// # Errors
    ///
    /// [`BankError`], naming what is wrong; [`BankError::CompressedSamples`] for an SF3 file.
    pub fn from_bytes(file: &[u8]) -> Result<Self, BankError> {
        let chunks = Chunks::read(file)?;
        check::check(&chunks)?;
        let summary = records::summary(&chunks)?;
        if summary.encoding == SampleEncoding::Vorbis {
            return Err(BankError::CompressedSamples);
        }
        let mut reader = LoopFilter::new(file, &chunks)?;
        let font = rustysynth::SoundFont::new(&mut reader)
            .map_err(|error| BankError::Unusable { reason: error.to_string() })?;
        Ok(Self { summary: Arc::new(summary), font: Arc::new(font) })
    }

    /// What the bank offers.
    pub fn summary(&self) -> &BankSummary {
        &self.summary
    }

    pub(crate) fn font(&self) -> &Arc<rustysynth::SoundFont> {
        &self.font
    }

    /// Whether two handles share one loaded bank.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.font, &other.font)
    }
}

/// Reads a file with the loops that cannot be played closed: their end is set to their start,
/// which the synthesizer understands as "plays once".
struct LoopFilter<'a> {
    file: Cursor<&'a [u8]>,
    /// Positions in the file of a loop end, with the four bytes to read there instead.
    closed_loops: Vec<(u64, [u8; 4])>,
}

impl<'a> LoopFilter<'a> {
    fn new(file: &'a [u8], chunks: &Chunks<'a>) -> Result<Self, BankError> {
        let headers = table::<46>("shdr", chunks.sample_headers)?;
        let closed_loops = headers[..headers.len() - 1]
            .iter()
            .filter_map(|header| {
                let (loop_start, loop_end) = (u32_at(header, 28), u32_at(header, 32));
                let too_short = loop_end.saturating_sub(loop_start) < SHORTEST_LOOP_FRAMES;
                let position = header.as_ptr() as usize + 32 - file.as_ptr() as usize;
                too_short.then(|| (position as u64, loop_start.to_le_bytes()))
            })
            .collect();
        Ok(Self { file: Cursor::new(file), closed_loops })
    }
}

impl Read for LoopFilter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let start = self.file.position();
        let read_bytes = self.file.read(buffer)?;
        let first = self.closed_loops.partition_point(|(position, _)| position + 4 <= start);
        for (position, bytes) in &self.closed_loops[first..] {
            if *position >= start + read_bytes as u64 {
                break;
            }
            for (place, &byte) in (*position..).zip(bytes) {
                if let Some(offset) = place.checked_sub(start).map(|offset| offset as usize)
                    && offset < read_bytes
                {
                    buffer[offset] = byte;
                }
            }
        }
        Ok(read_bytes)
    }
}

fn u32_at(record: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes([record[offset], record[offset + 1], record[offset + 2], record[offset + 3]])
}
