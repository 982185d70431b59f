//! A bank ready to be played.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::content::{self, Content, Instrument, Preset, WavePlace};
use super::samples::{Sample, Wave};
#[cfg(feature = "vorbis")]
use super::skipped::Place;
use super::skipped::Skipped;
#[cfg(feature = "vorbis")]
use super::vorbis::Decoded;
use super::{BankError, BankSummary};

/// Bank number from which on a SoundFont holds drum kits (section 7.2).
const DRUM_BANK: u16 = 128;

/// A loaded SoundFont bank, cheap to clone and to share between renderers.
#[derive(Clone)]
pub struct Bank(Arc<Loaded>);

struct Loaded {
    content: Content,
    /// The file, or what was copied of it.
    file: Arc<dyn AsRef<[u8]> + Send + Sync>,
    wave: WavePlace,
    table_bytes: u64,
    #[cfg(feature = "vorbis")]
    decoded: Decoded,
}

impl Bank {
    /// Loads a bank from the bytes of a file, of which it copies the sample data.
    ///
    /// # Errors
    ///
    /// [`BankError`], naming what is wrong. Bad regions are no error: see [`Self::skipped`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, BankError> {
        let (content, wave) = content::read(file)?;
        let mut copy = file[wave.high.clone()].to_vec();
        let low = wave.low.map(|low| {
            copy.extend_from_slice(&file[low]);
            wave.high.len()..copy.len()
        });
        Ok(Self(Arc::new(Loaded {
            #[cfg(feature = "vorbis")]
            decoded: Decoded::none(content.streams.all().len()),
            table_bytes: content.bytes() as u64,
            content,
            file: Arc::new(copy),
            wave: WavePlace { high: 0..wave.high.len(), low },
        })))
    }

    /// Loads a bank from the bytes of a file, which it keeps: the sample data is read in place.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_vec(file: Vec<u8>) -> Result<Self, BankError> {
        Self::from_shared(Arc::new(file))
    }

    /// Loads a bank from the bytes of a file that somebody else keeps too, such as a memory map:
    /// the sample data is read in place.
    ///
    /// # Errors
    ///
    /// As for [`Self::from_bytes`].
    pub fn from_shared(file: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Result<Self, BankError> {
        let (content, wave) = content::read((*file).as_ref())?;
        Ok(Self(Arc::new(Loaded {
            #[cfg(feature = "vorbis")]
            decoded: Decoded::none(content.streams.all().len()),
            table_bytes: content.bytes() as u64,
            content,
            file,
            wave,
        })))
    }

    /// What the bank offers.
    #[must_use]
    pub fn summary(&self) -> &BankSummary {
        &self.0.content.summary
    }

    /// What the bank was loaded without, and why, in the first 1000 of [`Self::skipped_total`]
    /// cases; then the compressed samples that could not be decoded so far.
    #[must_use]
    pub fn skipped(&self) -> Vec<Skipped> {
        let mut skipped = self.0.content.report.entries.clone();
        skipped.extend(self.undecodable());
        skipped
    }

    /// How many things the bank was loaded without, and compressed samples could not be decoded.
    #[must_use]
    pub fn skipped_total(&self) -> usize {
        self.0.content.report.total + self.undecodable().count()
    }

    #[cfg(feature = "vorbis")]
    fn undecodable(&self) -> impl Iterator<Item = Skipped> {
        self.0.decoded.failures().map(|(stream, reason)| {
            let (number, name) = self.0.content.stream_samples[stream].clone();
            Skipped { place: Place::Sample { number, name }, reason }
        })
    }

    #[cfg(not(feature = "vorbis"))]
    fn undecodable(&self) -> impl Iterator<Item = Skipped> {
        core::iter::empty()
    }

    /// Decodes the compressed samples of those presets that sound for these bank and program
    /// numbers, unless they are decoded already. Of other banks, and in a build without the
    /// feature `vorbis`, there is nothing to decode.
    ///
    /// A damaged sample is no error: it stays silent, and [`Self::skipped`] names it.
    ///
    /// # Errors
    ///
    /// [`BankError::TooLong`] if the decoded samples would fill more than 1 GiB, and
    /// [`BankError::TooCostly`] if it would take too long to begin with them.
    pub fn prepare(&self, presets: &[(u16, u8)]) -> Result<(), BankError> {
        self.prepare_while(presets, &mut || true)
    }

    /// The same as long as `go_on` says so; it is asked many times a second. Streams that are
    /// decoded when it says no stay decoded.
    ///
    /// # Errors
    ///
    /// As for [`Self::prepare`], and [`BankError::Stopped`].
    pub fn prepare_while(
        &self,
        presets: &[(u16, u8)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), BankError> {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.used(presets).streams(self);
            let all = self.0.content.streams.all();
            let streams = streams.iter().map(|&number| (number, &all[number]));
            self.0.decoded.prepare(self.wave_bytes(), streams, go_on)?;
        }
        #[cfg(not(feature = "vorbis"))]
        let _ = (presets, go_on);
        Ok(())
    }

    /// Bytes of memory that [`Self::prepare`] of these presets would add.
    #[must_use]
    pub fn undecoded_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.used(presets).streams(self);
            let all = self.0.content.streams.all();
            self.0.decoded.missing_bytes(streams.iter().map(|&number| (number, &all[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Bytes of memory that the decoded samples of these presets take, whether they are decoded yet
    /// or not.
    #[must_use]
    pub fn prepared_bytes(&self, presets: &[(u16, u8)]) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            let streams = self.used(presets).streams(self);
            let all = self.0.content.streams.all();
            Decoded::whole_bytes(streams.iter().map(|&number| (number, &all[number])))
        }
        #[cfg(not(feature = "vorbis"))]
        {
            let _ = presets;
            0
        }
    }

    /// Bytes of memory that the decoded samples take so far.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        #[cfg(feature = "vorbis")]
        {
            self.0.decoded.bytes()
        }
        #[cfg(not(feature = "vorbis"))]
        0
    }

    /// Bytes of memory that the tables take, about. The sample data of the file is not counted.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        self.0.table_bytes
    }

    /// Whether somebody else has a handle to this loaded bank.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Presets that sound for these numbers, and what they are made of.
    pub(super) fn used(&self, presets: &[(u16, u8)]) -> Used {
        let presets: BTreeSet<usize> =
            presets.iter().filter_map(|&(bank, program)| self.resolve(bank, program)).collect();
        let preset_zones = presets.iter().flat_map(|&preset| &self.presets()[preset].zones);
        let instruments = preset_zones.map(|zone| zone.instrument).collect();
        Used { presets, instruments }
    }

    /// Number of the Ogg Vorbis stream of a compressed sample.
    pub(super) fn stream(&self, sample: usize) -> Option<usize> {
        *self.0.content.sample_streams.get(sample)?
    }

    /// The sample data as it stands in the file.
    pub(super) fn wave_bytes(&self) -> &[u8] {
        (*self.0.file).as_ref().get(self.0.wave.high.clone()).unwrap_or_default()
    }

    /// Whether two handles share one loaded bank.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Bank and program number of the preset that sounds for these numbers: the same, or those of
    /// the preset that stands in; `None` where nothing sounds.
    #[must_use]
    pub fn sounding_preset(&self, bank: u16, program: u8) -> Option<(u16, u16)> {
        let preset = self.presets().get(self.resolve(bank, program)?)?;
        Some((preset.bank, preset.program))
    }

    /// The preset that sounds for a bank and program number: that one; else the same program of
    /// bank 0, or of bank 128 for drum kits; else the first kit, or the first sound.
    pub(crate) fn resolve(&self, bank: u16, program: u8) -> Option<usize> {
        let presets = self.presets();
        let find = |bank: u16, program: u16| {
            presets.binary_search_by_key(&(bank, program), |preset| (preset.bank, preset.program)).ok()
        };
        let common_bank = if bank >= DRUM_BANK { DRUM_BANK } else { 0 };
        let program = u16::from(program);
        find(bank, program).or_else(|| find(common_bank, program)).or_else(|| find(common_bank, 0))
    }

    /// By ascending bank and program.
    pub(crate) fn presets(&self) -> &[Preset] {
        &self.0.content.presets
    }

    pub(crate) fn instruments(&self) -> &[Instrument] {
        &self.0.content.instruments
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        &self.0.content.samples
    }

    /// The sample data that a sample's positions refer to, which may go on before and behind it;
    /// nothing for a compressed sample that is not decoded.
    pub(crate) fn wave(&self, sample: usize) -> Option<Wave<'_>> {
        self.waves().of(sample)
    }

    /// The sample data of all samples, to be asked for many of them.
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

/// Numbers of the presets and instruments that sound.
pub(super) struct Used {
    pub(super) presets: BTreeSet<usize>,
    pub(super) instruments: BTreeSet<usize>,
}

#[cfg(feature = "vorbis")]
impl Used {
    /// Numbers of the streams of their compressed samples.
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
