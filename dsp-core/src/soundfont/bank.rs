//! A bank ready to be played.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::content::{self, Content, Instrument, Preset, WavePlace};
use super::samples::{Sample, Wave};
use super::skipped::Skipped;
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
    #[cfg(feature = "std")]
    font: Arc<rustysynth::SoundFont>,
}

impl Bank {
    /// Loads a bank from the bytes of a file, of which it copies the sample data.
    ///
    /// # Errors
    ///
    /// [`BankError`], naming what is wrong. Bad regions are no error: see [`Self::skipped`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, BankError> {
        let (content, wave) = content::read(file)?;
        #[cfg(feature = "std")]
        let font = super::legacy::font(file)?;
        let mut copy = file[wave.high.clone()].to_vec();
        let low = wave.low.map(|low| {
            copy.extend_from_slice(&file[low]);
            wave.high.len()..copy.len()
        });
        Ok(Self(Arc::new(Loaded {
            content,
            file: Arc::new(copy),
            wave: WavePlace { high: 0..wave.high.len(), low },
            #[cfg(feature = "std")]
            font,
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
        #[cfg(feature = "std")]
        let font = super::legacy::font((*file).as_ref())?;
        Ok(Self(Arc::new(Loaded {
            content,
            file,
            wave,
            #[cfg(feature = "std")]
            font,
        })))
    }

    /// What the bank offers.
    #[must_use]
    pub fn summary(&self) -> &BankSummary {
        &self.0.content.summary
    }

    /// What the bank was loaded without, and why; at most 1000 entries of [`Self::skipped_total`].
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.0.content.report.entries
    }

    /// How many things the bank was loaded without.
    #[must_use]
    pub fn skipped_total(&self) -> usize {
        self.0.content.report.total
    }

    /// Whether two handles share one loaded bank.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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

    /// The sample data that a sample's positions refer to, which may go on before and behind it.
    pub(crate) fn wave(&self, sample: usize) -> Option<Wave<'_>> {
        self.samples().get(sample)?;
        let Loaded { file, wave, .. } = &*self.0;
        let file = (**file).as_ref();
        let (high, _) = file.get(wave.high.clone())?.as_chunks();
        let low = wave.low.clone().and_then(|low| file.get(low)).and_then(|low| low.get(..high.len()));
        Some(Wave { high, low })
    }

    #[cfg(feature = "std")]
    pub(crate) fn font(&self) -> &Arc<rustysynth::SoundFont> {
        &self.0.font
    }
}

impl fmt::Debug for Bank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Bank").field("summary", self.summary()).finish_non_exhaustive()
    }
}
