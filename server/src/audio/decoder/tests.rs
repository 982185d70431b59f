//! Tests of decoding in a separate process, with every format and with hostile files.

use std::fs;

use super::{Decoder, Failure, child, program};
use crate::audio::decode::{Job, Limits, Refusal, Report};
use crate::audio::float_wav::{FloatWavReader, file_bytes};
use crate::audio::peaks_file::{self, Shape};
use crate::audio::test_files::*;
use crate::helper_processes::Helpers;

pub(super) const LIMITS: Limits =
    Limits { max_secs: 60, max_channels: 8, max_output_bytes: 100 << 20, wall_secs: 60 };

/// A decoded file.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) report: Report,
    /// Interleaved samples.
    pub(super) samples: Vec<f32>,
}

fn decode_within(bytes: &[u8], limits: Limits) -> Result<Decoded, Failure> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("in", bytes), ("samples", &[][..]), ("peaks", &[][..])] {
        fs::write(folder.path().join(name), bytes).expect("writes");
    }
    let job = Job { input: "in".into(), samples: "samples".into(), peaks: "peaks".into(), limits };
    let decoder = Decoder::of_this_program(Helpers::default()).expect("this program");
    let report = decoder.run(folder.path(), &job, &mut |_| true)?;
    let Report { channels, frames, .. } = report;
    let samples = fs::File::open(folder.path().join("samples")).expect("opens");
    assert_eq!(samples.metadata().expect("metadata").len(), file_bytes(channels, frames));
    let peaks = fs::metadata(folder.path().join("peaks")).expect("metadata");
    assert_eq!(peaks.len(), Shape { channels, frames }.file_bytes());
    let mut output = Vec::new();
    FloatWavReader::new(samples, channels, 0, frames)
        .expect("opens")
        .read(frames, &mut output)
        .expect("reads");
    Ok(Decoded { report, samples: output })
}

#[track_caller]
pub(super) fn decode(bytes: &[u8]) -> Decoded {
    decode_within(bytes, LIMITS).unwrap_or_else(|failure| panic!("{failure:?}"))
}

#[track_caller]
pub(super) fn refusal(bytes: &[u8], limits: Limits) -> Refusal {
    match decode_within(bytes, limits) {
        Err(Failure::Refused(refusal)) => refusal,
        other => panic!("not refused: {:?}", other.map(|decoded_file| decoded_file.report)),
    }
}

#[test]
fn a_file_is_decoded_in_a_separate_process() {
    if std::env::var_os(program::TEST_ENTRY.mark).is_some() {
        child::run().expect("a job");
        return;
    }
    let decoded_file = decode(&float_wav(2, 44_100, &[0.5, -0.25, 1.5, 1e-20]));
    assert_eq!(decoded_file.samples, [0.5, -0.25, 1.5, 1e-20]);
    let Report { sample_rate_hz, source_channels, channels, frames, .. } = decoded_file.report;
    assert_eq!((sample_rate_hz, source_channels, channels, frames), (44_100, 2, 2, 2));
    assert_eq!(decoded_file.report.container, "wave");
    assert!(decoded_file.report.warnings.is_empty(), "{:?}", decoded_file.report.warnings);
}

/// Returns the amplitude of a frequency in one channel, by correlation over a fifth of a second.
fn amplitude(decoded_file: &Decoded, channel: usize, frequency_hz: f64) -> f64 {
    let channels = decoded_file.report.channels as usize;
    let rate = f64::from(decoded_file.report.sample_rate_hz);
    let all_samples: Vec<f64> = decoded_file
        .samples
        .iter()
        .skip(channel)
        .step_by(channels)
        .map(|sample| f64::from(*sample))
        .collect();
    let part = &all_samples[all_samples.len() / 5..all_samples.len() / 5 + (rate / 5.0) as usize];
    let step = std::f64::consts::TAU * frequency_hz / rate;
    let (mut real, mut imaginary) = (0.0, 0.0);
    for (frame, value) in part.iter().enumerate() {
        let angle = step * frame as f64;
        real += value * angle.cos();
        imaginary += value * angle.sin();
    }
    2.0 * real.hypot(imaginary) / part.len() as f64
}

