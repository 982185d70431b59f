//! Reserves disk space, so that users can delete on a full disk.
//!
//! Deleting also needs disk space, because SQLite appends to its log before it frees space.
//! Therefore a file of 2 MiB is kept next to the database. It is removed when a deletion finds the
//! disk full, and created again when there is enough space.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{DatabaseAddress, DatabaseKind, Db, kind};
use crate::disk::{free_bytes, remove_if_there};

/// Size of the file in bytes. The largest deletion writes far less: deleting 50 revisions of 10 MB
/// writes 60 KB.
const SIZE_BYTES: u64 = 2 * 1024 * 1024;

/// Seed of the file's content: a block of 64 KiB of pseudo-random bytes, which is repeated. File
/// systems that compress smaller blocks therefore cannot shrink the file.
const HASH_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The reserve file of an SQLite database. PostgreSQL has none.
#[derive(Debug)]
pub struct Reserve {
    path: Option<PathBuf>,
    file_lock: Mutex<()>,
}

impl Reserve {
    /// Returns the reserve of a database. Creates the file if there is enough space.
    #[must_use]
    pub fn open(address: &DatabaseAddress) -> Self {
        let path = address.file().map(|file| PathBuf::from(format!("{}-reserve", file.display())));
        let reserve = Self { path, file_lock: Mutex::default() };
        reserve.refill();
        reserve
    }

    /// Removes the file. Returns false if there is none.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn give_up(&self) -> io::Result<bool> {
        let _guard = self.file_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = self.path.as_ref().filter(|path| path.exists()) else { return Ok(false) };
        remove_if_there(path)?;
        tracing::warn!(
            bytes = SIZE_BYTES,
            path = %path.display(),
            "the disk is full; removed the reserve file so that deletions can be written"
        );
        Ok(true)
    }

    /// Creates the file again if it is missing and the disk has at least twice its size free.
    pub fn refill(&self) {
        let _guard = self.file_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return };
        let is_complete = fs::metadata(path).is_ok_and(|metadata| metadata.len() == SIZE_BYTES);
        if !is_complete
            && has_room(path)
            && let Err(error) = fill(path)
        {
            tracing::warn!(
                %error,
                path = %path.display(),
                "cannot create the reserve file, which allows deletions on a full disk"
            );
            // An incomplete file is useless, so it is removed.
            let _ = remove_if_there(path);
        }
    }
}

fn has_room(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new("."));
    let free_bytes = free_bytes(folder).ok().flatten();
    free_bytes.is_none_or(|free_bytes| free_bytes >= 2 * SIZE_BYTES)
}

fn fill(path: &Path) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    let mut state = HASH_SEED;
    let mut chunk = Vec::with_capacity(64 * 1024);
    while (chunk.len() as u64) < 64 * 1024 {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.extend(state.to_le_bytes());
    }
    for _ in 0..SIZE_BYTES / chunk.len() as u64 {
        file.write_all(&chunk)?;
    }
    Ok(())
}

/// Moves the log of an SQLite database into the database file and truncates the log, unless readers
/// still use it.
pub(crate) async fn truncate_log(db: &Db) {
    if kind(db) == DatabaseKind::Sqlite
        && let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(db).await
    {
        tracing::info!(%error, "cannot truncate the write-ahead log now");
    }
}
