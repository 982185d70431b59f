//! A bank as the `rustysynth` crate wants it.

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::records::{table, u16_at, u32_at};
use super::riff::Chunks;
use super::{BankError, SampleEncoding, check, records};

/// Loads a file, repaired so that the synthesizer can play it.
pub(super) fn font(file: &[u8]) -> Result<Option<Arc<rustysynth::SoundFont>>, BankError> {
    let chunks = Chunks::read(file)?;
    check::check(&chunks)?;
    if records::summary(&chunks)?.encoding == SampleEncoding::Vorbis {
        return if cfg!(feature = "vorbis") { Ok(None) } else { Err(BankError::CompressedSamples) };
    }
    let mut reader = RepairingReader { file: Cursor::new(file), repairs: repairs(file, &chunks)? };
    let font = rustysynth::SoundFont::new(&mut reader)
        .map_err(|error| BankError::Unusable { reason: error.to_string() })?;
    Ok(Some(Arc::new(font)))
}

/// A loop shorter than this many frames is not looped: the synthesizer steps over at most one
/// loop per output frame, so a high note on a very short loop would run out of the sample.
const SHORTEST_LOOP_FRAMES: u32 = 8;

/// Generators whose amount the synthesizer takes on trust, with the range of section 8.1.3.
/// Amounts outside it are read as its nearest end.
const GENERATOR_RANGES: [(u16, i16, i16); 11] = [
    (5, -12_000, 12_000),  // modLfoToPitch, cents
    (6, -12_000, 12_000),  // vibLfoToPitch, cents
    (7, -12_000, 12_000),  // modEnvToPitch, cents
    (10, -12_000, 12_000), // modLfoToFilterFc, cents
    (11, -12_000, 12_000), // modEnvToFilterFc, cents
    (13, -960, 960),       // modLfoToVolume, centibels
    (22, -16_000, 4_500),  // freqModLFO, absolute cents
    (24, -16_000, 4_500),  // freqVibLFO, absolute cents
    (51, -120, 120),       // coarseTune, semitones
    (52, -99, 99),         // fineTune, cents
    (56, -1_200, 1_200),   // scaleTuning, cents a key; in a preset it is added and may be negative
];

/// A byte to be read as another: its position in the file, and what it is read as.
type Repair = (u64, u8);

/// What must be read otherwise than it stands in the file for the bank to be playable, by
/// ascending position.
fn repairs(file: &[u8], chunks: &Chunks<'_>) -> Result<Vec<Repair>, BankError> {
    let mut repairs = Vec::new();
    let mut replace = |field: &[u8], bytes: &[u8]| {
        let position = (field.as_ptr() as usize - file.as_ptr() as usize) as u64;
        repairs.extend((position..).zip(bytes.iter().copied()));
    };
    let headers = table::<46>("shdr", chunks.sample_headers)?;
    for header in &headers[..headers.len() - 1] {
        let (loop_start, loop_end) = (u32_at(header, 28), u32_at(header, 32));
        if loop_end.saturating_sub(loop_start) < SHORTEST_LOOP_FRAMES {
            // An end at the start is understood as "plays once".
            replace(&header[32..36], &loop_start.to_le_bytes());
        }
    }
    let tables = [("pgen", chunks.preset_generators), ("igen", chunks.instrument_generators)];
    for (name, body) in tables {
        for generator in table::<4>(name, body)? {
            let operator = u16_at(generator, 0);
            let Some((_, low, high)) = GENERATOR_RANGES.iter().find(|(known, ..)| *known == operator) else {
                continue;
            };
            let amount = u16_at(generator, 2).cast_signed();
            if !(*low..=*high).contains(&amount) {
                replace(&generator[2..4], &amount.clamp(*low, *high).to_le_bytes());
            }
        }
    }
    repairs.sort_unstable();
    Ok(repairs)
}

/// Reads a file with its repairs.
struct RepairingReader<'a> {
    file: Cursor<&'a [u8]>,
    repairs: Vec<Repair>,
}

impl Read for RepairingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let start = self.file.position();
        let read_bytes = self.file.read(buffer)?;
        let end = start + read_bytes as u64;
        let first = self.repairs.partition_point(|(position, _)| *position < start);
        for &(position, byte) in self.repairs[first..].iter().take_while(|(position, _)| *position < end) {
            buffer[(position - start) as usize] = byte;
        }
        Ok(read_bytes)
    }
}
