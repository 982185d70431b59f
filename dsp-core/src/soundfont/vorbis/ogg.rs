//! Reads the pages and packets of an Ogg file that contains one logical stream (RFC 3533, section
//! 6).

use super::super::skipped::BankIssueReason;

/// Size of the part of a page header before the segment table, in bytes.
const HEADER_BYTES: usize = 27;

/// Maximum size of a page in bytes: the header, 255 segment lengths and 255 segments.
const PAGE_BYTES_MAX: usize = HEADER_BYTES + 255 + 255 * 255;

/// Length of a segment after which the same packet continues in the next segment.
const FULL_SEGMENT: u8 = 255;

/// Granule position of pages on which no packet ends.
const NO_GRANULE: u64 = u64::MAX;

/// A page of an Ogg file.
#[derive(Clone, Copy)]
struct Page<'a> {
    /// Number of frames from the start of the stream to the end of the last packet that ends on the
    /// page.
    granule: u64,
    serial: [u8; 4],
    checksum: u32,
    segment_lengths: &'a [u8],
    body: &'a [u8],
    /// All bytes of the page.
    bytes: &'a [u8],
}

impl<'a> Page<'a> {
    /// Reads the page at the start of `bytes`. `None` if no page starts there or it is incomplete.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER_BYTES>()?;
        // The fifth byte is the version, which is always 0.
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

    /// Whether the checksum of the page is correct.
    fn is_intact(&self) -> bool {
        let (page_start, checksum) = self.bytes.split_at(22);
        let bytes = page_start.iter().chain(&[0; 4]).chain(&checksum[4..]);
        let crc = bytes.fold(0_u32, |crc, byte| crc << 8 ^ CRC_TABLE[usize::from((crc >> 24) as u8 ^ byte)]);
        crc == self.checksum
    }
}

/// Returns the number of frames in a stream according to its last page; `None` if no page states
/// it. Reads only the end of the stream.
pub(super) fn last_granule(stream: &[u8]) -> Option<u64> {
    let tail = &stream[stream.len().saturating_sub(PAGE_BYTES_MAX)..];
    let offsets = (0..tail.len()).rev().filter(|&offset| tail[offset..].starts_with(b"OggS"));
    offsets
        .filter_map(|offset| Page::read(&tail[offset..]))
        .map(|page| page.granule)
        .find(|&granule| granule != NO_GRANULE)
}

/// Iterates over the packets of a stream. A damaged page is an error and ends the iteration.
pub(super) struct Packets<'a> {
    remaining: &'a [u8],
    page: Option<Page<'a>>,
    /// Index of the next segment of the page.
    next_segment: usize,
    /// Offset of the next segment in the body of the page, in bytes.
    body_offset: usize,
    /// Serial number of the stream, from the first page.
    serial: Option<[u8; 4]>,
}

impl<'a> Packets<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { remaining: stream, page: None, next_segment: 0, body_offset: 0, serial: None }
    }

    fn next_page(&mut self) -> Option<Result<Page<'a>, BankIssueReason>> {
        if self.remaining.is_empty() {
            return None;
        }
        let page = Page::read(self.remaining).filter(Page::is_intact);
        let Some(page) = page else {
            // Bytes after the last page, such as a pad byte, are ignored.
            let is_end = self.serial.is_some() && !self.remaining.windows(4).any(|bytes| bytes == b"OggS");
            self.remaining = &[];
            let damage_reason = BankIssueReason::Vorbis("a page is incomplete or its checksum is wrong");
            return if is_end { None } else { Some(Err(damage_reason)) };
        };
        if *self.serial.get_or_insert(page.serial) != page.serial {
            self.remaining = &[];
            return Some(Err(BankIssueReason::Vorbis("it holds more than one stream")));
        }
        self.remaining = &self.remaining[page.bytes.len()..];
        (self.next_segment, self.body_offset) = (0, 0);
        self.page = Some(page);
        Some(Ok(page))
    }
}

impl Iterator for Packets<'_> {
    type Item = Result<Vec<u8>, BankIssueReason>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut packet = Vec::new();
        loop {
            let page = match self.page {
                Some(page) if self.next_segment < page.segment_lengths.len() => page,
                // At the end of the stream, an incomplete packet is dropped.
                _ => match self.next_page()? {
                    Ok(page) => page,
                    Err(reason) => return Some(Err(reason)),
                },
            };
            while let Some(&length) = page.segment_lengths.get(self.next_segment) {
                self.next_segment += 1;
                let end = self.body_offset + usize::from(length);
                packet.extend_from_slice(&page.body[self.body_offset..end]);
                self.body_offset = end;
                if length < FULL_SEGMENT {
                    return Some(Ok(packet));
                }
            }
        }
    }
}

/// Table for the checksum of a page (RFC 3533, section 6): the CRC-32 with the polynomial
/// 0x04c11db7, not reflected. The index is the highest byte.
const CRC_TABLE: [u32; 256] = {
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
