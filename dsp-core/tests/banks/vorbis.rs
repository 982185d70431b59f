//! Test cases of compressed samples with broken Ogg Vorbis streams.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, changed};
use crate::streams::silent;

/// Type of a compressed mono sample.
const VORBIS_MONO: u16 = 0x11;

/// Length of a page's header without its segment table, and byte offsets of fields in the header
/// (RFC 3533, section 6).
const HEADER_BYTES: usize = 27;
const GRANULE_OFFSET: usize = 6;
const SERIAL_OFFSET: usize = 14;
const CHECKSUM_OFFSET: usize = 22;

/// Returns the pages of the first stream in a bank that Debian distributes.
fn pages() -> Vec<Vec<u8>> {
    let bank =
        std::fs::read("/usr/share/sounds/sf3/MuseScore_General_Lite.sf3").expect("the bank is installed");
    let mut offset = bank.windows(4).position(|bytes| bytes == b"OggS").expect("a stream");
    let mut pages: Vec<Vec<u8>> = Vec::new();
    while bank[offset..].starts_with(b"OggS") {
        let is_first = bank[offset + 5] & 2 != 0;
        if is_first && !pages.is_empty() {
            break;
        }
        let segments = usize::from(bank[offset + 26]);
        let segment_table = &bank[offset + HEADER_BYTES..][..segments];
        let body_bytes = segment_table.iter().map(|&length| usize::from(length)).sum::<usize>();
        let end = offset + HEADER_BYTES + segments + body_bytes;
        pages.push(bank[offset..end].to_vec());
        offset = end;
    }
    assert!(pages.len() >= 4, "the stream has only {} pages", pages.len());
    pages
}

/// Returns the byte offset of a page's body.
fn body_offset(page: &[u8]) -> usize {
    HEADER_BYTES + usize::from(page[26])
}

