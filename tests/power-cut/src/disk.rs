//! The contents of a folder after a power cut.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// An image of the synced data of a folder.
///
/// Each file of the image has the synced contents of a file, or the synced list of names of a
/// folder. Files of the image are named by inode and not by path. The name of a file is stored in
/// its folder, and lasts only when the folder is synced.
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
    /// If the file or folder cannot be read, or the image cannot be written.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        let temporary = self.temporary_path();
        if metadata.is_dir() {
            File::create(&temporary)?.write_all(&names_in(path)?)?;
        } else {
            fs::copy(path, &temporary)?;
        }
        // The rename is atomic, even if the program is killed during the sync.
        fs::rename(temporary, self.image_path(&metadata)?)
    }

    /// Records a folder with all its contents.
    ///
    /// # Errors
    /// The same errors as those of [`Self::sync`].
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
        let entries = fs::read(names)?;
        let mut fields = entries.split(|byte| *byte == 0);
        while let (Some(name), Some(kind), Some(key)) = (fields.next(), fields.next(), fields.next()) {
            let synced = self.image.join(OsStr::from_bytes(key));
            let destination = to.join(OsStr::from_bytes(name));
            match (kind, synced.exists()) {
                (b"folder", true) => self.restore_names(&synced, &destination)?,
                (b"folder", false) => fs::create_dir(&destination)?,
                (_, true) => fs::copy(&synced, &destination).map(|_| ())?,
                // The name was synced, but the contents were not.
                (_, false) => File::create(&destination).map(|_| ())?,
            }
            if kind != b"folder" {
                fs::set_permissions(&destination, fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(())
    }

    /// Returns the path of a file or folder in the image.
    fn image_path(&self, metadata: &Metadata) -> io::Result<PathBuf> {
        Ok(self.image.join(key(metadata)?))
    }

    fn temporary_path(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.image.join(format!(".writing-{}-{count}", std::process::id()))
    }
}

/// Returns a key that identifies a file or folder. Inode numbers are reused, but not with the same
/// creation time.
fn key(metadata: &Metadata) -> io::Result<String> {
    let created_at = metadata.created()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok(format!("{}-{}", metadata.ino(), created_at.as_nanos()))
}

/// Returns the entries of a folder. Each entry has a name, a kind and a key, each terminated by a
/// zero byte.
fn names_in(folder: &Path) -> io::Result<Vec<u8>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // The entry was removed after the folder was listed.
        let Ok(metadata) = entry.metadata() else { continue };
        let kind = if metadata.is_dir() { "folder" } else { "file" };
        for field in [entry.file_name(), OsString::from(kind), OsString::from(key(&metadata)?)] {
            entries.extend(field.into_vec());
            entries.push(0);
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsynced_contents_are_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join("disk").join(name);
        fs::create_dir_all(path_of("songs")).unwrap();
        fs::write(path_of("whole"), "one").unwrap();
        fs::write(path_of("renamed"), "two").unwrap();
        let disk = Disk::open(&folder.path().join("image")).unwrap();
        disk.sync_all(&path_of("")).unwrap();

        fs::write(path_of("whole"), "not synced").unwrap();
        fs::rename(path_of("renamed"), path_of("new-name")).unwrap();
        fs::write(path_of("songs/synced"), "three").unwrap();
        disk.sync(&path_of("songs/synced")).unwrap();
        fs::write(path_of("songs/empty"), "four").unwrap();
        disk.sync(&path_of("songs")).unwrap();
        fs::write(path_of("songs/nameless"), "five").unwrap();
        disk.sync(&path_of("songs/nameless")).unwrap();

        let to = folder.path().join("after");
        disk.restore(&path_of(""), &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("whole")).unwrap(), "one");
        assert_eq!(fs::read_to_string(to.join("renamed")).unwrap(), "two");
        assert!(!to.join("new-name").exists());
        assert_eq!(fs::read_to_string(to.join("songs/synced")).unwrap(), "three");
        assert_eq!(fs::read_to_string(to.join("songs/empty")).unwrap(), "");
        assert!(!to.join("songs/nameless").exists());
    }
}
