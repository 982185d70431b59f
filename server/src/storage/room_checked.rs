//! A temporary file that leaves the reserve of its disk alone.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use tokio::runtime::Handle;

use super::room::ensure_room;
use crate::error::ApiError;
use crate::state::AppState;

/// Bytes between two looks at the disk.
const LOOK_EVERY_BYTES: u64 = 16 * 1024 * 1024;

/// A file in the storage folder that is being written. A write fails with
/// [`ErrorKind::StorageFull`] if less would be free than the settings keep in reserve. For threads
/// that may block.
pub(crate) struct RoomChecked<'s, W> {
    state: &'s AppState,
    file: W,
    left_bytes: u64,
}

impl<'s, W> RoomChecked<'s, W> {
    pub(crate) fn new(state: &'s AppState, file: W) -> Self {
        Self { state, file, left_bytes: 0 }
    }
}

impl<W: Write> Write for RoomChecked<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left_bytes < bytes.len() as u64 {
            let folder: &Path = &self.state.config.storage.dir;
            let refused = |error| match error {
                ApiError::StorageFull => io::Error::from(ErrorKind::StorageFull),
                other => io::Error::other(other),
            };
            ensure_room(self.state, &Handle::current(), folder, LOOK_EVERY_BYTES).map_err(refused)?;
            self.left_bytes = LOOK_EVERY_BYTES.max(bytes.len() as u64);
        }
        let written = self.file.write(bytes)?;
        self.left_bytes -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<W: Seek> Seek for RoomChecked<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
