//! A bank for playback.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::content::{self, Content, Instrument, Preset, WaveRanges};
use super::error::BankError;
#[cfg(feature = "vorbis")]
use super::location::Location;
use super::samples::{Sample, Wave};
use super::skipped::Skipped;
use super::summary::BankSummary;
#[cfg(feature = "vorbis")]
use super::vorbis::DecodedStreams;

/// Lowest bank number of drum kits in a SoundFont (section 7.2).
const DRUM_BANK: u16 = 128;

/// A loaded SoundFont bank. Clones share its memory.
#[derive(Clone)]
pub struct Bank(Arc<Loaded>);

struct Loaded {
    content: Content,
    /// The file, or a copy of its sample data.
    file: Arc<dyn AsRef<[u8]> + Send + Sync>,
    wave: WaveRanges,
    table_bytes: u64,
    #[cfg(feature = "vorbis")]
    decoded: DecodedStreams,
}

/// Whether both share one loaded bank.
impl PartialEq for Bank {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Bank {
    /// Loads a bank from the bytes of a file. It copies the sample data.
    ///
    /// # Errors
    ///
    /// [`BankError`] for a file that cannot be used. Damaged parts are not errors: see
    /// [`Self::skipped`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, BankError> {
        let (content, wave) = content::read(file)?;
        let mut copy = file[wave.high.clone()].to_vec();
        let low = wave.low.map(|low| {
            copy.extend_from_slice(&file[low]);
            wave.high.len()..copy.len()
        });
        Ok(Self(Arc::new(Loaded {
            #[cfg(feature = "vorbis")]
            decoded: DecodedStreams::none(content.streams.all().len()),
            table_bytes: content.bytes() as u64,
            content,
            file: Arc::new(copy),
            wave: WaveRanges { high: 0..wave.high.len(), low },
        })))
    }

