//! Fuzz target for audio files. A file must be refused, or decoded within the limits into a file of
//! finite samples and a file of peaks. The sizes of both files must match the report.
//!
//! The service decodes in a separate process, which may panic or run out of memory. Here only a
//! codec may panic, and the memory is limited.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use crate::choices::Choices;
use crate::{Seed, mutate, with_memory_limit};

#[path = "../../../server/src/audio/decode/mod.rs"]
mod decode;
#[path = "../../../server/src/audio/float_wav.rs"]
mod float_wav;
#[path = "../../../server/src/audio/peaks_file.rs"]
#[expect(dead_code, reason = "the service uses the other items")]
mod peaks_file;
#[path = "../../../server/src/audio/test_files.rs"]
#[expect(dead_code, reason = "the tests of the service use the other items")]
mod test_files;

use decode::{Job, Limits, Refusal, Report};
use float_wav::{FloatWavReader, file_bytes};
use peaks_file::Shape;
use test_files::{ADTS, AIFF_48_KHZ, Format, MP3, OGG_PAGES, aiff, chunk, riff, riff_chunk, wav};

const LIMITS: Limits = Limits { max_secs: 60, max_channels: 8, max_output_bytes: 4 << 20, wall_secs: 60 };

/// Maximum memory of decoding: half of the limit of the service's decoder process. A header with
/// 65,279 channels needs 300 MB before the number of channels is checked.
const MEMORY_MAX_BYTES: usize = 3 << 28;

/// An open file without a name, and a path through which it can be opened.
struct UnnamedFile {
    file: File,
    path: PathBuf,
}

impl UnnamedFile {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("songfoundry-fuzz-{}-{name}", process::id()));
        let file =
            File::options().read(true).write(true).create_new(true).open(&path).expect("a temporary file");
        fs::remove_file(&path).expect("the file exists");
        Self { path: format!("/proc/self/fd/{}", file.as_raw_fd()).into(), file }
    }

    /// Replaces the contents of the file.
    fn fill(&self, bytes: &[u8]) {
        let mut file = &self.file;
        file.set_len(0).expect("a file on a disk");
        file.seek(SeekFrom::Start(0)).expect("a file on a disk");
        file.write_all(bytes).expect("free space on the disk");
    }

    fn size_bytes(&self) -> u64 {
        self.file.metadata().expect("a file on a disk").len()
    }
}

/// Panics if a file is decoded incorrectly.
pub fn check(input: &[u8]) {
    static FILES: LazyLock<[UnnamedFile; 3]> =
        LazyLock::new(|| ["in", "samples", "peaks"].map(UnnamedFile::new));
    let [file, samples, peaks] = &*FILES;
    file.fill(input);
    samples.fill(&[]);
    peaks.fill(&[]);
    let job = Job {
        input: file.path.clone(),
        samples: samples.path.clone(),
        peaks: peaks.path.clone(),
        limits: LIMITS,
    };
    let inspected = unless_panicked(|| {
        with_memory_limit(MEMORY_MAX_BYTES, "reading a header", || decode::inspect(&job.input))
    });
    let outcome = unless_panicked(|| {
        with_memory_limit(MEMORY_MAX_BYTES, "decoding", || decode::decode(&job, &mut check_progress))
    });
    let Some(outcome) = outcome else { return };
    match outcome {
        Ok(report) => {
            assert!(report.frames > 0, "a report of no frames");
            assert!(
                inspected.flatten().is_none_or(|inspected| inspected.container == report.container),
                "{}",
                report.container
            );
            check_outputs(&report, samples, peaks);
        }
        Err(Refusal::Io(error)) => panic!("a disk error was reported: {error}"),
        Err(Refusal::Unsupported(reason) | Refusal::Malformed(reason) | Refusal::Limit(reason)) => {
            assert!(!reason.is_empty())
        }
        // The process that supervises a decoder reports the second error.
        Err(Refusal::NoRoom | Refusal::TooSlow(_)) => {}
    }
    // The limit is checked before a buffer is written, so the file may exceed it by a buffer and
    // the header.
    assert!(samples.size_bytes() <= LIMITS.max_output_bytes + (1 << 16), "{} bytes", samples.size_bytes());
}

/// Returns the result, or `None` if a codec panicked. The service refuses the file then.
fn unless_panicked<T>(decode: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(decode)).ok()
}

fn check_progress(fraction: f64) {
    assert!((0.0..=1.0).contains(&fraction), "progress of {fraction}");
}

