//! Tests that lost audio in damaged files becomes silence and later audio keeps its position.

use std::ops::Range;

use super::tests::{Decoded, LIMITS, decode, refusal};
use crate::audio::decode::Refusal;
use crate::audio::test_files::*;

/// Checks that the repaired file differs from the intact one only within the frames `lost`. The
/// middle of the difference must be silent, and there must be one warning.
#[track_caller]
fn check_repair(name: &str, whole_file: &[u8], broken_file: &[u8], lost: Range<usize>) {
    let (whole_file, repaired) = (decode(whole_file), decode(broken_file));
    assert_eq!(repaired.report.frames, whole_file.report.frames, "{name}");
    assert_eq!(repaired.report.warnings, ["1 damaged section was replaced by silence."], "{name}");
    let differing = differing_frames(&whole_file, &repaired);
    assert!(
        lost.start <= differing.start && differing.end <= lost.end && !differing.is_empty(),
        "{name}: frames {differing:?} differ; only {lost:?} may differ"
    );
    let channels = repaired.report.channels as usize;
    let middle = usize::midpoint(differing.start, differing.end) * channels;
    assert!(repaired.samples[middle..middle + 64].iter().all(|value| *value == 0.0), "{name}: no silence");
}

/// Returns the range from the first to the last differing frame.
fn differing_frames(intact: &Decoded, repaired: &Decoded) -> Range<usize> {
    let channels = intact.report.channels as usize;
    let differs = |(a, b): (&[f32], &[f32])| a != b;
    let pairs = || intact.samples.chunks_exact(channels).zip(repaired.samples.chunks_exact(channels));
    let first = pairs().position(differs).unwrap_or(0);
    first..pairs().rposition(differs).map_or(first, |last| last + 1)
}

fn with_changed_byte(bytes: &[u8], index: usize) -> Vec<u8> {
    let mut broken_file = bytes.to_vec();
    broken_file[index] ^= 0x55;
    broken_file
}

/// Returns all indices where `marker` occurs.
fn indices_of(bytes: &[u8], marker: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|index| bytes[*index..].starts_with(marker)).collect()
}

/// Returns the start of each page of an Ogg file in bytes, and the position at the page's end in
/// frames.
fn pages(bytes: &[u8]) -> Vec<(usize, usize)> {
    let position = |page: usize| u64::from_le_bytes(bytes[page + 6..page + 14].try_into().expect("eight"));
    indices_of(bytes, b"OggS").into_iter().map(|page| (page, position(page) as usize)).collect()
}

#[test]
fn a_lost_ogg_page_is_replaced_by_silence() {
    let pages = pages(OGG_PAGES);
    // The first two pages contain headers. Without the last page, the length of the file is
    // unknown.
    for lost in 2..pages.len() - 1 {
        let from = if lost == 2 { 0 } else { pages[lost - 1].1 };
        // A packet can only be decoded after the packet before it, so the next packet is lost too.
        let range = from..pages[lost].1 + 1_024;
        for index in [pages[lost].0 + 8, pages[lost].0 + 60, pages[lost + 1].0 - 3] {
            let broken_file = with_changed_byte(OGG_PAGES, index);
            check_repair(&format!("page {lost}, byte {index}"), OGG_PAGES, &broken_file, range.clone());
        }
    }
    // Two adjacent pages, and two separate ones.
    let broken_file = with_changed_byte(&with_changed_byte(OGG_PAGES, pages[4].0 + 60), pages[5].0 + 60);
    check_repair("two pages", OGG_PAGES, &broken_file, pages[3].1..pages[5].1 + 1_024);
    let broken_file = with_changed_byte(&with_changed_byte(OGG_PAGES, pages[4].0 + 60), pages[6].0 + 60);
    let repaired = decode(&broken_file);
    assert_eq!(
        (repaired.report.frames, &repaired.report.warnings[..]),
        (24_000, &["2 damaged sections were replaced by silence.".to_owned()][..])
    );
    let differing = differing_frames(&decode(OGG_PAGES), &repaired);
    assert!(pages[3].1 <= differing.start && differing.end <= pages[6].1 + 1_024, "{differing:?}");
}

#[test]
fn a_lost_flac_frame_is_replaced_by_silence() {
    // Frames of a fixed block size begin with the same two bytes.
    let heads = indices_of(FLAC, &[0xFF, 0xF8]);
    let (whole_file, block) = (decode(FLAC).report.frames as usize, 4_608);
    for index in [FLAC.len() / 4, FLAC.len() / 2, 2 * FLAC.len() / 3] {
        let broken_file = with_changed_byte(FLAC, index);
        check_repair(&format!("byte {index} of {heads:?}"), FLAC, &broken_file, 0..whole_file);
        let differing = differing_frames(&decode(FLAC), &decode(&broken_file));
        assert!(differing.len() <= 2 * block, "{differing:?}");
    }
}

#[test]
fn a_lost_mp3_frame_is_replaced_by_silence() {
    let whole_file = decode(MP3);
    // At a constant bit rate of 96 kbit/s, a frame has 313 or 314 bytes.
    let frame_bytes = 144 * 96_000 / 44_100;
    let first = indices_of(MP3, &[0xFF, 0xFB])[0];
    for broken_bytes in [4, 100, 313, 700] {
        let mut broken_file = MP3.to_vec();
        let heads = indices_of(MP3, &[0xFF, 0xFB]);
        let head = *heads.iter().find(|head| **head > first + 8 * frame_bytes).expect("a frame");
        broken_file[head..head + broken_bytes].fill(0x11);
        let repaired = decode(&broken_file);
        assert_eq!(repaired.report.frames, whole_file.report.frames, "{broken_bytes} bytes");
        assert_eq!(
            repaired.report.warnings,
            ["1 damaged section was replaced by silence."],
            "{broken_bytes} bytes"
        );
        // A frame may use bytes from the frames before it (the bit reservoir).
        let differing = differing_frames(&whole_file, &repaired);
        assert!(differing.len() <= 1_152 * (broken_bytes / frame_bytes + 5), "{broken_bytes}: {differing:?}");
    }
}

