//! Tests of encoding in a separate process.

use std::f32::consts::TAU;
use std::fs::File;
use std::io::Read as _;

use dsp_core::wav::SampleFormat;
use sha2::{Digest as _, Sha256};

use super::audio_format::{AudioFormat, BitDepth};
use super::chapters::Chapter;
use super::quality::Quality;
use super::tags::Tags;
use super::{EncodedFile, EncoderProgram, EncodingError, Request, child, program};
use crate::helper_processes::Helpers;

/// Format and sample format of a file, and its quality if it is lossy.
#[derive(Debug, Clone, Copy)]
struct Codec(AudioFormat, BitDepth, Quality);

impl Codec {
    const FLAC_16: Self = Self(AudioFormat::Flac, BitDepth::Pcm16, Quality::BitRate(0));
    const FLAC_24: Self = Self(AudioFormat::Flac, BitDepth::Pcm24, Quality::BitRate(0));

    const fn lossy(format: AudioFormat, quality: Quality) -> Self {
        Self(format, BitDepth::Float32, quality)
    }

    fn request(self, sample_rate_hz: u32, max_frames: u64) -> Request {
        let Self(format, bit_depth, quality) = self;
        Request { format, bit_depth, quality, sample_rate_hz, tags: tags(), max_frames }
    }

    fn frame_bytes(self) -> usize {
        2 * SampleFormat::from(self.1).bytes_per_sample()
    }
}

const CODECS: [Codec; 6] = [
    Codec::FLAC_16,
    Codec::FLAC_24,
    Codec::lossy(AudioFormat::Mp3, Quality::BitRate(192)),
    Codec::lossy(AudioFormat::Mp3, Quality::Variable(8)),
    Codec::lossy(AudioFormat::Ogg, Quality::Variable(6)),
    Codec::lossy(AudioFormat::Opus, Quality::BitRate(160)),
];

fn tags() -> Tags {
    Tags {
        title: Some("Ünïcode \"=\" title".into()),
        artist: Some("Ada".into()),
        album: Some("First".into()),
        genre: Some("Folk".into()),
        year: Some(1987),
        comment: Some("two\nlines".into()),
        isrc: Some("GBA1B2300001".into()),
        cover: None,
        chapters: vec![Chapter { frame: 0, name: "Intro".into() }],
    }
}

/// Returns the samples of two tones with a peak of 0.25, as the codec reads them.
fn samples(codec: Codec, sample_rate_hz: u32, frames: usize) -> Vec<u8> {
    let value =
        |frame: usize, tone_hz: f32| 0.25 * (TAU * tone_hz * frame as f32 / sample_rate_hz as f32).sin();
    let values = (0..frames).flat_map(|frame| [value(frame, 440.0), value(frame, 660.0)]);
    match codec.1 {
        BitDepth::Pcm16 => values.flat_map(|value| ((value * 32_767.0) as i16).to_le_bytes()).collect(),
        BitDepth::Pcm24 => {
            let steps = values.map(|value| ((value * 8_388_607.0) as i32).to_le_bytes());
            steps.flat_map(|[low, middle, high, _]| [low, middle, high]).collect()
        }
        BitDepth::Pcm8 | BitDepth::Float32 => values.flat_map(f32::to_le_bytes).collect(),
    }
}

fn start(codec: Codec, sample_rate_hz: u32, max_frames: u64) -> super::EncoderProcess {
    let program = EncoderProgram::of_this_program(Helpers::default()).expect("this program");
    let request = codec.request(sample_rate_hz, max_frames);
    program.start(&request, tempfile::tempfile().expect("a file")).expect("starts")
}

fn encode(codec: Codec, sample_rate_hz: u32, samples: &[u8]) -> (File, EncodedFile) {
    let frame_bytes = codec.frame_bytes();
    let mut process = start(codec, sample_rate_hz, (samples.len() / frame_bytes) as u64);
    // The length of the parts is not a multiple of any codec's block size.
    for part in samples.chunks(997 * frame_bytes) {
        process.write(part).expect("writes");
    }
    process.finish(&mut || true).expect("ends")
}

