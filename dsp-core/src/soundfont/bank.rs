//! A bank ready to be played.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

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
            decoded: Decoded::none(content.samples.len()),
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
            decoded: Decoded::none(content.samples.len()),
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
        self.0.decoded.failures().map(|(number, reason)| {
            let name = self.0.content.stream_names[number].clone();
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
    /// [`BankError::TooLong`] if the decoded samples would fill more than 1 GiB.
    pub fn prepare(&self, presets: &[(u16, u8)]) -> Result<(), BankError> {
        #[cfg(feature = "vorbis")]
        {
            let wave = self.wave_bytes();
            let samples = self.used(presets).samples(self);
            let streams = samples.iter().filter_map(|&sample| {
                let stream = wave.get(self.stream(sample)?)?;
                Some((sample, stream, self.samples()[sample].end))
            });
            self.0.decoded.prepare(streams)?;
        }
        #[cfg(not(feature = "vorbis"))]
        let _ = presets;
        Ok(())
    }

    /// Presets that sound for these numbers, and what they are made of.
    pub(super) fn used(&self, presets: &[(u16, u8)]) -> Used {
        let presets: BTreeSet<usize> =
            presets.iter().filter_map(|&(bank, program)| self.resolve(bank, program)).collect();
        let preset_zones = presets.iter().flat_map(|&preset| &self.presets()[preset].zones);
        let instruments = preset_zones.map(|zone| zone.instrument).collect();
        Used { presets, instruments }
    }

    /// Where the Ogg Vorbis stream of a compressed sample stands in [`Self::wave_bytes`].
    pub(super) fn stream(&self, sample: usize) -> Option<Range<usize>> {
        self.0.content.streams.get(sample)?.clone()
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

    /// Bank and program number of the preset that sounds for these numbers: the same, or those of the preset that stands
    /// in; `None` where nothing sounds.
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
        if self.bank.stream(sample).is_none() {
            return Some(self.in_file);
        }
        #[cfg(feature = "vorbis")]
        return self.bank.0.decoded.get(sample).map(|high| Wave { high, low: None });
        #[cfg(not(feature = "vorbis"))]
        None
    }
}

/// Numbers of the presets and instruments that sound.
pub(super) struct Used {
    pub(super) presets: BTreeSet<usize>,
    pub(super) instruments: BTreeSet<usize>,
}

#[cfg(feature = "vorbis")]
impl Used {
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