#[test]
fn every_codec_decodes_its_tones() {
    for (bytes, container, rate_hz, frames, slack) in [
        (FLAC, "flac", 96_000, 48_000, 0),
        (ALAC, "isomp4", 48_000, 24_000, 0),
        (OGG, "ogg", 48_000, 24_000, 0),
        (MP3, "mp3", 44_100, 22_050, 0),
        // ADTS does not store the delay and padding of the encoder.
        (ADTS, "aac", 44_100, 22_050, 3_000),
        (M4A, "isomp4", 44_100, 22_050, 0),
    ] {
        let decoded_file = decode(bytes);
        let report = &decoded_file.report;
        assert_eq!((report.container.as_str(), report.sample_rate_hz), (container, rate_hz));
        assert_eq!((report.source_channels, report.channels), (2, 2), "{container}");
        assert!(report.frames.abs_diff(frames) <= slack, "{container}: {} frames", report.frames);
        assert!(report.warnings.is_empty(), "{container}: {:?}", report.warnings);
        for (channel, tone_hz, other_tone_hz) in [(0, 1_000.0, 500.0), (1, 500.0, 1_000.0)] {
            let (tone, leakage) = (
                amplitude(&decoded_file, channel, tone_hz),
                amplitude(&decoded_file, channel, other_tone_hz),
            );
            assert!((tone - 0.125).abs() < 0.008, "{container}: channel {channel} has {tone}");
            assert!(leakage < 0.008, "{container}: channel {channel} has {leakage} of the other tone");
        }
    }
}

#[test]
fn pcm_of_every_width_is_decoded_exactly() {
    let pcm = |bits| Format { bits, ..Format::PCM16 };
    let float64: Vec<u8> = [0.5_f64, -1.25].iter().flat_map(|value| value.to_le_bytes()).collect();
    for (format, data, expected) in [
        (pcm(8), &[0x80, 0xFF, 0x00, 0xC0][..], &[0.0, 127.0 / 128.0, -1.0, 0.5][..]),
        (pcm(16), &[0, 0, 0xFF, 0x7F, 0, 0x80], &[0.0, 32_767.0 / 32_768.0, -1.0]),
        (pcm(24), &[0, 0, 0x40, 1, 0, 0, 0, 0, 0x80], &[0.5, 1.0 / 8_388_608.0, -1.0]),
        (pcm(32), &[0, 0, 0, 0x40, 0, 0, 0, 0x80], &[0.5, -1.0]),
        (Format { tag: 3, bits: 64, ..Format::PCM16 }, &float64, &[0.5, -1.25]),
    ] {
        assert_eq!(decode(&wav(format, data)).samples, expected, "{} bits", format.bits);
    }
    let big_endian = aiff(2, 2, 16, AIFF_48_KHZ, &[0x40, 0, 0xC0, 0, 0x7F, 0xFF, 0x80, 0]);
    let decoded_file = decode(&big_endian);
    assert_eq!(decoded_file.samples, [0.5, -0.5, 32_767.0 / 32_768.0, -1.0]);
    assert_eq!(
        (decoded_file.report.sample_rate_hz, decoded_file.report.container.as_str()),
        (48_000, "aiff")
    );
}

#[test]
fn surround_is_mixed_to_stereo() {
    let gain = std::f32::consts::FRAC_1_SQRT_2;
    // The channels are left, right, centre, low frequencies, surround left and surround right.
    let decoded_file = decode(&float_wav(6, 48_000, &[0.5, 0.25, 0.5, 1.0, 0.5, -0.5]));
    assert_eq!((decoded_file.report.source_channels, decoded_file.report.channels), (6, 2));
    let expected = [0.5 + 0.5 * gain + 0.5 * gain, 0.25 + 0.5 * gain - 0.5 * gain];
    for (value, expected) in decoded_file.samples.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-6, "{value} instead of {expected}");
    }
}

#[test]
fn non_finite_samples_become_zero() {
    let decoded_file = decode(&float_wav(1, 48_000, &[0.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY]));
    assert_eq!(decoded_file.samples, [0.5, 0.0, 0.0, 0.0]);
    assert!(decoded_file.report.warnings[0].starts_with("3 samples"), "{:?}", decoded_file.report.warnings);
}

