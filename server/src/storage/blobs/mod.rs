//! Stores files such as audio and renders outside the database.
//!
//! The files are in a folder or in S3 object storage. They are always read and written through a
//! local file, which can be mapped into memory or written by a decoder process. With object
//! storage, a file is complete once it is stored there. The local folder is then a cache, which
//! evicts the least recently used files (`cache.rs`).
//!
//! A file appears completely or not at all. It is written under a temporary name in its folder,
//! synced and renamed, and then the folder is synced. When the service starts, it removes
//! unfinished files that a crash left behind. In a shared folder, it removes only those that are
//! too old to be in use.

mod cache;
mod orphans;
mod quarantine;
mod remote;
mod writer;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cache::Cache;
pub use quarantine::{QuarantineReason, QuarantinedFile};
pub use remote::Remote;
pub use writer::{BlobWriter, write_private_file};

use crate::disk::remove_if_there;

/// Prefix of the names of files that are still being written.
const TEMPORARY_PREFIX: &str = ".writing-";

/// Age after which an unfinished file in a shared folder counts as abandoned.
const ABANDONED_AFTER: Duration = Duration::from_secs(2 * 86_400);

/// Whether other processes use a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Only this process uses the folder.
    Exclusive,
    /// Other processes, possibly on other machines, use the folder too.
    Shared,
}

/// Key of a stored file: its kind (the folder), its id and its extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobKey {
    folder: &'static str,
    id: String,
    extension: &'static str,
}

/// Error for an id that cannot be part of a file name.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a valid file id; an id has 1 to 128 ASCII letters, digits, `-` or `_`")]
pub struct BadBlobId(pub String);

impl BlobKey {
    /// Makes the key of the file with this id in the folder of its kind.
    ///
    /// # Errors
    /// `id` is empty, longer than 128 bytes, or contains other characters than ASCII letters,
    /// digits, `-` and `_`. This makes sure that no key leads out of the folder.
    pub fn new(folder: &'static str, id: &str, extension: &'static str) -> Result<Self, BadBlobId> {
        let fits = (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !fits {
            return Err(BadBlobId(id.chars().take(200).collect()));
        }
        Ok(Self { folder, id: id.to_owned(), extension })
    }

    /// Returns the folder of the file's kind.
    #[must_use]
    pub fn folder(&self) -> &'static str {
        self.folder
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns id and extension, joined by a dot.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.extension)
    }

    /// Returns folder and file name, joined by `/`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder, self.file_name())
    }
}

/// The stored files.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
    /// Folder of the quarantine. With object storage, the quarantine is in the bucket instead.
    quarantine: PathBuf,
    remote: Option<RemoteStore>,
}

/// Object storage with its local cache.
#[derive(Debug, Clone)]
struct RemoteStore {
    remote: Remote,
    cache: Cache,
    /// Folder of files that other machines do not need.
    local_root: PathBuf,
}

/// A kind of files: their folder, and the extensions that they may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// Folder of the files within the store.
    pub folder: &'static str,
    /// Extensions that the files may have, without the dot.
    pub extensions: &'static [&'static str],
}

impl FileKind {
    /// Returns the key of the file with this name; `None` if a file of this kind cannot have the
    /// name.
    #[must_use]
    pub fn key(&self, file_name: &str) -> Option<BlobKey> {
        let (id, extension) = split_name(file_name)?;
        let extension = self.extensions.iter().find(|known_extension| **known_extension == extension)?;
        BlobKey::new(self.folder, &id, extension).ok()
    }

    /// Whether the file with this key is of this kind.
    #[must_use]
    pub fn has(&self, blob_key: &BlobKey) -> bool {
        blob_key.folder == self.folder && self.extensions.contains(&blob_key.extension)
    }
}

/// A stored file that nothing refers to.
#[derive(Debug, Clone)]
pub struct Orphan {
    /// Key of the file.
    pub key: BlobKey,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Time when the file was stored.
    pub stored_at: SystemTime,
}