    /// Loads a bank from the bytes of a file, which it keeps. Sample data are read in place.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_vec(file: Vec<u8>) -> Result<Self, BankError> {
        Self::from_shared(Arc::new(file))
    }

    /// Loads a bank from the shared bytes of a file, such as a memory map. Sample data are read in
    /// place.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_shared(file: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Result<Self, BankError> {
        let (content, wave) = content::read((*file).as_ref())?;
        Ok(Self(Arc::new(Loaded {
            #[cfg(feature = "vorbis")]
            decoded: DecodedStreams::none(content.streams.all().len()),
            table_bytes: content.bytes() as u64,
            content,
            file,
            wave,
        })))
    }

    /// Name, encoding and presets.
    #[must_use]
    pub fn summary(&self) -> &BankSummary {
        &self.0.content.summary
    }

    /// The parts of the file that were left out, at most 1000 of [`Self::skipped_total`], then the
    /// compressed samples that could not be decoded so far.
    #[must_use]
    pub fn skipped(&self) -> Vec<Skipped> {
        let mut skipped = self.0.content.report.entries.clone();
        skipped.extend(self.undecodable());
        skipped
    }

    /// Number of parts of the file that were left out, and of samples that could not be decoded.
    #[must_use]
    pub fn skipped_total(&self) -> usize {
        self.0.content.report.total + self.undecodable().count()
    }

    #[cfg(feature = "vorbis")]
    fn undecodable(&self) -> impl Iterator<Item = Skipped> {
        self.0.decoded.failures().map(|(stream, reason)| {
            let (number, name) = self.0.content.stream_samples[stream].clone();
            Skipped { location: Location::Sample { number, name }, reason }
        })
    }

    #[cfg(not(feature = "vorbis"))]
    fn undecodable(&self) -> impl Iterator<Item = Skipped> {
        core::iter::empty()
    }

    /// Decodes the compressed samples of the presets that play for these bank and program numbers.
    /// Samples that are decoded already are skipped. Without the feature `vorbis` and for PCM banks
    /// it does nothing.
    ///
    /// A damaged sample is not an error: it stays silent, and [`Self::skipped`] reports it.
    ///
    /// # Errors
    ///
    /// [`BankError::TooLong`] if the decoded samples would need more than 1 GiB, and
    /// [`BankError::TooCostly`] if their headers would take too long to read.
    pub fn prepare(&self, presets: &[(u16, u8)]) -> Result<(), BankError> {
        self.prepare_while(presets, &mut || true)
    }

    /// [`Self::prepare`] while `should_continue` returns true; it is called many times a second.
    /// After a stop, decoded streams stay decoded.
    ///
    /// # Errors
    ///
    /// As for [`Self::prepare`], and [`BankError::Stopped`].
    pub fn prepare_while(
        &self,
        presets: &[(u16, u8)],
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), BankError> {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all = self.0.content.streams.all();
            let streams = streams.iter().map(|&number| (number, &all[number]));
            self.0.decoded.prepare(self.wave_bytes(), streams, should_continue)?;
        }
        #[cfg(not(feature = "vorbis"))]
        let _ = (presets, should_continue);
        Ok(())
    }

    /// Memory in bytes that [`Self::prepare`] of these presets would allocate.
    #[must_use]
    pub fn undecoded_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all = self.0.content.streams.all();
            self.0.decoded.missing_bytes(streams.iter().map(|&number| (number, &all[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Memory of the decoded samples of these presets in bytes, whether they are decoded yet or
    /// not.
    #[must_use]
    pub fn prepared_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all = self.0.content.streams.all();
            DecodedStreams::whole_bytes(streams.iter().map(|&number| (number, &all[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Memory of all decoded samples so far in bytes.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            self.0.decoded.bytes()
        }
        #[cfg(not(feature = "vorbis"))]
        0
    }

    /// Approximate memory of the tables in bytes, without the sample data of the file.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        self.0.table_bytes
    }

    /// Whether there is another handle to this loaded bank.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The presets that play for these bank and program numbers, and their instruments.
    pub(super) fn select(&self, presets: &[(u16, u8)]) -> Selection {
        let presets: BTreeSet<usize> =
            presets.iter().filter_map(|&(bank, program)| self.resolve(bank, program)).collect();
        let preset_zones = presets.iter().flat_map(|&preset| &self.presets()[preset].zones);
        let instruments = preset_zones.map(|zone| zone.instrument).collect();
        Selection { presets, instruments }
    }

    /// Index of the Ogg Vorbis stream of a compressed sample.
    pub(super) fn stream(&self, sample: usize) -> Option<usize> {
        *self.0.content.sample_streams.get(sample)?
    }

    /// The sample data of the file.
    pub(super) fn wave_bytes(&self) -> &[u8] {
        (*self.0.file).as_ref().get(self.0.wave.high.clone()).unwrap_or_default()
    }

    /// Whether both handles share one loaded bank.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Bank and program number of the preset that plays for these numbers, which may be a
    /// substitute; `None` if no preset plays.
    #[must_use]
    pub fn resolved_preset(&self, bank: u16, program: u8) -> Option<(u16, u16)> {
        let preset = self.presets().get(self.resolve(bank, program)?)?;
        Some((preset.bank, preset.program))
    }

    /// Index of the preset that plays for a bank and program number. If this preset is missing, the
    /// same program of bank 0 plays, or of bank 128 for drum kits. If that is missing too, program
    /// 0 of that bank plays.
    pub(crate) fn resolve(&self, bank: u16, program: u8) -> Option<usize> {
        let presets = self.presets();
        let find = |bank: u16, program: u16| {
            presets.binary_search_by_key(&(bank, program), |preset| (preset.bank, preset.program)).ok()
        };
        let common_bank = if bank >= DRUM_BANK { DRUM_BANK } else { 0 };
        let program = u16::from(program);
        find(bank, program).or_else(|| find(common_bank, program)).or_else(|| find(common_bank, 0))
    }

    /// The presets by ascending bank and program.
    pub(crate) fn presets(&self) -> &[Preset] {
        &self.0.content.presets
    }

    pub(crate) fn instruments(&self) -> &[Instrument] {
        &self.0.content.instruments
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        &self.0.content.samples
    }

    /// The sample data to which the positions of a sample refer. They may extend before and after
    /// the sample. `None` for a compressed sample that is not decoded.
    pub(crate) fn wave(&self, sample: usize) -> Option<Wave<'_>> {
        self.waves().of(sample)
    }

    /// The sample data of all samples, for several look-ups.
    pub(crate) fn waves(&self) -> Waves<'_> {
        let (high, _) = self.wave_bytes().as_chunks();
        let low = self.0.wave.low.clone().and_then(|low| (*self.0.file).as_ref().get(low));
        Waves { bank: self, in_file: Wave { high, low: low.and_then(|low| low.get(..high.len())) } }
    }
}

/// The sample data of a bank.
#[derive(Clone, Copy)]
pub(crate) struct Waves<'a> {
    bank: &'a Bank,
    in_file: Wave<'a>,
}

impl<'a> Waves<'a> {
    /// See [`Bank::wave`].
    pub(crate) fn of(&self, sample: usize) -> Option<Wave<'a>> {
        self.bank.samples().get(sample)?;
        let Some(stream) = self.bank.stream(sample) else { return Some(self.in_file) };
        #[cfg(feature = "vorbis")]
        return self.bank.0.decoded.get(stream).map(|high| Wave { high, low: None });
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = stream;
            None
        }
    }
}

/// Indices of some presets and their instruments.
pub(super) struct Selection {
    pub(super) presets: BTreeSet<usize>,
    pub(super) instruments: BTreeSet<usize>,
}

#[cfg(feature = "vorbis")]
impl Selection {
    /// Indices of the streams of their compressed samples.
    fn streams(&self, bank: &Bank) -> BTreeSet<usize> {
        let zones = self.instruments.iter().flat_map(|&instrument| &bank.instruments()[instrument].zones);
        zones.filter_map(|zone| bank.stream(zone.sample)).collect()
    }

    #[cfg(test)]
    pub(super) fn samples(&self, bank: &Bank) -> BTreeSet<usize> {
        let zones = self.instruments.iter().flat_map(|&instrument| &bank.instruments()[instrument].zones);
        zones.map(|zone| zone.sample).collect()
    }
}

impl fmt::Debug for Bank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bank").field("summary", self.summary()).finish_non_exhaustive()
    }
}
