//! Locks the storage folder and an SQLite database against use by other processes. The system
//! releases both locks when the process ends, even after a crash.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::config::StorageConfig;

/// Lock on a storage folder that only this process uses.
#[derive(Debug)]
pub(crate) struct StorageLock {
    _file: File,
    /// Lock on the folder itself, if the system can lock folders. The lock file alone is not
    /// enough, because it can be deleted and then created again by another process.
    _folder: Option<File>,
}

impl StorageLock {
    /// Locks the storage folder for this process.
    ///
    /// # Errors
    /// Another process uses the folder, or it cannot be written.
    pub(crate) fn acquire(dir: &Path) -> anyhow::Result<Self> {
        let in_use = || {
            anyhow::anyhow!(
                "another Songfoundry process is using the storage folder {}; stop it, or set SF_STORAGE_DIR to another folder",
                dir.display()
            )
        };
        let file = lock_file(&dir.join("songfoundry.lock"), in_use)
            .with_context(|| format!("cannot lock the storage folder {} (SF_STORAGE_DIR)", dir.display()))?;
        let folder = match File::open(dir).map(|folder| (folder.try_lock(), folder)) {
            Ok((Ok(()), folder)) => Some(folder),
            Ok((Err(TryLockError::WouldBlock), _)) => return Err(in_use()),
            // Some network file systems cannot lock folders. In that case, the lock file must be
            // enough.
            Ok((Err(TryLockError::Error(_)), _)) | Err(_) => None,
        };
        Ok(Self { _file: file, _folder: folder })
    }
}

/// Lock on an SQLite database outside the storage folder. Without the lock, a second service would
/// end the tasks of the first. Administration commands may use the database at the same time.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    _file: File,
}

impl DatabaseLock {
    /// Locks the database for this service by means of a file beside it. Returns `None` if the lock
    /// of the storage folder already covers the database.
    ///
    /// # Errors
    /// Another service uses the database, or its folder cannot be written.
    pub(crate) fn acquire(config: &StorageConfig) -> anyhow::Result<Option<Self>> {
        let is_elsewhere = |file: &PathBuf| file.parent() != Some(&config.dir);
        let Some(database) = config.database.file().filter(is_elsewhere) else { return Ok(None) };
        if let Some(folder) = database.parent() {
            std::fs::create_dir_all(folder).with_context(|| {
                format!("cannot create the folder {} (SF_DATABASE_URL)", folder.display())
            })?;
        }
        let mut path = database.clone().into_os_string();
        path.push(".lock");
        let in_use = || {
            anyhow::anyhow!(
                "another Songfoundry process is using the database {}; stop it, or set SF_DATABASE_URL to another database",
                database.display()
            )
        };
        let file = lock_file(Path::new(&path), in_use)
            .with_context(|| format!("cannot lock the database {} (SF_DATABASE_URL)", database.display()))?;
        Ok(Some(Self { _file: file }))
    }
}

/// Opens a file and locks it. Creates the file if it is missing.
fn lock_file(path: &Path, in_use: impl Fn() -> anyhow::Error) -> anyhow::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}