/// A file that must exist because the database refers to it.
#[derive(Debug, Clone)]
pub struct ExpectedFile {
    /// Key of the file.
    pub blob_key: BlobKey,
    /// Size of the file in bytes. For an unfinished upload, this is the minimum size.
    pub size_bytes: u64,
    /// Whether the file may be longer than `size_bytes`.
    pub is_growing: bool,
    /// SHA-256 of the file in hexadecimal, if it is known.
    pub sha256: Option<String>,
}

/// A stored file in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id of the file.
    pub id: String,
    /// Extension of the file.
    pub extension: String,
    /// Time when the file was stored.
    pub stored_at: SystemTime,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

impl Entry {
    /// Returns how long ago the file was stored. Returns zero if the clock has been set back since
    /// then.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.stored_at.elapsed().unwrap_or_default()
    }

    /// Returns id and extension, joined by a dot.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.extension)
    }
}

impl Blobs {
    /// Opens the store in `root`. Creates the folder if it does not exist, and removes abandoned
    /// files.
    ///
    /// # Errors
    /// The folder cannot be created or read.
    pub fn open(root: PathBuf, sharing: Sharing) -> io::Result<Self> {
        let abandoned_after = match sharing {
            Sharing::Exclusive => Duration::ZERO,
            Sharing::Shared => ABANDONED_AFTER,
        };
        fs::create_dir_all(&root)?;
        // The quarantine is on the same disk, so moving a file there is only a rename.
        let quarantine = root.with_file_name(quarantine::FOLDER);
        let blobs = Self { root, quarantine, remote: None };
        blobs.sweep(abandoned_after)?;
        Ok(blobs)
    }

    /// Returns the store with its quarantine inside `root`. This is for a folder whose parent
    /// folder does not belong to this service.
    #[must_use]
    pub fn with_quarantine_inside(self) -> Self {
        Self { quarantine: self.root.join(quarantine::FOLDER), ..self }
    }

    /// Removes abandoned unfinished files from this machine.
    ///
    /// # Errors
    /// The files cannot be listed or removed.
    pub fn sweep_abandoned(&self) -> io::Result<()> {
        if let Some(store) = &self.remote {
            self.local_store(store).sweep(ABANDONED_AFTER)?;
        }
        self.sweep(ABANDONED_AFTER)
    }

