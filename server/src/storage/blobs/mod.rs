//! Files the service keeps beside the database: renders, audio.
//!
//! They lie in a folder, or in object storage that speaks S3. In both cases whoever reads or writes
//! has a local file: it can be mapped, and a decoder in a process of its own can fill it. With
//! object storage a file is complete when it is stored there; the folder is then a cache, from
//! which the files go that were not asked for for longest (`cache.rs`).
//!
//! A file appears whole or not at all: it is written under a temporary name in its own folder,
//! synced, renamed, and then the folder is synced. What a crash leaves behind is swept at start; in
//! a folder that other processes share only when it is so old that none of them can be writing it.

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
pub use quarantine::{Quarantined, Reason};
pub use remote::Remote;
pub use writer::{BlobWriter, write_private_file};

use crate::disk::remove_if_there;

/// Start of the names of files that are still being written.
const TEMPORARY_PREFIX: &str = ".writing-";

/// Age from which on a file that is still being written in a shared folder belongs to nobody.
const ABANDONED_AFTER: Duration = Duration::from_secs(2 * 86_400);

/// Who else uses a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody.
    Own,
    /// Other processes, maybe on other machines.
    Shared,
}

/// Name of a stored file: a kind (its folder), an id and an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobKey {
    folder: &'static str,
    id: String,
    extension: &'static str,
}

/// An id that cannot name a file.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` cannot name a file: 1 to 128 letters, digits, `-` or `_` can")]
pub struct BadBlobId(pub String);

impl BlobKey {
    /// The key of `id` among the files of one kind.
    ///
    /// # Errors
    /// When `id` holds anything but ASCII letters, digits, `-` and `_`, so that no id leaves the
    /// folder.
    pub fn new(folder: &'static str, id: &str, extension: &'static str) -> Result<Self, BadBlobId> {
        let fits = (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !fits {
            return Err(BadBlobId(id.chars().take(200).collect()));
        }
        Ok(Self { folder, id: id.to_owned(), extension })
    }

    /// The kind of file.
    #[must_use]
    pub fn folder(&self) -> &'static str {
        self.folder
    }

    /// Id and extension.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.extension)
    }

    /// Kind and file name, with `/` between.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.folder, self.file_name())
    }
}

/// The stored files.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
    /// Folder of the files that were set aside, unless they are in object storage.
    quarantine: PathBuf,
    remote: Option<RemoteStore>,
}

/// What there is besides where files lie in object storage.
#[derive(Debug, Clone)]
struct RemoteStore {
    remote: Remote,
    cache: Cache,
    /// Root of the files that other machines do not need.
    local_root: PathBuf,
}

/// A kind of files: their folder, and the extensions that they may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// Folder of the store.
    pub folder: &'static str,
    /// Extensions.
    pub extensions: &'static [&'static str],
}

impl FileKind {
    /// The key of a file of this kind by its name; `None` if no such file has that name.
    #[must_use]
    pub fn key(&self, file_name: &str) -> Option<BlobKey> {
        let (id, extension) = split_name(file_name)?;
        let extension = self.extensions.iter().find(|known| **known == extension)?;
        BlobKey::new(self.folder, &id, extension).ok()
    }

    /// Whether the file of `key` is of this kind.
    #[must_use]
    pub fn has(&self, key: &BlobKey) -> bool {
        key.folder == self.folder && self.extensions.contains(&key.extension)
    }
}

/// A stored file that belongs to nothing.
#[derive(Debug, Clone)]
pub struct Orphan {
    /// Its name.
    pub key: BlobKey,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was stored.
    pub stored_at: SystemTime,
}

/// A file that must be there, since the database speaks of it.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Its name.
    pub key: BlobKey,
    /// Its size in bytes; of an upload under way, the least that it may have.
    pub size_bytes: u64,
    /// Whether it may be longer.
    pub is_growing: bool,
    /// Its SHA-256 in hexadecimal, where it is known.
    pub sha256: Option<String>,
}

/// A stored file as a list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id.
    pub id: String,
    /// Extension.
    pub extension: String,
    /// When it was stored.
    pub stored_at: SystemTime,
    /// Size in bytes.
    pub size_bytes: u64,
}

impl Entry {
    /// How long ago it was stored; a clock that was set back makes it new.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.stored_at.elapsed().unwrap_or_default()
    }

    /// Id and extension.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.extension)
    }
}

