//! Writes rendered audio in each format, and computes the hash of the samples of a WAV file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use dsp_core::wav::{SampleEncoder, WavWriter};
use sha2::{Digest as _, Sha256};

use super::Observer;
use super::error::RenderError;
use super::options::MixOptions;
use super::wav_chunks::wav_chunks;
use super::workspace::Workspace;
use crate::encoding::measure::{FileMeter, Measurements};
use crate::encoding::{EncoderProcess, EncoderProgram, Request};

/// Program and temporary file for encoding several files in another process, one at a time.
#[derive(Debug)]
pub(super) struct Encoding {
    program: EncoderProgram,
    /// An unnamed file, to which the process writes.
    file: File,
    max_frames: u64,
}

impl Encoding {
    /// Prepares for files of at most `max_frames` frames. Returns `None` if this process writes the
    /// files itself.
    ///
    /// # Errors
    /// The temporary file cannot be created.
    pub(super) fn open(
        options: &MixOptions,
        max_frames: u64,
        workspace: &mut dyn Workspace,
    ) -> io::Result<Option<Self>> {
        if !options.needs_encoder() {
            return Ok(None);
        }
        let file = workspace.temporary_file()?;
        // A conversion of the sample rate can add some frames.
        let max_frames = max_frames.saturating_add(u64::from(options.sample_rate_hz));
        Ok(Some(Self { program: workspace.encoder()?, file, max_frames }))
    }
}

/// Writes a stereo file block by block, and measures it.
pub(super) enum Encoder<W: Write + Seek> {
    /// This process writes a WAV file.
    Wav(Box<WavFile<W>>),
    /// Another process writes a file of another format. It is copied to the destination when it is
    /// complete.
    Process { samples: SampleEncoder, process: EncoderProcess, is_lossless: bool, destination: W },
}

/// A WAV file that is being written and measured.
pub(super) struct WavFile<W: Write + Seek> {
    writer: WavWriter<W>,
    measure: FileMeter,
    options: MixOptions,
}

/// A complete file.
pub(super) struct WrittenFile {
    pub(super) measurements: Measurements,
    pub(super) clipped_samples: u64,
    /// SHA-256 of the whole file in hexadecimal; `None` for WAV files.
    pub(super) file_sha256: Option<String>,
}

impl<W: Write + Seek> Encoder<W> {
    /// Starts a file. `seed` is the seed of the dither.
    ///
    /// # Errors
    /// The file cannot be written, or its encoder cannot be started.
    pub(super) fn new(
        destination: W,
        options: &MixOptions,
        seed: u64,
        encoding: Option<&Encoding>,
    ) -> Result<Self, RenderError> {
        let (rate_hz, format, shaping) = (options.sample_rate_hz, options.sample_format(), options.shaping());
        if !options.needs_encoder() {
            let chunks = options.tags.as_ref().map(|tags| wav_chunks(options, tags, None));
            let chunks = chunks.unwrap_or_default();
            let writer = WavWriter::with_chunks(destination, rate_hz, format, shaping, seed, chunks)?;
            let measure = FileMeter::new(rate_hz, format)?;
            return Ok(Self::Wav(Box::new(WavFile { writer, measure, options: options.clone() })));
        }
        let encoding = encoding.ok_or_else(|| io::Error::other("the file has no encoder"))?;
        let request = Request {
            format: options.format,
            bit_depth: options.bit_depth,
            quality: options.quality,
            sample_rate_hz: rate_hz,
            tags: options.tags.clone().unwrap_or_default(),
            max_frames: encoding.max_frames,
        };
        let process = encoding.program.start(&request, encoding.file.try_clone()?)?;
        let samples = SampleEncoder::new(format, rate_hz, shaping, seed);
        Ok(Self::Process { samples, process, is_lossless: options.format.is_lossless(), destination })
    }

    /// Appends frames.
    ///
    /// # Errors
    /// The file cannot be written; [`RenderError::Cancelled`].
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<(), RenderError> {
        match self {
            Self::Wav(file) => file.measure.add(file.writer.write(left, right)?),
            Self::Process { samples, process, .. } => process.write(samples.encode(left, right))?,
        }
        Ok(())
    }

