//! Free space of disks, and removal of files.

use std::path::Path;
use std::{fs, io};

/// Free space of the disk of `folder` in bytes; `None` on systems that do not report it.
///
/// # Errors
/// If the system call fails.
#[cfg(unix)]
pub(crate) fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let stats = nix::sys::statvfs::statvfs(folder).map_err(io::Error::from)?;
    Ok(Some(stats.blocks_available().saturating_mul(stats.fragment_size())))
}

/// Not queried here: writes to a full disk fail.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Removes a file, unless it does not exist.
///
/// # Errors
/// If it exists and cannot be removed.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