impl Blobs {
    /// Opens the store in `root`, making the folder if needed and sweeping files that were left
    /// unfinished.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(root: PathBuf, sharing: Sharing) -> io::Result<Self> {
        let abandoned_after = match sharing {
            Sharing::Own => Duration::ZERO,
            Sharing::Shared => ABANDONED_AFTER,
        };
        fs::create_dir_all(&root)?;
        // On the same disk, so that a file only gets another name.
        let quarantine = root.with_file_name(quarantine::FOLDER);
        let this = Self { root, quarantine, remote: None };
        this.sweep(abandoned_after)?;
        Ok(this)
    }

    /// The same with the quarantine inside its folder, for a folder whose neighbours belong to
    /// others.
    #[must_use]
    pub fn with_quarantine_inside(self) -> Self {
        Self { quarantine: self.root.join(quarantine::FOLDER), ..self }
    }

    /// Removes files on this machine that were begun and nobody goes on with.
    ///
    /// # Errors
    /// When they cannot be listed or removed.
    pub fn sweep_abandoned(&self) -> io::Result<()> {
        if let Some(store) = &self.remote {
            self.of_this_machine(store).sweep(ABANDONED_AFTER)?;
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

    /// Opens object storage, with a cache in `root` that keeps at most `cache_bytes`; `sharing`
    /// says who else uses it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_remote(
        root: PathBuf,
        remote: Remote,
        cache_bytes: u64,
        sharing: Sharing,
    ) -> io::Result<Self> {
        let local_root = root.with_file_name("blobs-of-this-machine");
        Self::open(local_root.clone(), sharing)?;
        let own = Self::open(root.clone(), sharing)?;
        let cache = Cache::new(root, cache_bytes);
        Ok(Self { remote: Some(RemoteStore { remote, cache, local_root }), ..own })
    }

    /// A store of files that other machines do not need: this one, or a folder beside the cache of
    /// object storage.
    #[must_use]
    pub fn local(&self) -> Self {
        match &self.remote {
            None => self.clone(),
            Some(store) => self.of_this_machine(store),
        }
    }

    fn of_this_machine(&self, store: &RemoteStore) -> Self {
        Self { root: store.local_root.clone(), quarantine: self.quarantine.clone(), remote: None }
    }

    /// Whether other machines have other files than [`Self::local`] has.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Whether the file of `key` is stored, or returns from the quarantine.
    ///
    /// # Errors
    /// When the storage does not say.
    pub fn contains(&self, key: &BlobKey) -> io::Result<bool> {
        let is_there = match &self.remote {
            Some(store) => store.remote.has(key.folder, &key.file_name())?,
            None => self.path(key).is_file(),
        };
        Ok(is_there || self.return_from_quarantine(key)?)
    }

    /// The folder that everything is written in.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the file of `key` is on this machine, whether it exists or not. With object storage it
    /// may have to be fetched first, as [`Self::read`] does.
    #[must_use]
    pub fn path(&self, key: &BlobKey) -> PathBuf {
        self.root.join(key.folder).join(key.file_name())
    }

    /// Starts writing the file of `key`. Nothing is visible until [`BlobWriter::finish`].
    ///
    /// # Errors
    /// When the folder or the file cannot be made.
    pub fn writer(&self, key: &BlobKey) -> io::Result<BlobWriter> {
        let remote = self.remote.as_ref().map(|store| store.remote.clone());
        Ok(self.local_writer(key)?.bound_for(remote, key.folder))
    }

    fn local_writer(&self, key: &BlobKey) -> io::Result<BlobWriter> {
        let destination = self.path(key);
        let folder = self.root.join(key.folder);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            writer::sync_folder(&self.root)?;
        }
        if let Some(store) = &self.remote {
            store.cache.make_room()?;
        }
        BlobWriter::create(folder, destination)
    }

    /// Starts writing a file of one kind whose id is known only once it is whole: it gets its name
    /// from [`BlobWriter::finish_as`].
    ///
    /// # Errors
    /// When the folder or the file cannot be made.
    pub fn unnamed_writer(&self, folder: &'static str) -> io::Result<BlobWriter> {
        // No id begins with a point, so `finish` alone can never hit a stored file.
        self.writer(&BlobKey {
            folder,
            id: format!(".{}", uuid::Uuid::new_v4().simple()),
            extension: "unnamed",
        })
    }

    /// A nameless file with the content of the stored file of `key`, which stays: a second name of
    /// the same bytes where the disk can do that, otherwise a copy.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be copied.
    pub fn unnamed_copy(&self, key: &BlobKey, folder: &'static str) -> io::Result<BlobWriter> {
        // Fetched, if it was not.
        self.read(key)?.ok_or(io::ErrorKind::NotFound)?;
        let writer = self.unnamed_writer(folder)?;
        let source = self.path(key);
        fs::remove_file(writer.temporary())?;
        if fs::hard_link(&source, writer.temporary()).is_err() {
            fs::copy(&source, writer.temporary())?;
        }
        let file = File::options().read(true).write(true).open(writer.temporary())?;
        Ok(writer.with_file(file))
    }

    /// The stored files of one kind; with object storage also what is left of them in the cache.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn entries(&self, folder: &'static str) -> io::Result<Vec<Entry>> {
        let mut found = local_entries(&self.root.join(folder))?;
        if let Some(store) = &self.remote {
            let stored = store.remote.entries(folder)?;
            let names: BTreeSet<_> = stored.iter().map(|one| (&one.id, &one.extension)).collect();
            found.retain(|one| !names.contains(&(&one.id, &one.extension)));
            found.extend(stored.iter().cloned());
        }
        Ok(found)
    }

    /// The files of one kind that are stored for good: with object storage those that are there,
    /// whatever the cache has.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn entries_for_good(&self, folder: &'static str) -> io::Result<Vec<Entry>> {
        match &self.remote {
            Some(store) => store.remote.entries(folder),
            None => local_entries(&self.root.join(folder)),
        }
    }

    /// Ids and sizes in bytes of the stored files of one kind.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn sizes(&self, folder: &'static str) -> io::Result<Vec<(String, u64)>> {
        Ok(self.entries(folder)?.into_iter().map(|one| (one.id, one.size_bytes)).collect())
    }

    /// Stores `bytes` as the file of `key`; when this returns they are stored for good.
    ///
    /// # Errors
    /// When any step fails; an older file of that key is then untouched.
    pub fn put(&self, key: &BlobKey, bytes: &[u8]) -> io::Result<()> {
        let mut writer = self.writer(key)?;
        writer.write_all(bytes)?;
        writer.finish().map(|_| ())
    }

    /// Moves the file of `key` from the [`Self::local`] store to this one, where they differ.
    ///
    /// # Errors
    /// When any step fails; the file is then where it was.
    pub fn take_from_local(&self, key: &BlobKey) -> io::Result<()> {
        let Some(store) = &self.remote else { return Ok(()) };
        let local = self.local();
        // An earlier attempt has moved it.
        if !local.path(key).exists() {
            return Ok(());
        }
        store.remote.put(key.folder, &key.file_name(), &local.path(key))?;
        local.remove(key)
    }

    /// Opens the file of `key`, which may return from the quarantine; `None` if there is none. For
    /// files that the database speaks of: looking into the quarantine costs more than a miss.
    ///
    /// # Errors
    /// When it exists and cannot be opened.
    pub fn read(&self, key: &BlobKey) -> io::Result<Option<File>> {
        match self.read_stored(key)? {
            None if self.return_from_quarantine(key)? => self.read_stored(key),
            found => Ok(found),
        }
    }

    /// Opens the file of `key` without a look into the quarantine; `None` if there is none. For
    /// files that anybody may name, such as renders.
    ///
    /// # Errors
    /// When it exists and cannot be opened.
    pub fn read_stored(&self, key: &BlobKey) -> io::Result<Option<File>> {
        match File::open(self.path(key)) {
            Ok(file) => {
                if self.remote.is_some() {
                    // What is read stays in the cache.
                    file.set_modified(SystemTime::now())?;
                }
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.fetch(key),
            Err(error) => Err(error),
        }
    }

    fn fetch(&self, key: &BlobKey) -> io::Result<Option<File>> {
        let Some(store) = &self.remote else { return Ok(None) };
        let mut writer = self.local_writer(key)?;
        if !store.remote.fetch(key.folder, &key.file_name(), &mut writer)? {
            return Ok(None);
        }
        // Held open from here on, so that nothing can take it away.
        let file = File::open(writer.temporary())?;
        writer.finish()?;
        Ok(Some(file))
    }

    /// Removes the file of `key`, if there is one.
    ///
    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove(&self, key: &BlobKey) -> io::Result<()> {
        if let Some(store) = &self.remote {
            store.remote.remove(key.folder, &key.file_name())?;
        }
        remove_if_there(&self.path(key))
    }
}