    /// Completes the file. A file that another process wrote is copied to the destination only if
    /// `is_accepted`, because a later, shorter file could not replace all of it. `observer` can
    /// cancel the encoding.
    ///
    /// # Errors
    /// The file cannot be written; [`RenderError::Cancelled`].
    pub(super) fn finish(
        self,
        is_accepted: impl FnOnce(&Measurements) -> bool,
        observer: Observer<'_>,
    ) -> Result<WrittenFile, RenderError> {
        match self {
            Self::Wav(file) => {
                let WavFile { mut writer, measure, options } = *file;
                let clipped_samples = writer.clipped_samples();
                let measurements = measure.finish();
                if let Some(tags) = &options.tags {
                    writer.replace_chunks(wav_chunks(&options, tags, Some(&measurements)))?;
                }
                writer.finish()?;
                Ok(WrittenFile { measurements, clipped_samples, file_sha256: None })
            }
            Self::Process { samples, process, is_lossless, mut destination } => {
                let (mut file, encoder_report) = process.finish(&mut || observer(1.0))?;
                if is_accepted(&encoder_report.measured) {
                    io::copy(&mut file, &mut destination)?;
                    destination.flush()?;
                }
                Ok(WrittenFile {
                    measurements: encoder_report.measured,
                    // The samples of a lossy file can exceed full scale. Those of a lossless file
                    // were clipped before they were encoded.
                    clipped_samples: match is_lossless {
                        true => samples.clipped_samples(),
                        false => encoder_report.clipped_samples,
                    },
                    file_sha256: Some(encoder_report.file_sha256),
                })
            }
        }
    }
}

/// Computes the SHA-256 of the samples of a WAV file, in hexadecimal. Returns `None` if the file is
/// damaged.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn wav_pcm_sha256(file: File) -> io::Result<Option<String>> {
    let mut file = BufReader::new(file);
    let mut start = [0; 12];
    if !read_exact_or_eof(&mut file, &mut start)?
        || !matches!(&start[..4], b"RIFF" | b"RF64")
        || &start[8..] != b"WAVE"
    {
        return Ok(None);
    }
    let mut long_data_bytes = None;
    loop {
        let mut chunk_header = [0; 8];
        if !read_exact_or_eof(&mut file, &mut chunk_header)? {
            return Ok(None);
        }
        let [id @ .., a, b, c, d] = chunk_header;
        let size_bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
        if &id == b"ds64" {
            // The size of the file, and the size of the samples.
            let mut sizes = [0; 16];
            if size_bytes < 16 || !read_exact_or_eof(&mut file, &mut sizes)? {
                return Ok(None);
            }
            long_data_bytes = sizes.last_chunk().copied().map(u64::from_le_bytes);
            file.seek_relative(size_bytes as i64 - 16 + (size_bytes % 2) as i64)?;
            continue;
        }
        if &id == b"data" {
            let size_bytes = long_data_bytes.unwrap_or(size_bytes);
            let mut hash = Sha256::new();
            let hashed_bytes = io::copy(&mut file.take(size_bytes), &mut hash)?;
            return Ok((hashed_bytes == size_bytes).then(|| format!("{:x}", hash.finalize())));
        }
        file.seek(SeekFrom::Current(i64::try_from(size_bytes + size_bytes % 2).unwrap_or(i64::MAX)))?;
    }
}

fn read_exact_or_eof(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        outcome => outcome.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use dsp_core::dither::NoiseShaping;
    use dsp_core::wav::SampleFormat;

    use super::*;

    fn hash(bytes: &[u8]) -> Option<String> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("writes");
        file.rewind().expect("seeks");
        wav_pcm_sha256(file).expect("reads")
    }

    #[test]
    fn the_hash_of_an_rf64_file_covers_the_samples_that_ds64_announces() {
        let mut wav = io::Cursor::new(Vec::new());
        let mut writer =
            WavWriter::new(&mut wav, 48_000, SampleFormat::Pcm16, NoiseShaping::Off, 1).expect("starts");
        let samples = writer.write(&[0.5, -0.5], &[0.25, 0.0]).expect("writes").to_vec();
        writer.finish().expect("ends");
        let riff = wav.into_inner();
        let expected = Some(format!("{:x}", Sha256::digest(&samples)));
        assert_eq!(hash(&riff), expected);

        let mut rf64 = riff.clone();
        rf64[..8].copy_from_slice(b"RF64\xFF\xFF\xFF\xFF");
        rf64[12..16].copy_from_slice(b"ds64");
        rf64[28..36].copy_from_slice(&8_u64.to_le_bytes());
        let data_size = riff.len() - 12..riff.len() - 8;
        rf64[data_size].copy_from_slice(&[0xFF; 4]);
        // Bytes after the samples are not hashed.
        rf64.extend(b"LIST\0\0\0\0");
        assert_eq!(hash(&rf64), expected);
        assert_eq!(hash(&rf64[..riff.len() - 1]), None);
    }
}
