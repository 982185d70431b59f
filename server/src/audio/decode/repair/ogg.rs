//! Scans Ogg files (RFC 3533). Pages with a wrong checksum are dropped. Gaps in the sequence
//! numbers of the remaining pages show where audio is missing.

use std::fs::File;
use std::io;

use super::window::Window;
use super::{Gaps, Repair};
use crate::audio::decode::input::Piece;

/// Number of bytes of a page before its segment table (RFC 3533, section 6).
const HEAD_BYTES: usize = 27;

/// Position of a page on which no packet ends.
const NO_POSITION: i64 = -1;

/// Number of bytes that are searched at a time for the next page.
const CHUNK_BYTES: usize = 16 * 1024;

const CAPTURE_PATTERN: &[u8; 4] = b"OggS";

/// A page with a correct checksum.
struct Page {
    size_bytes: u64,
    granule_position: i64,
    serial: u32,
    number: u32,
    starts_stream: bool,
}

pub(super) fn scan(file: &mut Window<File>) -> io::Result<Repair> {
    let table = checksum_table();
    let (mut holes, mut end) = (Vec::new(), 0);
    let mut last_page: Option<(u32, u32)> = None;
    let (mut pieces, mut piece_start, mut offset_bytes) = (Vec::new(), 0, 0);
    while offset_bytes < file.size_bytes() {
        let Some(page) = read_page(file, offset_bytes, &table)? else {
            if offset_bytes > piece_start {
                pieces.push(Piece::File { start: piece_start, length_bytes: offset_bytes - piece_start });
            }
            offset_bytes = next_capture(file, offset_bytes + 1)?;
            piece_start = offset_bytes;
            continue;
        };
        offset_bytes += page.size_bytes;
        match last_page {
            // A second stream begins. It is not scanned.
            Some(_) if page.starts_stream => break,
            // This page belongs to another, interleaved stream.
            Some((serial, _)) if page.serial != serial => continue,
            Some((_, number)) if page.number != number.wrapping_add(1) => holes.push(end),
            _ => {}
        }
        last_page = Some((page.serial, page.number));
        if page.granule_position != NO_POSITION {
            end = page.granule_position;
        }
    }
    if !pieces.is_empty() {
        pieces.push(Piece::File {
            start: piece_start,
            length_bytes: file.size_bytes().saturating_sub(piece_start),
        });
    }
    Ok(Repair { pieces, gaps: Gaps::Pages { holes: holes.into(), end }, ..Repair::default() })
}

/// Returns the page at `offset_bytes`, if it is complete and its checksum is correct.
fn read_page(file: &mut Window<File>, offset_bytes: u64, table: &[u32; 256]) -> io::Result<Option<Page>> {
    let Some(head) = file.read_array::<HEAD_BYTES>(offset_bytes)? else { return Ok(None) };
    if !head.starts_with(CAPTURE_PATTERN) || head[4] != 0 {
        return Ok(None);
    }
    let segments = usize::from(head[26]);
    let lengths = file.read_bytes(offset_bytes + HEAD_BYTES as u64, segments)?;
    let body: usize = lengths.iter().map(|length| usize::from(*length)).sum();
    let size_bytes = HEAD_BYTES + segments + body;
    let bytes = file.read_bytes(offset_bytes, size_bytes)?;
    if bytes.len() < size_bytes {
        return Ok(None);
    }
    let field = |field_offset: usize| {
        u32::from_le_bytes([
            head[field_offset],
            head[field_offset + 1],
            head[field_offset + 2],
            head[field_offset + 3],
        ])
    };
    // The checksum is computed with its own field set to zero.
    let sum = checksum(0, &bytes[..22], table);
    let sum = checksum(checksum(sum, &[0; 4], table), &bytes[26..], table);
    let granule_position = i64::from(field(10)) << 32 | i64::from(field(6));
    let page = Page {
        size_bytes: size_bytes as u64,
        granule_position,
        serial: field(14),
        number: field(18),
        starts_stream: head[5] & 2 != 0,
    };
    Ok((sum == field(22)).then_some(page))
}

/// Returns the offset of the next capture pattern from `offset_bytes` on, or the end of the file.
fn next_capture(file: &mut Window<File>, mut offset_bytes: u64) -> io::Result<u64> {
    while offset_bytes < file.size_bytes() {
        let bytes = file.read_bytes(offset_bytes, CHUNK_BYTES)?;
        if let Some(offset) = bytes.windows(CAPTURE_PATTERN.len()).position(|bytes| bytes == CAPTURE_PATTERN)
        {
            return Ok(offset_bytes + offset as u64);
        }
        offset_bytes += (CHUNK_BYTES - (CAPTURE_PATTERN.len() - 1)) as u64;
    }
    Ok(offset_bytes)
}

/// Computes the CRC with the polynomial 0x04c11db7, not reflected, from zero (RFC 3533, section 6,
/// field 7).
fn checksum(sum: u32, bytes: &[u8], table: &[u32; 256]) -> u32 {
    bytes.iter().fold(sum, |sum, byte| sum << 8 ^ table[usize::from((sum >> 24) as u8 ^ byte)])
}

fn checksum_table() -> [u32; 256] {
    std::array::from_fn(|index| {
        (0..8).fold((index as u32) << 24, |sum, _| {
            sum << 1 ^ if sum & 0x8000_0000 != 0 { 0x04C1_1DB7 } else { 0 }
        })
    })
}
