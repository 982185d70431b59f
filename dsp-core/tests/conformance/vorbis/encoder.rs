//! Writes Ogg Vorbis streams with 16-bit accuracy. Section numbers refer to the Vorbis I
//! specification unless RFC 3533 is named. The streams have one block size and a floor of type 1.
//! Each coefficient is three bytes, one from each of three codebooks.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::LazyLock;

use super::bits::BitWriter;

/// Frames of a block. Consecutive blocks overlap by half.
const BLOCK_FRAMES: usize = 256;
const HALF: usize = BLOCK_FRAMES / 2;

/// Base-2 logarithms of the steps of the three codebooks. The entries of a codebook cover half a
/// step of the previous codebook up and down.
const STEP_EXPONENTS: [i32; 3] = [-6, -14, -22];

/// Number of entries of each codebook, and the entry with the value 0.
const ENTRIES: u32 = 256;
const MIDDLE: i32 = 128;

/// Encodes frames as an Ogg Vorbis stream of one channel.
pub(crate) fn stream(frames: &[i16]) -> Vec<u8> {
    let mut pages = Pages { bytes: Vec::new(), count: 0 };
    pages.add(&[identification()], 0, FIRST_PAGE);
    pages.add(&[comments(), setup()], 0, 0);
    let packets: Vec<Vec<u8>> = (0..=frames.len().div_ceil(HALF)).map(|block| audio(frames, block)).collect();
    let last = (packets.len() - 1) / PACKETS_PER_PAGE;
    for (number, packets) in packets.chunks(PACKETS_PER_PAGE).enumerate() {
        // The first packet completes no frames: it only overlaps with the next packet.
        let complete = (number * PACKETS_PER_PAGE + packets.len() - 1) * HALF;
        pages.add(packets, complete.min(frames.len()), if number == last { LAST_PAGE } else { 0 });
    }
    pages.bytes
}

fn header(kind: u8) -> BitWriter {
    let mut bits = BitWriter::default();
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
    (0..2).for_each(|_| bits.write(BLOCK_FRAMES.ilog2(), 4));
    bits.write(1, 1);
    bits.bytes()
}

/// Returns a comment header without a vendor name and comments (section 5.2.1).
fn comments() -> Vec<u8> {
    let mut bits = header(3);
    bits.write(0, 32);
    bits.write(0, 32);
    bits.write(1, 1);
    bits.bytes()
}

/// Returns the setup header (section 4.2.4).
fn setup() -> Vec<u8> {
    let mut bits = header(5);
    bits.write(STEP_EXPONENTS.len() as u32, 8);
    // The first codebook numbers the one class of the residue with codewords of one bit.
    codebook(&mut bits, 2, 1);
    bits.write(0, 4);
    for exponent in STEP_EXPONENTS {
        codebook(&mut bits, ENTRIES, 8);
        bits.write(1, 4);
        // The minimum value is 128 steps below 0.
        bits.write(1 << 31 | power_of_two(exponent + 7), 32);
        bits.write(power_of_two(exponent), 32);
        bits.write(7, 4);
        bits.write(0, 1);
        (0..ENTRIES).for_each(|entry| bits.write(entry, 8));
    }
    // One placeholder of a time-domain transform, which Vorbis I does not use.
    bits.write(0, 6);
    bits.write(0, 16);
    // One floor of type 1 without partitions: a line between its first and last x coordinates.
    bits.write(0, 6);
    bits.write(1, 16);
    bits.write(0, 5);
    bits.write(0, 2);
    bits.write(HALF.ilog2(), 4);
    // One residue of type 1 with one partition of one class, which is decoded in three passes.
    bits.write(0, 6);
    bits.write(1, 16);
    bits.write(0, 24);
    bits.write(HALF as u32, 24);
    bits.write(HALF as u32 - 1, 24);
    bits.write(0, 6);
    bits.write(0, 8);
    bits.write(0b111, 3);
    bits.write(0, 1);
    (1..=3).for_each(|book| bits.write(book, 8));
    // One mapping of one submap, without coupling.
    bits.write(0, 6);
    bits.write(0, 16);
    bits.write(0, 4);
    (0..3).for_each(|_| bits.write(0, 8));
    // One mode.
    bits.write(0, 6);
    bits.write(0, 1);
    bits.write(0, 16);
    bits.write(0, 16);
    bits.write(0, 8);
    bits.write(1, 1);
    bits.bytes()
}

