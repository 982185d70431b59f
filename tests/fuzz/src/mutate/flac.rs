//! Mutations of FLAC frames with correct checksums (RFC 9639, section 9.3).

use crate::choices::Choices;
use crate::mutate::in_place;

/// Maximum length of a frame header with its checksum, in bytes (RFC 9639, section 9.1).
const HEADER_MAX_BYTES: usize = 16;

pub(crate) fn checksum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0_u16, |crc, byte| {
        (0..8).fold(
            crc ^ u16::from(*byte) << 8,
            |crc, _| {
                if crc >> 15 == 1 { crc << 1 ^ 0x8005 } else { crc << 1 }
            },
        )
    })
}

/// Mutates the body of a frame. Returns `None` if there is no whole frame.
pub(crate) fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let is_start = |offset: &usize| bytes[*offset] == 0xff && bytes[*offset + 1] & 0xfe == 0xf8;
    let mut starts: Vec<usize> = (0..bytes.len().saturating_sub(1)).filter(is_start).collect();
    starts.push(bytes.len());
    let is_whole_frame = |pair: &&[usize]| {
        let frame = &bytes[pair[0]..pair[1]];
        frame.len() > HEADER_MAX_BYTES + 2 && checksum(frame) == 0
    };
    let frames: Vec<&[usize]> = starts.windows(2).filter(is_whole_frame).collect();
    if frames.is_empty() {
        return None;
    }
    let frame = choices.among(&frames);
    let (start, end) = (frame[0], frame[1]);
    let mut output = bytes.to_vec();
    // The frame header has at least five bytes, and the header of the first subframe follows it.
    // The mutated range starts at one of the bytes where that subframe header can be.
    let body = start + 5 + choices.below(HEADER_MAX_BYTES - 4)..end - 2;
    in_place(&mut output[body]);
    let checksum = checksum(&output[start..end - 2]);
    output[end - 2..end].copy_from_slice(&checksum.to_be_bytes());
    Some(output)
}
