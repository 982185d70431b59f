//! Writes files into the store.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::remote::Remote;
use super::{BlobKey, TEMPORARY_PREFIX};

/// A file being written. Dropping it before [`BlobWriter::finish`] removes the file.
#[derive(Debug)]
pub struct BlobWriter {
    file: BufWriter<File>,
    temporary: PathBuf,
    folder: PathBuf,
    destination: PathBuf,
    is_finished: bool,
    /// Object storage that gets the file too, and its folder there.
    remote: Option<(Remote, &'static str)>,
    /// Name of the object if this writer has stored it already.
    uploaded_as: Option<String>,
}

impl BlobWriter {
    pub(super) fn create(folder: PathBuf, destination: PathBuf) -> io::Result<Self> {
        let temporary = folder.join(format!("{TEMPORARY_PREFIX}{}", uuid::Uuid::new_v4().simple()));
        let file = File::options().write(true).read(true).create_new(true).open(&temporary)?;
        Ok(Self {
            file: BufWriter::new(file),
            temporary,
            folder,
            destination,
            is_finished: false,
            remote: None,
            uploaded_as: None,
        })
    }

    /// Continues with `file`, which now has the temporary name.
    pub(super) fn with_file(mut self, file: File) -> Self {
        self.file = BufWriter::new(file);
        self
    }

    /// Also stores the file in object storage when it is finished.
    pub(super) fn with_remote(mut self, remote: Option<Remote>, folder: &'static str) -> Self {
        self.remote = remote.map(|remote| (remote, folder));
        self
    }

    /// Path of the unfinished file, so that another process can write it. Flush `self` before.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Stores the file in object storage as `key`, of the same folder. [`Self::finish_as`] then has
    /// little left to do: callers hold locks meanwhile. Replaces an existing object, so `key` must
    /// name the content or be new.
    ///
    /// # Errors
    /// When the file or the object cannot be written.
    pub fn upload_as(&mut self, key: &BlobKey) -> io::Result<()> {
        let Some((remote, folder)) = &self.remote else { return Ok(()) };
        let name = key.file_name();
        self.file.flush()?;
        remote.put(folder, &name, &self.temporary)?;
        self.uploaded_as = Some(name);
        Ok(())
    }

    /// As [`Self::upload_as`], but leaves an existing object to [`Self::finish_as`]: other versions
    /// may derive other bytes from the same content.
    ///
    /// # Errors
    /// As [`Self::upload_as`].
    pub fn upload_derived_as(&mut self, key: &BlobKey) -> io::Result<()> {
        match &self.remote {
            Some((remote, folder)) if remote.has(folder, &key.file_name())? => Ok(()),
            _ => self.upload_as(key),
        }
    }

    /// Names the file after `key`, of the same folder, and finishes it.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_as(mut self, key: &BlobKey) -> io::Result<PathBuf> {
        self.destination = self.folder.join(key.file_name());
        self.finish()
    }

    /// Syncs the file, stores it in object storage if there is any, renames it and syncs the
    /// folder. Returns its path.
    ///
    /// # Errors
    /// When any step fails; the destination is then unchanged.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if let (Some((remote, folder)), Some(name)) = (&self.remote, self.destination.file_name()) {
            let name = name.to_string_lossy();
            // A deletion may have removed the object since.
            if self.uploaded_as.as_deref() != Some(&*name) || !remote.has(folder, &name)? {
                remote.put(folder, &name, &self.temporary)?;
            }
        }
        fs::rename(&self.temporary, &self.destination)?;
        self.is_finished = true;
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
        if !self.is_finished {
            // If this fails, the next start removes the file.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a small file durably, with access for its owner only.
///
/// # Errors
/// When any step fails; an older file of that name is then unchanged.
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

/// Makes a rename or a new name in `folder` survive a power cut.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
