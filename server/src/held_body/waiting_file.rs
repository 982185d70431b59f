//! The temporary file that stores a long body until it is complete.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::disk::free_bytes;
use crate::error::ApiResult;
use crate::fair_bytes::{FairBytes, ReservedBytes};

/// Maximum total size of the files of all bodies, in bytes.
const FILES_MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Disk space for bodies.
#[derive(Debug, Clone)]
pub(super) struct BodyDisk {
    budget: FairBytes,
    folder: Arc<Path>,
    /// Free space that bodies leave on the disk, in bytes.
    reserve_bytes: u64,
}

impl BodyDisk {
    /// Uses the disk of `folder`, but leaves `reserve_bytes` free.
    pub(super) fn new(folder: &Path, reserve_bytes: u64) -> Self {
        let budget = FairBytes::new("disk space for large request bodies", FILES_MAX_BYTES);
        Self { budget, folder: folder.into(), reserve_bytes }
    }

    /// Creates an unnamed file for a body of `sender`, which the operating system removes when it
    /// is closed. Returns `None` if the disk has no room for `bytes` bytes. Blocks.
    pub(super) fn begin(&self, sender: &str, bytes: u64) -> io::Result<Option<WaitingFile>> {
        if !self.has_room(bytes)? {
            return Ok(None);
        }
        let file = tempfile::tempfile_in(&*self.folder)?;
        let reserved_bytes = self.budget.reservation(sender);
        Ok(Some(WaitingFile { file, length_bytes: 0, reserved_bytes, disk: self.clone() }))
    }

    fn has_room(&self, bytes: u64) -> io::Result<bool> {
        let free_disk_bytes = free_bytes(&self.folder)?;
        Ok(free_disk_bytes
            .is_none_or(|free_disk_bytes| free_disk_bytes >= self.reserve_bytes.saturating_add(bytes)))
    }
}

/// The beginning of a body, in an unnamed file.
#[derive(Debug)]
pub(super) struct WaitingFile {
    file: File,
    length_bytes: u64,
    reserved_bytes: ReservedBytes,
    disk: BodyDisk,
}

impl WaitingFile {
    /// Returns the length of the file in bytes.
    pub(super) fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Appends a part of the body. Blocks.
    ///
    /// # Errors
    /// 503 `busy` if other bodies use too much of the disk; 507 if the disk is full.
    pub(super) fn append(&mut self, part: &[u8]) -> ApiResult<()> {
        self.reserved_bytes.grow(part.len() as u64)?;
        if !self.disk.has_room(part.len() as u64)? {
            return Err(io::Error::from(ErrorKind::StorageFull).into());
        }
        self.file.write_all(part)?;
        self.length_bytes += part.len() as u64;
        Ok(())
    }

    /// Reads the whole file into memory. Blocks.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // Without this capacity, the buffer could become twice as long as the file.
        bytes.reserve_exact(usize::try_from(self.length_bytes).map_err(io::Error::other)?);
        self.file.rewind()?;
        self.file.take(self.length_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
