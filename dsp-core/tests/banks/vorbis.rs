//! Compressed samples with broken Ogg Vorbis streams.

use crate::corpus::Outcome::{Audible, Silent};
use crate::corpus::{Case, changed};
use crate::streams::silent;

/// Type of a compressed mono sample.
const VORBIS_MONO: u16 = 0x11;

/// Bytes of a page's header before its segment table, and offsets in it (RFC 3533, section 6).
const HEADER_BYTES: usize = 27;
const GRANULE: usize = 6;
const SERIAL: usize = 14;
const CHECKSUM: usize = 22;

/// The first stream of a real bank, page by page.
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
        let body = bank[offset + HEADER_BYTES..][..segments].iter().map(|&it| usize::from(it)).sum::<usize>();
        let end = offset + HEADER_BYTES + segments + body;
        pages.push(bank[offset..end].to_vec());
        offset = end;
    }
    assert!(pages.len() >= 4, "headers, and some pages of audio");
    pages
}

/// Offset of a page's body.
fn body(page: &[u8]) -> usize {
    HEADER_BYTES + usize::from(page[26])
}

/// Writes the correct checksum of a page.
fn seal(page: &mut [u8]) {
    page[CHECKSUM..CHECKSUM + 4].fill(0);
    let mut crc = 0_u32;
    for byte in page.iter() {
        crc ^= u32::from(*byte) << 24;
        for _ in 0..8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
        }
    }
    page[CHECKSUM..CHECKSUM + 4].copy_from_slice(&crc.to_le_bytes());
}

/// The valid bank with this stream as sample 0.
fn with_stream(stream: &[u8]) -> Vec<u8> {
    changed(|tables| {
        let start = tables.wave.len() as u32;
        tables.wave.extend(stream);
        let sample = &mut tables.samples[0];
        (sample.start, sample.end, sample.kind) = (start, start + stream.len() as u32, VORBIS_MONO);
    })
}

/// The valid bank with the real stream after a change as sample 0; checksums are correct.
fn with(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<u8> {
    let mut pages = pages();
    change(&mut pages);
    pages.iter_mut().for_each(|page| seal(page));
    with_stream(&pages.concat())
}

fn set_granule(page: &mut [u8], granule: u64) {
    page[GRANULE..GRANULE + 8].copy_from_slice(&granule.to_le_bytes());
}

/// Expected texts for a stream that fails while decoding.
macro_rules! undecodable {
    ($words:literal) => {
        Silent(&[concat!("sample 0 (Sample): its Ogg Vorbis stream cannot be decoded: ", $words)])
    };
}

/// Expected texts for a stream that is refused before decoding.
macro_rules! unplayable {
    ($words:literal) => {
        Silent(&[concat!("sample 0 (Sample): its Ogg Vorbis stream ", $words), "it plays sample 0, which"])
    };
}

pub(crate) const CASES: &[Case] = &[
    Case { reason: "a valid stream beside PCM samples", file: || with(|_| {}), outcome: Audible(&[]) },
    Case {
        reason: "a stream that is not Ogg",
        file: || with_stream(&[0x55; 5_000]),
        outcome: unplayable!("cannot be decoded: it has no last page"),
    },
    Case {
        reason: "a stream without bytes",
        file: || with_stream(&[]),
        outcome: unplayable!("cannot be decoded: it has no last page"),
    },
    Case {
        reason: "a stream outside the file",
        file: || {
            changed(|tables| {
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (1_000, 900_000, VORBIS_MONO);
            })
        },
        outcome: unplayable!("cannot be decoded: it is not in the file"),
    },
    Case {
        reason: "a stream that ends before it begins",
        file: || {
            changed(|tables| {
                let sample = &mut tables.samples[0];
                (sample.start, sample.end, sample.kind) = (u32::MAX, 0, VORBIS_MONO);
            })
        },
        outcome: unplayable!("cannot be decoded: it is not in the file"),
    },
    Case {
        reason: "headers alone",
        file: || with(|pages| pages.truncate(2)),
        outcome: unplayable!("has 0 frames"),
    },
    Case {
        reason: "a last page that promises a year of audio",
        file: || with(|pages| set_granule(pages.last_mut().expect("a page"), 1 << 40)),
        outcome: unplayable!("has 1099511627776 frames"),
    },
    Case {
        reason: "a last page that promises more than there is",
        file: || with(|pages| set_granule(pages.last_mut().expect("a page"), 100_000)),
        outcome: undecodable!("it ends too early"),
    },
    Case {
        reason: "a loop after the end of the stream",
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
        reason: "a flipped bit",
        file: || {
            let mut stream = pages().concat();
            let middle = stream.len() / 2;
            stream[middle] ^= 1;
            with_stream(&stream)
        },
        outcome: undecodable!("a page is damaged"),
    },
    Case {
        reason: "a missing page",
        file: || with(|pages| drop(pages.remove(1))),
        outcome: undecodable!("its headers are damaged"),
    },
    Case {
        reason: "a page of another stream",
        file: || with(|pages| pages.last_mut().expect("a page")[SERIAL] ^= 0xff),
        outcome: undecodable!("it holds more than one stream"),
    },
    Case {
        reason: "a stereo stream",
        file: || {
            with(|pages| {
                let channels = body(&pages[0]) + 11;
                pages[0][channels] = 2;
            })
        },
        outcome: Silent(&["its Ogg Vorbis stream has 2 channels; only mono streams are supported"]),
    },
    Case {
        reason: "a first header of zeros",
        file: || {
            with(|pages| {
                let body = body(&pages[0]);
                pages[0][body + 1..].fill(0);
            })
        },
        outcome: undecodable!("its headers are damaged"),
    },
    Case {
        reason: "a codebook of terabytes",
        file: || {
            with(|pages| {
                let book = pages[1].windows(3).position(|bytes| bytes == b"BCV").expect("a codebook");
                pages[1][book + 3..book + 8].fill(0xff);
            })
        },
        outcome: undecodable!("its codebooks are too large"),
    },
    Case {
        reason: "a codebook of a few bytes that takes long to build",
        file: || with_stream(&silent(4_096, &[19])),
        outcome: undecodable!("its codebooks are too large"),
    },
    Case {
        reason: "a thousand headers that share a stream",
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
                    let last = tables.samples.len() as u16 - 1;
                    tables.add_instrument_zone((&[], &[]), Some(last));
                }
                tables.preset_generators[0].1 = 2;
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "a stream that begins within another",
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
        reason: "a codebook without dimensions",
        file: || {
            with(|pages| {
                let book = pages[1].windows(3).position(|bytes| bytes == b"BCV").expect("a codebook");
                pages[1][book + 3..book + 5].fill(0);
            })
        },
        outcome: undecodable!("its headers are damaged"),
    },
    Case {
        reason: "comments that promise four gigabytes",
        file: || {
            with(|pages| {
                let comments = body(&pages[1]) + 7;
                pages[1][comments..comments + 4].fill(0xff);
            })
        },
        outcome: Audible(&[]),
    },
    Case {
        reason: "audio packets of random bits",
        file: || {
            with(|pages| {
                let mut state = 1_u32;
                for page in pages.iter_mut().skip(3) {
                    let body = body(page);
                    for byte in &mut page[body..] {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        *byte = (state >> 24) as u8;
                    }
                }
            })
        },
        outcome: undecodable!("a packet is damaged"),
    },
];
