//! Opening SoundFont banks, and keeping the opened ones within a limit.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use dsp_core::soundfont::{Bank, BankError};

use super::{BankProblem, RenderError, memory};
use crate::storage::{BlobKey, Blobs};

/// Largest file that is opened, in bytes: the banks of 32-bit RIFF end at twice that.
pub const BANK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Most banks that are kept: each keeps its file mapped.
const BANKS_MAX: usize = 256;

/// How often whoever waits for a bank looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Opens a bank's file, whose sample data is read in place from then on.
///
/// # Errors
/// The file cannot be read or is no bank.
pub fn open(path: &Path) -> Result<Bank, BankProblem> {
    Ok(Bank::from_shared(memory::map(path, BANK_MAX_BYTES)?)?)
}

/// How much memory banks may take.
#[derive(Debug, Clone, Copy)]
pub struct BankLimits {
    /// Tables and decoded samples of all banks, in bytes.
    pub total_bytes: u64,
    /// Decoded samples of one bank, in bytes.
    pub decoded_bytes: u64,
}

/// Opened banks, and how much memory they take: their tables and their decoded samples. The sample
/// data of a file is mapped and does not count.
///
/// A bank that somebody plays stays here and counts. Above the limit those that nobody plays are
/// let go, the least recently used first; if that is not enough, nothing more is decoded.
#[derive(Debug)]
pub struct BankCache {
    limits: BankLimits,
    state: Mutex<State>,
    /// Notified when a bank was prepared.
    prepared: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The one used last at the end.
    kept: Vec<Kept>,
    /// Memory that is reserved for other things made of banks, in bytes.
    reserved_bytes: u64,
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
    /// `None` for a file that has changed since, and for a bank that is full: it stays as long as
    /// it is played.
    identity: Option<Identity>,
    bank: Bank,
    /// Its decoded samples once the preparation under way has ended, in bytes.
    promised_bytes: u64,
    /// Whether somebody prepares it.
    in_preparation: bool,
}

impl Kept {
    fn bytes(&self) -> u64 {
        self.bank.table_bytes() + self.bank.decoded_bytes().max(self.promised_bytes)
    }

    /// Whether nobody plays or prepares it.
    fn is_idle(&self) -> bool {
        !self.in_preparation && !self.bank.is_shared()
    }
}

impl State {
    fn bytes(&self) -> u64 {
        self.reserved_bytes + self.kept.iter().map(Kept::bytes).sum::<u64>()
    }

    /// Lets idle banks go until all take at most `total_bytes`, and says whether they do.
    fn make_room(&mut self, total_bytes: u64) -> bool {
        while self.bytes() > total_bytes || self.kept.len() > BANKS_MAX {
            let Some(index) = self.kept.iter().position(Kept::is_idle) else { return false };
            self.kept.remove(index);
        }
        true
    }

    /// A bank that is kept. It is the one used last from then on.
    fn find(&mut self, identity: &Identity) -> Option<Bank> {
        let index = self.kept.iter().position(|one| one.identity.as_ref() == Some(identity))?;
        let found = self.kept.remove(index);
        let bank = found.bank.clone();
        self.kept.push(found);
        Some(bank)
    }
}

impl BankCache {
    /// An empty cache.
    #[must_use]
    pub fn new(limits: BankLimits) -> Self {
        Self { limits, state: Mutex::default(), prepared: Condvar::new() }
    }