fn local_entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Another process may just have removed it.
        let (Some((id, extension)), Ok(facts)) = (split_name(&name), entry.metadata()) else { continue };
        found.push(Entry { id, extension, stored_at: facts.modified()?, size_bytes: facts.len() });
    }
    Ok(found)
}

/// Id and extension of a stored file's name.
fn split_name(name: &str) -> Option<(String, String)> {
    let (id, extension) = name.rsplit_once('.').filter(|(id, _)| !id.is_empty())?;
    Some((id.to_owned(), extension.to_owned()))
}

fn sweep(folder: &Path, abandoned_after: Duration) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let unfinished =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY_PREFIX));
        if unfinished && is_older(&path, abandoned_after) {
            remove_if_there(&path)?;
        }
    }
    Ok(())
}

/// Whether nobody has written to a file for so long. One that is gone meanwhile is not.
fn is_older(path: &Path, age: Duration) -> bool {
    let written = fs::metadata(path).and_then(|facts| facts.modified());
    age.is_zero() || written.is_ok_and(|written| written.elapsed().is_ok_and(|since| since >= age))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::error::ApiError;

    fn store() -> (tempfile::TempDir, Blobs) {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::open(dir.path().join("blobs"), Sharing::Own).expect("opens");
        (dir, blobs)
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let (_dir, blobs) = store();
        let key = BlobKey::new("renders", "a1", "wav").expect("fits");
        let mut writer = blobs.writer(&key).expect("starts");
        writer.write_all(b"half").expect("writes");
        assert!(blobs.read(&key).expect("reads").is_none(), "visible before it is finished");
        drop(writer);
        assert_eq!(fs::read_dir(blobs.path(&key).parent().unwrap()).unwrap().count(), 0, "left something");

        blobs.put(&key, b"whole").expect("stores");
        let mut text = String::new();
        blobs.read(&key).expect("reads").expect("is there").read_to_string(&mut text).expect("text");
        assert_eq!(text, "whole");
        blobs.remove(&key).expect("removes");
        blobs.remove(&key).expect("removing nothing is fine");
        assert!(blobs.read(&key).expect("reads").is_none());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn damaged_bytes_from_object_storage_are_refused_and_not_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let (remote, root) = (Remote::in_memory(), dir.path().join("blobs"));
        let blobs = Blobs::open_remote(root, remote.clone(), 1 << 20, Sharing::Own).expect("opens");
        let work = move || {
            let key = BlobKey::new("audio", "a1", "wav").expect("fits");
            blobs.put(&key, b"right").expect("stores");
            fs::remove_file(blobs.path(&key)).expect("there is a local copy");
            remote.damage("audio", "a1.wav", b"wrong");
            let error = ApiError::from(blobs.read(&key).expect_err("other bytes"));
            assert_eq!((error.status().as_u16(), error.code()), (503, "storage_unreachable"));
            assert!(!blobs.path(&key).exists(), "a copy of the damaged bytes was kept");
            remote.damage("audio", "a1.wav", b"right");
            assert!(blobs.read(&key).expect("reads").is_some());
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    #[test]
    fn a_name_can_come_last_and_the_bytes_from_elsewhere() {
        let (_dir, blobs) = store();
        assert!(blobs.entries("audio").expect("lists").is_empty());
        let writer = blobs.unnamed_writer("audio").expect("starts");
        fs::write(writer.temporary(), b"from elsewhere").expect("writes");
        let key = BlobKey::new("audio", "b2", "wav").expect("fits");
        let copy_of = BlobKey::new("parts", "c3", "part").expect("fits");
        writer.finish_as(&key).expect("names it");
        assert_eq!(fs::read(blobs.path(&key)).expect("reads"), b"from elsewhere");
        let stored = blobs.entries("audio").expect("lists");
        assert_eq!((stored.len(), stored[0].file_name()), (1, "b2.wav".to_owned()));
        blobs.put(&copy_of, b"a part").expect("stores");
        let second = BlobKey::new("audio", "d4", "wav").expect("fits");
        blobs.unnamed_copy(&copy_of, "audio").expect("copies").finish_as(&second).expect("names it");
        blobs.remove(&copy_of).expect("removes");
        assert_eq!(fs::read(blobs.path(&second)).expect("reads"), b"a part");
    }

    #[test]
    fn what_a_crash_left_is_swept_at_start() {
        let (dir, blobs) = store();
        let key = BlobKey::new("renders", "kept", "wav").expect("fits");
        blobs.put(&key, b"kept").expect("stores");
        let leftover = blobs.path(&key).with_file_name(".writing-0123");
        fs::write(&leftover, b"half").expect("writes");
        Blobs::open(dir.path().join("blobs"), Sharing::Shared).expect("opens beside others");
        assert!(leftover.exists(), "somebody else may be writing it");
        let file = File::options().write(true).open(&leftover).expect("opens");
        file.set_modified(SystemTime::now() - ABANDONED_AFTER).expect("sets");
        Blobs::open(dir.path().join("blobs"), Sharing::Shared).expect("opens beside others");
        assert!(!leftover.exists(), "nobody can be writing it");
        fs::write(&leftover, b"half").expect("writes");
        let again = Blobs::open(dir.path().join("blobs"), Sharing::Own).expect("opens again");
        assert!(!leftover.exists());
        assert!(again.read(&key).expect("reads").is_some());
    }

    #[test]
    fn no_id_leaves_the_folder() {
        for id in ["", "..", "a/b", "a\\b", "a.b", "\0", "é", &"x".repeat(129)] {
            assert!(BlobKey::new("renders", id, "wav").is_err(), "{id:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("key");
        write_private_file(&path, b"secret").expect("writes");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
