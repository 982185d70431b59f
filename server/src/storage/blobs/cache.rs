//! Caches local copies of files in object storage, within a size limit and beside a disk reserve.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::TEMPORARY_PREFIX;
use crate::disk::{free_bytes, remove_if_there};

/// Number of disk reserves (`SF_DISK_RESERVE_BYTES`) that the cache leaves free. Other files may
/// use all but the last one.
const FREE_RESERVES: u64 = 2;

/// Folder of the cache, with a subfolder for each kind of file. If a copy is removed while it is
/// open, it can still be read.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    root: PathBuf,
    limit_bytes: u64,
    reserve_bytes: u64,
}

/// A local copy: its last use, its path and its size in bytes.
type CachedCopy = (SystemTime, PathBuf, u64);

impl Cache {
    pub(super) fn new(root: PathBuf, limit_bytes: u64, reserve_bytes: u64) -> Self {
        Self { root, limit_bytes, reserve_bytes }
    }

    /// Removes the least recently used copies until another copy of `more_bytes` is within the
    /// limit and leaves [`FREE_RESERVES`] on the disk, or until no copy is left.
    pub(super) fn make_room(&self, more_bytes: u64) -> io::Result<()> {
        let copies = self.list_copies()?;
        let total_bytes: u64 = copies.iter().map(|(.., size_bytes)| size_bytes).sum();
        let over_limit = total_bytes.saturating_add(more_bytes).saturating_sub(self.limit_bytes);
        let needed_bytes = self.reserve_bytes.saturating_mul(FREE_RESERVES).saturating_add(more_bytes);
        let missing_bytes = needed_bytes.saturating_sub(free_bytes(&self.root)?.unwrap_or(u64::MAX));
        let mut excess_bytes = over_limit.max(missing_bytes);
        for (_, path, size_bytes) in copies {
            if excess_bytes == 0 {
                break;
            }
            remove_if_there(&path)?;
            excess_bytes = excess_bytes.saturating_sub(size_bytes);
        }
        Ok(())
    }

    /// Removes all copies. Returns whether there were any.
    pub(super) fn clear(&self) -> io::Result<bool> {
        let copies = self.list_copies()?;
        for (_, path, _) in &copies {
            remove_if_there(path)?;
        }
        Ok(!copies.is_empty())
    }

    /// Returns the size of all copies in bytes.
    pub(super) fn measure_size_bytes(&self) -> io::Result<u64> {
        Ok(self.list_copies()?.iter().map(|(.., size_bytes)| size_bytes).sum())
    }

    /// Returns all copies. The least recently used one comes first.
    fn list_copies(&self) -> io::Result<Vec<CachedCopy>> {
        let mut copies = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            for entry in fs::read_dir(folder?.path())? {
                let entry = entry?;
                let is_unfinished = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX);
                // Another thread may have removed the file.
                if let Ok((used_at, size_bytes)) =
                    entry.metadata().and_then(|metadata| Ok((metadata.modified()?, metadata.len())))
                    && !is_unfinished
                {
                    copies.push((used_at, entry.path(), size_bytes));
                }
            }
        }
        copies.sort();
        Ok(copies)
    }
}