fn check_outputs(report: &Report, samples: &UnnamedFile, peaks: &UnnamedFile) {
    let &Report { channels, frames, sample_rate_hz, .. } = report;
    assert!((1..=2).contains(&channels), "{channels} channels");
    assert!(frames <= LIMITS.max_secs * u64::from(sample_rate_hz), "{frames} frames at {sample_rate_hz} Hz");
    assert_eq!(samples.size_bytes(), file_bytes(channels, frames), "size of the samples");
    assert_eq!(peaks.size_bytes(), Shape { channels, frames }.file_bytes(), "size of the peaks");
    let mut read_samples = Vec::new();
    let mut reader = FloatWavReader::new(&samples.file, channels, 0, frames).expect("opens");
    reader.read(frames, &mut read_samples).expect("reads");
    assert!(read_samples.iter().all(|value| value.is_finite()), "a sample is not finite");
}

/// Mutates a file so that its chunks remain readable.
pub fn mutate(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    if choices.below(4) == 0 {
        return None;
    }
    match bytes.first_chunk::<8>()? {
        [b'O', b'g', b'g', b'S', ..] => mutate::ogg::mutate(bytes, choices),
        [b'f', b'L', b'a', b'C', ..] => mutate::flac::mutate(bytes, choices),
        [b'R', b'I', b'F', b'F', ..]
        | [b'R', b'F', b'6', b'4', ..]
        | [b'B', b'W', b'6', b'4', ..]
        | [b'F', b'O', b'R', b'M', ..] => mutate::chunks::mutate(bytes, choices),
        [.., b'f', b't', b'y', b'p'] => {
            let mut bytes = bytes.to_vec();
            mutate::in_place(&mut bytes);
            Some(bytes)
        }
        _ => None,
    }
}

/// Returns a `fmt ` chunk of WAVE_FORMAT_EXTENSIBLE for a format.
fn extensible(format: Format, valid_bits: u16, speakers: u32) -> Vec<u8> {
    const GUID_END: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
    let mut body = Format { tag: 0xfffe, ..format }.body();
    body.extend(22_u16.to_le_bytes());
    body.extend(valid_bits.to_le_bytes());
    body.extend(speakers.to_le_bytes());
    body.extend(format.tag.to_le_bytes());
    body.extend(GUID_END);
    riff_chunk(b"fmt ", &body)
}

/// Returns a `fmt ` chunk with an empty extension, which encodings other than PCM have.
fn with_empty_extension(format: Format) -> Vec<u8> {
    let mut body = format.body();
    body.extend([0, 0]);
    riff_chunk(b"fmt ", &body)
}