/// Writes a codebook up to its lookup table (section 3.2.1). The entries have one dimension, and
/// all codewords have the same length in bits.
fn codebook(bits: &mut BitWriter, entries: u32, length: u32) {
    bits.write(0x56_4342, 24);
    bits.write(1, 16);
    bits.write(entries, 24);
    bits.write(0, 2);
    (0..entries).for_each(|_| bits.write(length - 1, 5));
}

/// Returns a power of two as a float with the mantissa 1 (section 9.2.2).
fn power_of_two(exponent: i32) -> u32 {
    ((exponent + 788) as u32) << 21 | 1
}

/// Returns the audio packet of a block (section 4.3). A block begins half a block before its new
/// frames.
fn audio(frames: &[i16], block: usize) -> Vec<u8> {
    let mut bits = BitWriter::default();
    bits.write(0, 1);
    // The floor is used. Both of its ends have the last of its 256 values, which is 1.
    bits.write(1, 1);
    (0..2).for_each(|_| bits.write(255, 8));
    let mut remaining = coefficients(frames, block);
    for (pass, exponent) in STEP_EXPONENTS.into_iter().enumerate() {
        if pass == 0 {
            bits.write(0, 1);
        }
        let step = libm::exp2(f64::from(exponent));
        for coefficient in &mut remaining {
            let steps = (libm::round(*coefficient / step) as i32).clamp(-MIDDLE, MIDDLE - 1);
            *coefficient -= f64::from(steps) * step;
            bits.write_word((steps + MIDDLE) as u32, 8);
        }
    }
    bits.bytes()
}

/// Returns the MDCT coefficients of a block with the Vorbis window (sections 1.3.2 and 4.3.7).
fn coefficients(frames: &[i16], block: usize) -> [f64; HALF] {
    let windowed: [f64; BLOCK_FRAMES] = std::array::from_fn(|n| {
        let sine = libm::sin(PI * (n as f64 + 0.5) / BLOCK_FRAMES as f64);
        let frame = (block * HALF + n).checked_sub(HALF).and_then(|index| frames.get(index));
        libm::sin(FRAC_PI_2 * sine * sine) * f64::from(frame.copied().unwrap_or(0)) / 32_768.0
    });
    std::array::from_fn(|k| {
        let cosine = |n: usize| COSINES[(2 * k + 1) * (2 * n + 1 + HALF) % COSINES.len()];
        let sum: f64 = windowed.iter().enumerate().map(|(n, value)| value * cosine(n)).sum();
        sum * 4.0 / BLOCK_FRAMES as f64
    })
}

/// Cosines of a full circle, at the angles that the MDCT uses.
static COSINES: LazyLock<[f64; 4 * BLOCK_FRAMES]> =
    LazyLock::new(|| std::array::from_fn(|step| libm::cos(PI * step as f64 / (2 * BLOCK_FRAMES) as f64)));

/// Maximum number of packets on a page. A page has at most 255 segments, and a packet has two.
const PACKETS_PER_PAGE: usize = 100;

/// Flags in the header of the first and of the last page (RFC 3533, section 6).
const FIRST_PAGE: u8 = 2;
const LAST_PAGE: u8 = 4;

struct Pages {
    bytes: Vec<u8>,
    count: u32,
}

impl Pages {
    /// Adds a page (RFC 3533, section 6). `granule` is the number of frames that are complete after
    /// this page.
    fn add(&mut self, packets: &[Vec<u8>], granule: usize, flags: u8) {
        let mut lengths = Vec::new();
        for packet in packets {
            lengths.extend(std::iter::repeat_n(255, packet.len() / 255));
            lengths.push((packet.len() % 255) as u8);
        }
        let mut page = b"OggS\0".to_vec();
        page.push(flags);
        page.extend((granule as u64).to_le_bytes());
        page.extend([*b"demo", self.count.to_le_bytes(), [0; 4]].concat());
        page.push(u8::try_from(lengths.len()).expect("segments of one page"));
        page.extend(&lengths);
        page.extend(packets.concat());
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