    fn sweep(&self, abandoned_after: Duration) -> io::Result<()> {
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?.path();
            if folder.is_dir() {
                sweep(&folder, abandoned_after)?;
            }
        }
        Ok(())
    }

    /// Opens object storage with a local cache in `root`. The cache has at most `cache_bytes`, and
    /// less if the disk would have less than twice `reserve_bytes` free.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_remote(
        root: PathBuf,
        remote: Remote,
        cache_bytes: u64,
        reserve_bytes: u64,
        sharing: Sharing,
    ) -> io::Result<Self> {
        let local_root = root.with_file_name("blobs-of-this-machine");
        Self::open(local_root.clone(), sharing)?;
        let cache_store = Self::open(root.clone(), sharing)?;
        let cache = Cache::new(root, cache_bytes, reserve_bytes);
        Ok(Self { remote: Some(RemoteStore { remote, cache, local_root }), ..cache_store })
    }

    /// Returns the store of files that other machines do not need. With object storage, this is a
    /// folder beside the cache, and otherwise this store.
    #[must_use]
    pub fn local(&self) -> Self {
        match &self.remote {
            None => self.clone(),
            Some(store) => self.local_store(store),
        }
    }

    fn local_store(&self, store: &RemoteStore) -> Self {
        Self { root: store.local_root.clone(), quarantine: self.quarantine.clone(), remote: None }
    }

    /// Whether files are in object storage. If so, [`Self::local`] returns a different store.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Whether the file of `blob_key` is stored. If it is in the quarantine, it is restored.
    ///
    /// # Errors
    /// The storage does not answer.
    pub fn contains(&self, blob_key: &BlobKey) -> io::Result<bool> {
        let is_stored = match &self.remote {
            Some(store) => store.remote.contains(blob_key.folder, &blob_key.file_name())?,
            None => self.path(blob_key).is_file(),
        };
        Ok(is_stored || self.return_from_quarantine(blob_key)?)
    }

    /// Returns the folder of all local files.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path that the file of `blob_key` has on this machine, even if it does not exist.
    /// With object storage, the file is there only after [`Self::read`] has fetched it.
    #[must_use]
    pub fn path(&self, blob_key: &BlobKey) -> PathBuf {
        self.root.join(blob_key.folder).join(blob_key.file_name())
    }

    /// Starts to write the file of `blob_key`. Readers see nothing of it until
    /// [`BlobWriter::finish`].
    ///
    /// # Errors
    /// The folder or the file cannot be created.
    pub fn writer(&self, blob_key: &BlobKey) -> io::Result<BlobWriter> {
        let remote = self.remote.as_ref().map(|store| store.remote.clone());
        Ok(self.local_writer(blob_key, 0)?.with_remote(remote, blob_key.folder))
    }

    /// Like [`Self::writer`], but writes only the local file. With object storage, first makes room
    /// for `size_bytes` in the cache.
    fn local_writer(&self, blob_key: &BlobKey, size_bytes: u64) -> io::Result<BlobWriter> {
        let destination = self.path(blob_key);
        let folder = self.root.join(blob_key.folder);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            writer::sync_folder(&self.root)?;
        }
        if let Some(store) = &self.remote {
            store.cache.make_room(size_bytes)?;
        }
        BlobWriter::create(folder, destination)
    }

    /// Starts to write a file whose id becomes known only when it is complete.
    /// [`BlobWriter::finish_as`] then gives it its name.
    ///
    /// # Errors
    /// The folder or the file cannot be created.
    pub fn unnamed_writer(&self, folder: &'static str) -> io::Result<BlobWriter> {
        // No id begins with a dot, so `finish` alone never replaces a stored file.
        self.writer(&BlobKey {
            folder,
            id: format!(".{}", uuid::Uuid::new_v4().simple()),
            extension: "unnamed",
        })
    }

    /// Makes an unnamed hard link to the stored file of `blob_key`. If the file system does not
    /// support hard links, makes a copy.
    ///
    /// # Errors
    /// There is no such file, or it cannot be copied.
    pub fn unnamed_copy(&self, blob_key: &BlobKey, folder: &'static str) -> io::Result<BlobWriter> {
        // With object storage, this fetches the file if it is not in the cache.
        self.read(blob_key)?.ok_or(io::ErrorKind::NotFound)?;
        let writer = self.unnamed_writer(folder)?;
        let source = self.path(blob_key);
        fs::remove_file(writer.temporary())?;
        if fs::hard_link(&source, writer.temporary()).is_err() {
            fs::copy(&source, writer.temporary())?;
        }
        let file = File::options().read(true).write(true).open(writer.temporary())?;
        Ok(writer.with_file(file))
    }

    /// Lists the stored files of one kind. Includes files that are only in the cache of object
    /// storage.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn entries(&self, folder: &'static str) -> io::Result<Vec<Entry>> {
        let mut entries = list_local_entries(&self.root.join(folder))?;
        if let Some(store) = &self.remote {
            let stored_entries = store.remote.list_entries(folder)?;
            let names: BTreeSet<_> =
                stored_entries.iter().map(|entry| (&entry.id, &entry.extension)).collect();
            entries.retain(|entry| !names.contains(&(&entry.id, &entry.extension)));
            entries.extend(stored_entries.iter().cloned());
        }
        Ok(entries)
    }

    /// Lists the files of one kind that are stored durably. With object storage, these do not
    /// include files that are only in the cache.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn durable_entries(&self, folder: &'static str) -> io::Result<Vec<Entry>> {
        match &self.remote {
            Some(store) => store.remote.list_entries(folder),
            None => list_local_entries(&self.root.join(folder)),
        }
    }

    /// Returns the ids and the sizes in bytes of the stored files of one kind.
    ///
    /// # Errors
    /// Those of [`Self::entries`].
    pub fn sizes(&self, folder: &'static str) -> io::Result<Vec<(String, u64)>> {
        Ok(self.entries(folder)?.into_iter().map(|entry| (entry.id, entry.size_bytes)).collect())
    }

    /// Stores `bytes` durably as the file of `blob_key`.
    ///
    /// # Errors
    /// Any step fails. An older file with that key is then unchanged.
    pub fn put(&self, blob_key: &BlobKey, bytes: &[u8]) -> io::Result<()> {
        let mut writer = self.writer(blob_key)?;
        writer.write_all(bytes)?;
        writer.finish().map(|_| ())
    }

    /// Moves the file of `blob_key` from the [`Self::local`] store to object storage. Does nothing
    /// without object storage.
    ///
    /// # Errors
    /// Any step fails. The file then stays in the local store.
    pub fn move_from_local(&self, blob_key: &BlobKey) -> io::Result<()> {
        let Some(store) = &self.remote else { return Ok(()) };
        let local_blobs = self.local();
        // An earlier attempt has already moved the file.
        if !local_blobs.path(blob_key).exists() {
            return Ok(());
        }
        store.remote.put(blob_key.folder, &blob_key.file_name(), &local_blobs.path(blob_key))?;
        local_blobs.remove(blob_key)
    }

    /// Opens the file of `blob_key`. If it is missing, searches the quarantine for it. Returns
    /// `None` if there is none. Use this for files that the database refers to, because a search of
    /// the quarantine is expensive.
    ///
    /// # Errors
    /// The file exists but cannot be opened.
    pub fn read(&self, blob_key: &BlobKey) -> io::Result<Option<File>> {
        match self.read_stored(blob_key)? {
            None if self.return_from_quarantine(blob_key)? => self.read_stored(blob_key),
            file => Ok(file),
        }
    }

    /// Opens the file of `blob_key` without a search of the quarantine. Returns `None` if there is
    /// none. Use this for files whose names come from requests, such as renders.
    ///
    /// # Errors
    /// The file exists but cannot be opened.
    pub fn read_stored(&self, blob_key: &BlobKey) -> io::Result<Option<File>> {
        match File::open(self.path(blob_key)) {
            Ok(file) => {
                if self.remote.is_some() {
                    // The modification time marks the file as recently used.
                    file.set_modified(SystemTime::now())?;
                }
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.fetch(blob_key),
            Err(error) => Err(error),
        }
    }

    /// Fetches the file of `blob_key` into the cache. If the disk is full, empties the cache and
    /// tries again.
    fn fetch(&self, blob_key: &BlobKey) -> io::Result<Option<File>> {
        let Some(store) = &self.remote else { return Ok(None) };
        match self.fetch_from(store, blob_key) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull && store.cache.clear()? => {
                self.fetch_from(store, blob_key)
            }
            fetch_result => fetch_result,
        }
    }

    fn fetch_from(&self, store: &RemoteStore, blob_key: &BlobKey) -> io::Result<Option<File>> {
        let start = |size_bytes| self.local_writer(blob_key, size_bytes);
        let Some(writer) = store.remote.fetch(blob_key.folder, &blob_key.file_name(), start)? else {
            return Ok(None);
        };
        // The file is opened now, because another thread may later evict it from the cache.
        let file = File::open(writer.temporary())?;
        writer.finish()?;
        Ok(Some(file))
    }

    /// Returns the size of the cache of object storage in bytes. It is 0 without object storage.
    ///
    /// # Errors
    /// The cache cannot be listed.
    pub fn cache_size_bytes(&self) -> io::Result<u64> {
        self.remote.as_ref().map_or(Ok(0), |store| store.cache.measure_size_bytes())
    }

    /// Empties the cache of object storage. Returns whether the cache contained any files.
    ///
    /// # Errors
    /// A copy cannot be removed.
    pub fn clear_cache(&self) -> io::Result<bool> {
        self.remote.as_ref().map_or(Ok(false), |store| store.cache.clear())
    }

    /// Removes the file of `blob_key`. Does nothing if there is none.
    ///
    /// # Errors
    /// The file exists but cannot be removed.
    pub fn remove(&self, blob_key: &BlobKey) -> io::Result<()> {
        if let Some(store) = &self.remote {
            store.remote.remove(blob_key.folder, &blob_key.file_name())?;
        }
        remove_if_there(&self.path(blob_key))
    }

    /// Removes the file of `blob_key`, and frees its space on this machine's disk at once, even if
    /// a client is still reading it. Such a client gets no more bytes. The file must not be mapped
    /// into memory, and it must have no other hard link.
    ///
    /// # Errors
    /// The file exists but cannot be removed.
    pub fn remove_from_readers(&self, blob_key: &BlobKey) -> io::Result<()> {
        // Only the open file is emptied, so a crash leaves either the whole file or none.
        let file = File::options().write(true).open(self.path(blob_key));
        self.remove(blob_key)?;
        match file {
            Ok(file) => file.set_len(0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn list_local_entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Another process may have removed the file.
        let (Some((id, extension)), Ok(metadata)) = (split_name(&name), entry.metadata()) else { continue };
        files.push(Entry { id, extension, stored_at: metadata.modified()?, size_bytes: metadata.len() });
    }
    Ok(files)
}

/// Splits the name of a stored file into id and extension.
fn split_name(name: &str) -> Option<(String, String)> {
    let (id, extension) = name.rsplit_once('.').filter(|(id, _)| !id.is_empty())?;
    Some((id.to_owned(), extension.to_owned()))
}

fn sweep(folder: &Path, abandoned_after: Duration) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_unfinished =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY_PREFIX));
        if is_unfinished && is_older(&path, abandoned_after) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

