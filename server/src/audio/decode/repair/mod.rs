//! What is wrong with a file that its reader would pass over without a word, found before it is
//! read.
//!
//! Readers of streams look for the next whole frame or page behind damage and go on from there:
//! what follows comes too early, and nobody is told. And they read over the end of one stream into
//! the next. So the file is looked through first: [`flac`], [`mp3`] and [`ogg`] find where sound is
//! missing and where a second stream begins, [`wav`] mends headers.

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

/// How a file is to be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repair {
    /// What is read instead of the file; empty: all of it.
    pub(super) pieces: Vec<Piece>,
    /// Where sound is missing.
    pub(super) missing: Missing,
    /// Another stream follows that is not read.
    pub(super) is_chained: bool,
    /// Its header does not know how long it is.
    pub(super) has_stale_size: bool,
}

/// How it is known where sound is missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Packets say where they belong.
    ByTime,
    /// The packets with these numbers stand for lost ones.
    Packets(VecDeque<Range<u64>>),
    /// Pages are lost behind these positions, in frames; `end` is the position of the last page.
    Pages { holes: VecDeque<i64>, end: i64 },
}

/// Looks through a whole file.
pub(super) fn thorough(path: &Path) -> io::Result<Repair> {
    let mut file = Window::new(File::open(path)?)?;
    let start = after_tags(&mut file)?;
    match file.array::<4>(start)? {
        Some([b'f', b'L', b'a', b'C']) => flac::look(&mut file, start),
        Some([b'O', b'g', b'g', b'S']) => ogg::look(&mut file),
        Some([0xFF, ..]) => mp3::look(&mut file, start),
        _ => wav::look(&mut file),
    }
}

/// Looks at the header only.
pub(super) fn of_header(path: &Path) -> io::Result<Repair> {
    wav::look(&mut Window::new(File::open(path)?)?)
}

/// Where the sound begins behind ID3v2 tags (ID3v2.4.0, section 3.1).
fn after_tags(file: &mut Window<File>) -> io::Result<u64> {
    let mut at = 0;
    while let Some(size_bytes) = tag_bytes(file, at)? {
        at += size_bytes;
    }
    Ok(at)
}

/// Size of the ID3v2 tag at a place, if there is one.
fn tag_bytes(file: &mut Window<File>, at: u64) -> io::Result<Option<u64>> {
    let Some([b'I', b'D', b'3', _, _, flags, size @ ..]) = file.array::<10>(at)? else { return Ok(None) };
    let size = size.iter().fold(0_u64, |size, byte| size << 7 | u64::from(byte & 0x7F));
    let footer = if flags & 0x10 != 0 { 10 } else { 0 };
    Ok(Some(10 + size + footer))
}