#[test]
fn peaks_match_the_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples: Vec<f32> = (0..1_000).map(|frame| frame as f32 / 1_000.0).collect();
    for (name, bytes) in
        [("in", float_wav(1, 48_000, &samples)), ("samples", Vec::new()), ("peaks", Vec::new())]
    {
        fs::write(folder.path().join(name), bytes).expect("writes");
    }
    let job = Job { input: "in".into(), samples: "samples".into(), peaks: "peaks".into(), limits: LIMITS };
    Decoder::of_this_program(Helpers::default())
        .expect("this program")
        .run(folder.path(), &job, &mut |_| true)
        .expect("decodes");
    let file = fs::File::open(folder.path().join("peaks")).expect("opens");
    let pixels = peaks_file::read(file, Shape { channels: 1, frames: 1_000 }, 0, 0, 4).expect("reads");
    let at = |frame: usize| (samples[frame] * 32_767.0).round() as i16;
    assert_eq!(pixels, [at(0), at(255), at(256), at(511), at(512), at(767), at(768), at(999)]);
}

#[test]
fn files_beyond_a_limit_are_refused() {
    let two_secs = wav(Format::PCM16, &vec![0; 2 * 96_000]);
    let text = |refusal: Refusal| match refusal {
        Refusal::Limit(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text(refusal(&two_secs, Limits { max_secs: 1, ..LIMITS })), "lasts longer than 1 seconds");
    assert_eq!(refusal(&two_secs, Limits { max_output_bytes: 10_000, ..LIMITS }), Refusal::NoRoom);
    let channels = float_wav(3, 48_000, &[0.0; 3]);
    assert!(text(refusal(&channels, Limits { max_channels: 2, ..LIMITS })).starts_with("has 3 channels"));
    for rate_hz in [1, 7_999, 192_001, u32::MAX] {
        let refusal_text = text(refusal(&float_wav(1, rate_hz, &[0.0; 8]), LIMITS));
        assert!(refusal_text.starts_with(&format!("has a sample rate of {rate_hz} Hz")), "{refusal_text}");
    }
    let long_file = wav(Format { rate_hz: 192_000, ..Format::PCM16 }, &vec![1; 64 << 20]);
    let limits = Limits { max_secs: 10_000, max_output_bytes: 1 << 30, wall_secs: 0, ..LIMITS };
    assert_eq!(refusal(&long_file, limits), Refusal::TooSlow(0));
}

#[test]
fn a_cancelled_decoder_stops() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in
        [("in", wav(Format::PCM16, &vec![0; 32 << 20])), ("samples", Vec::new()), ("peaks", Vec::new())]
    {
        fs::write(folder.path().join(name), bytes).expect("writes");
    }
    let limits = Limits { max_secs: 10_000, max_output_bytes: 1 << 30, ..LIMITS };
    let job = Job { input: "in".into(), samples: "samples".into(), peaks: "peaks".into(), limits };
    let outcome = Decoder::of_this_program(Helpers::default()).expect("this program").run(
        folder.path(),
        &job,
        &mut |_| false,
    );
    assert!(matches!(outcome, Err(Failure::Cancelled)), "{outcome:?}");
}

#[cfg(unix)]
#[test]
fn ending_a_registered_helper_process_ends_its_decoder() {
    let folder = tempfile::tempdir().expect("a folder");
    // The decoder waits forever, because nobody writes to the pipe.
    nix::unistd::mkfifo(&folder.path().join("in"), nix::sys::stat::Mode::S_IRWXU).expect("makes a pipe");
    let helpers = Helpers::default();
    let decoder = Decoder::of_this_program(helpers.clone()).expect("this program");
    let job = Job { input: "in".into(), samples: "samples".into(), peaks: "peaks".into(), limits: LIMITS };
    let mut was_listed = false;
    let outcome = decoder.run(folder.path(), &job, &mut |_| {
        for helper in helpers.list() {
            was_listed |= helper.kind == "decoder" && helpers.end(helper.id).is_some();
        }
        true
    });
    assert!(was_listed && matches!(outcome, Err(Failure::Cancelled)), "{outcome:?}");
    assert_eq!(helpers.list(), []);
}