#[test]
fn a_second_stream_is_ignored_with_a_warning() {
    for (name, bytes) in [("flac", FLAC), ("mp3", MP3), ("ogg", OGG)] {
        let (single, chained_file) = (decode(bytes), decode(&[bytes, bytes].concat()));
        assert_eq!(chained_file.report.frames, single.report.frames, "{name}");
        assert!(chained_file.samples == single.samples, "{name}: the samples differ");
        let expected = "The file contains several streams; only the first one was read.";
        assert_eq!(chained_file.report.warnings, [expected], "{name}");
    }
}

#[test]
fn damaged_frames_of_an_m4a_file_are_replaced_by_silence() {
    let whole_file = decode(M4A);
    let data = indices_of(M4A, b"mdat")[0];
    for (from, count) in [(1_000, 300), (500, 2_000), (3_000, 900)] {
        let mut broken_file = M4A.to_vec();
        let mut random = 1_u32;
        for byte in &mut broken_file[data + from..data + from + count] {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (random >> 24) as u8;
        }
        let repaired = decode(&broken_file);
        assert_eq!(repaired.report.frames, whole_file.report.frames, "{count} bytes from {from}");
        let warnings = &repaired.report.warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("damaged section"), "{warnings:?}");
    }
}

#[test]
fn refusals_name_the_codec_or_the_damage() {
    let mut fmt = Format { tag: 0x11, bits: 4, ..Format::PCM16 }.body();
    // The block size of 256 bytes, and the extension with the samples per block.
    fmt[12..14].copy_from_slice(&256_u16.to_le_bytes());
    fmt.extend([2, 0, 0xF9, 1]);
    let adpcm = riff(&[riff_chunk(b"fmt ", &fmt), riff_chunk(b"data", &[0; 512])]);
    for (name, bytes, expected) in [
        ("opus", OPUS, Refusal::Unsupported("is encoded as Opus, which is not supported".to_owned())),
        (
            "adpcm",
            &adpcm,
            Refusal::Unsupported("is encoded as ADPCM (IMA), which is not supported".to_owned()),
        ),
        (
            "m4a without its end",
            &M4A[..M4A.len() / 2],
            Refusal::Malformed(
                "is truncated or damaged: the index of its audio (moov) is missing".to_owned(),
            ),
        ),
    ] {
        assert_eq!(refusal(bytes, LIMITS), expected, "{name}");
    }
}

#[test]
fn a_wav_file_with_an_incomplete_header_is_read_to_its_end() {
    let samples: Vec<f32> = (0..400).map(|index| index as f32 / 400.0).collect();
    let whole_file = float_wav(2, 48_000, &samples);
    let data = indices_of(&whole_file, b"data")[0];
    let mut stale = whole_file;
    stale[4..8].fill(0);
    stale[data + 4..data + 8].fill(0);
    let repaired = decode(&stale);
    assert_eq!(repaired.samples, samples);
    let expected = "The header is incomplete; everything after it was read as audio.";
    assert_eq!(repaired.report.warnings, [expected]);
    // A header that was written before the samples contains its own size.
    stale[4..8].copy_from_slice(&(data as u32).to_le_bytes());
    assert_eq!(decode(&stale).samples, samples);
    // The size of the file is correct, but the size of the samples is wrong.
    for wrong_size in [0x7FFF_FFFF_u32, 0xFFFF_FFF0, u32::MAX, stale.len() as u32] {
        let file_bytes = stale.len() as u32 - 8;
        stale[4..8].copy_from_slice(&file_bytes.to_le_bytes());
        stale[data + 4..data + 8].copy_from_slice(&wrong_size.to_le_bytes());
        let repaired = decode(&stale);
        assert_eq!(
            (repaired.samples, repaired.report.warnings.len()),
            (samples.clone(), 1),
            "{wrong_size:#x}"
        );
    }
    // A file without samples.
    let empty = riff(&[
        riff_chunk(b"fmt ", &Format::FLOAT.body()),
        riff_chunk(b"data", &[]),
        riff_chunk(b"junk", &[0; 64]),
    ]);
    assert_eq!(refusal(&empty, LIMITS), Refusal::Malformed("contains no audio data".to_owned()));
}

#[test]
fn rf64_and_bw64_files_are_read() {
    let samples: Vec<f32> = (0..400).map(|index| index as f32 / 400.0).collect();
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let fmt = riff_chunk(b"fmt ", &Format::FLOAT.body());
    let sizes = |data_bytes: u64| {
        [&(data_bytes + 72).to_le_bytes()[..], &data_bytes.to_le_bytes(), &200_u64.to_le_bytes(), &[0; 4]]
            .concat()
    };
    for kind in [b"RF64", b"BW64"] {
        for (declared_bytes, is_correct) in [(data.len() as u64, true), (0, false)] {
            let tail = riff_chunk(b"junk", &[7; 10]);
            let tail = if is_correct { &tail[..] } else { &[] };
            let body = [
                b"WAVE",
                &riff_chunk(b"ds64", &sizes(declared_bytes))[..],
                &fmt,
                &chunk(b"data", [0xFF; 4], &data),
                tail,
            ];
            let decoded_file = decode(&chunk(kind, [0xFF; 4], &body.concat()));
            assert_eq!(
                (&decoded_file.samples, decoded_file.report.warnings.is_empty()),
                (&samples, is_correct),
                "{declared_bytes}"
            );
        }
    }
}
