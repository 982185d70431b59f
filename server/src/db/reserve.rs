//! Room for deleting on a full disk.
//!
//! Deleting writes to the database, too: SQLite appends to its log before anything gets smaller. So
//! a file of a few megabytes lies beside the database. It is given up when something that makes
//! room finds no room, and made again as soon as there is some.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{DatabaseAddress, Db, Kind, kind};
use crate::disk::{free_bytes, remove_if_there};

/// Size of the file in bytes: many times what the longest deletion writes (50 revisions of 10 MB:
/// 60 KB).
const SIZE_BYTES: u64 = 2 * 1024 * 1024;

/// Start value of the content, which no file system can make smaller.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The file, if the database is one that lies on a disk of this machine.
#[derive(Debug)]
pub struct Reserve {
    path: Option<PathBuf>,
    changing: Mutex<()>,
}

impl Reserve {
    /// The reserve of a database, made if there is room.
    #[must_use]
    pub fn open(address: &DatabaseAddress) -> Self {
        let path = address.file().map(|file| PathBuf::from(format!("{}-reserve", file.display())));
        let this = Self { path, changing: Mutex::default() };
        this.refill();
        this
    }

    /// Gives the room away; false if there is none to give.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn give_up(&self) -> io::Result<bool> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = self.path.as_ref().filter(|path| path.exists()) else { return Ok(false) };
        remove_if_there(path)?;
        tracing::warn!(bytes = SIZE_BYTES, "the disk is full; the reserve for deleting was given up");
        Ok(true)
    }

    /// Makes the file again, if it is gone and the disk has twice its size free.
    pub fn refill(&self) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return };
        let is_whole = fs::metadata(path).is_ok_and(|facts| facts.len() == SIZE_BYTES);
        if !is_whole
            && has_room(path)
            && let Err(error) = fill(path)
        {
            tracing::warn!(%error, "there is no reserve for deleting on a full disk");
            // A part of the file is useless.
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
    let mut state = SEED;
    let mut piece = Vec::with_capacity(64 * 1024);
    while (piece.len() as u64) < 64 * 1024 {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        piece.extend(state.to_le_bytes());
    }
    for _ in 0..SIZE_BYTES / piece.len() as u64 {
        file.write_all(&piece)?;
    }
    Ok(())
}

/// Empties the log of an SQLite database into its file, so that its room is free. Others may be
/// reading: then it stays.
pub(crate) async fn truncate_log(db: &Db) {
    if kind(db) == Kind::Sqlite
        && let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(db).await
    {
        tracing::info!(%error, "the database's log could not be emptied now");
    }
}
