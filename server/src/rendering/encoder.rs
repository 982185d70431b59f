//! Writes rendered audio in each [`AudioFormat`], and computes the hash of the samples of a written
//! file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use dsp_core::wav::WavWriter;
use sha2::{Digest as _, Sha256};

use super::audio_format::AudioFormat;
use super::options::MixOptions;

/// Writes a stereo file block by block.
pub(super) enum Encoder<W: Write + Seek> {
    /// WAV.
    Wav(WavWriter<W>),
}

impl<W: Write + Seek> Encoder<W> {
    /// Starts a file. `seed` is the seed of the dither.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn new(destination: W, options: &MixOptions, seed: u64) -> io::Result<Self> {
        let (rate_hz, samples) = (options.sample_rate_hz, options.sample_format());
        match options.format {
            AudioFormat::Wav => {
                let writer = WavWriter::new(destination, rate_hz, samples, options.shaping(), seed)?;
                Ok(Self::Wav(writer))
            }
        }
    }

    /// Appends frames. Returns their samples as little-endian PCM, like a WAV file, whatever the
    /// byte order of the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&mut self, left: &[f32], right: &[f32]) -> io::Result<&[u8]> {
        match self {
            Self::Wav(writer) => writer.write(left, right),
        }
    }

    /// Completes the file. Returns the number of clipped samples.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(self) -> io::Result<u64> {
        match self {
            Self::Wav(writer) => {
                let clipped_samples = writer.clipped_samples();
                writer.finish()?;
                Ok(clipped_samples)
            }
        }
    }
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
    if !read_exact_or_eof(&mut file, &mut start)?
        || !matches!(&start[..4], b"RIFF" | b"RF64")
        || &start[8..] != b"WAVE"
    {
        return Ok(None);
    }
    let mut long_data_bytes = None;
    loop {
        let mut head = [0; 8];
        if !read_exact_or_eof(&mut file, &mut head)? {
            return Ok(None);
        }
        let [id @ .., a, b, c, d] = head;
        let size = u64::from(u32::from_le_bytes([a, b, c, d]));
        if &id == b"ds64" {
            // The size of the file, and the size of the samples.
            let mut sizes = [0; 16];
            if size < 16 || !read_exact_or_eof(&mut file, &mut sizes)? {
                return Ok(None);
            }
            long_data_bytes = sizes.last_chunk().copied().map(u64::from_le_bytes);
            file.seek_relative(size as i64 - 16 + (size % 2) as i64)?;
            continue;
        }
        if &id == b"data" {
            let size = long_data_bytes.unwrap_or(size);
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

#[cfg(test)]
mod tests {
    use dsp_core::dither::NoiseShaping;
    use dsp_core::wav::SampleFormat;

    use super::*;

    fn hash(bytes: &[u8]) -> Option<String> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("writes");
        file.rewind().expect("seeks");
        pcm_sha256(AudioFormat::Wav, file).expect("reads")
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
        // What follows the samples does not count.
        rf64.extend(b"LIST\0\0\0\0");
        assert_eq!(hash(&rf64), expected);
        assert_eq!(hash(&rf64[..riff.len() - 1]), None);
    }
}
