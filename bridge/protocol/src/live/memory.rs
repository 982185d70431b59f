//! The shared memory of blocks, as words that both processes may read and write at any time.
#![expect(unsafe_code, reason = "the words of a mapping are reached by a pointer")]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU32;

use memmap2::{MmapOptions, MmapRaw};

use super::LIVE_MEMORY_BYTES;

/// Memory that the service and a helper share. Its functions are those of [`super`].
#[derive(Debug)]
pub struct LiveMemory(MmapRaw);

impl LiveMemory {
    /// Maps a file of [`LIVE_MEMORY_BYTES`]. The file must keep its length; the service seals it.
    ///
    /// # Errors
    /// If the file is shorter, or the system cannot map it.
    pub fn map(file: &File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        if bytes < LIVE_MEMORY_BYTES as u64 {
            let reason = format!("the shared memory has {bytes} bytes; expected {LIVE_MEMORY_BYTES}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(Self(MmapOptions::new().len(LIVE_MEMORY_BYTES).map_raw(file)?))
    }

    /// Returns the words. Other processes change them, so they are atomic.
    pub(super) fn words(&self) -> &[AtomicU32] {
        let start = self.0.as_mut_ptr().cast::<AtomicU32>();
        // SAFETY: the mapping starts at a page, has this length, and lives as long as `self`. All
        // bits are valid, and all accesses of all processes are atomic.
        unsafe { std::slice::from_raw_parts(start, LIVE_MEMORY_BYTES / size_of::<AtomicU32>()) }
    }
}
