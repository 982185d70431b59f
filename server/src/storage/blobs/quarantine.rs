//! The quarantine of files. Files are moved there instead of being removed, until they are needed
//! again or expire.
//!
//! The path of a quarantined file is `quarantine/<time>/<folder>/<file>`, or
//! `quarantine/<time>-deleted/...` if a user deleted the file. A folder `<time>` or
//! `<time>-deleted` is called a batch. The quarantine is beside the folder of stored files if only
//! one process uses that folder, inside a shared folder, or in the bucket. Reading a missing file
//! restores it. Kinds of files that the database does not list, such as renders, must be restored
//! by an operator.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::writer::{self, BlobWriter};
use super::{BlobKey, Blobs};
use crate::clock;
use crate::disk::remove_if_there;

/// Name of the folder of the quarantine.
pub(super) const FOLDER: &str = "quarantine";

/// Number of digits of a time in UTC: year, month, day, hour, minute and second.
const TIME_DIGITS: usize = 14;

/// Suffix of the name of a batch with files that users deleted.
const DELETED_SUFFIX: &str = "-deleted";

/// Maximum number of attempts to move a file while other threads keep removing the destination
/// folder.
const MOVE_ATTEMPTS_MAX: u32 = 100;

/// Maximum number of batches in object storage that are searched with one request for each. If
/// there are more, listing all files takes fewer requests (one per 1,000 files).
const BATCH_REQUESTS_MAX: usize = 10;

/// Reason why a file was quarantined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// No row of the database needed the file.
    Unneeded,
    /// A user deleted the file.
    Deleted,
}

/// A file in the quarantine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct QuarantinedFile {
    /// Original folder and name of the file, joined by `/`.
    pub name: String,
    /// Time when the file was quarantined, in UTC, as digits from the year to the second.
    pub since: String,
    /// Reason why the file was quarantined.
    pub reason: QuarantineReason,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    #[serde(skip)]
    batch: String,
}

impl QuarantinedFile {
    /// Parses a path relative to the quarantine. Returns `None` if it is not the path of a
    /// quarantined file.
    pub(super) fn parse(path: &str, size_bytes: u64) -> Option<Self> {
        let (batch, name) = path.split_once('/')?;
        let (folder, file) = name.split_once('/')?;
        let (since, reason) = match batch.strip_suffix(DELETED_SUFFIX) {
            Some(since) => (since, QuarantineReason::Deleted),
            None => (batch, QuarantineReason::Unneeded),
        };
        let is_time = since.len() == TIME_DIGITS && since.bytes().all(|byte| byte.is_ascii_digit());
        let is_file = !folder.is_empty() && !file.is_empty() && !file.contains('/') && !file.starts_with('.');
        (is_time && is_file).then(|| Self {
            name: name.to_owned(),
            since: since.to_owned(),
            reason,
            size_bytes,
            batch: batch.to_owned(),
        })
    }

    /// Whether the file was quarantined more than `secs` seconds before `now_ms` (milliseconds
    /// since 1970). Times are in whole seconds, so the second in which it was quarantined is not
    /// counted.
    #[must_use]
    pub fn is_older(&self, secs: u64, now_ms: i64) -> bool {
        let kept_ms = i64::try_from(secs.saturating_mul(1_000)).unwrap_or(i64::MAX);
        self.since < time_digits(&clock::text_of_unix_ms(now_ms.saturating_sub(kept_ms)))
    }

    fn path(&self) -> String {
        format!("{}/{}", self.batch, self.name)
    }
}

fn time_digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).take(TIME_DIGITS).collect()
}

impl Blobs {
    /// Moves the file of `blob_key` to the quarantine. Returns its path there, or `None` if there
    /// is no such file.
    ///
    /// # Errors
    /// The file cannot be moved. It then stays where it is.
    pub fn move_to_quarantine(
        &self,
        blob_key: &BlobKey,
        reason: QuarantineReason,
    ) -> io::Result<Option<String>> {
        let suffix = match reason {
            QuarantineReason::Unneeded => "",
            QuarantineReason::Deleted => DELETED_SUFFIX,
        };
        let path = format!("{}{suffix}/{}", time_digits(&clock::now_text()), blob_key.path());
        let is_moved = match &self.remote {
            Some(store) => {
                let is_moved = store.remote.rename(&blob_key.path(), &format!("{FOLDER}/{path}"))?;
                remove_if_there(&self.path(blob_key))?;
                is_moved
            }
            None => move_file(&self.path(blob_key), &self.quarantine.join(&path))?,
        };
        Ok(is_moved.then(|| format!("{FOLDER}/{path}")))
    }

