//! A SoundFont bank for playback.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::content::{self, Content, Instrument, Preset, WaveRanges};
use super::error::BankError;
#[cfg(feature = "vorbis")]
use super::location::Location;
use super::samples::{Sample, Wave};
use super::skipped::BankIssue;
use super::summary::BankSummary;
#[cfg(feature = "vorbis")]
use super::vorbis::DecodedStreams;

/// Lowest bank number of drum kits in a SoundFont (section 7.2).
const DRUM_BANK: u16 = 128;

/// A loaded SoundFont bank. A clone is a handle to the same memory.
#[derive(Clone)]
pub struct Bank(Arc<LoadedBank>);

struct LoadedBank {
    content: Content,
    /// The bytes of the file, or a copy of its sample data.
    stored_bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    /// Ranges of the sample data in `stored_bytes`.
    wave: WaveRanges,
    table_bytes: u64,
    #[cfg(feature = "vorbis")]
    decoded_streams: DecodedStreams,
}

/// Two handles are equal if they share one loaded bank.
impl PartialEq for Bank {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Bank {
    /// Loads a bank from the bytes of a file. The bank holds a copy of the sample data.
    ///
    /// # Errors
    ///
    /// [`BankError`] for a file that cannot be used. Damaged parts are not errors: see
    /// [`Self::issues`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, BankError> {
        let (content, wave) = content::read(file)?;
        let mut copy = file[wave.high.clone()].to_vec();
        let low = wave.low.map(|low| {
            copy.extend_from_slice(&file[low]);
            wave.high.len()..copy.len()
        });
        Ok(Self(Arc::new(LoadedBank {
            #[cfg(feature = "vorbis")]
            decoded_streams: DecodedStreams::undecoded(content.streams.as_slice().len()),
            table_bytes: content.bytes() as u64,
            content,
            stored_bytes: Arc::new(copy),
            wave: WaveRanges { high: 0..wave.high.len(), low },
        })))
    }

