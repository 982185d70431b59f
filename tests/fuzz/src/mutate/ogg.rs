//! Mutations of Ogg pages with correct checksums (RFC 3533, section 6).

use crate::choices::Choices;
use crate::mutate::{in_place, word};

/// Size in bytes of a page header before its segment table.
const HEADER_BYTES: usize = 27;

/// Number of pages with the headers of a Vorbis stream. These headers control all decoding.
const HEADER_PAGES: usize = 2;

struct Page {
    header: [u8; HEADER_BYTES],
    segments: Vec<u8>,
    body: Vec<u8>,
}

impl Page {
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (header, remaining) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let header = header.starts_with(b"OggS").then_some(*header)?;
        let (segments, remaining) = remaining.split_at_checked(usize::from(header[26]))?;
        let body_bytes = segments.iter().map(|&length| usize::from(length)).sum();
        let (body, remaining) = remaining.split_at_checked(body_bytes)?;
        *bytes = remaining;
        Some(Self { header, segments: segments.to_vec(), body: body.to_vec() })
    }

    fn write(&self, output: &mut Vec<u8>) {
        let start = output.len();
        output.extend(self.header);
        output[start + 26] = self.segments.len() as u8;
        output[start + 22..start + 26].fill(0);
        output.extend(&self.segments);
        let body_bytes: usize = self.segments.iter().map(|&length| usize::from(length)).sum();
        output.extend(&self.body);
        output.resize(start + HEADER_BYTES + self.segments.len() + body_bytes, 0);
        let checksum = checksum(&output[start..]);
        output[start + 22..start + 26].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn checksum(page: &[u8]) -> u32 {
    page.iter().fold(0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << 24, |crc, _| {
            if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 }
        })
    })
}

/// Mutates a page of a stream. The bytes after the last whole page stay the same.
pub(crate) fn mutate(mut bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut pages: Vec<Page> = core::iter::from_fn(|| Page::read(&mut bytes)).collect();
    if pages.is_empty() {
        return None;
    }
    let candidate_pages = if choices.below(2) == 0 { HEADER_PAGES.min(pages.len()) } else { pages.len() };
    let index = choices.below(candidate_pages);
    let page = &mut pages[index];
    match choices.below(12) {
        // The position, the serial number or the sequence number.
        0 => word(&mut page.header[6..22], choices),
        1 => page.header[5] ^= 1 << choices.below(3),
        2 => in_place(&mut page.segments),
        3 => {
            let segment = choices.below(page.segments.len() + 1);
            page.segments.truncate(segment);
        }
        4 => drop(pages.remove(index)),
        5 => {
            let mut copy = Vec::new();
            page.write(&mut copy);
            let copy = Page::read(&mut copy.as_slice())?;
            let new_index = choices.below(pages.len() + 1);
            pages.insert(new_index, copy);
        }
        6 => word(&mut page.body, choices),
        _ => in_place(&mut page.body),
    }
    let mut output = Vec::new();
    pages.iter().for_each(|page| page.write(&mut output));
    output.extend(bytes);
    Some(output)
}
