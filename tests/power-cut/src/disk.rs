//! The contents of a folder after a power cut.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// An image of a folder as it was synced.
///
/// Each file of the image holds the synced contents of a file, or the synced list of names of a
/// folder. Files of the image are named by inode, not by path, as names belong to the folder and
/// last only when it is synced.
#[derive(Debug, Clone)]
pub struct Disk {
    image: PathBuf,
}

impl Disk {
    /// Opens the disk with its image in the folder `image`, which is created if needed.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(image: &Path) -> io::Result<Self> {
        fs::create_dir_all(image)?;
        Ok(Self { image: image.to_owned() })
    }

    /// Records the current contents of a file or a folder.
    ///
    /// # Errors
    /// If it cannot be read, or the image cannot be written.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        let about = fs::metadata(path)?;
        let written = self.unnamed();
        if about.is_dir() {
            File::create(&written)?.write_all(&names_in(path)?)?;
        } else {
            fs::copy(path, &written)?;
        }
        // Atomic, also if the program is killed during the sync.
        fs::rename(written, self.image_path(&about)?)
    }

    /// Records a folder with all its contents.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn sync_all(&self, folder: &Path) -> io::Result<()> {
        self.sync(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.sync_all(&entry.path())?;
            } else {
                self.sync(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Creates the folder `to` with the synced contents of `folder`.
    ///
    /// # Errors
    /// If the folder was never synced, or `to` cannot be written.
    pub fn restore(&self, folder: &Path, to: &Path) -> io::Result<()> {
        self.restore_names(&self.image_path(&fs::metadata(folder)?)?, to)
    }

    fn restore_names(&self, names: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir(to)?;
        let list = fs::read(names)?;
        let mut fields = list.split(|byte| *byte == 0);
        while let (Some(name), Some(kind), Some(key)) = (fields.next(), fields.next(), fields.next()) {
            let kept = self.image.join(OsStr::from_bytes(key));
            let destination = to.join(OsStr::from_bytes(name));
            match (kind, kept.exists()) {
                (b"folder", true) => self.restore_names(&kept, &destination)?,
                (b"folder", false) => fs::create_dir(&destination)?,
                (_, true) => fs::copy(&kept, &destination).map(|_| ())?,
                // The name was synced, the contents were not.
                (_, false) => File::create(&destination).map(|_| ())?,
            }
            if kind != b"folder" {
                fs::set_permissions(&destination, fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(())
    }

    /// Path in the image.
    fn image_path(&self, about: &Metadata) -> io::Result<PathBuf> {
        Ok(self.image.join(key(about)?))
    }

    fn unnamed(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.image.join(format!(".writing-{}-{count}", std::process::id()))
    }
}

/// Identifies a file or folder while it exists. Inode numbers are reused, but not together with the
/// same birth time.
fn key(about: &Metadata) -> io::Result<String> {
    let created = about.created()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok(format!("{}-{}", about.ino(), created.as_nanos()))
}

/// The entries of a folder: name, kind and key of each, terminated by zeros.
fn names_in(folder: &Path) -> io::Result<Vec<u8>> {
    let mut list = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Removed since the folder was listed.
        let Ok(about) = entry.metadata() else { continue };
        let kind = if about.is_dir() { "folder" } else { "file" };
        for field in [entry.file_name(), OsString::from(kind), OsString::from(key(&about)?)] {
            list.extend(field.into_vec());
            list.push(0);
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsynced_contents_are_lost() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join("disk").join(name);
        fs::create_dir_all(at("songs")).unwrap();
        fs::write(at("whole"), "one").unwrap();
        fs::write(at("renamed"), "two").unwrap();
        let disk = Disk::open(&folder.path().join("image")).unwrap();
        disk.sync_all(&at("")).unwrap();

        fs::write(at("whole"), "not synced").unwrap();
        fs::rename(at("renamed"), at("new-name")).unwrap();
        fs::write(at("songs/synced"), "three").unwrap();
        disk.sync(&at("songs/synced")).unwrap();
        fs::write(at("songs/empty"), "four").unwrap();
        disk.sync(&at("songs")).unwrap();
        fs::write(at("songs/nameless"), "five").unwrap();
        disk.sync(&at("songs/nameless")).unwrap();

        let to = folder.path().join("after");
        disk.restore(&at(""), &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("whole")).unwrap(), "one");
        assert_eq!(fs::read_to_string(to.join("renamed")).unwrap(), "two");
        assert!(!to.join("new-name").exists());
        assert_eq!(fs::read_to_string(to.join("songs/synced")).unwrap(), "three");
        assert_eq!(fs::read_to_string(to.join("songs/empty")).unwrap(), "");
        assert!(!to.join("songs/nameless").exists());
    }
}
