//! Opens SoundFont banks, and caches them within memory limits.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use dsp_core::soundfont::{Bank, BankError};

use super::{BankProblem, RenderError, memory};
use crate::storage::{BlobKey, Blobs};

/// Maximum size of a bank file in bytes. The maximum of 32-bit RIFF is twice as large.
pub const BANK_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Maximum number of cached banks. The file of each stays mapped into memory.
const BANKS_MAX: usize = 256;

/// Interval between checks whether a caller that waits for a bank was cancelled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Maps the file of a bank into memory and opens the bank.
///
/// # Errors
/// The file cannot be read or is not a bank.
pub fn open(path: &Path) -> Result<Bank, BankProblem> {
    Ok(Bank::from_shared(memory::map(path, BANK_MAX_BYTES)?)?)
}

/// Limits on the memory that banks use.
#[derive(Debug, Clone, Copy)]
pub struct BankLimits {
    /// Maximum size of the tables and decoded samples of all banks, in bytes.
    pub total_bytes: u64,
    /// Maximum size of the decoded samples of one bank, in bytes.
    pub decoded_bytes: u64,
}

/// A cache of open banks. Their tables and decoded samples count towards the limits. Sample data in
/// mapped files does not count.
///
/// Banks in use are never evicted. Above a limit, idle banks are evicted, the least recently used
/// first. If that does not free enough memory, no further samples are decoded.
///
/// A song may play for an hour. Therefore a quarter of the memory is reserved for the banks of the
/// installation. A user's uploads may use at most twice the memory that then remains free for other
/// uploads (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
/// switches", 1998). A single user may use half of all memory.
#[derive(Debug)]
pub struct BankCache {
    limits: BankLimits,
    state: Mutex<State>,
    /// Notified when the preparation of a bank ends.
    preparation_ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Cached banks. The most recently used bank is the last one.
    entries: Vec<CachedBank>,
    /// Memory reserved for data derived from banks, in bytes.
    reserved_bytes: u64,
}

/// Version of a file, which shows whether the file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Time of the last modification; `None` if the system does not report it.
    pub modified_at: Option<SystemTime>,
}

impl Version {
    /// Returns the version of a file with this metadata.
    #[must_use]
    pub fn from_metadata(metadata: &fs::Metadata) -> Self {
        Self { size_bytes: metadata.len(), modified_at: metadata.modified().ok() }
    }
}

/// Identifies a cached bank.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    /// A version of the file at a path.
    File(PathBuf, Version),
    /// A stored file, which never changes.
    Stored(BlobKey),
}

#[derive(Debug)]
struct CachedBank {
    /// Id of the user who uploaded the bank; `None` for a bank of the installation.
    owner_id: Option<Arc<str>>,
    /// `None` if the file has changed, or if the decoded samples fill the bank's limit. Such a bank
    /// is not returned to further callers and is dropped when no render uses it any more.
    identity: Option<Identity>,
    bank: Bank,
    /// Size that the bank's decoded samples will have after the running preparation, in bytes.
    planned_bytes: u64,
    /// Whether a thread is preparing the bank.
    is_in_preparation: bool,
}

impl CachedBank {
    fn bytes(&self) -> u64 {
        self.bank.table_bytes() + self.bank.decoded_bytes().max(self.planned_bytes)
    }

    /// Whether the bank is neither in use nor in preparation.
    fn is_idle(&self) -> bool {
        !self.is_in_preparation && !self.bank.is_shared()
    }
}

impl State {
    fn bytes(&self) -> u64 {
        self.reserved_bytes + self.entries.iter().map(CachedBank::bytes).sum::<u64>()
    }

    /// Evicts idle banks until a bank of `owner_id` that is already in the cache is within the
    /// limits. Returns false if it cannot be.
    fn make_room(&mut self, total_bytes: u64, owner_id: Option<&str>) -> bool {
        while owner_id.is_some_and(|owner_id| !self.is_within_share(total_bytes, owner_id)) {
            let is_idle_upload = |entry: &CachedBank| entry.owner_id.is_some() && entry.is_idle();
            let Some(index) = self.entries.iter().position(is_idle_upload) else { return false };
            self.entries.remove(index);
        }
        self.evict_to(total_bytes)
    }

    /// Whether the uploads of a user leave enough memory for those of others.
    fn is_within_share(&self, total_bytes: u64, owner_id: &str) -> bool {
        let (mut owner_bytes, mut all_bytes) = (0, 0);
        for entry in &self.entries {
            let Some(entry_owner_id) = &entry.owner_id else { continue };
            all_bytes += entry.bytes();
            if **entry_owner_id == *owner_id {
                owner_bytes += entry.bytes();
            }
        }
        let free_bytes = (total_bytes - total_bytes / 4).saturating_sub(all_bytes);
        owner_bytes <= free_bytes.saturating_mul(2)
    }

