//! Writes a bank that contains only some presets of another bank. These presets sound exactly the
//! same as in the other bank.

mod modulators;
mod shared_value;
#[cfg(test)]
pub(super) mod tests;
mod wave;
mod writer;
mod zones;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::bank::{Bank, Selection};
use super::error::BankError;
use super::summary::{PresetSummary, SampleEncoding};
use wave::WaveWriter;
use zones::{Level, WrittenZone, ZonesWriter};

/// Writes an SF2 file with the selected presets. Their bank and program numbers stay the same.
/// Compressed samples must be decoded before: see [`Bank::prepare`]. Samples that are not decoded
/// are left out.
pub(super) fn reduced(bank: &Bank, selection: &Selection) -> Result<Vec<u8>, BankError> {
    let wave = WaveWriter::new(bank, selection);
    let mut instruments = ZonesWriter::new(Level::Instrument);
    let mut instrument_numbers = BTreeMap::new();
    for &instrument in &selection.instruments {
        instrument_numbers.insert(instrument, instruments.len());
        let zones = bank.instruments()[instrument].zones.iter().filter_map(|zone| {
            Some(WrittenZone {
                keys: zone.keys,
                velocities: zone.velocities,
                generators: wave.adjusted_generators(zone)?,
                modulators: &zone.modulators,
                target: wave.index(zone.sample)?,
            })
        });
        instruments.add(&zones.collect::<Vec<_>>());
    }
    let mut presets = ZonesWriter::new(Level::Preset);
    let mut preset_ids = Vec::with_capacity(selection.presets.len());
    for &preset in &selection.presets {
        let preset = &bank.presets()[preset];
        preset_ids.push((preset.bank, preset.program));
        let zones = preset.zones.iter().filter_map(|zone| {
            Some(WrittenZone {
                keys: zone.keys,
                velocities: zone.velocities,
                generators: zone.generators,
                modulators: &zone.modulators,
                target: *instrument_numbers.get(&zone.instrument)?,
            })
        });
        presets.add(&zones.collect::<Vec<_>>());
    }
    let summary = bank.summary();
    let preset_headers = preset_ids.iter().zip(presets.first_zones()).map(|(&(bank, program), first)| {
        let is_same = |preset: &&PresetSummary| (preset.bank, preset.program) == (bank, program);
        let name = summary.presets.iter().find(is_same).map_or("", |preset| &preset.name);
        let mut header = writer::name_field(name, 0).to_vec();
        header.extend([program, bank, first].map(u16::to_le_bytes).as_flattened());
        header.extend([0; 12]);
        header
    });
    let mut phdr: Vec<u8> = preset_headers.flatten().collect();
    let instrument_headers = (0..).zip(instruments.first_zones()).map(|(number, first)| {
        let mut header = writer::name_field("Instrument", number).to_vec();
        header.extend(first.to_le_bytes());
        header
    });
    let mut inst: Vec<u8> = instrument_headers.flatten().collect();
    let preset_tables = presets.finish()?;
    let instrument_tables = instruments.finish()?;
    phdr.extend(writer::name_field("EOP", 0));
    phdr.extend([0, 0, preset_tables.zone_count].map(u16::to_le_bytes).as_flattened());
    phdr.extend([0; 12]);
    inst.extend(writer::name_field("EOI", 0));
    inst.extend(instrument_tables.zone_count.to_le_bytes());
    let info_chunk = writer::info_chunk(&summary.name);
    let samples = wave.finish()?;
    let table_chunks = [
        (b"phdr", phdr),
        (b"pbag", preset_tables.bags),
        (b"pmod", preset_tables.modulators),
        (b"pgen", preset_tables.generators),
        (b"inst", inst),
        (b"ibag", instrument_tables.bags),
        (b"imod", instrument_tables.modulators),
        (b"igen", instrument_tables.generators),
        (b"shdr", samples.headers),
    ];
    writer::file(&info_chunk, &samples.wave, &table_chunks)
}

impl Bank {
    /// Returns the size of the sample data of [`Self::reduced`] in bytes. The presets must be
    /// prepared before: see [`Self::prepare`].
    #[must_use]
    pub fn reduced_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        WaveWriter::new(self, &self.select(presets)).bytes()
    }

    /// Writes an SF2 file with only the presets that these pairs of bank and program number select.
    /// The presets sound exactly the same, and their numbers and names stay the same. The samples
    /// are PCM. The same bank and the same numbers result in the same file.
    ///
    /// # Errors
    ///
    /// As for [`Self::prepare`]. Also [`BankError::TooLarge`] if the result would exceed the 16-bit
    /// indices or the 32-bit sizes of an SF2 file.
    pub fn write_reduced(&self, presets: &[(u16, u8)]) -> Result<Vec<u8>, BankError> {
        if self.summary().encoding == SampleEncoding::Vorbis {
            self.prepare(presets)?;
        }
        reduced(self, &self.select(presets))
    }
}
