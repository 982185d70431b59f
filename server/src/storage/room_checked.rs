//! A writer that stops before it uses the reserve of the disk.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tokio::runtime::Handle;

use super::room::ensure_room;
use crate::state::AppState;

/// Number of bytes that are written between two checks of the free disk space.
const DISK_CHECK_BYTES: u64 = 16 * 1024 * 1024;

/// Writes a file in the storage folder. A write fails with [`io::ErrorKind::StorageFull`] if the
/// disk would have less free space than its reserve. Must be used on a thread that may block, in
/// the context of a tokio runtime.
pub(crate) struct RoomChecked<'s, W> {
    state: &'s AppState,
    file: W,
    unchecked_bytes: u64,
}

impl<'s, W> RoomChecked<'s, W> {
    pub(crate) fn new(state: &'s AppState, file: W) -> Self {
        Self { state, file, unchecked_bytes: 0 }
    }

    pub(crate) fn into_inner(self) -> W {
        self.file
    }
}

impl<W: Write> Write for RoomChecked<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unchecked_bytes < bytes.len() as u64 {
            let folder: &Path = &self.state.config.storage.dir;
            ensure_room(self.state, &Handle::current(), folder, DISK_CHECK_BYTES)?;
            self.unchecked_bytes = DISK_CHECK_BYTES.max(bytes.len() as u64);
        }
        let written_bytes = self.file.write(bytes)?;
        self.unchecked_bytes -= written_bytes as u64;
        Ok(written_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<W: Seek> Seek for RoomChecked<'_, W> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