    /// Evicts idle banks until all banks together need at most `total_bytes`. Returns false if the
    /// idle banks do not free enough memory.
    fn evict_to(&mut self, total_bytes: u64) -> bool {
        while self.bytes() > total_bytes || self.entries.len() > BANKS_MAX {
            let Some(index) = self.entries.iter().position(CachedBank::is_idle) else { return false };
            self.entries.remove(index);
        }
        true
    }

    /// Returns a cached bank and marks it as the most recently used.
    fn find(&mut self, identity: &Identity) -> Option<Bank> {
        let index = self.entries.iter().position(|entry| entry.identity.as_ref() == Some(identity))?;
        let entry = self.entries.remove(index);
        let bank = entry.bank.clone();
        self.entries.push(entry);
        Some(bank)
    }
}

impl BankCache {
    /// Makes an empty cache.
    #[must_use]
    pub fn new(limits: BankLimits) -> Self {
        Self { limits, state: Mutex::default(), preparation_ended: Condvar::new() }
    }

    /// Opens the bank in a file, or returns the cached bank. Opens a changed file again.
    ///
    /// Only one bank is opened at a time, so that concurrent callers get the same one.
    ///
    /// # Errors
    /// Those of [`open`].
    pub fn open(&self, path: &Path) -> Result<Bank, BankProblem> {
        let version = Version::from_metadata(&fs::metadata(path)?);
        let mut state = self.state();
        let identity = Identity::File(path.to_owned(), version);
        if let Some(bank) = state.find(&identity) {
            return Ok(bank);
        }
        for entry in &mut state.entries {
            let is_old_version =
                |identity: &mut Identity| matches!(identity, Identity::File(cached, _) if cached == path);
            entry.identity.take_if(is_old_version);
        }
        state.entries.retain(|entry| entry.identity.is_some() || !entry.is_idle());
        let bank = open(path)?;
        self.insert(&mut state, identity, bank, None)
    }

    /// Opens the bank in a stored file, or returns the cached bank. The bank was uploaded by
    /// `owner_id`.
    ///
    /// # Errors
    /// The file does not exist, cannot be read or is not a bank.
    pub fn open_stored(
        &self,
        blobs: &Blobs,
        blob_key: &BlobKey,
        owner_id: &Arc<str>,
    ) -> Result<Bank, BankProblem> {
        let identity = Identity::Stored(blob_key.clone());
        if let Some(bank) = self.state().find(&identity) {
            return Ok(bank);
        }
        // The state is not locked here, because reading from object storage may take long.
        let file = blobs.read(blob_key)?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        let mut state = self.state();
        if let Some(bank) = state.find(&identity) {
            return Ok(bank);
        }
        let bank = Bank::from_shared(memory::map_file(&file)?)?;
        self.insert(&mut state, identity, bank, Some(Arc::clone(owner_id)))
    }

    /// Adds a bank to the cache if there is enough memory for its tables.
    fn insert(
        &self,
        state: &mut State,
        identity: Identity,
        bank: Bank,
        owner_id: Option<Arc<str>>,
    ) -> Result<Bank, BankProblem> {
        let entry = CachedBank {
            owner_id: owner_id.clone(),
            identity: Some(identity),
            bank: bank.clone(),
            planned_bytes: 0,
            is_in_preparation: false,
        };
        state.entries.push(entry);
        if state.make_room(self.limits.total_bytes, owner_id.as_deref()) {
            return Ok(bank);
        }
        state.entries.pop();
        Err(self.memory_in_use(bank.table_bytes()))
    }

    /// Decodes the compressed samples of some presets of a cached bank. Stops when
    /// `should_continue` returns false. Waits while another thread prepares the same bank. `name`
    /// is the bank's name in errors.
    ///
    /// # Errors
    /// [`RenderError::Bank`] if the bank needs more memory than its limit, or more than is free
    /// now. [`RenderError::Cancelled`] if `should_continue` returned false.
    pub fn prepare(
        &self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        let bank_error = |reason| RenderError::Bank { name: name.to_owned(), reason };
        let mut state = self.state();
        while state.entry_of(bank).is_some_and(|entry| entry.is_in_preparation) {
            let wait_outcome = self.preparation_ended.wait_timeout(state, CANCEL_CHECK_INTERVAL);
            state = wait_outcome.unwrap_or_else(PoisonError::into_inner).0;
            if !should_continue() {
                return Err(RenderError::Cancelled);
            }
        }
        let missing_bytes = bank.undecoded_bytes(presets);
        if missing_bytes == 0 {
            return Ok(());
        }
        let needed_bytes = bank.decoded_bytes() + missing_bytes;
        let owner_id = state.entry_of(bank).and_then(|entry| entry.owner_id.clone());
        let upload_max_bytes = self.uploads_max_bytes().saturating_sub(bank.table_bytes());
        let limits = [
            (self.limits.decoded_bytes, "SF_BANK_DECODED_MAX_BYTES"),
            match owner_id {
                Some(_) => (upload_max_bytes, "half of SF_BANK_CACHE_BYTES for uploaded SoundFonts"),
                None => (self.limits.total_bytes, "SF_BANK_CACHE_BYTES"),
            },
        ];
        for (limit_bytes, setting) in limits {
            let presets_bytes = bank.prepared_bytes(presets);
            if presets_bytes > limit_bytes {
                return Err(bank_error(too_large(presets_bytes, limit_bytes, setting)));
            }
            if needed_bytes > limit_bytes {
                // The presets of other songs fill this bank. It is retired, so the next caller
                // opens the file as a new bank without decoded samples.
                state.retire(bank);
                return Err(bank_error(self.memory_in_use(missing_bytes)));
            }
        }
        if let Some(entry) = state.entry_of(bank) {
            (entry.planned_bytes, entry.is_in_preparation) = (needed_bytes, true);
        }
        let fits = state.make_room(self.limits.total_bytes, owner_id.as_deref());
        drop(state);
        let _preparation = Preparation { cache: self, bank };
        if !fits {
            return Err(bank_error(self.memory_in_use(missing_bytes)));
        }
        decode(bank, name, presets, should_continue)
    }