/// The expected result for a hostile file.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Unsupported,
    /// Any refusal because of the file.
    Refused,
    /// Audio with this number of frames, and a warning.
    Kept(u64),
    /// Audio with this number of frames, without a warning.
    Whole(u64),
    /// A refusal, or audio of at most 200 000 frames, twice the longest test file.
    Bounded,
}

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: Expected) {
    let outcome = decode_within(bytes, LIMITS);
    let outcome = outcome.map(|decoded_file| {
        assert!(decoded_file.samples.iter().all(|sample| sample.is_finite()), "{name}");
        (decoded_file.report.frames, decoded_file.report.warnings)
    });
    let fits = match (&outcome, expected) {
        (Err(Failure::Refused(Refusal::Unsupported(_))), _) => {
            !matches!(expected, Expected::Kept(_) | Expected::Whole(_))
        }
        (
            Err(Failure::Refused(Refusal::Malformed(_) | Refusal::Limit(_))),
            Expected::Refused | Expected::Bounded,
        ) => true,
        (Ok((frames, warnings)), Expected::Kept(kept_frames)) => {
            *frames == kept_frames && !warnings.is_empty()
        }
        (Ok((frames, warnings)), Expected::Whole(all_frames)) => *frames == all_frames && warnings.is_empty(),
        (Ok((frames, _)), Expected::Bounded) => *frames <= 200_000,
        _ => false,
    };
    assert!(fits, "{name}: {outcome:?} but expected {expected:?}");
}

#[test]
fn files_of_other_formats_are_unsupported() {
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0 and so on";
    for (name, bytes) in [
        ("text", &b"Dear service, please play this."[..]),
        ("html", b"<!DOCTYPE html><html><body onload=alert(1)></body></html>"),
        ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"),
        ("zip", zip),
        ("midi", b"MThd\0\0\0\x06\0\x01\0\x02\x03\xC0MTrk\0\0\0\x04\0\xFF\x2F\0"),
        ("zeros", &[0; 5_000]),
        ("opus in ogg", OPUS),
    ] {
        check(name, bytes, Expected::Unsupported);
    }
}

#[test]
fn hostile_wav_files_are_refused_or_truncated() {
    let format = Format::PCM16;
    let fmt = riff_chunk(b"fmt ", &format.body());
    let whole_file = wav(format, &[1; 200]);
    check("an empty file", &[], Expected::Refused);
    for length in [1, 4, 8, 11, 12, 16, 20, 30, 36, 40, 43, 44] {
        check(&format!("truncated at byte {length}"), &whole_file[..length], Expected::Refused);
    }
    let long_file = wav(format, &[1; 4_000]);
    check("truncated in its data", &long_file[..244], Expected::Kept(100));
    let body = [&b"WAVE"[..], &fmt, &chunk(b"data", [0xFF; 4], &[1; 200])].concat();
    check(
        "sizes unknown because the file was streamed",
        &chunk(b"RIFF", [0xFF; 4], &body),
        Expected::Whole(100),
    );
    let oversized = riff(&[fmt.clone(), chunk(b"data", 4_000_000_u32.to_le_bytes(), &[1; 200])]);
    check("data that claims to be longer than the file", &oversized, Expected::Kept(100));
    check("no data", &wav(format, &[]), Expected::Refused);
    check("data before its format", &riff(&[riff_chunk(b"data", &[1; 200]), fmt.clone()]), Expected::Refused);
    check("no format", &riff(&[riff_chunk(b"data", &[1; 200])]), Expected::Refused);
    check(
        "a first chunk of maximum size",
        &riff(&[chunk(b"LIST", [0xFF; 4], b"INFO"), fmt.clone()]),
        Expected::Refused,
    );
    check(
        "an empty format",
        &riff(&[riff_chunk(b"fmt ", &[]), riff_chunk(b"data", &[1; 200])]),
        Expected::Refused,
    );
    check(
        "a format chunk of maximum size",
        &riff(&[chunk(b"fmt ", [0xFF; 4], &format.body())]),
        Expected::Refused,
    );
    for (name, format) in [
        ("zero channels", Format { channels: 0, ..format }),
        ("65535 channels", Format { channels: 65_535, ..format }),
        ("nine channels", Format { channels: 9, ..format }),
        ("no sample rate", Format { rate_hz: 0, ..format }),
        ("the largest sample rate", Format { rate_hz: u32::MAX, ..format }),
        ("zero bits", Format { bits: 0, ..format }),
        ("seven bits", Format { bits: 7, ..format }),
        ("65535 bits", Format { bits: 65_535, ..format }),
        ("an unknown encoding", Format { tag: 0x1234, ..format }),
        ("ADPCM", Format { tag: 2, bits: 4, ..format }),
        ("extensible without its extension", Format { tag: 0xFFFE, ..format }),
        ("floats of 16 bits", Format { tag: 3, ..format }),
    ] {
        check(name, &wav(format, &[1; 720]), Expected::Refused);
    }
    let mut chunks = vec![fmt.clone()];
    chunks.extend((0..20_000).map(|_| riff_chunk(b"junk", &[])));
    check("twenty thousand empty chunks", &riff(&chunks), Expected::Refused);
    let mut nested = riff_chunk(b"LIST", b"INFO");
    for _ in 0..200 {
        nested = riff_chunk(b"LIST", &[&b"INFO"[..], &nested].concat());
    }
    check("nested lists", &riff(&[nested, fmt.clone(), riff_chunk(b"data", &[1; 200])]), Expected::Bounded);
    check("an odd number of data bytes", &riff(&[fmt, riff_chunk(b"data", &[1; 201])]), Expected::Bounded);
}

