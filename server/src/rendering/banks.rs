//! Opening SoundFont banks, and keeping the opened ones within a limit.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use dsp_core::soundfont::{Bank, SampleEncoding};

use super::{BankProblem, memory};
use crate::blobs::{BlobKey, Blobs};

/// Largest file that is opened, in bytes: the banks of 32-bit RIFF end at twice that.
pub const BANK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How much larger the samples of an SF3 bank are decoded than in the file, about.
const DECODED_GROWTH: u64 = 10;

/// Opens a bank's file, whose sample data is read in place from then on.
///
/// # Errors
/// The file cannot be read or is no bank.
pub fn open(path: &Path) -> Result<Bank, BankProblem> {
    Ok(Bank::from_shared(memory::map(path, BANK_MAX_BYTES)?)?)
}

/// Opened banks, the least recently used of which are let go above a limit. One that is
/// still playing somewhere lives on there.
///
/// A bank counts as large as it may become in memory: as its file, or for compressed samples as
/// ten times that, because what is played of them is decoded and kept.
#[derive(Debug)]
pub struct BankCache {
    limit_bytes: u64,
    kept: Mutex<Vec<Kept>>,
}

/// Tells a file that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Size in bytes.
    pub size_bytes: u64,
    /// When it was last written, where the system knows.
    pub modified: Option<SystemTime>,
}

impl Version {
    /// The version that a file's metadata tells.
    #[must_use]
    pub fn of(facts: &fs::Metadata) -> Self {
        Self { size_bytes: facts.len(), modified: facts.modified().ok() }
    }
}

/// What tells an opened bank.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    /// A file of this path, as it was then.
    File(PathBuf, Version),
    /// A stored file, which never changes.
    Stored(BlobKey),
}

#[derive(Debug)]
struct Kept {
    identity: Identity,
    size_bytes: u64,
    bank: Bank,
}

impl Kept {
    fn bytes(&self) -> u64 {
        let growth = match self.bank.summary().encoding {
            SampleEncoding::Pcm => 1,
            SampleEncoding::Vorbis => DECODED_GROWTH,
        };
        self.size_bytes.saturating_mul(growth)
    }
}

impl BankCache {
    /// An empty cache for banks of at most `limit_bytes` together.
    #[must_use]
    pub fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, kept: Mutex::new(Vec::new()) }
    }

    /// The bank in a file, opened now or earlier. A file that has changed is opened anew.
    ///
    /// Opens one bank at a time, so that a bank that several ask for is opened once.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, path: &Path) -> Result<Bank, BankProblem> {
        let version = Version::of(&fs::metadata(path)?);
        let mut kept = self.kept();
        let identity = Identity::File(path.to_owned(), version);
        if let Some(bank) = find(&mut kept, &identity) {
            return Ok(bank);
        }
        kept.retain(|one| !matches!(&one.identity, Identity::File(other, _) if other == path));
        let bank = open(path)?;
        self.keep(&mut kept, Kept { identity, size_bytes: version.size_bytes, bank: bank.clone() });
        Ok(bank)
    }

    /// The bank in a stored file, opened now or earlier.
    ///
    /// # Errors
    /// It is not there, cannot be read or is no bank.
    pub fn open_stored(&self, blobs: &Blobs, key: &BlobKey) -> Result<Bank, BankProblem> {
        let identity = Identity::Stored(key.clone());
        if let Some(bank) = find(&mut self.kept(), &identity) {
            return Ok(bank);
        }
        // From object storage it may take a while, for which other banks do not wait.
        let file = blobs.read(key)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        let mut kept = self.kept();
        if let Some(bank) = find(&mut kept, &identity) {
            return Ok(bank);
        }
        let size_bytes = file.metadata()?.len();
        let bank = Bank::from_shared(memory::map_file(&file)?)?;
        self.keep(&mut kept, Kept { identity, size_bytes, bank: bank.clone() });
        Ok(bank)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a bank, and lets others go that there is no room for.
    fn keep(&self, kept: &mut Vec<Kept>, one: Kept) {
        kept.push(one);
        let mut total_bytes: u64 = kept.iter().map(Kept::bytes).sum();
        while total_bytes > self.limit_bytes {
            total_bytes -= kept.remove(0).bytes();
        }
    }
}

/// A bank that is kept. It is the last of the list from then on: the one used last.
fn find(kept: &mut Vec<Kept>, identity: &Identity) -> Option<Bank> {
    let place = kept.iter().position(|one| one.identity == *identity)?;
    let found = kept.remove(place);
    let bank = found.bank.clone();
    kept.push(found);
    Some(bank)
}