/// Whether a file was last written at least `age` ago. Always true if `age` is zero; otherwise
/// false if the file is missing.
fn is_older(path: &Path, age: Duration) -> bool {
    let modified_at = fs::metadata(path).and_then(|metadata| metadata.modified());
    age.is_zero()
        || modified_at.is_ok_and(|modified_at| modified_at.elapsed().is_ok_and(|since| since >= age))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::error::ApiError;

    fn store() -> (tempfile::TempDir, Blobs) {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::open(dir.path().join("blobs"), Sharing::Exclusive).expect("opens");
        (dir, blobs)
    }

    #[test]
    fn a_file_appears_completely_or_not_at_all() {
        let (_dir, blobs) = store();
        let key = BlobKey::new("renders", "a1", "wav").expect("a valid key");
        let mut writer = blobs.writer(&key).expect("starts");
        writer.write_all(b"half").expect("writes");
        assert!(blobs.read(&key).expect("reads").is_none(), "the file is visible before it is finished");
        drop(writer);
        assert_eq!(
            fs::read_dir(blobs.path(&key).parent().unwrap()).unwrap().count(),
            0,
            "a dropped writer left a file behind"
        );

        blobs.put(&key, b"whole").expect("stores");
        let mut text = String::new();
        blobs.read(&key).expect("reads").expect("the file exists").read_to_string(&mut text).expect("text");
        assert_eq!(text, "whole");
        blobs.remove(&key).expect("removes");
        blobs.remove(&key).expect("removing nothing is fine");
        assert!(blobs.read(&key).expect("reads").is_none());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn damaged_bytes_from_object_storage_are_refused_and_not_cached() {
        let dir = tempfile::tempdir().expect("a folder");
        let (remote, root) = (Remote::in_memory(), dir.path().join("blobs"));
        let blobs = Blobs::open_remote(root, remote.clone(), 1 << 20, 0, Sharing::Exclusive).expect("opens");
        let work = move || {
            let key = BlobKey::new("audio", "a1", "wav").expect("a valid key");
            blobs.put(&key, b"right").expect("stores");
            fs::remove_file(blobs.path(&key)).expect("there is a local copy");
            remote.damage("audio", "a1.wav", b"wrong");
            let error = ApiError::from(blobs.read(&key).expect_err("the damaged bytes are refused"));
            assert_eq!((error.status().as_u16(), error.code()), (503, "storage_unreachable"));
            assert!(!blobs.path(&key).exists(), "the damaged bytes were cached");
            remote.damage("audio", "a1.wav", b"right");
            assert!(blobs.read(&key).expect("reads").is_some());
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    #[test]
    fn an_unnamed_file_can_be_written_by_another_program_and_named_at_the_end() {
        let (_dir, blobs) = store();
        assert!(blobs.entries("audio").expect("lists").is_empty());
        let writer = blobs.unnamed_writer("audio").expect("starts");
        fs::write(writer.temporary(), b"from elsewhere").expect("writes");
        let key = BlobKey::new("audio", "b2", "wav").expect("a valid key");
        let copied_key = BlobKey::new("parts", "c3", "part").expect("a valid key");
        writer.finish_as(&key).expect("names the file");
        assert_eq!(fs::read(blobs.path(&key)).expect("reads"), b"from elsewhere");
        let blob_entries = blobs.entries("audio").expect("lists");
        assert_eq!((blob_entries.len(), blob_entries[0].file_name()), (1, "b2.wav".to_owned()));
        blobs.put(&copied_key, b"a part").expect("stores");
        let second = BlobKey::new("audio", "d4", "wav").expect("a valid key");
        blobs.unnamed_copy(&copied_key, "audio").expect("copies").finish_as(&second).expect("names the file");
        blobs.remove(&copied_key).expect("removes");
        assert_eq!(fs::read(blobs.path(&second)).expect("reads"), b"a part");
    }

    #[test]
    fn opening_the_store_removes_files_that_a_crash_left_behind() {
        let (dir, blobs) = store();
        let key = BlobKey::new("renders", "kept", "wav").expect("a valid key");
        blobs.put(&key, b"kept").expect("stores");
        let leftover = blobs.path(&key).with_file_name(".writing-0123");
        fs::write(&leftover, b"half").expect("writes");
        Blobs::open(dir.path().join("blobs"), Sharing::Shared).expect("opens in shared mode");
        assert!(leftover.exists(), "another process may still be writing the file");
        let file = File::options().write(true).open(&leftover).expect("opens");
        file.set_modified(SystemTime::now() - ABANDONED_AFTER).expect("sets the time");
        Blobs::open(dir.path().join("blobs"), Sharing::Shared).expect("opens in shared mode");
        assert!(!leftover.exists(), "the file was not removed although it is too old to be in use");
        fs::write(&leftover, b"half").expect("writes");
        let second_storage = Blobs::open(dir.path().join("blobs"), Sharing::Exclusive).expect("opens again");
        assert!(!leftover.exists());
        assert!(second_storage.read(&key).expect("reads").is_some());
    }

    #[test]
    fn a_file_removed_from_its_readers_needs_no_space() {
        let (_dir, blobs) = store();
        let key = BlobKey::new("renders", "a1", "wav").expect("a valid key");
        blobs.put(&key, b"large").expect("stores");
        let mut reader = blobs.read(&key).expect("reads").expect("the file is stored");
        blobs.remove_from_readers(&key).expect("removes");
        assert_eq!(io::copy(&mut reader, &mut io::sink()).expect("reads"), 0);
        assert!(blobs.read(&key).expect("reads").is_none());
        blobs.remove_from_readers(&key).expect("there is nothing to remove");
    }

    #[test]
    fn ids_with_path_separators_are_refused() {
        for id in ["", "..", "a/b", "a\\b", "a.b", "\0", "é", &"x".repeat(129)] {
            assert!(BlobKey::new("renders", id, "wav").is_err(), "{id:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_of_a_private_file_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("key");
        write_private_file(&path, b"secret").expect("writes");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
