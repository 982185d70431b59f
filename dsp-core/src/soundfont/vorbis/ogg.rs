//! Pages and packets of a physical Ogg stream with one logical stream (RFC 3533, section 6).

use super::super::skipped::Reason;

/// Size of a page header before its segment table, in bytes.
const HEADER_BYTES: usize = 27;

/// Maximum size of a page in bytes: the header, 255 segment lengths and 255 segments.
const PAGE_BYTES_MAX: usize = HEADER_BYTES + 255 + 255 * 255;

/// Length of a segment that is followed by another one of the same packet.
const FULL_SEGMENT: u8 = 255;

/// Granule position of pages on which no packet ends.
const NO_GRANULE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Page<'a> {
    /// Number of frames up to the last packet that ends on the page.
    granule: u64,
    serial: [u8; 4],
    checksum: u32,
    segment_lengths: &'a [u8],
    body: &'a [u8],
    /// The whole page.
    bytes: &'a [u8],
}

impl<'a> Page<'a> {
    /// The page at the start of `bytes`.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER_BYTES>()?;
        // Version 0 is the only one.
        if !header.starts_with(b"OggS\0") {
            return None;
        }
        let (_, after_header) = bytes.split_at(HEADER_BYTES);
        let (segment_lengths, remaining) = after_header.split_at_checked(usize::from(header[26]))?;
        let body_bytes = segment_lengths.iter().map(|&length| usize::from(length)).sum();
        let body = remaining.get(..body_bytes)?;
        let field =
            |offset: usize| [header[offset], header[offset + 1], header[offset + 2], header[offset + 3]];
        Some(Self {
            granule: u64::from(u32::from_le_bytes(field(6))) | u64::from(u32::from_le_bytes(field(10))) << 32,
            serial: field(14),
            checksum: u32::from_le_bytes(field(22)),
            segment_lengths,
            body,
            bytes: &bytes[..HEADER_BYTES + segment_lengths.len() + body_bytes],
        })
    }

    fn is_intact(&self) -> bool {
        let (before, checksum) = self.bytes.split_at(22);
        let bytes = before.iter().chain(&[0; 4]).chain(&checksum[4..]);
        let crc = bytes.fold(0_u32, |crc, byte| crc << 8 ^ CRC[usize::from((crc >> 24) as u8 ^ byte)]);
        crc == self.checksum
    }
}

/// Number of frames in a stream, by its last page. It reads only the end of the stream.
pub(super) fn last_granule(stream: &[u8]) -> Option<u64> {
    let tail = &stream[stream.len().saturating_sub(PAGE_BYTES_MAX)..];
    let offsets = (0..tail.len()).rev().filter(|&offset| tail[offset..].starts_with(b"OggS"));
    offsets
        .filter_map(|offset| Page::read(&tail[offset..]))
        .map(|page| page.granule)
        .find(|&it| it != NO_GRANULE)
}

/// The packets of a stream, in order. A damaged page is an error and ends the iteration.
pub(super) struct Packets<'a> {
    remaining: &'a [u8],
    page: Option<Page<'a>>,
    /// Number of segments of the page that were read.
    next_segment: usize,
    /// Number of bytes of the page's body that were read.
    read_bytes: usize,
    serial: Option<[u8; 4]>,
}

impl<'a> Packets<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { remaining: stream, page: None, next_segment: 0, read_bytes: 0, serial: None }
    }

    fn next_page(&mut self) -> Option<Result<Page<'a>, Reason>> {
        if self.remaining.is_empty() {
            return None;
        }
        let page = Page::read(self.remaining).filter(Page::is_intact);
        let Some(page) = page else {
            // Bytes after the last page, such as a pad byte, are ignored.
            let is_end = self.serial.is_some() && !self.remaining.windows(4).any(|bytes| bytes == b"OggS");
            self.remaining = &[];
            return if is_end { None } else { Some(Err(Reason::Vorbis("a page is damaged"))) };
        };
        if *self.serial.get_or_insert(page.serial) != page.serial {
            self.remaining = &[];
            return Some(Err(Reason::Vorbis("it holds more than one stream")));
        }
        self.remaining = &self.remaining[page.bytes.len()..];
        (self.next_segment, self.read_bytes) = (0, 0);
        self.page = Some(page);
        Some(Ok(page))
    }
}

impl Iterator for Packets<'_> {
    type Item = Result<Vec<u8>, Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut packet = Vec::new();
        loop {
            let page = match self.page {
                Some(page) if self.next_segment < page.segment_lengths.len() => page,
                // An incomplete last packet is dropped.
                _ => match self.next_page()? {
                    Ok(page) => page,
                    Err(reason) => return Some(Err(reason)),
                },
            };
            while let Some(&length) = page.segment_lengths.get(self.next_segment) {
                self.next_segment += 1;
                let end = self.read_bytes + usize::from(length);
                packet.extend_from_slice(&page.body[self.read_bytes..end]);
                self.read_bytes = end;
                if length < FULL_SEGMENT {
                    return Some(Ok(packet));
                }
            }
        }
    }
}

/// Table of the CRC-32 of RFC 3533, section 6: polynomial 0x04c11db7, not reflected, by the highest
/// byte.
const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};