    /// Lists all files in the quarantine, the oldest first.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn list_quarantined(&self) -> io::Result<Vec<QuarantinedFile>> {
        let files = match &self.remote {
            Some(store) => store.remote.list_recursive(FOLDER)?,
            None => list_files_below(&self.quarantine)?,
        };
        let mut files: Vec<QuarantinedFile> = files
            .into_iter()
            .filter_map(|(path, size_bytes)| QuarantinedFile::parse(&path, size_bytes))
            .collect();
        files.sort_by(|a, b| (&a.since, &a.name).cmp(&(&b.since, &b.name)));
        Ok(files)
    }

    /// Moves the newest quarantined file of `blob_key` back. Returns false if there is none. If the
    /// file has been stored again, both that file and the quarantined one stay where they are.
    ///
    /// # Errors
    /// The file cannot be moved.
    pub fn return_from_quarantine(&self, blob_key: &BlobKey) -> io::Result<bool> {
        let name = blob_key.path();
        let Some(quarantined_file) = self.find_quarantined(blob_key)? else { return Ok(false) };
        let is_back = match &self.remote {
            Some(store) => store.remote.rename(&format!("{FOLDER}/{}", quarantined_file.path()), &name)?,
            None if self.path(blob_key).exists() => true,
            None => {
                let is_back =
                    move_file(&self.quarantine.join(quarantined_file.path()), &self.path(blob_key))?;
                self.remove_empty_folders(&quarantined_file);
                is_back
            }
        };
        if is_back {
            tracing::info!(
                file = name,
                since = quarantined_file.since,
                "restored a stored file from the quarantine"
            );
        }
        Ok(is_back)
    }

    /// Returns the newest file of `blob_key` in the quarantine.
    fn find_quarantined(&self, blob_key: &BlobKey) -> io::Result<Option<QuarantinedFile>> {
        let mut batches = match &self.remote {
            Some(store) => store.remote.list_folders(FOLDER)?,
            None => list_batches(&self.quarantine)?,
        };
        if self.is_remote() && batches.len() > BATCH_REQUESTS_MAX {
            let quarantined_files = self.list_quarantined()?;
            return Ok(quarantined_files
                .into_iter()
                .rev()
                .find(|quarantined_file| quarantined_file.name == blob_key.path()));
        }
        // This sorts by time, because the names of batches begin with the time.
        batches.sort();
        for batch in batches.iter().rev() {
            let path = format!("{batch}/{}", blob_key.path());
            let size_bytes = match &self.remote {
                Some(store) => store.remote.read_size_bytes(&format!("{FOLDER}/{path}"))?,
                None => read_file_size_bytes(&self.quarantine.join(&path))?,
            };
            let parsed_file = size_bytes.and_then(|size_bytes| QuarantinedFile::parse(&path, size_bytes));
            if parsed_file.is_some() {
                return Ok(parsed_file);
            }
        }
        Ok(None)
    }

    /// Deletes a file in the quarantine.
    ///
    /// # Errors
    /// The file exists but cannot be removed.
    pub fn remove_quarantined(&self, quarantined_file: &QuarantinedFile) -> io::Result<()> {
        match &self.remote {
            Some(store) => {
                store.remote.remove(&format!("{FOLDER}/{}", quarantined_file.batch), &quarantined_file.name)
            }
            None => {
                remove_if_there(&self.quarantine.join(quarantined_file.path()))?;
                self.remove_empty_folders(quarantined_file);
                Ok(())
            }
        }
    }

    /// Removes the folders of a batch if they are empty.
    fn remove_empty_folders(&self, removed_file: &QuarantinedFile) {
        let batch = self.quarantine.join(&removed_file.batch);
        if let Some((folder, _)) = removed_file.name.split_once('/') {
            // `remove_dir` fails if the folder is not empty. Such a folder must stay.
            let _ = fs::remove_dir(batch.join(folder)).and_then(|()| fs::remove_dir(&batch));
        }
    }
}