/// Writes the correct checksum of a page.
fn write_checksum(page: &mut [u8]) {
    page[CHECKSUM_OFFSET..CHECKSUM_OFFSET + 4].fill(0);
    let mut crc = 0_u32;
    for byte in page.iter() {
        crc ^= u32::from(*byte) << 24;
        for _ in 0..8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
        }
    }
    page[CHECKSUM_OFFSET..CHECKSUM_OFFSET + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Returns the file of the valid bank with this stream as sample 0.
fn with_stream(stream: &[u8]) -> Vec<u8> {
    changed(|tables| {
        let start = tables.wave.len() as u32;
        tables.wave.extend(stream);
        let sample = &mut tables.samples[0];
        (sample.start, sample.end, sample.kind) = (start, start + stream.len() as u32, VORBIS_MONO);
    })
}

/// Returns the file of the valid bank with the stream of [`pages`] after a change as sample 0. The
/// checksums are correct.
fn with_pages(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
    let mut pages = pages();
    change(&mut pages);
    pages.iter_mut().for_each(|page| write_checksum(page));
    with_stream(&pages.concat())
}

fn set_granule(page: &mut [u8], granule: u64) {
    page[GRANULE_OFFSET..GRANULE_OFFSET + 8].copy_from_slice(&granule.to_le_bytes());
}

/// Expected reason of a stream that fails while it is decoded.
macro_rules! undecodable {
    ($words:literal) => {
        Silent(&[concat!("sample 0 (Sample): its Ogg Vorbis stream cannot be decoded: ", $words)])
    };
}

/// Expected reasons of a stream that is refused before it is decoded, and of the zone that plays
/// it.
macro_rules! unplayable {
    ($words:literal) => {
        Silent(&[concat!("sample 0 (Sample): its Ogg Vorbis stream ", $words), "it plays sample 0, which"])
    };
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "a valid stream beside PCM samples", file: || with_pages(|_| {}), outcome: Audible(&[]) },
    Case {
        name: "a stream that is not Ogg",
        file: || with_stream(&[0x55; 5_000]),
        outcome: unplayable!("cannot be decoded: it has no last page"),
    },
    Case {
        name: "a stream without bytes",
        file: || with_stream(&[]),
        outcome: unplayable!("cannot be decoded: it has no last page"),
    },
    Case {
        name: "a stream outside the file",
        file: || {
            changed(|tables| {
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (1_000, 900_000, VORBIS_MONO);
            })
        },
        outcome: unplayable!("cannot be decoded: it lies outside the sample data"),
    },
    Case {
        name: "a stream that ends before it begins",
        file: || {
            changed(|tables| {
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (u32::MAX, 0, VORBIS_MONO);
            })
        },
        outcome: unplayable!("cannot be decoded: it lies outside the sample data"),
    },
    Case {
        name: "a stream of headers without audio",
        file: || with_pages(|pages| pages.truncate(2)),
        outcome: unplayable!("has 0 frames"),
    },
    Case {
        name: "a last page that states a year of audio",
        file: || with_pages(|pages| set_granule(pages.last_mut().expect("a page"), 1 << 40)),
        outcome: unplayable!("has 1099511627776 frames"),
    },
    Case {
        name: "a last page that states more audio than the stream has",
        file: || with_pages(|pages| set_granule(pages.last_mut().expect("a page"), 100_000)),
        outcome: undecodable!("it has fewer frames than its last page states"),
    },
    Case {
        name: "a loop after the end of the stream",
        file: || {
            changed(|tables| {
                let stream = pages().concat();
                let start = tables.wave.len() as u32;
                tables.wave.extend(&stream);
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (start, start + stream.len() as u32, VORBIS_MONO);
                sample.loop_end = 4_000_000;
            })
        },
        outcome: Audible(&["its loop from frame 100 to 4000000 is invalid"]),
    },
    Case {
        name: "a flipped bit",
        file: || {
            let mut stream = pages().concat();
            let middle = stream.len() / 2;
            stream[middle] ^= 1;
            with_stream(&stream)
        },
        outcome: undecodable!("a page is incomplete or its checksum is wrong"),
    },
    Case {
        name: "a missing page",
        file: || with_pages(|pages| drop(pages.remove(1))),
        outcome: undecodable!("its setup header is invalid"),
    },
    Case {
        name: "a page of another stream",
        file: || with_pages(|pages| pages.last_mut().expect("a page")[SERIAL_OFFSET] ^= 0xff),
        outcome: undecodable!("it holds more than one stream"),
    },
    Case {
        name: "a stereo stream",
        file: || {
            with_pages(|pages| {
                let channels = body_offset(&pages[0]) + 11;
                pages[0][channels] = 2;
            })
        },
        outcome: Silent(&["its Ogg Vorbis stream has 2 channels; only mono streams are supported"]),
    },
    Case {
        name: "a first header of zeros",
        file: || {
            with_pages(|pages| {
                let body = body_offset(&pages[0]);
                pages[0][body + 1..].fill(0);
            })
        },
        outcome: undecodable!("its identification header is invalid"),
    },
    Case {
        name: "a codebook of terabytes",
        file: || {
            with_pages(|pages| {
                let book = pages[1].windows(3).position(|bytes| bytes == b"BCV").expect("a codebook");
                pages[1][book + 3..book + 8].fill(0xff);
            })
        },
        outcome: undecodable!("its codebooks have more than 65536 entries"),
    },
    Case {
        name: "a codebook of a few bytes that takes long to build",
        file: || with_stream(&silent(4_096, &[19])),
        outcome: undecodable!("its codebooks have more than 65536 entries"),
    },
    Case {
        name: "a thousand sample headers that share a stream",
        file: || {
            changed(|tables| {
                let stream = pages().concat();
                let start = tables.wave.len() as u32;
                tables.wave.extend(&stream);
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (start, start + stream.len() as u32, VORBIS_MONO);
                tables.add_instrument();
                for _ in 0..1_000 {
                    tables.samples.push(tables.samples[0].clone());
                    let last_sample = tables.samples.len() as u16 - 1;
                    tables.add_instrument_zone((&[], &[]), Some(last_sample));
                }
                tables.preset_generators[0].1 = 2;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "a stream that begins within another",
        file: || {
            changed(|tables| {
                let stream = pages().concat();
                let start = tables.wave.len() as u32;
                tables.wave.extend(&stream);
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (start, start + stream.len() as u32, VORBIS_MONO);
                tables.samples.push(tables.samples[0].clone());
                tables.samples.last_mut().expect("a sample").start += 1;
            })
        },
        outcome: Audible(&["cannot be decoded: it overlaps another stream"]),
    },
    Case {
        name: "a codebook without dimensions",
        file: || {
            with_pages(|pages| {
                let book = pages[1].windows(3).position(|bytes| bytes == b"BCV").expect("a codebook");
                pages[1][book + 3..book + 5].fill(0);
            })
        },
        outcome: undecodable!("its setup header is invalid"),
    },
    Case {
        name: "comments that state a size of four gigabytes",
        file: || {
            with_pages(|pages| {
                let comments = body_offset(&pages[1]) + 7;
                pages[1][comments..comments + 4].fill(0xff);
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        name: "audio packets of random bits",
        file: || {
            with_pages(|pages| {
                let mut state = 1_u32;
                for page in pages.iter_mut().skip(3) {
                    let body = body_offset(page);
                    for byte in &mut page[body..] {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        *byte = (state >> 24) as u8;
                    }
                }
            })
        },
        outcome: undecodable!("an audio packet is invalid"),
    },
];
