//! Ogg (RFC 3533): drops pages with a wrong checksum; the sequence numbers around them show where.

use std::fs::File;
use std::io;

use super::window::Window;
use super::{Gaps, Repair};
use crate::audio::decode::input::Piece;

/// Bytes of a page before its table of segments (RFC 3533, section 6).
const HEAD_BYTES: usize = 27;

/// Position of a page on which no packet ends.
const NO_POSITION: i64 = -1;

/// Bytes to search at a time for the next page.
const CHUNK_BYTES: usize = 16 * 1024;

const CAPTURE: &[u8; 4] = b"OggS";

/// A page with a correct checksum.
struct Page {
    size_bytes: u64,
    position: i64,
    serial: u32,
    number: u32,
    starts_stream: bool,
}

pub(super) fn scan(file: &mut Window<File>) -> io::Result<Repair> {
    let table = checksum_table();
    let (mut holes, mut end) = (Vec::new(), 0);
    let mut last_page: Option<(u32, u32)> = None;
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < file.size_bytes() {
        let Some(page) = page(file, at, &table)? else {
            if at > from {
                pieces.push(Piece::File { start: from, length: at - from });
            }
            at = next_capture(file, at + 1)?;
            from = at;
            continue;
        };
        at += page.size_bytes;
        match last_page {
            // A second stream begins, which is not read.
            Some(_) if page.starts_stream => break,
            // A page of another, interleaved stream.
            Some((serial, _)) if page.serial != serial => continue,
            Some((_, number)) if page.number != number.wrapping_add(1) => holes.push(end),
            _ => {}
        }
        last_page = Some((page.serial, page.number));
        if page.position != NO_POSITION {
            end = page.position;
        }
    }
    if !pieces.is_empty() {
        pieces.push(Piece::File { start: from, length: file.size_bytes().saturating_sub(from) });
    }
    Ok(Repair { pieces, gaps: Gaps::Pages { holes: holes.into(), end }, ..Repair::default() })
}

/// The page at `at`, if it is complete and correct.
fn page(file: &mut Window<File>, at: u64, table: &[u32; 256]) -> io::Result<Option<Page>> {
    let Some(head) = file.array::<HEAD_BYTES>(at)? else { return Ok(None) };
    if !head.starts_with(CAPTURE) || head[4] != 0 {
        return Ok(None);
    }
    let segments = usize::from(head[26]);
    let lengths = file.bytes(at + HEAD_BYTES as u64, segments)?;
    let body: usize = lengths.iter().map(|length| usize::from(*length)).sum();
    let size = HEAD_BYTES + segments + body;
    let bytes = file.bytes(at, size)?;
    if bytes.len() < size {
        return Ok(None);
    }
    let field =
        |from: usize| u32::from_le_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]]);
    // The checksum field counts as zeros.
    let sum = checksum(0, &bytes[..22], table);
    let sum = checksum(checksum(sum, &[0; 4], table), &bytes[26..], table);
    let position = i64::from(field(10)) << 32 | i64::from(field(6));
    let page = Page {
        size_bytes: size as u64,
        position,
        serial: field(14),
        number: field(18),
        starts_stream: head[5] & 2 != 0,
    };
    Ok((sum == field(22)).then_some(page))
}

/// Where the next page may begin.
fn next_capture(file: &mut Window<File>, mut at: u64) -> io::Result<u64> {
    while at < file.size_bytes() {
        let bytes = file.bytes(at, CHUNK_BYTES)?;
        if let Some(offset) = bytes.windows(CAPTURE.len()).position(|bytes| bytes == CAPTURE) {
            return Ok(at + offset as u64);
        }
        at += (CHUNK_BYTES - (CAPTURE.len() - 1)) as u64;
    }
    Ok(at)
}

/// The polynomial 0x04c11db7 without reflection, from zero (RFC 3533, section 6, field 7).
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