    /// Reserves memory for data derived from a bank. The memory is free again when the result is
    /// dropped.
    ///
    /// # Errors
    /// [`RenderError::Bank`], as from [`Self::prepare`].
    pub fn reserve(&self, name: &str, bytes: u64) -> Result<ReservedMemory<'_>, RenderError> {
        let bank_error = |reason| RenderError::Bank { name: name.to_owned(), reason };
        // The remaining 64th is reserved for opening other banks in the meantime.
        let limit_bytes = self.limits.total_bytes - self.limits.total_bytes / 64;
        if bytes > limit_bytes {
            return Err(bank_error(too_large(bytes, limit_bytes, "SF_BANK_CACHE_BYTES")));
        }
        let mut state = self.state();
        state.reserved_bytes += bytes;
        let fits = state.evict_to(limit_bytes);
        drop(state);
        let reserved_memory = ReservedMemory { cache: self, bytes };
        if fits { Ok(reserved_memory) } else { Err(bank_error(self.memory_in_use(bytes))) }
    }

    /// Returns the limit on the memory of all banks, in bytes.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.limits.total_bytes
    }

    /// Returns the limit on the memory of one user's uploaded banks, in bytes.
    #[must_use]
    pub fn uploads_max_bytes(&self) -> u64 {
        self.limits.total_bytes / 2
    }

    /// Returns the memory that all banks use, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.state().bytes()
    }

    fn memory_in_use(&self, needed_bytes: u64) -> BankProblem {
        BankProblem::MemoryInUse { needed_mib: mib(needed_bytes), limit_mib: mib(self.limits.total_bytes) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Makes sure that [`Self::find`] no longer returns a bank to further callers. The bank stays
    /// in the cache while it is in use.
    fn retire(&mut self, bank: &Bank) {
        if let Some(entry) = self.entry_of(bank) {
            entry.identity = None;
        }
    }

    fn entry_of(&mut self, bank: &Bank) -> Option<&mut CachedBank> {
        self.entries.iter_mut().find(|entry| entry.bank.is_same(bank))
    }
}

/// A running preparation of a bank. Dropping this value ends it.
struct Preparation<'c> {
    cache: &'c BankCache,
    bank: &'c Bank,
}

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.cache.state().entry_of(self.bank) {
            (entry.planned_bytes, entry.is_in_preparation) = (0, false);
        }
        self.cache.preparation_ended.notify_all();
    }
}

/// Memory that is reserved for data derived from a bank. Dropping this value frees it.
#[derive(Debug)]
pub struct ReservedMemory<'c> {
    cache: &'c BankCache,
    bytes: u64,
}

impl Drop for ReservedMemory<'_> {
    fn drop(&mut self) {
        self.cache.state().reserved_bytes -= self.bytes;
    }
}

/// Decodes the compressed samples of some presets of a bank. Stops when `should_continue` returns
/// false.
///
/// # Errors
/// [`RenderError::Bank`] if the samples cannot be decoded. [`RenderError::Cancelled`] if
/// `should_continue` returned false.
pub(super) fn decode(
    bank: &Bank,
    name: &str,
    presets: &[(u16, u8)],
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<(), RenderError> {
    bank.prepare_while(presets, should_continue).map_err(|error| match error {
        BankError::Stopped => RenderError::Cancelled,
        other_error => RenderError::Bank { name: name.to_owned(), reason: other_error.into() },
    })
}

fn too_large(needed_bytes: u64, limit_bytes: u64, setting: &'static str) -> BankProblem {
    BankProblem::TooLarge { needed_mib: mib(needed_bytes), limit_mib: mib(limit_bytes), setting }
}

/// Converts bytes to MiB, rounded up.
pub(super) fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
