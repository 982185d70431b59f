//! Buffered reading at nearby positions of a file.

use std::io::{self, Read, Seek, SeekFrom};

/// Size of the buffer, in bytes.
const BUFFER_BYTES: u64 = 256 * 1024;

/// Number of bytes before the requested position that are also buffered, because scanners read
/// ahead and then return to earlier positions.
const LOOK_BEHIND_BYTES: u64 = 32 * 1024;

/// A file of which a part is buffered in memory.
pub(super) struct Window<R> {
    file: R,
    size_bytes: u64,
    buffer: Vec<u8>,
    start: u64,
}

impl<R: Read + Seek> Window<R> {
    pub(super) fn new(mut file: R) -> io::Result<Self> {
        let size_bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, size_bytes, buffer: Vec::new(), start: 0 })
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Reads `length_bytes` bytes from `offset`; `length_bytes` must be at most 64 KiB. Returns
    /// fewer bytes at the end of the file.
    pub(super) fn read_bytes(&mut self, offset: u64, length_bytes: usize) -> io::Result<&[u8]> {
        let end = offset.saturating_add(length_bytes as u64).min(self.size_bytes);
        let offset = offset.min(end);
        if offset < self.start || end > self.start + self.buffer.len() as u64 {
            self.start = offset.saturating_sub(LOOK_BEHIND_BYTES);
            self.file.seek(SeekFrom::Start(self.start))?;
            self.buffer.clear();
            self.file.by_ref().take(BUFFER_BYTES).read_to_end(&mut self.buffer)?;
        }
        let index = |byte: u64| ((byte - self.start) as usize).min(self.buffer.len());
        Ok(&self.buffer[index(offset)..index(end)])
    }

    /// Reads `N` bytes from `offset`. Returns `None` if the file ends earlier.
    pub(super) fn read_array<const N: usize>(&mut self, offset: u64) -> io::Result<Option<[u8; N]>> {
        Ok(self.read_bytes(offset, N)?.try_into().ok())
    }
}