#[test]
fn hostile_aiff_files_are_refused_or_truncated() {
    let data = [1; 200];
    let rate = AIFF_48_KHZ;
    for (name, bytes, expected) in [
        ("zero channels", aiff(0, 100, 16, rate, &data), Expected::Refused),
        ("65535 channels", aiff(65_535, 100, 16, rate, &data), Expected::Refused),
        ("zero bits", aiff(1, 100, 0, rate, &data), Expected::Refused),
        ("65535 bits", aiff(1, 100, 65_535, rate, &data), Expected::Refused),
        ("a rate of zero", aiff(1, 100, 16, [0; 10], &data), Expected::Refused),
        (
            "a rate that is no number",
            aiff(1, 100, 16, [0x7F, 0xFF, 0xC0, 0, 0, 0, 0, 0, 0, 0], &data),
            Expected::Refused,
        ),
        (
            "an infinite rate",
            aiff(1, 100, 16, [0x7F, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], &data),
            Expected::Refused,
        ),
        ("more frames than bytes", aiff(1, u32::MAX, 16, rate, &data), Expected::Bounded),
    ] {
        check(name, &bytes, expected);
    }
    let whole_file = aiff(1, 100, 16, rate, &data);
    for length in [12, 16, 30, 38, 50] {
        check(&format!("truncated at byte {length}"), &whole_file[..length], Expected::Refused);
    }
}

#[test]
fn hostile_compressed_files_are_refused_or_truncated() {
    for (kind, bytes) in
        [("mp3", MP3), ("ogg", OGG), ("m4a", M4A), ("aac", ADTS), ("flac", FLAC), ("alac", ALAC)]
    {
        for (name, cut) in [("a header", 24), ("a third", bytes.len() / 3), ("nearly all", bytes.len() - 7)] {
            check(&format!("{kind}, truncated to {name}"), &bytes[..cut], Expected::Bounded);
        }
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        for round in 0..6 {
            let mut broken_file = bytes.to_vec();
            for _ in 0..1 << round {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let index = (random >> 8) as usize % broken_file.len();
                broken_file[index] = random as u8;
            }
            check(&format!("{kind}, {} changed bytes", 1 << round), &broken_file, Expected::Bounded);
        }
    }
    let flac_header = |length: [u8; 3]| [&b"fLaC\x80"[..], &length, &[0; 34]].concat();
    check("flac with zeros in its header", &flac_header([0, 0, 34]), Expected::Refused);
    check("flac with a header block of maximum size", &flac_header([0xFF; 3]), Expected::Refused);
    let id3 = |size: [u8; 4]| [&b"ID3\x04\0\0"[..], &size, &[0; 64]].concat();
    check("only a tag", &id3([0, 0, 0, 54]), Expected::Refused);
    check("a tag of 256 MiB", &id3([0x7F; 4]), Expected::Refused);
    check(
        "a tag before a tag of maximum size",
        &[id3([0, 0, 0, 64]), id3([0x7F; 4])].concat(),
        Expected::Refused,
    );
    check("only sync words", &[0xFF, 0xFB].repeat(4_000), Expected::Bounded);
}

