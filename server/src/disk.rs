//! Free space of disks, and removing files.

use std::path::Path;
use std::{fs, io};

/// Free space of the disk that `folder` is on, in bytes, if the system says so.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let facts = nix::sys::statvfs::statvfs(folder).map_err(io::Error::from)?;
    Ok(Some(facts.blocks_available().saturating_mul(facts.fragment_size())))
}

/// The system is not asked here; a full disk shows when it is written to.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Removes a file, which somebody else may have done.
///
/// # Errors
/// When it exists and cannot be removed.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