    /// The bank in a file, opened now or earlier. A file that has changed is opened anew.
    ///
    /// Opens one bank at a time, so that a bank that several ask for is opened once.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, path: &Path) -> Result<Bank, BankProblem> {
        let version = Version::of(&fs::metadata(path)?);
        let mut state = self.state();
        let identity = Identity::File(path.to_owned(), version);
        if let Some(bank) = state.find(&identity) {
            return Ok(bank);
        }
        for one in &mut state.kept {
            let is_former =
                |identity: &mut Identity| matches!(identity, Identity::File(other, _) if other == path);
            one.identity.take_if(is_former);
        }
        state.kept.retain(|one| one.identity.is_some() || !one.is_idle());
        let bank = open(path)?;
        self.keep(&mut state, identity, bank)
    }

    /// The bank in a stored file, opened now or earlier.
    ///
    /// # Errors
    /// It is not there, cannot be read or is no bank.
    pub fn open_stored(&self, blobs: &Blobs, key: &BlobKey) -> Result<Bank, BankProblem> {
        let identity = Identity::Stored(key.clone());
        if let Some(bank) = self.state().find(&identity) {
            return Ok(bank);
        }
        // From object storage it may take a while, for which other banks do not wait.
        let file = blobs.read(key)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        let mut state = self.state();
        if let Some(bank) = state.find(&identity) {
            return Ok(bank);
        }
        let bank = Bank::from_shared(memory::map_file(&file)?)?;
        self.keep(&mut state, identity, bank)
    }

    /// Keeps a bank, if there is room for its tables.
    fn keep(&self, state: &mut State, identity: Identity, bank: Bank) -> Result<Bank, BankProblem> {
        let one =
            Kept { identity: Some(identity), bank: bank.clone(), promised_bytes: 0, in_preparation: false };
        state.kept.push(one);
        if state.make_room(self.limits.total_bytes) {
            return Ok(bank);
        }
        state.kept.pop();
        Err(self.no_room(bank.table_bytes()))
    }

    /// Decodes the compressed samples of presets of a bank that was opened here, as long as `go_on`
    /// says so. Waits while another thread prepares the same bank. `name` is for errors.
    ///
    /// # Errors
    /// [`RenderError::Bank`]: the bank takes more memory than is accepted, or than is left now.
    /// [`RenderError::Cancelled`] if `go_on` says no.
    pub fn prepare(
        &self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        let refused = |reason| RenderError::Bank { name: name.to_owned(), reason };
        let mut state = self.state();
        while state.of(bank).is_some_and(|one| one.in_preparation) {
            let waited = self.prepared.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !go_on() {
                return Err(RenderError::Cancelled);
            }
        }
        let missing_bytes = bank.undecoded_bytes(presets);
        if missing_bytes == 0 {
            return Ok(());
        }
        let needed_bytes = bank.decoded_bytes() + missing_bytes;
        let limits = [
            (self.limits.decoded_bytes, "SF_BANK_DECODED_MAX_BYTES"),
            (self.limits.total_bytes, "SF_BANK_CACHE_BYTES"),
        ];
        for (limit_bytes, setting) in limits {
            let own_bytes = bank.prepared_bytes(presets);
            if own_bytes > limit_bytes {
                return Err(refused(too_large(own_bytes, limit_bytes, setting)));
            }
            if needed_bytes > limit_bytes {
                // What other songs decoded of this bank leaves no room: the next one opens it anew.
                state.forget(bank);
                return Err(refused(self.no_room(missing_bytes)));
            }
        }
        if let Some(one) = state.of(bank) {
            (one.promised_bytes, one.in_preparation) = (needed_bytes, true);
        }
        let has_room = state.make_room(self.limits.total_bytes);
        drop(state);
        let _preparation = Preparation { cache: self, bank };
        if !has_room {
            return Err(refused(self.no_room(missing_bytes)));
        }
        decode(bank, name, presets, go_on)
    }

    /// Reserves memory for something that is made of a bank, until the answer is dropped.
    ///
    /// # Errors
    /// [`RenderError::Bank`] as for [`Self::prepare`].
    pub fn reserve(&self, name: &str, bytes: u64) -> Result<Reserved<'_>, RenderError> {
        let refused = |reason| RenderError::Bank { name: name.to_owned(), reason };
        let limit_bytes = self.limits.total_bytes;
        if bytes > limit_bytes {
            return Err(refused(too_large(bytes, limit_bytes, "SF_BANK_CACHE_BYTES")));
        }
        let mut state = self.state();
        state.reserved_bytes += bytes;
        let has_room = state.make_room(limit_bytes);
        drop(state);
        let reserved = Reserved { cache: self, bytes };
        if has_room { Ok(reserved) } else { Err(refused(self.no_room(bytes))) }
    }

    /// Memory that banks may take together, in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.limits.total_bytes
    }

    /// Memory that banks take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state().bytes()
    }

    fn no_room(&self, needed_bytes: u64) -> BankProblem {
        BankProblem::MemoryInUse { needed_mib: mib(needed_bytes), limit_mib: mib(self.limits.total_bytes) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives a bank to nobody else: it stays as long as it is played.
    fn forget(&mut self, bank: &Bank) {
        if let Some(one) = self.of(bank) {
            one.identity = None;
        }
    }

    fn of(&mut self, bank: &Bank) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|one| one.bank.is_same(bank))
    }
}

/// A preparation under way. Dropped, it has ended.
struct Preparation<'c> {
    cache: &'c BankCache,
    bank: &'c Bank,
}

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        if let Some(one) = self.cache.state().of(self.bank) {
            (one.promised_bytes, one.in_preparation) = (0, false);
        }
        self.cache.prepared.notify_all();
    }
}

/// Memory that is reserved beside that of the banks. Dropped, it is free again.
#[derive(Debug)]
pub struct Reserved<'c> {
    cache: &'c BankCache,
    bytes: u64,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.cache.state().reserved_bytes -= self.bytes;
    }
}

/// Decodes the compressed samples of presets of a bank, as long as `go_on` says so.
///
/// # Errors
/// [`RenderError::Bank`] if they cannot be played, [`RenderError::Cancelled`] if `go_on` says no.
pub(super) fn decode(
    bank: &Bank,
    name: &str,
    presets: &[(u16, u8)],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), RenderError> {
    bank.prepare_while(presets, go_on).map_err(|error| match error {
        BankError::Stopped => RenderError::Cancelled,
        other => RenderError::Bank { name: name.to_owned(), reason: other.into() },
    })
}

fn too_large(needed_bytes: u64, limit_bytes: u64, setting: &'static str) -> BankProblem {
    BankProblem::TooLarge { needed_mib: mib(needed_bytes), limit_mib: mib(limit_bytes), setting }
}

/// Whole MiB, rounded up.
pub(super) fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
