//! The structure of the preset data list, checked before anything is built from it: lists that
//! only run forwards, and indices that stay inside their tables (sections 7.2 to 7.10).

use super::BankError;
use super::records::{is_vorbis, table, u16_at, u32_at};
use super::riff::Chunks;

/// Generator operators whose amount is an index (section 8.1.3).
const INSTRUMENT: u16 = 41;
const SAMPLE_ID: u16 = 53;

/// Sample rates that are played: well beyond the 400 to 50,000 Hz of section 7.10.
const SAMPLE_RATES_HZ: core::ops::RangeInclusive<u32> = 100..=768_000;

pub(super) fn check(chunks: &Chunks<'_>) -> Result<(), BankError> {
    let presets = table::<38>("phdr", chunks.preset_headers)?;
    let preset_bags = table::<4>("pbag", chunks.preset_bags)?;
    let preset_generators = table::<4>("pgen", chunks.preset_generators)?;
    let instruments = table::<22>("inst", chunks.instrument_headers)?;
    let instrument_bags = table::<4>("ibag", chunks.instrument_bags)?;
    let instrument_generators = table::<4>("igen", chunks.instrument_generators)?;
    let samples = table::<46>("shdr", chunks.sample_headers)?;
    let wave = chunks.samples.ok_or(BankError::MissingChunk { chunk: "smpl" })?;
    check_ascending("preset", presets, 24, "zone", preset_bags.len())?;
    check_ascending("preset zone", preset_bags, 0, "generator", preset_generators.len())?;
    check_ascending("instrument", instruments, 20, "zone", instrument_bags.len())?;
    check_ascending("instrument zone", instrument_bags, 0, "generator", instrument_generators.len())?;
    let instrument_count = instruments.len() - 1;
    check_targets("preset generator", preset_generators, INSTRUMENT, "instrument", instrument_count)?;
    check_targets("instrument generator", instrument_generators, SAMPLE_ID, "sample", samples.len() - 1)?;
    if is_vorbis(chunks.version, samples) {
        // Positions in compressed samples mean something else.
        return Ok(());
    }
    for generator in &instrument_generators[..instrument_generators.len() - 1] {
        if u16_at(generator, 0) == SAMPLE_ID {
            let number = usize::from(u16_at(generator, 2));
            check_sample(number, &samples[number], wave.len() / 2)?;
        }
    }
    Ok(())
}

/// A sample that is played lies in the sample data, forwards, and has a rate that makes sense.
fn check_sample(number: usize, header: &[u8; 46], wave_frames: usize) -> Result<(), BankError> {
    let [start, end, rate_hz] = [20, 24, 36].map(|offset| u32_at(header, offset));
    let bad_frame = |index: u32| BankError::BadIndex {
        record: "sample",
        number,
        what: "frame",
        index: index as usize,
        limit: wave_frames,
    };
    if end as usize >= wave_frames {
        return Err(bad_frame(end));
    }
    if start >= end {
        return Err(bad_frame(start));
    }
    if !SAMPLE_RATES_HZ.contains(&rate_hz) {
        return Err(BankError::BadSampleRate { number, rate_hz });
    }
    Ok(())
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
