//! Files the service keeps beside the database: renders, audio.
//!
//! A file appears whole or not at all: it is written under a temporary name in its own folder,
//! synced, renamed, and then the folder is synced. What a crash leaves behind is swept at start; in a folder that
//! other processes share only when it is so old that none of them can be writing it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// When `id` holds anything but ASCII letters, digits, `-` and `_`, so that no id leaves the folder.
    pub fn new(folder: &'static str, id: &str, extension: &'static str) -> Result<Self, BadBlobId> {
        let fits = (1..=128).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !fits {
            return Err(BadBlobId(id.chars().take(200).collect()));
        }
        Ok(Self { folder, id: id.to_owned(), extension })
    }

    fn file_name(&self) -> String {
        format!("{}.{}", self.id, self.extension)
    }
}

/// The folder of stored files.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
}

impl Blobs {
    /// Opens the store in `root`, making the folder if needed and sweeping files that were left unfinished.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(root: PathBuf, sharing: Sharing) -> io::Result<Self> {
        let abandoned_after = match sharing {
            Sharing::Own => Duration::ZERO,
            Sharing::Shared => ABANDONED_AFTER,
        };
        fs::create_dir_all(&root)?;
        for folder in fs::read_dir(&root)? {
            let folder = folder?.path();
            if folder.is_dir() {
                sweep(&folder, abandoned_after)?;
            }
        }
        Ok(Self { root })
    }

    /// The folder that everything is in.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the file of `key` is, whether it exists or not.
    #[must_use]
    pub fn path(&self, key: &BlobKey) -> PathBuf {
        self.root.join(key.folder).join(key.file_name())
    }

    /// Starts writing the file of `key`. Nothing is visible until [`BlobWriter::finish`].
    ///
    /// # Errors
    /// When the folder or the file cannot be made.
    pub fn writer(&self, key: &BlobKey) -> io::Result<BlobWriter> {
        let destination = self.path(key);
        let folder = self.root.join(key.folder);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            sync_folder(&self.root)?;
        }
        BlobWriter::create(folder, destination)
    }

    /// Starts writing a file of one kind whose id is known only once it is whole: it gets its name from
    /// [`BlobWriter::finish_as`].
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

    /// A nameless file with the content of the stored file of `key`, which stays: a second name of the same
    /// bytes where the disk can do that, otherwise a copy.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be copied.
    pub fn unnamed_copy(&self, key: &BlobKey, folder: &'static str) -> io::Result<BlobWriter> {
        let writer = self.unnamed_writer(folder)?;
        let source = self.path(key);
        fs::remove_file(&writer.temporary)?;
        if fs::hard_link(&source, &writer.temporary).is_err() {
            fs::copy(&source, &writer.temporary)?;
        }
        let file = File::options().read(true).write(true).open(&writer.temporary)?;
        Ok(writer.with_file(file))
    }

    /// Ids and extensions of the stored files of one kind.
    ///
    /// # Errors
    /// When the folder exists and cannot be read.
    pub fn list(&self, folder: &'static str) -> io::Result<Vec<(String, String)>> {
        let entries = match fs::read_dir(self.root.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if let Some((id, extension)) = name.rsplit_once('.').filter(|(id, _)| !id.is_empty()) {
                found.push((id.to_owned(), extension.to_owned()));
            }
        }
        Ok(found)
    }

    /// Ids and sizes in bytes of the stored files of one kind, and of those still being written.
    ///
    /// # Errors
    /// When the folder exists and cannot be read.
    pub fn sizes(&self, folder: &'static str) -> io::Result<Vec<(String, u64)>> {
        let entries = match fs::read_dir(self.root.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = name.rsplit_once('.').map_or(name.as_str(), |(id, _)| id).to_owned();
            match entry.metadata() {
                Ok(facts) => found.push((id, facts.len())),
                // Removed since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Stores `bytes` as the file of `key`; when this returns they are on the disk.
    ///
    /// # Errors
    /// When any step fails; an older file of that key is then untouched.
    pub fn put(&self, key: &BlobKey, bytes: &[u8]) -> io::Result<()> {
        let mut writer = self.writer(key)?;
        writer.write_all(bytes)?;
        writer.finish().map(|_| ())
    }

    /// Opens the file of `key`; `None` if there is none.
    ///
    /// # Errors
    /// When it exists and cannot be opened.
    pub fn read(&self, key: &BlobKey) -> io::Result<Option<File>> {
        match File::open(self.path(key)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the file of `key`, if there is one.
    ///
    /// # Errors
    /// When it exists and cannot be removed.
    pub fn remove(&self, key: &BlobKey) -> io::Result<()> {
        remove_if_there(&self.path(key))
    }
}

/// A file being written. Dropped before [`BlobWriter::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct BlobWriter {
    file: BufWriter<File>,
    temporary: PathBuf,
    folder: PathBuf,
    destination: PathBuf,
    finished: bool,
}

impl BlobWriter {
    fn create(folder: PathBuf, destination: PathBuf) -> io::Result<Self> {
        let temporary = folder.join(format!("{TEMPORARY_PREFIX}{}", uuid::Uuid::new_v4().simple()));
        let file = File::options().write(true).read(true).create_new(true).open(&temporary)?;
        Ok(Self { file: BufWriter::new(file), temporary, folder, destination, finished: false })
    }

    /// The same with the file that its temporary name now means.
    fn with_file(mut self, file: File) -> Self {
        self.file = BufWriter::new(file);
        self
    }

    /// Where the bytes are until the file is finished, so that another process can write them. What was
    /// written through `self` must be flushed before.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file the name of `key`, of the same folder, and finishes it.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_as(mut self, key: &BlobKey) -> io::Result<PathBuf> {
        self.destination = self.folder.join(key.file_name());
        self.finish()
    }

    /// Syncs the file, gives it its name and syncs the folder. Returns where it is.
    ///
    /// # Errors
    /// When any step fails; the destination is then as it was.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.temporary, &self.destination)?;
        self.finished = true;
        sync_folder(&self.folder)?;
        Ok(self.destination.clone())
    }
}

impl Write for BlobWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for BlobWriter {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

impl Drop for BlobWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing to tell anybody: what cannot be removed now is swept at the next start.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a small file durably, readable and writable by its owner only.
///
/// # Errors
/// When any step fails; an older file of that name is then untouched.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut writer = BlobWriter::create(folder.to_owned(), path.to_owned())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        writer.file.get_ref().set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    writer.write_all(bytes)?;
    writer.finish().map(|_| ())
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

/// Removes a file, which somebody else may have done.
///
/// # Errors
/// When it exists and cannot be removed.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a rename or a new name in `folder` survive a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

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

    #[test]
    fn a_name_can_come_last_and_the_bytes_from_elsewhere() {
        let (_dir, blobs) = store();
        assert_eq!(blobs.list("audio").expect("lists"), []);
        let writer = blobs.unnamed_writer("audio").expect("starts");
        fs::write(writer.temporary(), b"from elsewhere").expect("writes");
        let key = BlobKey::new("audio", "b2", "wav").expect("fits");
        let copy_of = BlobKey::new("parts", "c3", "part").expect("fits");
        writer.finish_as(&key).expect("names it");
        assert_eq!(fs::read(blobs.path(&key)).expect("reads"), b"from elsewhere");
        assert_eq!(blobs.list("audio").expect("lists"), [("b2".to_owned(), "wav".to_owned())]);
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
        file.set_modified(std::time::SystemTime::now() - ABANDONED_AFTER).expect("sets");
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
