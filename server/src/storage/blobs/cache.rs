//! Caches local copies of files in object storage, within a size limit.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::TEMPORARY_PREFIX;
use crate::disk::remove_if_there;

/// Folder of the cache, with a subfolder for each kind of file. If a copy is removed while it is
/// open, it can still be read.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    root: PathBuf,
    limit_bytes: u64,
}

impl Cache {
    pub(super) fn new(root: PathBuf, limit_bytes: u64) -> Self {
        Self { root, limit_bytes }
    }

    /// Removes the least recently used copies until the remaining ones are within the limit.
    pub(super) fn evict_to_limit(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            for entry in fs::read_dir(folder?.path())? {
                let entry = entry?;
                let is_unfinished = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX);
                // Another thread may have removed the file.
                if let Ok((used_at, size_bytes)) =
                    entry.metadata().and_then(|metadata| Ok((metadata.modified()?, metadata.len())))
                    && !is_unfinished
                {
                    files.push((used_at, entry.path(), size_bytes));
                }
            }
        }
        files.sort();
        let mut total_bytes: u64 = files.iter().map(|(.., size_bytes)| size_bytes).sum();
        for (_, path, size_bytes) in files {
            if total_bytes <= self.limit_bytes {
                break;
            }
            remove_if_there(&path)?;
            total_bytes -= size_bytes;
        }
        Ok(())
    }
}
