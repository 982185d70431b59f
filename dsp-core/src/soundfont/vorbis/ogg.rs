//! Pages and packets of a physical Ogg stream with one logical stream (RFC 3533, section 6).

use super::super::skipped::Reason;

/// Bytes of a page's header before its segment table.
const HEADER_BYTES: usize = 27;

/// Most bytes of a page: the header, 255 segments and their lengths.
const MOST_PAGE_BYTES: usize = HEADER_BYTES + 255 + 255 * 255;

/// A packet's last segment is shorter than this.
const FULL_SEGMENT: u8 = 255;

/// Granule position of pages on which no packet ends.
const NO_GRANULE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Page<'a> {
    /// Frames up to the last packet that ends on the page.
    granule: u64,
    serial: [u8; 4],
    checksum: u32,
    segment_lengths: &'a [u8],
    body: &'a [u8],
    /// All of it.
    bytes: &'a [u8],
}

impl<'a> Page<'a> {
    /// The page that begins at the beginning of `bytes`.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER_BYTES>()?;
        // Version 0 is the only one.
        if !header.starts_with(b"OggS\0") {
            return None;
        }
        let (_, rest) = bytes.split_at(HEADER_BYTES);
        let (segment_lengths, rest) = rest.split_at_checked(usize::from(header[26]))?;
        let body_bytes = segment_lengths.iter().map(|&length| usize::from(length)).sum();
        let body = rest.get(..body_bytes)?;
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
        let (before, rest) = self.bytes.split_at(22);
        let bytes = before.iter().chain(&[0; 4]).chain(&rest[4..]);
        let crc = bytes.fold(0_u32, |crc, byte| crc << 8 ^ CRC[usize::from((crc >> 24) as u8 ^ byte)]);
        crc == self.checksum
    }
}

/// Frames in a stream, as its last page says; only the end of the stream is looked at.
pub(super) fn last_granule(stream: &[u8]) -> Option<u64> {
    let tail = &stream[stream.len().saturating_sub(MOST_PAGE_BYTES)..];
    let places = (0..tail.len()).rev().filter(|&place| tail[place..].starts_with(b"OggS"));
    places
        .filter_map(|place| Page::read(&tail[place..]))
        .map(|page| page.granule)
        .find(|&it| it != NO_GRANULE)
}

/// The packets of a stream, in order. A damaged page is an error, and the end.
pub(super) struct Packets<'a> {
    rest: &'a [u8],
    page: Option<Page<'a>>,
    /// Segments of the page that were read.
    next_segment: usize,
    /// Bytes of the page's body that were read.
    read_bytes: usize,
    serial: Option<[u8; 4]>,
}

impl<'a> Packets<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { rest: stream, page: None, next_segment: 0, read_bytes: 0, serial: None }
    }

    fn next_page(&mut self) -> Option<Result<Page<'a>, Reason>> {
        if self.rest.is_empty() {
            return None;
        }
        let page = Page::read(self.rest).filter(Page::is_intact);
        let Some(page) = page else {
            // Bytes behind the last page, such as a pad byte, do not matter.
            let is_end = self.serial.is_some() && !self.rest.windows(4).any(|bytes| bytes == b"OggS");
            self.rest = &[];
            return if is_end { None } else { Some(Err(Reason::Vorbis("a page is damaged"))) };
        };
        if *self.serial.get_or_insert(page.serial) != page.serial {
            self.rest = &[];
            return Some(Err(Reason::Vorbis("it is more than one stream")));
        }
        self.rest = &self.rest[page.bytes.len()..];
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
                // A packet that has begun but does not end is dropped, as a stream cut short is.
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

/// CRC-32 of section 6 of the RFC: polynomial 0x04c11db7, not reflected, by the highest byte.
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
