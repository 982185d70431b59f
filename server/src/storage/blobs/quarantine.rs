//! Files that were set aside instead of removed, until somebody needs them again or their time is
//! over.
//!
//! They lie in `quarantine/<time>/<folder>/<file>`, or `<time>-deleted` for what users deleted:
//! beside the folder of a process's own files, inside a shared folder, or in the bucket. A file
//! that is read and missing returns from there, unless it is of a kind that the database does not
//! list, such as renders: an operator brings those back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::writer::{self, BlobWriter};
use super::{BlobKey, Blobs};
use crate::clock;
use crate::disk::remove_if_there;

/// Name of the folder.
pub(super) const FOLDER: &str = "quarantine";

/// Digits of a time: year, month, day, hour, minute, second in UTC.
const TIME_DIGITS: usize = 14;

/// End of the name of a batch that holds what users deleted.
const DELETED: &str = "-deleted";

/// How often moving a file is tried while others remove the folder that it goes to.
const MOVE_ATTEMPTS_MAX: u32 = 100;

/// Batches of object storage that are asked for a file one by one. Where there are more, listing
/// all of them takes fewer requests: one for 1,000 files.
const BATCHES_ASKED_MAX: usize = 10;

/// Why a file was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No row of the database needed it.
    Unneeded,
    /// A user deleted it.
    Deleted,
}

/// A file in the quarantine.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Quarantined {
    /// Folder and name that it had among the stored files, with `/` between.
    pub name: String,
    /// When it was set aside, as digits from year to second, in UTC.
    pub since: String,
    /// Why.
    pub reason: Reason,
    /// Size in bytes.
    pub size_bytes: u64,
    #[serde(skip)]
    batch: String,
}

impl Quarantined {
    /// From the path below the quarantine.
    pub(super) fn parse(path: &str, size_bytes: u64) -> Option<Self> {
        let (batch, name) = path.split_once('/')?;
        let (folder, file) = name.split_once('/')?;
        let (since, reason) = match batch.strip_suffix(DELETED) {
            Some(since) => (since, Reason::Deleted),
            None => (batch, Reason::Unneeded),
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

    /// Whether it was set aside more than `secs` seconds before `now_ms`, a time in milliseconds
    /// since 1970. The second in which it was set aside does not count, since its name holds whole
    /// seconds only.
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
    /// Moves the file of `key` to the quarantine, and says where it is there; `None` if there is no
    /// such file.
    ///
    /// # Errors
    /// When it cannot be moved; it is then where it was.
    pub fn set_aside(&self, key: &BlobKey, reason: Reason) -> io::Result<Option<String>> {
        let suffix = match reason {
            Reason::Unneeded => "",
            Reason::Deleted => DELETED,
        };
        let path = format!("{}{suffix}/{}", time_digits(&clock::now_text()), key.path());
        let is_moved = match &self.remote {
            Some(store) => {
                let is_moved = store.remote.rename(&key.path(), &format!("{FOLDER}/{path}"))?;
                remove_if_there(&self.path(key))?;
                is_moved
            }
            None => move_file(&self.path(key), &self.quarantine.join(&path))?,
        };
        Ok(is_moved.then(|| format!("{FOLDER}/{path}")))
    }

    /// Every file in the quarantine, the oldest first.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn quarantined(&self) -> io::Result<Vec<Quarantined>> {
        let found = match &self.remote {
            Some(store) => store.remote.below(FOLDER)?,
            None => files_below(&self.quarantine)?,
        };
        let mut found: Vec<Quarantined> = found
            .into_iter()
            .filter_map(|(path, size_bytes)| Quarantined::parse(&path, size_bytes))
            .collect();
        found.sort_by(|one, other| (&one.since, &one.name).cmp(&(&other.since, &other.name)));
        Ok(found)
    }

    /// Moves the newest file of `key` from the quarantine back to where it was; false if there is
    /// none. A file that is stored already stays, and the other one is left in the quarantine.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn return_from_quarantine(&self, key: &BlobKey) -> io::Result<bool> {
        let name = key.path();
        let Some(one) = self.find_quarantined(key)? else { return Ok(false) };
        let is_back = match &self.remote {
            Some(store) => store.remote.rename(&format!("{FOLDER}/{}", one.path()), &name)?,
            None if self.path(key).exists() => true,
            None => {
                let is_back = move_file(&self.quarantine.join(one.path()), &self.path(key))?;
                self.remove_empty_folders(&one);
                is_back
            }
        };
        if is_back {
            tracing::info!(file = name, since = one.since, "a stored file returned from the quarantine");
        }
        Ok(is_back)
    }

