//! Repairs the headers of WAV files with 64-bit sizes (RF64 of EBU Tech 3306, BW64 of ITU-R
//! BS.2088), and headers that were never completed.

use std::fs::File;
use std::io;

use super::Repair;
use super::window::Window;
use crate::audio::decode::input::Piece;

/// A 32-bit size with this value means that the size is unknown, or is stored as 64 bits in the
/// chunk `ds64`.
const SIZE_IN_DS64: u32 = u32::MAX;

/// Maximum length of a header that is repaired, in bytes.
const HEADER_MAX_BYTES: u64 = 64 * 1024;

/// Maximum number of chunks that are searched for the chunk with the samples.
const CHUNKS_MAX: usize = 1_000;

pub(super) fn scan(file: &mut Window<File>) -> io::Result<Repair> {
    Ok(repaired_header(file)?.unwrap_or_default())
}

/// Returns the repair of a header, or `None` if the header needs none.
fn repaired_header(file: &mut Window<File>) -> io::Result<Option<Repair>> {
    let Some([a, b, c, d, size @ .., w, x, y, z]) = file.read_array::<12>(0)? else { return Ok(None) };
    let is_wide = [*b"RF64", *b"BW64"].contains(&[a, b, c, d]);
    if !(is_wide || [a, b, c, d] == *b"RIFF") || [w, x, y, z] != *b"WAVE" {
        return Ok(None);
    }
    let Some(data_chunk) = find_data_chunk(file)? else { return Ok(None) };
    let left_bytes = file.size_bytes() - data_chunk.start_bytes;
    // A header that was written before the samples contains only its own size, or zero.
    let is_unfinished = left_bytes > 0 && u64::from(u32::from_le_bytes(size)) + 8 <= data_chunk.start_bytes;
    let declared_bytes = match data_chunk.size_bytes {
        SIZE_IN_DS64 if is_wide => data_chunk.wide_size_bytes.unwrap_or(0),
        size => u64::from(size),
    };
    // If the declared size of the samples exceeds both the file and its RIFF size, all bytes to the
    // end of the file are read.
    let file_bytes = u64::from(u32::from_le_bytes(size)) + 8;
    let is_too_large = !is_wide
        && left_bytes > 0
        && declared_bytes > left_bytes
        && data_chunk.start_bytes + declared_bytes > file_bytes;
    // A program that streams a file writes this value for sizes that it does not know.
    let is_streamed = !is_wide && [u32::from_le_bytes(size), data_chunk.size_bytes] == [SIZE_IN_DS64; 2];
    let has_stale_size =
        is_too_large || (declared_bytes == 0 && left_bytes > 0 && (is_unfinished || is_wide));
    if !(is_wide || has_stale_size || is_unfinished) {
        return Ok(None);
    }
    let data_bytes = if has_stale_size { left_bytes } else { declared_bytes };
    let mut header = file.read_bytes(0, data_chunk.start_bytes as usize)?.to_vec();
    header[..4].copy_from_slice(b"RIFF");
    header[4..8].copy_from_slice(&SIZE_IN_DS64.to_le_bytes());
    let size_offset = header.len() - 4;
    header[size_offset..].copy_from_slice(&u32::try_from(data_bytes).unwrap_or(SIZE_IN_DS64).to_le_bytes());
    let pieces = vec![
        Piece::Repeated { length_bytes: header.len() as u64, pattern: header },
        Piece::File { start: data_chunk.start_bytes, length_bytes: left_bytes },
    ];
    Ok(Some(Repair {
        pieces,
        has_stale_size: (has_stale_size && !is_streamed) || is_unfinished,
        ..Repair::default()
    }))
}

struct DataChunk {
    /// Where the samples begin in the file, in bytes.
    start_bytes: u64,
    size_bytes: u32,
    /// Size of the samples in bytes that an earlier chunk `ds64` contains.
    wide_size_bytes: Option<u64>,
}

/// Finds the chunk with the samples, if it begins within [`HEADER_MAX_BYTES`].
fn find_data_chunk(file: &mut Window<File>) -> io::Result<Option<DataChunk>> {
    let (mut offset_bytes, mut wide_size_bytes) = (12, None);
    for _ in 0..CHUNKS_MAX {
        let Some([kind @ .., a, b, c, d]) = file.read_array::<8>(offset_bytes)? else { return Ok(None) };
        let size_bytes = u32::from_le_bytes([a, b, c, d]);
        let start = offset_bytes + 8;
        if start > HEADER_MAX_BYTES {
            return Ok(None);
        }
        match &kind {
            b"data" => return Ok(Some(DataChunk { start_bytes: start, size_bytes, wide_size_bytes })),
            // In `ds64`, the size of the samples comes after the size of the file.
            b"ds64" => wide_size_bytes = file.read_array::<8>(start + 8)?.map(u64::from_le_bytes),
            _ => {}
        }
        offset_bytes = start + u64::from(size_bytes) + u64::from(size_bytes % 2);
    }
    Ok(None)
}
