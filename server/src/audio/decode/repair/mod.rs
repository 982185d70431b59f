//! Scans a file for damage that its reader would skip silently.
//!
//! After damage, readers resume at the next intact frame or page without an error, so the audio
//! after the damage would be too early. They also continue from one stream into the next. Therefore
//! the file is scanned first: [`flac`], [`mp3`] and [`ogg`] find gaps and the start of a second
//! stream, and [`wav`] repairs headers.

mod flac;
mod mp3;
mod mpeg_frame;
mod ogg;
mod wav;
mod window;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::input::Piece;
use window::Window;

/// Instructions for reading a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repair {
    /// Pieces to read. If empty, the file is read without the ID3v2 tags at its start.
    pub(super) pieces: Vec<Piece>,
    /// How gaps in the audio are found.
    pub(super) gaps: Gaps,
    /// Whether a second FLAC or MP3 stream follows, which is not read. In Ogg files, the reader
    /// finds it.
    pub(super) is_chained: bool,
    /// Whether the length in the header is wrong.
    pub(super) has_stale_size: bool,
}

/// How gaps in the audio are found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Gaps {
    /// Gaps cannot be found.
    #[default]
    Unknown,
    /// Gaps are found by the timestamps of packets.
    ByTimestamp,
    /// The packets with these numbers were inserted in place of lost ones.
    Packets(VecDeque<Range<u64>>),
    /// Pages are missing after each of the positions `holes`, in frames. `end` is the position of
    /// the last page, in frames.
    Pages { holes: VecDeque<i64>, end: i64 },
}

/// Scans a complete file for damage.
pub(super) fn scan_file(path: &Path) -> io::Result<Repair> {
    let mut file = Window::new(File::open(path)?)?;
    let start = skip_tags(&mut file)?;
    match file.read_array::<4>(start)? {
        Some([b'f', b'L', b'a', b'C']) => flac::scan(&mut file, start),
        Some([b'O', b'g', b'g', b'S']) => ogg::scan(&mut file),
        Some([0xFF, ..]) => mp3::scan(&mut file, start),
        _ => wav::scan(&mut file),
    }
}

/// Scans only the header of a file.
pub(super) fn scan_header(path: &Path) -> io::Result<Repair> {
    wav::scan(&mut Window::new(File::open(path)?)?)
}

/// Returns where the audio begins after ID3v2 tags, in bytes (ID3v2.4.0, section 3.1).
fn skip_tags(file: &mut Window<File>) -> io::Result<u64> {
    let mut offset = 0;
    while let Some(size_bytes) = read_tag_bytes(file, offset)? {
        offset += size_bytes;
    }
    Ok(offset)
}

/// Returns the size in bytes of the ID3v2 tag at `offset`, if there is one.
fn read_tag_bytes(file: &mut Window<File>, offset: u64) -> io::Result<Option<u64>> {
    let Some([b'I', b'D', b'3', _, _, flags, size @ ..]) = file.read_array::<10>(offset)? else {
        return Ok(None);
    };
    let size = size.iter().fold(0_u64, |size, byte| size << 7 | u64::from(byte & 0x7F));
    let footer = if flags & 0x10 != 0 { 10 } else { 0 };
    Ok(Some(10 + size + footer))
}