    /// The newest file of `key` in the quarantine.
    fn find_quarantined(&self, key: &BlobKey) -> io::Result<Option<Quarantined>> {
        let mut batches = match &self.remote {
            Some(store) => store.remote.folders(FOLDER)?,
            None => batches(&self.quarantine)?,
        };
        if self.is_remote() && batches.len() > BATCHES_ASKED_MAX {
            let found = self.quarantined()?;
            return Ok(found.into_iter().rev().find(|one| one.name == key.path()));
        }
        // Their names begin with the time.
        batches.sort();
        for batch in batches.iter().rev() {
            let path = format!("{batch}/{}", key.path());
            let size_bytes = match &self.remote {
                Some(store) => store.remote.size_bytes(&format!("{FOLDER}/{path}"))?,
                None => file_size_bytes(&self.quarantine.join(&path))?,
            };
            let found = size_bytes.and_then(|size_bytes| Quarantined::parse(&path, size_bytes));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Removes a file from the quarantine for ever.
    ///
    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove_quarantined(&self, one: &Quarantined) -> io::Result<()> {
        match &self.remote {
            Some(store) => store.remote.remove(&format!("{FOLDER}/{}", one.batch), &one.name),
            None => {
                remove_if_there(&self.quarantine.join(one.path()))?;
                self.remove_empty_folders(one);
                Ok(())
            }
        }
    }

    /// Removes the folders of a batch that nothing is left in.
    fn remove_empty_folders(&self, one: &Quarantined) {
        let batch = self.quarantine.join(&one.batch);
        if let Some((folder, _)) = one.name.split_once('/') {
            // Fails while something is in it, as it should.
            let _ = fs::remove_dir(batch.join(folder)).and_then(|()| fs::remove_dir(&batch));
        }
    }
}

/// Gives a file another name, on another disk if need be; false if there is no such file.
fn move_file(from: &Path, to: &Path) -> io::Result<bool> {
    let (source_folder, folder) = (from.parent().unwrap_or(from), to.parent().unwrap_or(to));
    let mut attempts = 1;
    loop {
        match fs::create_dir_all(folder).and_then(|()| rename(from, to, folder)) {
            Ok(()) => break,
            // Another thread, which brought a file back, has just removed the empty folder.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
                    && from.exists()
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

fn rename(from: &Path, to: &Path, folder: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut writer = BlobWriter::create(folder.to_owned(), to.to_owned())?;
            io::copy(&mut fs::File::open(from)?, &mut writer)?;
            writer.finish()?;
            remove_if_there(from)
        }
        other => other,
    }
}

/// Syncs a folder, unless another thread has removed it since nothing was left in it.
fn sync_if_there(folder: &Path) -> io::Result<()> {
    match writer::sync_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Names of the batches in a quarantine.
fn batches(quarantine: &Path) -> io::Result<Vec<String>> {
    let names = entries(quarantine)?.into_iter();
    Ok(names.filter_map(|batch| Some(batch.file_name()?.to_string_lossy().into_owned())).collect())
}

/// Size of a file in bytes; `None` if there is none.
fn file_size_bytes(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        facts => facts.map(|facts| facts.is_file().then_some(facts.len())),
    }
}

/// Paths with `/` and sizes in bytes of every file two folders below one.
fn files_below(root: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for batch in entries(root)? {
        for folder in entries(&batch)? {
            for file in entries(&folder)? {
                // Another process may just have moved it.
                let (Ok(path), Ok(facts)) = (file.strip_prefix(root), fs::metadata(&file)) else { continue };
                if facts.is_file() {
                    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
                    found.push((parts.join("/"), facts.len()));
                }
            }
        }
    }
    Ok(found)
}

/// Paths of the entries of a folder; empty if there is no such folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
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
    fn a_file_that_was_set_aside_returns_when_it_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let own = Blobs::open(dir.path().join("blobs"), Sharing::Own).expect("opens");
        let shared = Blobs::open(dir.path().join("shared"), Sharing::Shared).expect("opens");
        for blobs in [own, shared.with_quarantine_inside()] {
            let key = BlobKey::new("audio", "a1", "wav").expect("fits");
            blobs.put(&key, b"bytes").expect("stores");
            assert!(blobs.set_aside(&key, Reason::Unneeded).expect("moves").is_some());
            assert!(blobs.set_aside(&key, Reason::Unneeded).expect("asks").is_none(), "it is not there");
            assert!(!blobs.path(&key).exists());
            let found = blobs.quarantined().expect("lists");
            assert_eq!((found.len(), found[0].name.as_str(), found[0].size_bytes), (1, "audio/a1.wav", 5));
            let now_ms = clock::now_unix_ms() + 1_000;
            assert!(found[0].is_older(0, now_ms) && !found[0].is_older(60, now_ms));
            assert!(blobs.read(&key).expect("reads").is_some());
            assert!(blobs.path(&key).exists() && blobs.quarantined().expect("lists").is_empty());
            assert!(blobs.set_aside(&key, Reason::Deleted).expect("moves").is_some());
            let found = blobs.quarantined().expect("lists");
            assert_eq!(found[0].reason, Reason::Deleted);
            blobs.remove_quarantined(&found[0]).expect("removes");
            assert!(blobs.read(&key).expect("reads").is_none());
        }
    }

    #[test]
    fn a_file_may_be_set_aside_while_others_bring_it_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::open(dir.path().join("blobs"), Sharing::Own).expect("opens");
        let key = BlobKey::new("audio", "a1", "wav").expect("fits");
        blobs.put(&key, b"bytes").expect("stores");
        let end = AtomicBool::new(false);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !end.load(Ordering::Relaxed) {
                        blobs.contains(&key).expect("asks");
                    }
                });
            }
            for _ in 0..2_000 {
                blobs.set_aside(&key, Reason::Deleted).expect("moves");
            }
            end.store(true, Ordering::Relaxed);
        });
        assert!(blobs.contains(&key).expect("asks"));
        assert_eq!(
            blobs.read(&key).expect("reads").map(|file| file.metadata().expect("facts").len()),
            Some(5)
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn object_storage_has_a_quarantine_beside_that_of_the_machine() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("blobs");
        let remote = Remote::in_memory();
        let blobs = Blobs::open_remote(root, remote, 1 << 20, Sharing::Own).expect("opens");
        let work = move || {
            let key = BlobKey::new("audio", "a1", "wav").expect("fits");
            for (stored, set_aside) in [(b"first", Reason::Deleted), (b"other", Reason::Unneeded)] {
                blobs.put(&key, stored).expect("stores");
                assert!(blobs.set_aside(&key, set_aside).expect("moves").is_some());
                assert!(blobs.read_stored(&key).expect("asks").is_none());
            }
            assert_eq!(blobs.quarantined().expect("lists").len(), 2);
            assert!(blobs.contains(&key).expect("asks"), "it returned");
            assert!(blobs.contains(&key).expect("asks") && blobs.read(&key).expect("reads").is_some());
            assert_eq!(blobs.quarantined().expect("lists").len(), 1);
            let part = BlobKey::new("parts", "b1", "part").expect("fits");
            let local = blobs.local();
            local.put(&part, b"part").expect("stores");
            assert!(local.set_aside(&part, Reason::Unneeded).expect("moves").is_some());
            let names = |blobs: &Blobs| -> Vec<String> {
                blobs.quarantined().expect("lists").into_iter().map(|one| one.name).collect()
            };
            assert_eq!((names(&local), names(&blobs)), (vec![part.path()], vec![key.path()]));
            assert!(local.read(&part).expect("reads").is_some());
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_miss_in_object_storage_takes_few_requests_whatever_was_deleted() {
        let dir = tempfile::tempdir().expect("a folder");
        let remote = Remote::in_memory();
        let root = dir.path().join("blobs");
        let blobs = Blobs::open_remote(root, remote.clone(), 1 << 20, Sharing::Own).expect("opens");
        let work = move || {
            let key = |id: &str| BlobKey::new("audio", id, "wav").expect("fits");
            for second in 10..40 {
                let id = format!("a{second}");
                blobs.put(&key(&id), b"bytes").expect("stores");
                let aside = format!("{FOLDER}/202611221011{second}-deleted/audio/{id}.wav");
                assert!(remote.rename(&key(&id).path(), &aside).expect("moves"));
            }
            let asked = || remote.sizes_asked.load(Ordering::Relaxed);
            let before = asked();
            assert!(blobs.read(&key("b")).expect("asks").is_none());
            assert!(asked() - before <= BATCHES_ASKED_MAX, "{} requests", asked() - before);
            assert!(blobs.contains(&key("a20")).expect("asks"), "it returned");
            assert_eq!(blobs.quarantined().expect("lists").len(), 29);
        };
        tokio::task::spawn_blocking(work).await.expect("no panic");
    }

    #[test]
    fn only_what_was_set_aside_is_listed() {
        let parse = |path: &str| Quarantined::parse(path, 1).map(|one| (one.since, one.reason));
        let time = "20261122101112";
        let found = |reason| Some((time.to_owned(), reason));
        assert_eq!(parse("20261122101112/audio/a.wav"), found(Reason::Unneeded));
        assert_eq!(parse("20261122101112-deleted/audio/a.wav"), found(Reason::Deleted));
        for bad in ["2026/audio/a.wav", "20261122101112/a.wav", "20261122101112/audio/.writing-1", "x"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
