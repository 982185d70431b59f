//! Scans FLAC files. Each frame contains its position (RFC 9639, section 9.1.5), so timestamps show
//! gaps. A second stream begins with its own marker.

use std::fs::File;
use std::io;

use super::window::Window;
use super::{Gaps, Repair};
use crate::audio::decode::input::Piece;

/// A stream begins with `STREAM_MARKER` and the header of the mandatory first block, a STREAMINFO
/// block of 34 bytes (RFC 9639, sections 6 and 8.2). The highest bit of the fifth byte may be set.
const STREAM_MARKER: &[u8; 4] = b"fLaC";
const STREAMINFO_BYTES: [u8; 3] = [0, 0, 34];
const START_BYTES: usize = 8;

/// Number of bytes that are searched at a time.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn scan(file: &mut Window<File>, start: u64) -> io::Result<Repair> {
    let mut repair = Repair { gaps: Gaps::ByTimestamp, ..Repair::default() };
    let mut offset_bytes = start + 1;
    while offset_bytes < file.size_bytes() {
        let bytes = file.read_bytes(offset_bytes, CHUNK_BYTES)?;
        if let Some(offset) = bytes.windows(START_BYTES).position(is_stream_start) {
            repair.pieces.push(Piece::File { start: 0, length_bytes: offset_bytes + offset as u64 });
            repair.is_chained = true;
            break;
        }
        offset_bytes += (CHUNK_BYTES - (START_BYTES - 1)) as u64;
    }
    Ok(repair)
}

fn is_stream_start(bytes: &[u8]) -> bool {
    bytes.starts_with(STREAM_MARKER) && bytes[4] & 0x7F == 0 && bytes[5..] == STREAMINFO_BYTES
}
