//! Opening SoundFont banks, and keeping the opened ones within a limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use dsp_core::soundfont::Bank;

use super::BankProblem;
use crate::bounded_read;

/// Largest file that is opened, in bytes: the banks of 32-bit RIFF end at twice that.
pub const BANK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Opens a bank's file.
///
/// # Errors
/// The file cannot be read, is no bank, or makes the synthesizer fail.
pub fn open(path: &Path) -> Result<Bank, BankProblem> {
    let bytes = bounded_read::read(path, BANK_MAX_BYTES)?;
    // The synthesizer reads files of anybody; a panic in it is the file's fault.
    std::panic::catch_unwind(|| Bank::from_bytes(&bytes))
        .unwrap_or_else(|panic| {
            Err(dsp_core::soundfont::BankError::Unusable {
                reason: crate::panics::message(&*panic).to_owned(),
            })
        })
        .map_err(BankProblem::Content)
}

/// Opened banks, the least recently used of which are let go above a limit. One that is
/// still playing somewhere lives on there.
#[derive(Debug)]
pub struct BankCache {
    limit_bytes: u64,
    kept: Mutex<Vec<Kept>>,
}

/// Which file, in which state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    path: PathBuf,
    size_bytes: u64,
    modified: Option<SystemTime>,
}

#[derive(Debug)]
struct Kept {
    version: Version,
    bank: Bank,
}

impl BankCache {
    /// An empty cache for banks whose files have at most `limit_bytes` together.
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
        let facts = fs::metadata(path)?;
        let version =
            Version { path: path.to_owned(), size_bytes: facts.len(), modified: facts.modified().ok() };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = kept.iter().position(|one| one.version == version) {
            // The last of the list is the one used last.
            let found = kept.remove(place);
            let bank = found.bank.clone();
            kept.push(found);
            return Ok(bank);
        }
        kept.retain(|one| one.version.path != version.path);
        let bank = open(path)?;
        kept.push(Kept { version, bank: bank.clone() });
        let mut total_bytes: u64 = kept.iter().map(|one| one.version.size_bytes).sum();
        while total_bytes > self.limit_bytes {
            total_bytes -= kept.remove(0).version.size_bytes;
        }
        Ok(bank)
    }
}