#[test]
fn a_file_is_encoded_in_a_separate_process() {
    if std::env::var_os(program::TEST_ENTRY.mark).is_some() {
        child::run().expect("a request");
        return;
    }
    for codec in CODECS {
        let sample_rate_hz = 48_000;
        let frames = 100_000;
        let sent_samples = samples(codec, sample_rate_hz, frames);
        let (mut file, encoded) = encode(codec, sample_rate_hz, &sent_samples);
        let measurements = &encoded.measured;
        assert_eq!(measurements.frames, frames as u64, "{codec:?}");
        // A full-scale sine of 1 kHz in one channel reads -3.01 LUFS, so sines in both channels
        // read 0 LUFS together. At a peak of 0.25, they read 12.04 LU less. K-weighting attenuates
        // 440 and 660 Hz by a further 0.66 LU.
        let lufs = measurements.integrated_lufs.expect("is audible");
        assert!((lufs - (-12.7)).abs() < 0.5, "{codec:?}: {lufs} LUFS");
        assert!((measurements.peak - 0.25).abs() < 0.01, "{codec:?}: the peak is {}", measurements.peak);
        assert_eq!(encoded.clipped_samples, 0);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("reads");
        assert_eq!(format!("{:x}", Sha256::digest(&bytes)), encoded.file_sha256);
        if codec.0.is_lossless() {
            assert_eq!(measurements.pcm_sha256, format!("{:x}", Sha256::digest(&sent_samples)));
        }
        let second_encoding = encode(codec, sample_rate_hz, &sent_samples).1;
        assert_eq!(second_encoding, encoded, "the same samples give the same file");
    }
}

#[test]
fn files_of_every_length_keep_their_length() {
    for codec in CODECS {
        for frames in [0, 1, 2, 15, 17, 33, 959, 960, 1_152, 4_095, 4_096, 4_097, 8_193] {
            let sent_samples = samples(codec, 48_000, frames);
            let (_, encoded) = encode(codec, 48_000, &sent_samples);
            assert_eq!(encoded.measured.frames, frames as u64, "{codec:?}");
        }
    }
}

/// Tests that loud 24-bit noise is encoded. Its residuals need the longer Rice parameters of FLAC
/// (RFC 9639, section 9.2.7), or no prediction.
#[test]
fn a_flac_file_of_full_scale_noise_is_hardly_larger_than_its_samples() {
    for codec in [Codec::FLAC_16, Codec::FLAC_24] {
        let mut state = 1_u32;
        let noise = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let sent_samples: Vec<u8> = (0..100_000 * codec.frame_bytes()).map(noise).collect();
        let (file, encoded) = encode(codec, 48_000, &sent_samples);
        assert_eq!(encoded.measured.pcm_sha256, format!("{:x}", Sha256::digest(&sent_samples)), "{codec:?}");
        let file_bytes = file.metadata().expect("a file").len();
        assert!(
            file_bytes < sent_samples.len() as u64 + 10_000,
            "{codec:?}: {file_bytes} of {} bytes",
            sent_samples.len()
        );
    }
}

#[test]
fn every_rate_of_a_codec_is_encoded() {
    for codec in CODECS {
        for rate_hz in codec.0.sample_rates_hz() {
            let (_, encoded) = encode(codec, *rate_hz, &samples(codec, *rate_hz, 20_000));
            assert_eq!(encoded.measured.frames, 20_000, "{codec:?} at {rate_hz} Hz");
        }
    }
}