/// Moves a file, even to another disk. Returns false if there is no such file.
fn move_file(source: &Path, destination: &Path) -> io::Result<bool> {
    let source_folder = source.parent().unwrap_or(source);
    let folder = destination.parent().unwrap_or(destination);
    let mut attempts = 1;
    loop {
        match fs::create_dir_all(folder).and_then(|()| rename(source, destination, folder)) {
            Ok(()) => break,
            // Another thread restored a file and removed the folder, which was empty then.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                    && source.exists()
                    && attempts < MOVE_ATTEMPTS_MAX =>
            {
                attempts += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    sync_if_there(folder)?;
    sync_if_there(source_folder)?;
    Ok(true)
}

fn rename(source: &Path, destination: &Path, folder: &Path) -> io::Result<()> {
    match fs::rename(source, destination) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut writer = BlobWriter::create(folder.to_owned(), destination.to_owned())?;
            io::copy(&mut fs::File::open(source)?, &mut writer)?;
            writer.finish()?;
            remove_if_there(source)
        }
        rename_result => rename_result,
    }
}

/// Syncs a folder. Ignores that another thread has removed the folder because it was empty.
fn sync_if_there(folder: &Path) -> io::Result<()> {
    match writer::sync_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        sync_result => sync_result,
    }
}

/// Returns the names of the batches in a quarantine.
fn list_batches(quarantine: &Path) -> io::Result<Vec<String>> {
    let names = list_entries(quarantine)?.into_iter();
    Ok(names.filter_map(|batch| Some(batch.file_name()?.to_string_lossy().into_owned())).collect())
}

/// Returns the size of a file in bytes; `None` if there is no such file.
fn read_file_size_bytes(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        metadata => metadata.map(|metadata| metadata.is_file().then_some(metadata.len())),
    }
}

/// Returns the paths (with `/`) and the sizes in bytes of all files that are exactly two folders
/// below `root`.
fn list_files_below(root: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    for batch in list_entries(root)? {
        for folder in list_entries(&batch)? {
            for file in list_entries(&folder)? {
                // Another process may have moved the file.
                let (Ok(path), Ok(metadata)) = (file.strip_prefix(root), fs::metadata(&file)) else {
                    continue;
                };
                if metadata.is_file() {
                    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
                    files.push((parts.join("/"), metadata.len()));
                }
            }
        }
    }
    Ok(files)
}

