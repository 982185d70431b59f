//! Writes files into the store.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::remote::Remote;
use super::{BlobKey, TEMPORARY_PREFIX};

/// A file that is being written. If this value is dropped before [`BlobWriter::finish`], the file
/// is removed.
#[derive(Debug)]
pub struct BlobWriter {
    file: BufWriter<File>,
    temporary: PathBuf,
    folder: PathBuf,
    destination: PathBuf,
    is_finished: bool,
    /// Object storage where the finished file is stored too, with its folder there.
    remote: Option<(Remote, &'static str)>,
    /// Name of the object if this writer has already stored it.
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

    /// Continues with `file`, which now has the temporary name instead of the original file.
    pub(super) fn with_file(mut self, file: File) -> Self {
        self.file = BufWriter::new(file);
        self
    }

    /// Also stores the file in object storage when the file is finished.
    pub(super) fn with_remote(mut self, remote: Option<Remote>, folder: &'static str) -> Self {
        self.remote = remote.map(|remote| (remote, folder));
        self
    }

    /// Returns the path of the unfinished file. Another process may write the file through this
    /// path. Flush `self` before that.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Returns the size of the file in bytes, as written so far.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn size_bytes(&mut self) -> io::Result<u64> {
        self.file.flush()?;
        Ok(self.file.get_ref().metadata()?.len())
    }

    /// Stores the file in object storage as `blob_key`, which must be in the same folder. Because
    /// [`Self::finish_as`] then has little left to do, its callers hold their locks for a shorter
    /// time. An existing object is replaced. Therefore `blob_key` must identify the content or be
    /// new.
    ///
    /// # Errors
    /// The file or the object cannot be written.
    pub fn upload_as(&mut self, blob_key: &BlobKey) -> io::Result<()> {
        let Some((remote, folder)) = &self.remote else { return Ok(()) };
        let name = blob_key.file_name();
        self.file.flush()?;
        remote.put(folder, &name, &self.temporary)?;
        self.uploaded_as = Some(name);
        Ok(())
    }

    /// Like [`Self::upload_as`], but does not replace an existing object, which is left to
    /// [`Self::finish_as`]. Other versions of the service may derive different bytes from the same
    /// content.
    ///
    /// # Errors
    /// Those of [`Self::upload_as`].
    pub fn upload_derived_as(&mut self, blob_key: &BlobKey) -> io::Result<()> {
        match &self.remote {
            Some((remote, folder)) if remote.contains(folder, &blob_key.file_name())? => Ok(()),
            _ => self.upload_as(blob_key),
        }
    }

    /// Names the file after `blob_key`, which must be in the same folder, and finishes it.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub fn finish_as(mut self, blob_key: &BlobKey) -> io::Result<PathBuf> {
        self.destination = self.folder.join(blob_key.file_name());
        self.finish()
    }

    /// Syncs the file, stores it in object storage if there is any, renames it and syncs the
    /// folder. Returns the path of the file.
    ///
    /// # Errors
    /// Any step fails. The destination is then unchanged.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if let (Some((remote, folder)), Some(name)) = (&self.remote, self.destination.file_name()) {
            let name = name.to_string_lossy();
            // Since the upload, a deletion may have removed the object.
            if self.uploaded_as.as_deref() != Some(&*name) || !remote.contains(folder, &name)? {
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
            // If this fails, the file is removed when the service starts the next time.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a small file durably. Only its owner may access it.
///
/// # Errors
/// Any step fails. An older file with that name is then unchanged.
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

/// Makes sure that new and renamed files in `folder` survive a power failure.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
