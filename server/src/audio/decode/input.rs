//! The bytes that `symphonia` reads: a file, or its repaired form from [`super::repair`].

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use symphonia::core::io::MediaSource;

/// A part of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// `length_bytes` bytes of the file from `start`.
    File { start: u64, length_bytes: u64 },
    /// `length_bytes` bytes, which repeat `pattern`.
    Repeated { pattern: Vec<u8>, length_bytes: u64 },
}

impl Piece {
    fn length_bytes(&self) -> u64 {
        match self {
            Self::File { length_bytes, .. } | Self::Repeated { length_bytes, .. } => *length_bytes,
        }
    }
}

/// An input of concatenated pieces. It publishes its read position.
pub(super) struct Input {
    file: File,
    /// Each piece with the position in the input where it starts, in bytes.
    pieces: Vec<(u64, Piece)>,
    size_bytes: u64,
    position_bytes: u64,
    shared_position: Arc<AtomicU64>,
}

impl Input {
    /// Opens the file at `path` and reads these pieces of it. If `pieces` is empty, reads the file
    /// after its leading ID3v2 tags.
    pub(super) fn open(path: &Path, mut pieces: Vec<Piece>) -> io::Result<Self> {
        let file = File::open(path)?;
        if pieces.is_empty() {
            let length_bytes = file.metadata()?.len();
            let start = measure_id3_tags_bytes(&file, length_bytes)?;
            pieces.push(Piece::File { start, length_bytes: length_bytes - start });
        }
        let mut size_bytes = 0;
        let mut with_starts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let begin = size_bytes;
            size_bytes += piece.length_bytes();
            with_starts.push((begin, piece));
        }
        Ok(Self { file, pieces: with_starts, size_bytes, position_bytes: 0, shared_position: Arc::default() })
    }

    /// Length of the input in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the read position in bytes, which other threads read for progress.
    pub(super) fn shared_position(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.shared_position)
    }
}

/// Returns the length of the ID3v2 tags at the start of a file of `length_bytes` bytes. [`Input`]
/// skips the tags, because the reader would keep each ID3v2 frame in memory.
fn measure_id3_tags_bytes(file: &File, length_bytes: u64) -> io::Result<u64> {
    let mut file = BufReader::new(file);
    let mut tags_bytes = 0;
    let mut header = [0; 10];
    while tags_bytes + header.len() as u64 <= length_bytes {
        file.read_exact(&mut header)?;
        let [b'I', b'D', b'3', _, _, flags, size_digits @ ..] = header else { break };
        // Each byte of the size has seven bits (ID3v2.4, section 3.1). A tag may end with a copy of
        // its header.
        let content = size_digits.iter().fold(0, |bytes, &digit| (bytes << 7) | u64::from(digit & 0x7f));
        let footer = if flags & 0x10 == 0 { 0 } else { header.len() as u64 };
        let end = tags_bytes + header.len() as u64 + content + footer;
        if end > length_bytes {
            break;
        }
        file.seek_relative((content + footer) as i64)?;
        tags_bytes = end;
    }
    Ok(tags_bytes)
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece_index = self.pieces.partition_point(|(begin, _)| *begin <= self.position_bytes);
        let Some((begin, piece)) = piece_index.checked_sub(1).and_then(|index| self.pieces.get(index)) else {
            return Ok(0);
        };
        let within = self.position_bytes - begin;
        let available_bytes = piece.length_bytes().saturating_sub(within).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..available_bytes];
        let count = match piece {
            Piece::File { start, .. } => {
                self.file.seek(SeekFrom::Start(start + within))?;
                self.file.read(buffer)?
            }
            Piece::Repeated { pattern, .. } => {
                let phase = (within % pattern.len().max(1) as u64) as usize;
                for (byte, value) in buffer.iter_mut().zip(pattern.iter().cycle().skip(phase)) {
                    *byte = *value;
                }
                available_bytes
            }
        };
        self.position_bytes += count as u64;
        self.shared_position.store(self.position_bytes, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Input {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let position_bytes = match target {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.size_bytes.checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position_bytes.checked_add_signed(distance),
        };
        self.position_bytes = position_bytes.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position_bytes)
    }
}

impl MediaSource for Input {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id3_tags_at_the_start_are_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in");
        let tag = |flags: u8, content: &[u8]| {
            let size = [0, 0, (content.len() >> 7) as u8, (content.len() & 0x7f) as u8];
            [b"ID3\x04\x00", &[flags][..], &size, content].concat()
        };
        let with_footer = [tag(0x10, &[b'x'; 300]), tag(0, &[])].concat();
        let unfinished = [&tag(0, &[b'x'; 9])[..], b"\xff\xfb"].concat()[..15].to_vec();
        for (tags, content_after_tags) in [
            (tag(0, &[b'x'; 200]), &b"\xff\xfb audio"[..]),
            ([tag(0, &[]), with_footer].concat(), b"audio"),
            (Vec::new(), &unfinished),
            (tag(0, b"TXXX"), b""),
            (Vec::new(), b"ID"),
        ] {
            std::fs::write(&path, [&tags[..], content_after_tags].concat()).expect("writes");
            let mut read_bytes = Vec::new();
            Input::open(&path, Vec::new()).expect("opens").read_to_end(&mut read_bytes).expect("reads");
            assert_eq!(read_bytes, content_after_tags);
        }
    }

    #[test]
    fn pieces_are_read_as_one_concatenated_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("in");
        std::fs::write(&path, b"0123456789").expect("writes");
        let pieces = vec![
            Piece::File { start: 2, length_bytes: 3 },
            Piece::Repeated { pattern: b"ab".to_vec(), length_bytes: 5 },
            Piece::File { start: 8, length_bytes: 2 },
        ];
        let mut input = Input::open(&path, pieces).expect("opens");
        let mut text = String::new();
        input.read_to_string(&mut text).expect("reads");
        assert_eq!((text.as_str(), input.size_bytes()), ("234ababa89", 10));
        input.seek(SeekFrom::Start(4)).expect("seeks");
        let mut two_bytes = [0; 2];
        input.read_exact(&mut two_bytes).expect("reads");
        assert_eq!(&two_bytes, b"ba");
        input.seek(SeekFrom::End(-1)).expect("seeks");
        text.clear();
        input.read_to_string(&mut text).expect("reads");
        assert_eq!(text, "9");
        assert!(input.seek(SeekFrom::Current(-11)).is_err());
        let mut whole_input = Input::open(&path, Vec::new()).expect("opens");
        text.clear();
        whole_input.read_to_string(&mut text).expect("reads");
        assert_eq!(text, "0123456789");
    }
}