#[test]
fn hostile_ogg_pages_and_mp4_boxes_terminate() {
    // The position of the last page is the length of the stream.
    let last_page = OGG.windows(4).rposition(|bytes| bytes == b"OggS").expect("a page");
    let mut long_file = OGG.to_vec();
    long_file[last_page + 6..last_page + 14].copy_from_slice(&(i64::MAX - 1).to_le_bytes());
    check("an ogg that claims millions of years", &long_file, Expected::Bounded);
    check("two concatenated streams", &[OGG, OGG].concat(), Expected::Bounded);
    check("only the first page", &OGG[..58], Expected::Refused);
    let mut segments = OGG.to_vec();
    segments[26] = 0xFF;
    check("a page that claims 255 segments", &segments, Expected::Bounded);

    let ftyp = b"\0\0\0\x10ftypM4A \0\0\0\0";
    check("only a file type box", ftyp, Expected::Refused);
    for (name, head) in [
        ("a movie box of maximum size", &b"\xFF\xFF\xFF\xFFmoov"[..]),
        ("a movie box that extends to the end", b"\0\0\0\0moov"),
        ("a movie box smaller than its header", b"\0\0\0\x03moov"),
        ("a movie box of 2^63 bytes", b"\0\0\0\x01moov\x80\0\0\0\0\0\0\0"),
    ] {
        check(name, &[&ftyp[..], head, &[0; 40]].concat(), Expected::Refused);
    }
    let mut nested = Vec::new();
    for _ in 0..2_000 {
        nested = [&(nested.len() as u32 + 8).to_be_bytes()[..], b"moov", &nested].concat();
    }
    check("nested movie boxes", &[&ftyp[..], &nested].concat(), Expected::Refused);
    // Sets a count in each table of the header to its maximum.
    for table in [b"stsz", b"stco", b"stsc", b"stts", b"stsd", b"mdhd", b"esds", b"elst"] {
        let Some(start) = M4A.windows(4).position(|bytes| bytes == table) else {
            panic!("the file has no {}", String::from_utf8_lossy(table));
        };
        for offset in [4, 8, 12] {
            let mut broken_file = M4A.to_vec();
            broken_file[start + offset..start + offset + 4].fill(0xFF);
            check(
                &format!("{} at {offset}", String::from_utf8_lossy(table)),
                &broken_file,
                Expected::Bounded,
            );
        }
    }
}

#[test]
fn inspecting_returns_no_header_for_files_that_are_not_audio() {
    let folder = tempfile::tempdir().expect("a folder");
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("a", float_wav(2, 44_100, &[0.0; 44_100])),
        ("b", b"no sound at all".to_vec()),
        ("c", FLAC.to_vec()),
        ("d", Vec::new()),
        ("e", MP3.to_vec()),
        ("f", OGG.to_vec()),
    ];
    let paths: Vec<_> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, bytes)) in paths.iter().zip(&files) {
        fs::write(path, bytes).expect("writes");
    }
    let helpers = Helpers::default();
    let refusal_text = Decoder::of_this_program(helpers.clone())
        .expect("this program")
        .inspect(&paths, &mut || true)
        .expect("starts");
    let header = |index: usize| refusal_text[index].as_ref().expect("a header");
    assert_eq!(
        (header(0).container.as_str(), header(0).frames, header(0).channels),
        ("wave", Some(22_050), 2)
    );
    assert_eq!(header(0).sample_rate_hz, 44_100);
    assert_eq!((&refusal_text[1], &refusal_text[3]), (&None, &None));
    for index in [2, 5] {
        // The files are half a second long.
        let rate = f64::from(header(index).sample_rate_hz);
        let secs = header(index).frames.expect("a length") as f64 / rate;
        assert!((secs - 0.5).abs() < 0.06, "{index}: {secs}");
    }
    assert_eq!(header(4).container, "mp3");
    let missing = Decoder::of_this_program(helpers.clone())
        .expect("this program")
        .inspect(&["/none".into()], &mut || true);
    assert_eq!(missing.expect("starts"), [None]);
    assert_eq!(helpers.list(), []);
}