/// Returns the paths of the entries of a folder; an empty list if there is no such folder.
fn list_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::{Remote, Sharing};
    use super::*;

    #[test]
    fn reading_a_file_restores_it_from_the_quarantine() {
        let dir = tempfile::tempdir().expect("a folder");
        let exclusive = Blobs::open(dir.path().join("blobs"), Sharing::Exclusive).expect("opens");
        let shared_storage = Blobs::open(dir.path().join("shared"), Sharing::Shared).expect("opens");
        for blobs in [exclusive, shared_storage.with_quarantine_inside()] {
            let key = BlobKey::new("audio", "a1", "wav").expect("a valid key");
            blobs.put(&key, b"bytes").expect("stores");
            assert!(blobs.move_to_quarantine(&key, QuarantineReason::Unneeded).expect("moves").is_some());
            assert!(
                blobs.move_to_quarantine(&key, QuarantineReason::Unneeded).expect("moves").is_none(),
                "the file was already moved"
            );
            assert!(!blobs.path(&key).exists());
            let quarantined = blobs.list_quarantined().expect("lists");
            assert_eq!(
                (quarantined.len(), quarantined[0].name.as_str(), quarantined[0].size_bytes),
                (1, "audio/a1.wav", 5)
            );
            let now_ms = clock::now_unix_ms() + 1_000;
            assert!(quarantined[0].is_older(0, now_ms) && !quarantined[0].is_older(60, now_ms));
            assert!(blobs.read(&key).expect("reads").is_some());
            assert!(blobs.path(&key).exists() && blobs.list_quarantined().expect("lists").is_empty());
            assert!(blobs.move_to_quarantine(&key, QuarantineReason::Deleted).expect("moves").is_some());
            let quarantined = blobs.list_quarantined().expect("lists");
            assert_eq!(quarantined[0].reason, QuarantineReason::Deleted);
            blobs.remove_quarantined(&quarantined[0]).expect("removes");
            assert!(blobs.read(&key).expect("reads").is_none());
        }
    }

    #[test]
    fn several_threads_can_quarantine_and_restore_a_file_at_the_same_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::open(dir.path().join("blobs"), Sharing::Exclusive).expect("opens");
        let key = BlobKey::new("audio", "a1", "wav").expect("a valid key");
        blobs.put(&key, b"bytes").expect("stores");
        let is_done = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        blobs.contains(&key).expect("accesses the storage");
                    }
                });
            }
            for _ in 0..2_000 {
                blobs.move_to_quarantine(&key, QuarantineReason::Deleted).expect("moves");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert!(blobs.contains(&key).expect("accesses the storage"));
        assert_eq!(
            blobs.read(&key).expect("reads").map(|file| file.metadata().expect("metadata").len()),
            Some(5)
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn object_storage_and_the_local_store_have_separate_quarantines() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("blobs");
        let remote_storage = Remote::in_memory();
        let blobs = Blobs::open_remote(root, remote_storage, 1 << 20, 0, Sharing::Exclusive).expect("opens");
        let check = move || {
            let key = BlobKey::new("audio", "a1", "wav").expect("a valid key");
            for (content, reason) in
                [(b"first", QuarantineReason::Deleted), (b"other", QuarantineReason::Unneeded)]
            {
                blobs.put(&key, content).expect("stores");
                assert!(blobs.move_to_quarantine(&key, reason).expect("moves").is_some());
                assert!(blobs.read_stored(&key).expect("accesses the storage").is_none());
            }
            assert_eq!(blobs.list_quarantined().expect("lists").len(), 2);
            assert!(blobs.contains(&key).expect("accesses the storage"), "the file was not restored");
            assert!(
                blobs.contains(&key).expect("accesses the storage")
                    && blobs.read(&key).expect("reads").is_some()
            );
            assert_eq!(blobs.list_quarantined().expect("lists").len(), 1);
            let part = BlobKey::new("parts", "b1", "part").expect("a valid key");
            let local = blobs.local();
            local.put(&part, b"part").expect("stores");
            assert!(local.move_to_quarantine(&part, QuarantineReason::Unneeded).expect("moves").is_some());
            let names = |blobs: &Blobs| -> Vec<String> {
                blobs.list_quarantined().expect("lists").into_iter().map(|file| file.name).collect()
            };
            assert_eq!((names(&local), names(&blobs)), (vec![part.path()], vec![key.path()]));
            assert!(local.read(&part).expect("reads").is_some());
        };
        tokio::task::spawn_blocking(check).await.expect("no panic");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn reading_a_missing_file_takes_few_requests_even_if_many_files_were_deleted() {
        let dir = tempfile::tempdir().expect("a folder");
        let remote_storage = Remote::in_memory();
        let root = dir.path().join("blobs");
        let blobs =
            Blobs::open_remote(root, remote_storage.clone(), 1 << 20, 0, Sharing::Exclusive).expect("opens");
        let work = move || {
            let key = |id: &str| BlobKey::new("audio", id, "wav").expect("a valid key");
            for second in 10..40 {
                let id = format!("a{second}");
                blobs.put(&key(&id), b"bytes").expect("stores");
                let quarantined = format!("{FOLDER}/202611221011{second}-deleted/audio/{id}.wav");
                assert!(remote_storage.rename(&key(&id).path(), &quarantined).expect("moves"));
            }
            let requests = || remote_storage.size_requests.load(Ordering::Relaxed);
            let count_before = requests();
            assert!(blobs.read(&key("b")).expect("accesses the storage").is_none());
            assert!(
                requests() - count_before <= BATCH_REQUESTS_MAX,
                "{} requests",
                requests() - count_before
            );
            assert!(blobs.contains(&key("a20")).expect("accesses the storage"), "the file was not restored");
            assert_eq!(blobs.list_quarantined().expect("lists").len(), 29);
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    #[test]
    fn only_paths_of_quarantined_files_are_parsed() {
        let parse = |path: &str| QuarantinedFile::parse(path, 1).map(|file| (file.since, file.reason));
        let time = "20261122101112";
        let expected = |reason| Some((time.to_owned(), reason));
        assert_eq!(parse("20261122101112/audio/a.wav"), expected(QuarantineReason::Unneeded));
        assert_eq!(parse("20261122101112-deleted/audio/a.wav"), expected(QuarantineReason::Deleted));
        for bad_path in ["2026/audio/a.wav", "20261122101112/a.wav", "20261122101112/audio/.writing-1", "x"] {
            assert_eq!(parse(bad_path), None, "{bad_path}");
        }
    }
}