/// Returns WAV and AIFF files in each encoding, and the starts of the fixtures of the other
/// formats.
/// `scripts/fuzz` also uses the whole fixtures.
pub fn seeds() -> Vec<Seed> {
    let data: Vec<u8> = (0..240_u8).map(|n| n.wrapping_mul(37)).collect();
    let floats: Vec<u8> = (0..64).flat_map(|n| (n as f32 / 64.0 - 0.5).to_le_bytes()).collect();
    let doubles: Vec<u8> = (0..32).flat_map(|n| (f64::from(n) / 32.0 - 0.5).to_le_bytes()).collect();
    let pcm = |bits, channels| Format { tag: 1, channels, rate_hz: 44_100, bits };
    let float = |bits| Format { tag: 3, channels: 2, rate_hz: 48_000, bits };
    let companded = |tag| Format { tag, channels: 1, rate_hz: 8_000, bits: 8 };
    let sound = riff_chunk(b"data", &data);
    let pcm16_format = riff_chunk(b"fmt ", &Format::PCM16.body());
    let odd_chunks = riff(&[
        riff_chunk(b"LIST", b"INFOINAM\x03\0\0\0ab\0\0"),
        riff_chunk(b"bext", &[0; 605]),
        pcm16_format.clone(),
        riff_chunk(b"fact", &[100, 0, 0, 0]),
        riff_chunk(b"odd ", b"x"),
        sound.clone(),
        riff_chunk(b"id3 ", b"ID3\x04\0\0\0\0\0\0"),
    ]);
    // These files have their sizes in `ds64`.
    let with_ds64 = |name: &[u8; 4]| {
        let sizes: Vec<u8> =
            [300_u64, 240, 120].into_iter().flat_map(u64::to_le_bytes).chain([0; 4]).collect();
        let data = chunk(b"data", [0xff; 4], &data);
        [&name[..], &[0xff; 4], b"WAVE", &riff_chunk(b"ds64", &sizes), &pcm16_format, &data].concat()
    };
    let mut unfinished = riff(&[pcm16_format.clone(), chunk(b"data", [0; 4], &data)]);
    unfinished[4..8].fill(0);
    let mut wild_size = wav(Format::PCM16, &data);
    wild_size[40..44].copy_from_slice(&0x7fff_fff0_u32.to_le_bytes());
    let mut seeds: Vec<(&str, Vec<u8>)> = vec![
        ("pcm-8.wav", wav(pcm(8, 1), &data)),
        ("pcm-16.wav", wav(pcm(16, 2), &data)),
        ("pcm-24.wav", wav(pcm(24, 2), &data)),
        ("pcm-32.wav", wav(pcm(32, 1), &data)),
        ("float-32.wav", wav(float(32), &floats)),
        ("float-64.wav", wav(float(64), &doubles)),
        ("a-law.wav", riff(&[with_empty_extension(companded(6)), sound.clone()])),
        ("mu-law.wav", riff(&[with_empty_extension(companded(7)), sound.clone()])),
        ("extensible.wav", riff(&[extensible(pcm(24, 6), 20, 0x3f), riff_chunk(b"data", &data[..216])])),
        ("extensible-float.wav", riff(&[extensible(float(32), 32, 3), riff_chunk(b"data", &floats)])),
        ("odd-chunks.wav", odd_chunks),
        ("wide.rf64.wav", with_ds64(b"RF64")),
        ("wide.bw64.wav", with_ds64(b"BW64")),
        ("unfinished.wav", unfinished),
        ("wild-size.wav", wild_size),
        ("pcm-16.aiff", aiff(2, 60, 16, AIFF_48_KHZ, &data)),
        ("pcm-24.aiff", aiff(1, 80, 24, AIFF_48_KHZ, &data)),
    ];
    // A decoder uses only the whole frames and pages of these starts.
    let start_of = |file: &[u8], bytes: usize| file[..bytes.min(file.len())].to_vec();
    seeds.push(("frames.flac", small_flac()));
    seeds.push(("tone-head.mp3", start_of(MP3, 1_600)));
    seeds.push(("tone-head.aac", start_of(ADTS, 1_200)));
    seeds.push(("pages-head.ogg", start_of(OGG_PAGES, 5_000)));
    seeds.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

/// Returns a FLAC file whose frames have 16 samples of 16 bits, one frame for each kind of subframe
/// (RFC 9639, section 9.2).
fn small_flac() -> Vec<u8> {
    let mut output = b"fLaC\x80\0\0\x22".to_vec();
    // The stream info: blocks of 16 samples, unknown frame sizes, 44.1 kHz, mono, 16 bits, 64
    // samples, no hash.
    output.extend([0, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0x0a, 0xc4, 0x40, 0xf0, 0, 0, 0, 64]);
    output.extend([0; 16]);
    let verbatim: Vec<u8> = [0x02].into_iter().chain((0..32_u8).map(|n| n.wrapping_mul(29))).collect();
    let constant = vec![0x00, 0x12, 0x34];
    // A fixed predictor of order 1: a warm-up sample, and Rice coding of one partition with
    // parameter 0 and 15 residuals of 0.
    let fixed = vec![0x12, 0x01, 0x00, 0x00, 0x3f, 0xff, 0x80];
    // Linear prediction of order 1: a warm-up sample, a precision of 2 bits, shift 0, coefficient
    // 1, and the same residuals as above.
    let linear = vec![0x40, 0x01, 0x00, 0x10, 0x20, 0x07, 0xff, 0xf0];
    for (number, subframe) in [verbatim, constant, fixed, linear].into_iter().enumerate() {
        let start = output.len();
        // The frame header: fixed block size of 16 samples in its last byte, 44.1 kHz, mono, 16
        // bits.
        output.extend([0xff, 0xf8, 0x69, 0x08, number as u8, 15]);
        let checksum = output[start..].iter().fold(0_u8, |crc, byte| {
            (0..8).fold(crc ^ byte, |crc, _| if crc >> 7 == 1 { crc << 1 ^ 0x07 } else { crc << 1 })
        });
        output.push(checksum);
        output.extend(subframe);
        let checksum = mutate::flac::checksum(&output[start..]);
        output.extend(checksum.to_be_bytes());
    }
    output
}

/// Returns no seeds.
pub fn installed_seeds() -> Vec<Seed> {
    Vec::new()
}
