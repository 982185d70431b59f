//! Writes small Ogg Vorbis streams that take much time or memory to decode. Section numbers refer
//! to the Vorbis I specification, unless RFC 3533 is named.

/// Base-2 logarithm of the frames of a block, and the number of frames that a packet adds.
const BLOCK_BITS: u32 = 13;
const PACKET_FRAMES: u64 = 1 << (BLOCK_BITS - 1);

/// Number of packets of one byte that fit on a page.
const PACKETS_PER_PAGE: usize = 255;

/// Flags in the header of the first and of the last page (RFC 3533, section 6).
const FIRST_PAGE: u8 = 2;
const LAST_PAGE: u8 = 4;

/// Number of frames that the engine accepts for each byte of a stream.
const FRAMES_PER_BYTE: u64 = 512;

/// Returns a mono stream of `frames` silent frames at 48 kHz. For each number in `codebook_bits`,
/// its setup header has an unused codebook of 2 to the power of this number entries.
pub(crate) fn silent(frames: u64, codebook_bits: &[u32]) -> Vec<u8> {
    let padding = usize::try_from(frames / FRAMES_PER_BYTE).expect("a short stream") + 1;
    let mut pages = Pages { bytes: Vec::new(), count: 0 };
    pages.add(&identification(), &[identification().len()], 0, FIRST_PAGE);
    let headers = [comments(padding), setup(codebook_bits)];
    pages.add_long(&headers);
    let mut remaining = usize::try_from(frames.div_ceil(PACKET_FRAMES)).expect("few packets") + 1;
    while remaining > 0 {
        let count = remaining.min(PACKETS_PER_PAGE);
        remaining -= count;
        let (granule, flags) = if remaining == 0 { (frames, LAST_PAGE) } else { (u64::MAX, 0) };
        pages.add(&vec![0; count], &vec![1; count], granule, flags);
    }
    pages.bytes
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    /// Writes the lowest `count` bits of a number, the lowest bit first.
    fn write(&mut self, number: u32, count: u32) {
        for bit in 0..count {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().expect("a byte") |= ((number >> bit & 1) as u8) << (self.count % 8);
            self.count += 1;
        }
    }
}

fn header(kind: u8) -> Bits {
    let mut bits = Bits::default();
    [kind].iter().chain(b"vorbis").for_each(|byte| bits.write(u32::from(*byte), 8));
    bits
}

/// Returns the identification header (section 4.2.2).
fn identification() -> Vec<u8> {
    let mut bits = header(1);
    bits.write(0, 32);
    bits.write(1, 8);
    bits.write(48_000, 32);
    (0..3).for_each(|_| bits.write(0, 32));
    (0..2).for_each(|_| bits.write(BLOCK_BITS, 4));
    bits.write(1, 1);
    bits.bytes
}

/// Returns a comment header with a vendor name of `padding` letters and no comments (section
/// 5.2.1).
fn comments(padding: usize) -> Vec<u8> {
    let mut bits = header(3);
    bits.write(padding as u32, 32);
    (0..padding).for_each(|_| bits.write(u32::from(b'x'), 8));
    bits.write(0, 32);
    bits.write(1, 1);
    bits.bytes
}

/// Returns the setup header (section 4.2.4).
fn setup(codebook_bits: &[u32]) -> Vec<u8> {
    let mut bits = header(5);
    bits.write(codebook_bits.len() as u32, 8);
    codebook(&mut bits, 1);
    codebook_bits.iter().for_each(|&log2| codebook(&mut bits, log2));
    // One placeholder of a time-domain transform, which Vorbis I does not use.
    bits.write(0, 6);
    bits.write(0, 16);
    // One floor of type 1 without partitions.
    bits.write(0, 6);
    bits.write(1, 16);
    bits.write(0, 5);
    bits.write(0, 2);
    bits.write(BLOCK_BITS - 1, 4);
    // One residue of type 1 with one class that has no books.
    bits.write(0, 6);
    bits.write(1, 16);
    bits.write(0, 24);
    bits.write(PACKET_FRAMES as u32, 24);
    bits.write(PACKET_FRAMES as u32 - 1, 24);
    bits.write(0, 6);
    bits.write(0, 8);
    bits.write(0, 4);
    // One mapping of one submap, without coupling.
    bits.write(0, 6);
    bits.write(0, 16);
    bits.write(0, 4);
    (0..3).for_each(|_| bits.write(0, 8));
    // One mode, which uses short blocks.
    bits.write(0, 6);
    bits.write(0, 1);
    bits.write(0, 16);
    bits.write(0, 16);
    bits.write(0, 8);
    bits.write(1, 1);
    bits.bytes
}

/// Writes a codebook of `2^log2` entries in a few bytes (section 3.2.1). The entries have one
/// dimension, and all codewords have the same length.
fn codebook(bits: &mut Bits, log2: u32) {
    bits.write(0x56_4342, 24);
    bits.write(1, 16);
    bits.write(1 << log2, 24);
    bits.write(1, 1);
    bits.write(log2 - 1, 5);
    bits.write(1 << log2, log2 + 1);
    bits.write(0, 4);
}

struct Pages {
    bytes: Vec<u8>,
    count: u32,
}

impl Pages {
    /// Adds packets of any length on as many pages as they need.
    fn add_long(&mut self, packets: &[Vec<u8>]) {
        let mut segments = Vec::new();
        for packet in packets {
            segments.extend(std::iter::repeat_n(255, packet.len() / 255));
            segments.push(packet.len() % 255);
        }
        let body = packets.concat();
        let mut start = 0;
        for segments in segments.chunks(255) {
            let end = start + segments.iter().sum::<usize>();
            self.add(&body[start..end], segments, 0, 0);
            start = end;
        }
    }

    /// Adds a page (RFC 3533, section 6).
    fn add(&mut self, body: &[u8], segments: &[usize], granule: u64, flags: u8) {
        let mut page = b"OggS\0".to_vec();
        page.push(flags);
        page.extend(granule.to_le_bytes());
        page.extend([*b"made", self.count.to_le_bytes(), [0; 4]].concat());
        page.push(u8::try_from(segments.len()).expect("segments of one page"));
        page.extend(segments.iter().map(|&length| length as u8));
        page.extend(body);
        let checksum = page.iter().fold(0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte) << 24, |crc, _| {
                if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 }
            })
        });
        page[22..26].copy_from_slice(&checksum.to_le_bytes());
        self.bytes.extend(page);
        self.count += 1;
    }
}
