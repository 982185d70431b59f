//! Writes rendered audio in each [`AudioFormat`], and computes the hash of the samples of a written
//! file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use dsp_core::wav::{MAX_AUDIO_BYTES, SampleFormat, WavWriter};
use sha2::{Digest as _, Sha256};

use super::audio_format::AudioFormat;
use super::error::RenderError;
use super::{CHANNELS, options::MixOptions};

/// Writes a stereo file block by block.
pub(super) enum Encoder<W: Write + Seek> {
    /// WAV.
    Wav(WavWriter<W>),
}

impl<W: Write + Seek> Encoder<W> {
    /// Starts a file. The song has `frames` frames without the tail. `seed` is the seed of the
    /// dither.
    ///
    /// # Errors
    /// [`RenderError::TooLong`] if the song is too long for the format.
    pub(super) fn new(
        destination: W,
        frames: u64,
        options: &MixOptions,
        seed: u64,
    ) -> Result<Self, RenderError> {
        let (rate_hz, samples) = (options.sample_rate_hz, options.sample_format());
        match options.format {
            AudioFormat::Wav => {
                check_length(frames, rate_hz, samples)?;
                let writer = WavWriter::new(destination, rate_hz, samples, options.shaping(), seed)?;
                Ok(Self::Wav(writer))
            }
        }
    }

    /// Appends frames. Returns their samples as little-endian PCM, like a WAV file, whatever the
    /// byte order of the file.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> Result<&[u8], RenderError> {
        match self {
            Self::Wav(writer) => Ok(writer.write(left, right)?),
        }
    }

    /// Completes the file. Returns the number of clipped samples.
    pub(super) fn finish(self) -> Result<u64, RenderError> {
        match self {
            Self::Wav(writer) => {
                let clipped_samples = writer.clipped_samples();
                writer.finish()?;
                Ok(clipped_samples)
            }
        }
    }
}

/// Refuses a song that is too long for a WAV file.
pub(super) fn check_length(
    frames: u64,
    sample_rate_hz: u32,
    samples: SampleFormat,
) -> Result<(), RenderError> {
    let limit_frames = MAX_AUDIO_BYTES / (CHANNELS * samples.bytes_per_sample() as u64);
    if frames > limit_frames {
        let rate_hz = u64::from(sample_rate_hz);
        return Err(RenderError::TooLong { song_secs: frames / rate_hz, limit_secs: limit_frames / rate_hz });
    }
    Ok(())
}

/// Computes the SHA-256 of the samples of a file, in hexadecimal. Returns `None` if the file is
/// damaged.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn pcm_sha256(format: AudioFormat, file: File) -> io::Result<Option<String>> {
    match format {
        AudioFormat::Wav => wav_pcm_sha256(file),
    }
}

fn wav_pcm_sha256(file: File) -> io::Result<Option<String>> {
    let mut file = BufReader::new(file);
    let mut start = [0; 12];
    if !read_exact_or_eof(&mut file, &mut start)? || &start[..4] != b"RIFF" || &start[8..] != b"WAVE" {
        return Ok(None);
    }
    loop {
        let mut head = [0; 8];
        if !read_exact_or_eof(&mut file, &mut head)? {
            return Ok(None);
        }
        let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        if &head[..4] == b"data" {
            let mut hash = Sha256::new();
            let length = io::copy(&mut file.take(size), &mut hash)?;
            return Ok((length == size).then(|| format!("{:x}", hash.finalize())));
        }
        file.seek(SeekFrom::Current(i64::try_from(size + size % 2).unwrap_or(i64::MAX)))?;
    }
}

fn read_exact_or_eof(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        outcome => outcome.map(|()| true),
    }
}