#[test]
fn every_quality_keeps_the_sample_rate() {
    let constant = |format: AudioFormat| format.bit_rates_kbps().iter().map(|kbps| Quality::BitRate(*kbps));
    let variable =
        |format: AudioFormat| (0..=10).map(Quality::Variable).filter(move |_| format.has_variable_quality());
    let qualities = AudioFormat::ALL.iter().flat_map(|format| {
        constant(*format).chain(variable(*format)).map(|quality| Codec::lossy(*format, quality))
    });
    for codec in qualities {
        let sent_samples = samples(codec, 48_000, 20_000);
        let (_, encoded) = encode(codec, 48_000, &sent_samples);
        assert_eq!(encoded.measured.frames, 20_000, "{codec:?}");
        assert!((encoded.measured.peak - 0.25).abs() < 0.05, "{codec:?}: {}", encoded.measured.peak);
    }
}

#[test]
fn an_mp3_file_has_the_level_of_its_samples() {
    let level_lufs = |codec| {
        let sent_samples = samples(codec, 48_000, 96_000);
        encode(codec, 48_000, &sent_samples).1.measured.integrated_lufs.expect("is audible")
    };
    let expected_lufs = level_lufs(Codec::FLAC_24);
    for kbps in [96, 128, 160, 192, 224, 256, 320] {
        let found_lufs = level_lufs(Codec::lossy(AudioFormat::Mp3, Quality::BitRate(kbps)));
        assert!(
            (found_lufs - expected_lufs).abs() < 0.05,
            "{kbps} kbit/s: {found_lufs}, not {expected_lufs}"
        );
    }
}

#[test]
fn peaks_of_a_decoded_file_above_full_scale_are_counted() {
    let codec = Codec::lossy(AudioFormat::Mp3, Quality::BitRate(128));
    let square = (0..48_000).flat_map(|frame| [if frame % 100 < 50 { 0.999_f32 } else { -0.999 }; 2]);
    let sent_samples: Vec<u8> = square.flat_map(f32::to_le_bytes).collect();
    let (_, encoded) = encode(codec, 48_000, &sent_samples);
    assert!(encoded.measured.peak > 1.0 && encoded.clipped_samples > 100, "{encoded:?}");
}

#[test]
fn more_samples_than_announced_are_refused() {
    let codec = Codec::FLAC_16;
    let mut process = start(codec, 48_000, 10);
    process.write(&samples(codec, 48_000, 10)).expect("writes");
    process.write(&samples(codec, 48_000, 1)).expect("is buffered");
    match process.finish(&mut || true) {
        Err(EncodingError::Io(error)) => assert!(error.to_string().contains("is invalid"), "{error}"),
        other => panic!("{:?}", other.map(|(_, encoded)| encoded)),
    }
}

#[test]
fn a_cancelled_file_ends_its_process() {
    let helpers = Helpers::default();
    let program = EncoderProgram::of_this_program(helpers.clone()).expect("this program");
    let codec = Codec::lossy(AudioFormat::Opus, Quality::BitRate(160));
    let request = codec.request(48_000, 10_000_000);
    let mut process = program.start(&request, tempfile::tempfile().expect("a file")).expect("starts");
    process.write(&samples(codec, 48_000, 1_000_000)).expect("writes");
    assert_eq!(helpers.list().first().map(|helper| helper.kind), Some("encoder"));
    assert!(matches!(process.finish(&mut || false), Err(EncodingError::Cancelled)));
    assert!(helpers.list().is_empty());
}

#[test]
fn the_error_for_a_killed_process_names_the_cause() {
    let helpers = Helpers::default();
    let program = EncoderProgram::of_this_program(helpers.clone()).expect("this program");
    let codec = Codec::FLAC_16;
    let request = codec.request(48_000, 10_000_000);
    let mut process = program.start(&request, tempfile::tempfile().expect("a file")).expect("starts");
    let pid = helpers.list()[0].pid;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.cast_signed()), nix::sys::signal::Signal::SIGKILL)
        .expect("kills");
    let error = loop {
        if let Err(error) = process.write(&samples(codec, 48_000, 50_000)) {
            break error;
        }
    };
    assert!(error.to_string().contains("the encoder was ended"), "{error}");
}