    /// Loads a bank from the bytes of a file. The bank owns the bytes and does not copy the sample
    /// data.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_vec(file: Vec<u8>) -> Result<Self, BankError> {
        Self::from_shared(Arc::new(file))
    }

    /// Loads a bank from the shared bytes of a file, such as a memory map. The bank does not copy
    /// the sample data.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_shared(file: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Result<Self, BankError> {
        let (content, wave) = content::read((*file).as_ref())?;
        Ok(Self(Arc::new(LoadedBank {
            #[cfg(feature = "vorbis")]
            decoded_streams: DecodedStreams::undecoded(content.streams.as_slice().len()),
            table_bytes: content.bytes() as u64,
            content,
            stored_bytes: file,
            wave,
        })))
    }

    /// Returns name, encoding and presets of the bank.
    #[must_use]
    pub fn summary(&self) -> &BankSummary {
        &self.0.content.summary
    }

    /// Returns the parts of the file that were left out or changed, at most 1000. The compressed
    /// samples that could not be decoded so far follow, one for each stream.
    #[must_use]
    pub fn issues(&self) -> Vec<BankIssue> {
        let mut issues = self.0.content.report.entries.clone();
        issues.extend(self.failures().map(|(_, issue)| issue));
        issues
    }

    /// Returns the number of parts of the file that were left out or changed, plus the number of
    /// undecodable streams so far.
    #[must_use]
    pub fn skipped_total(&self) -> usize {
        self.0.content.report.total + self.failures().count()
    }

    /// Returns the compressed samples of these presets that could not be decoded so far, one for
    /// each stream. All samples that play such a stream are silent.
    #[must_use]
    pub fn undecodable(&self, presets: &[(u16, u8)]) -> Vec<BankIssue> {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let failures = self.failures().filter(|(stream, _)| streams.contains(stream));
            failures.map(|(_, issue)| issue).collect()
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            Vec::new()
        }
    }

    /// Returns the index of each stream that could not be decoded so far, with the first sample
    /// that plays it.
    #[cfg(feature = "vorbis")]
    fn failures(&self) -> impl Iterator<Item = (usize, BankIssue)> {
        self.0.decoded_streams.failures().map(|(stream, reason)| {
            let (number, name) = self.0.content.stream_samples[stream].clone();
            (stream, BankIssue { location: Location::Sample { number, name }, reason })
        })
    }

    #[cfg(not(feature = "vorbis"))]
    fn failures(&self) -> impl Iterator<Item = (usize, BankIssue)> {
        core::iter::empty()
    }

    /// Decodes the compressed samples of the presets that these pairs of bank and program number
    /// select. Samples that are already decoded are skipped. Does nothing for PCM banks and without
    /// the feature `vorbis`.
    ///
    /// A damaged sample is not an error. It is silent, and [`Self::issues`] reports it.
    ///
    /// # Errors
    ///
    /// [`BankError::TooLong`] if the decoded samples of the bank would need more than 1 GiB.
    /// [`BankError::TooCostly`] if the headers of the samples would take too long to read.
    pub fn prepare(&self, presets: &[(u16, u8)]) -> Result<(), BankError> {
        self.prepare_while(presets, &mut || true)
    }

    /// Like [`Self::prepare`], but stops when `should_continue` returns false. `should_continue` is
    /// called before each stream and at every 16th packet. After a stop, the samples that are
    /// already decoded remain.
    ///
    /// # Errors
    ///
    /// As for [`Self::prepare`], and [`BankError::Stopped`] if `should_continue` has returned
    /// false.
    pub fn prepare_while(
        &self,
        presets: &[(u16, u8)],
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), BankError> {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all_streams = self.0.content.streams.as_slice();
            let streams = streams.iter().map(|&number| (number, &all_streams[number]));
            self.0.decoded_streams.prepare(self.wave_bytes(), streams, should_continue)?;
        }
        #[cfg(not(feature = "vorbis"))]
        let _ = (presets, should_continue);
        Ok(())
    }

    /// Returns the memory in bytes that [`Self::prepare`] would allocate for these presets.
    #[must_use]
    pub fn undecoded_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all_streams = self.0.content.streams.as_slice();
            self.0.decoded_streams.missing_bytes(streams.iter().map(|&number| (number, &all_streams[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Returns the memory in bytes that the decoded samples of these presets use after
    /// [`Self::prepare`].
    #[must_use]
    pub fn prepared_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.select(presets).streams(self);
            let all_streams = self.0.content.streams.as_slice();
            DecodedStreams::whole_bytes(streams.iter().map(|&number| (number, &all_streams[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Returns the memory in bytes of all samples that are decoded so far.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            self.0.decoded_streams.bytes()
        }
        #[cfg(not(feature = "vorbis"))]
        0
    }

    /// Returns the approximate memory of the tables in bytes. Sample data are not included.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        self.0.table_bytes
    }

    /// Whether another handle to this loaded bank exists.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns the presets that these pairs of bank and program number select, and their
    /// instruments.
    pub(super) fn select(&self, presets: &[(u16, u8)]) -> Selection {
        let presets: BTreeSet<usize> =
            presets.iter().filter_map(|&(bank, program)| self.resolve(bank, program)).collect();
        let preset_zones = presets.iter().flat_map(|&preset| &self.presets()[preset].zones);
        let instruments = preset_zones.map(|zone| zone.instrument).collect();
        Selection { presets, instruments }
    }

    /// Returns the index of the Ogg Vorbis stream of a sample. `None` for a PCM sample, and for a
    /// sample that cannot be played.
    pub(super) fn stream(&self, sample: usize) -> Option<usize> {
        *self.0.content.sample_streams.get(sample)?
    }

    /// Returns the 16-bit or compressed sample data of the file.
    pub(super) fn wave_bytes(&self) -> &[u8] {
        (*self.0.stored_bytes).as_ref().get(self.0.wave.high.clone()).unwrap_or_default()
    }

    /// Whether the two handles share one loaded bank.
    #[must_use]
    pub fn is_same(&self, bank: &Self) -> bool {
        Arc::ptr_eq(&self.0, &bank.0)
    }

    /// Returns the bank and program number of the preset that these numbers select. It may be a
    /// substitute with other numbers. `None` if no preset is found.
    #[must_use]
    pub fn resolved_preset(&self, bank: u16, program: u8) -> Option<(u16, u16)> {
        let preset = self.presets().get(self.resolve(bank, program)?)?;
        Some((preset.bank, preset.program))
    }

    /// Returns the index of the preset that a bank and program number select. If the preset is
    /// missing, the same program of bank 0 is selected, or of bank 128 for drum kits. If this
    /// preset is missing too, program 0 of bank 0 or 128 is selected. `None` if that is missing.
    pub(crate) fn resolve(&self, bank: u16, program: u8) -> Option<usize> {
        let presets = self.presets();
        let find = |bank: u16, program: u16| {
            presets.binary_search_by_key(&(bank, program), |preset| (preset.bank, preset.program)).ok()
        };
        let common_bank = if bank >= DRUM_BANK { DRUM_BANK } else { 0 };
        let program = u16::from(program);
        find(bank, program).or_else(|| find(common_bank, program)).or_else(|| find(common_bank, 0))
    }

    /// Returns the presets by ascending bank and program number.
    pub(crate) fn presets(&self) -> &[Preset] {
        &self.0.content.presets
    }

    pub(crate) fn instruments(&self) -> &[Instrument] {
        &self.0.content.instruments
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        &self.0.content.samples
    }

    /// Returns the sample data that contain a sample. The positions of the sample are frame numbers
    /// in these data. `None` for a compressed sample that is not decoded.
    pub(crate) fn wave(&self, sample: usize) -> Option<Wave<'_>> {
        self.waves().get(sample)
    }

    /// Returns the sample data of all samples. It is faster than several calls of [`Self::wave`].
    pub(crate) fn waves(&self) -> Waves<'_> {
        let (high, _) = self.wave_bytes().as_chunks();
        let low = self.0.wave.low.clone().and_then(|low| (*self.0.stored_bytes).as_ref().get(low));
        Waves { bank: self, pcm: Wave { high, low: low.and_then(|low| low.get(..high.len())) } }
    }
}

/// Gives access to the sample data of all samples of a bank.
#[derive(Clone, Copy)]
pub(crate) struct Waves<'a> {
    bank: &'a Bank,
    /// The sample data of all samples that are not compressed.
    pcm: Wave<'a>,
}

impl<'a> Waves<'a> {
    /// See [`Bank::wave`].
    pub(crate) fn get(&self, sample: usize) -> Option<Wave<'a>> {
        self.bank.samples().get(sample)?;
        let Some(stream) = self.bank.stream(sample) else { return Some(self.pcm) };
        #[cfg(feature = "vorbis")]
        return self.bank.0.decoded_streams.get(stream).map(|high| Wave { high, low: None });
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = stream;
            None
        }
    }
}

/// Indices of selected presets and of the instruments that they play.
pub(super) struct Selection {
    pub(super) presets: BTreeSet<usize>,
    pub(super) instruments: BTreeSet<usize>,
}

#[cfg(feature = "vorbis")]
impl Selection {
    /// Returns the indices of the streams that the selected instruments play.
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
