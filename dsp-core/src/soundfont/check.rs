//! The structure of the preset data list, checked before anything is built from it: lists that
//! only run forwards, and indices that stay inside their tables (sections 7.2 to 7.10).

use super::BankError;
use super::records::{table, u16_at};
use super::riff::Chunks;

/// Generator operators whose amount is an index (section 8.1.3).
const INSTRUMENT: u16 = 41;
const SAMPLE_ID: u16 = 53;

pub(super) fn check(chunks: &Chunks<'_>) -> Result<(), BankError> {
    let presets = table::<38>("phdr", chunks.preset_headers)?;
    let preset_bags = table::<4>("pbag", chunks.preset_bags)?;
    let preset_generators = table::<4>("pgen", chunks.preset_generators)?;
    let instruments = table::<22>("inst", chunks.instrument_headers)?;
    let instrument_bags = table::<4>("ibag", chunks.instrument_bags)?;
    let instrument_generators = table::<4>("igen", chunks.instrument_generators)?;
    let samples = table::<46>("shdr", chunks.sample_headers)?;
    if chunks.samples.is_none() {
        return Err(BankError::MissingChunk { chunk: "smpl" });
    }
    check_ascending("preset", presets, 24, "zone", preset_bags.len())?;
    check_ascending("preset zone", preset_bags, 0, "generator", preset_generators.len())?;
    check_ascending("instrument", instruments, 20, "zone", instrument_bags.len())?;
    check_ascending("instrument zone", instrument_bags, 0, "generator", instrument_generators.len())?;
    let instrument_count = instruments.len() - 1;
    check_targets("preset generator", preset_generators, INSTRUMENT, "instrument", instrument_count)?;
    check_targets("instrument generator", instrument_generators, SAMPLE_ID, "sample", samples.len() - 1)
}

/// Each record holds, at `offset`, where its list begins in a table of `limit` records; the
/// lists follow each other.
fn check_ascending<const N: usize>(
    record: &'static str,
    records: &[[u8; N]],
    offset: usize,
    what: &'static str,
    limit: usize,
) -> Result<(), BankError> {
    let mut lowest = 0;
    for (number, bytes) in records.iter().enumerate() {
        let index = usize::from(u16_at(bytes, offset));
        if index < lowest || index >= limit {
            return Err(BankError::BadIndex { record, number, what, index, limit });
        }
        lowest = index;
    }
    Ok(())
}

/// Generators of one operator point into a table of `limit` records. The last generator is
/// the terminal record, which means nothing.
fn check_targets(
    record: &'static str,
    generators: &[[u8; 4]],
    operator: u16,
    what: &'static str,
    limit: usize,
) -> Result<(), BankError> {
    for (number, generator) in generators[..generators.len() - 1].iter().enumerate() {
        let index = usize::from(u16_at(generator, 2));
        if u16_at(generator, 0) == operator && index >= limit {
            return Err(BankError::BadIndex { record, number, what, index, limit });
        }
    }
    Ok(())
}
