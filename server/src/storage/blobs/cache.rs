//! The local copies of what is in object storage: as many as fit.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::TEMPORARY_PREFIX;
use crate::disk::remove_if_there;

/// A folder of folders with copies. Whoever has one open keeps it, even if it is removed here.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    root: PathBuf,
    limit_bytes: u64,
}

impl Cache {
    pub(super) fn new(root: PathBuf, limit_bytes: u64) -> Self {
        Self { root, limit_bytes }
    }

    /// Removes the copies that were not asked for for longest until the rest is within the limit.
    pub(super) fn make_room(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            for entry in fs::read_dir(folder?.path())? {
                let entry = entry?;
                let is_unfinished = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX);
                // One that is gone meanwhile needs no room.
                if let Ok(facts) = entry.metadata().and_then(|facts| Ok((facts.modified()?, facts.len())))
                    && !is_unfinished
                {
                    files.push((facts.0, entry.path(), facts.1));
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
