//! Looking at places of a file that lie near one another.

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes that are held.
const HELD_BYTES: u64 = 256 * 1024;

/// Bytes before the place that was asked for that are held too: whoever looks ahead comes back.
const BEHIND_BYTES: u64 = 32 * 1024;

/// A file of which a part is held in memory.
pub(super) struct Window<R> {
    file: R,
    size_bytes: u64,
    held: Vec<u8>,
    start: u64,
}

impl<R: Read + Seek> Window<R> {
    pub(super) fn new(mut file: R) -> io::Result<Self> {
        let size_bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, size_bytes, held: Vec::new(), start: 0 })
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The bytes from `at` on: `length` of them, or fewer where the file ends. At most 64 KiB can
    /// be had at once.
    pub(super) fn bytes(&mut self, at: u64, length: usize) -> io::Result<&[u8]> {
        let end = at.saturating_add(length as u64).min(self.size_bytes);
        let at = at.min(end);
        if at < self.start || end > self.start + self.held.len() as u64 {
            self.start = at.saturating_sub(BEHIND_BYTES);
            self.file.seek(SeekFrom::Start(self.start))?;
            self.held.clear();
            self.file.by_ref().take(HELD_BYTES).read_to_end(&mut self.held)?;
        }
        let place = |byte: u64| ((byte - self.start) as usize).min(self.held.len());
        Ok(&self.held[place(at)..place(end)])
    }

    /// So many bytes, or `None` where the file ends before.
    pub(super) fn array<const N: usize>(&mut self, at: u64) -> io::Result<Option<[u8; N]>> {
        Ok(self.bytes(at, N)?.try_into().ok())
    }
}
