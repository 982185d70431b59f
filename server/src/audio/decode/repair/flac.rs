//! FLAC: frames say where they belong (RFC 9639, section 9.1.5); a second stream begins with its
//! marker.

use std::fs::File;
use std::io;

use super::window::Window;
use super::{Missing, Repair};
use crate::audio::decode::input::Piece;

/// The marker and the head of the block that must follow it, STREAMINFO of 34 bytes (RFC 9639,
/// sections 6 and 8.2). The fifth byte may have its highest bit set.
const MARKER: &[u8; 4] = b"fLaC";
const STREAMINFO_BYTES: [u8; 3] = [0, 0, 34];
const HEAD_BYTES: usize = 8;

/// Bytes that are searched at a time.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn look(file: &mut Window<File>, start: u64) -> io::Result<Repair> {
    let mut repair = Repair { missing: Missing::ByTime, ..Repair::default() };
    let mut at = start + 1;
    while at < file.size_bytes() {
        let bytes = file.bytes(at, CHUNK_BYTES)?;
        if let Some(place) = bytes.windows(HEAD_BYTES).position(is_head) {
            repair.pieces.push(Piece::File { start: 0, length: at + place as u64 });
            repair.is_chained = true;
            break;
        }
        at += (CHUNK_BYTES - (HEAD_BYTES - 1)) as u64;
    }
    Ok(repair)
}

fn is_head(bytes: &[u8]) -> bool {
    bytes.starts_with(MARKER) && bytes[4] & 0x7F == 0 && bytes[5..] == STREAMINFO_BYTES
}
