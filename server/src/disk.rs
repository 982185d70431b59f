//! Queries the free space of disks, and removes files.

use std::path::Path;
use std::{fs, io};

/// Returns the free space of the disk of `folder` in bytes, or `None` if the operating system does
/// not report it.
///
/// # Errors
/// If the system call fails.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let stats = nix::sys::statvfs::statvfs(folder).map_err(io::Error::from)?;
    Ok(Some(stats.blocks_available().saturating_mul(stats.fragment_size())))
}

/// Returns `None`: on this operating system the free space is not queried. Writes to a full disk
/// fail.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Removes a file, unless it does not exist.
///
/// # Errors
/// If the file exists and cannot be removed.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
