//! What a power cut would leave of a folder.

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
/// A file of the image holds what a file, or a list of the names that a folder, held at its last
/// sync. Both are named by what they are and not by their path: a name is the folder's, and lasts
/// when the folder is synced.
#[derive(Debug, Clone)]
pub struct Disk {
    image: PathBuf,
}

impl Disk {
    /// The disk whose image is in the folder `image`, which is made if needed.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(image: &Path) -> io::Result<Self> {
        fs::create_dir_all(image)?;
        Ok(Self { image: image.to_owned() })
    }

    /// Takes over a file or a folder as it is now.
    ///
    /// # Errors
    /// When it cannot be read or the image not be written.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        let about = fs::metadata(path)?;
        let written = self.unnamed();
        if about.is_dir() {
            File::create(&written)?.write_all(&names_in(path)?)?;
        } else {
            fs::copy(path, &written)?;
        }
        // As a whole or not at all, also if the program is killed while it syncs.
        fs::rename(written, self.place(&about)?)
    }

    /// Takes over a folder with everything in it.
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

    /// Makes the new folder `to` of what was synced of `folder` and what is in it.
    ///
    /// # Errors
    /// When the folder was never synced, or `to` cannot be written.
    pub fn restore(&self, folder: &Path, to: &Path) -> io::Result<()> {
        self.restore_names(&self.place(&fs::metadata(folder)?)?, to)
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
                // Its name has lasted, and nothing of what it held.
                (_, false) => File::create(&destination).map(|_| ())?,
            }
            if kind != b"folder" {
                fs::set_permissions(&destination, fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(())
    }

    /// Where the image has it.
    fn place(&self, about: &Metadata) -> io::Result<PathBuf> {
        Ok(self.image.join(key(about)?))
    }

    fn unnamed(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.image.join(format!(".writing-{}-{count}", std::process::id()))
    }
}

/// One word for a file or folder for as long as it is there: numbers of inodes are given again, but
/// not in the same moment.
fn key(about: &Metadata) -> io::Result<String> {
    let made = about.created()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok(format!("{}-{}", about.ino(), made.as_nanos()))
}

/// The names in a folder: for each its name, kind and key, with a zero behind each.
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
    fn what_was_not_synced_is_gone() {
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
