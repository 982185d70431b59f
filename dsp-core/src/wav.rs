//! WAV files: stereo, 16-bit PCM with TPDF dither or 32-bit float, written by `hound`.

use std::io::{Seek, Write};

use crate::dither::Tpdf;

/// How samples stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// 16-bit integers, with TPDF dither.
    Pcm16,
    /// 32-bit IEEE floats, as the engine computed them.
    Float32,
}

impl SampleFormat {
    /// Bytes of one sample.
    pub fn bytes_per_sample(self) -> usize {
        match self {
            Self::Pcm16 => 2,
            Self::Float32 => 4,
        }
    }
}

/// Why a WAV file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WavError {
    /// The destination failed.
    #[error("the WAV file could not be written: {0}")]
    Io(#[from] std::io::Error),
    /// More than a WAV file can hold.
    #[error("a WAV file holds at most {limit_bytes} bytes of audio")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
}

/// Most bytes of audio in a WAV file: its sizes are 32-bit, and the header takes some.
pub const MAX_AUDIO_BYTES: u64 = u32::MAX as u64 - 1_024;

/// Writes a stereo WAV file block by block.
pub struct WavWriter<W: Write + Seek> {
    writer: hound::WavWriter<W>,
    format: SampleFormat,
    dither: [Tpdf; 2],
    clipped_samples: u64,
    audio_bytes: u64,
    /// The bytes of the last block as they stand in the file.
    encoded: Vec<u8>,
}

impl<W: Write + Seek> WavWriter<W> {
    /// Starts a file at a sample rate in hertz; `seed` starts the dither.
    ///
    /// # Errors
    ///
    /// [`WavError::Io`] if the header cannot be written.
    pub fn new(
        destination: W,
        sample_rate_hz: u32,
        format: SampleFormat,
        seed: u64,
    ) -> Result<Self, WavError> {
        let spec = hound::WavSpec {
            channels: 2,
            sample_rate: sample_rate_hz,
            bits_per_sample: 8 * format.bytes_per_sample() as u16,
            sample_format: match format {
                SampleFormat::Pcm16 => hound::SampleFormat::Int,
                SampleFormat::Float32 => hound::SampleFormat::Float,
            },
        };
        Ok(Self {
            writer: hound::WavWriter::new(destination, spec).map_err(from_hound)?,
            format,
            dither: [Tpdf::new(seed, 0), Tpdf::new(seed, 1)],
            clipped_samples: 0,
            audio_bytes: 0,
            encoded: Vec::new(),
        })
    }

    /// Appends frames and returns their audio bytes as they stand in the file, for hashing.
    ///
    /// # Errors
    ///
    /// [`WavError::TooLong`] above [`MAX_AUDIO_BYTES`], [`WavError::Io`] if writing fails.
    pub fn write(&mut self, left: &[f32], right: &[f32]) -> Result<&[u8], WavError> {
        self.encoded.clear();
        self.audio_bytes += (left.len().min(right.len()) * 2 * self.format.bytes_per_sample()) as u64;
        if self.audio_bytes > MAX_AUDIO_BYTES {
            return Err(WavError::TooLong { limit_bytes: MAX_AUDIO_BYTES });
        }
        match self.format {
            SampleFormat::Pcm16 => {
                let [left_dither, right_dither] = &mut self.dither;
                let count = 2 * left.len().min(right.len());
                let mut writer = self.writer.get_i16_writer(count as u32);
                for (left, right) in left.iter().zip(right) {
                    for (value, clipped) in [left_dither.quantize_16(*left), right_dither.quantize_16(*right)]
                    {
                        self.clipped_samples += u64::from(clipped);
                        writer.write_sample(value);
                        self.encoded.extend_from_slice(&value.to_le_bytes());
                    }
                }
                writer.flush().map_err(from_hound)?;
            }
            SampleFormat::Float32 => {
                for sample in left.iter().zip(right).flat_map(|(left, right)| [*left, *right]) {
                    self.clipped_samples += u64::from(sample.abs() > 1.0);
                    self.writer.write_sample(sample).map_err(from_hound)?;
                    self.encoded.extend_from_slice(&sample.to_le_bytes());
                }
            }
        }
        Ok(&self.encoded)
    }

    /// Samples so far that lay outside full scale.
    pub fn clipped_samples(&self) -> u64 {
        self.clipped_samples
    }

    /// Completes the header.
    ///
    /// # Errors
    ///
    /// [`WavError::Io`] if writing fails.
    pub fn finish(self) -> Result<(), WavError> {
        self.writer.finalize().map_err(from_hound)
    }
}

fn from_hound(error: hound::Error) -> WavError {
    match error {
        hound::Error::IoError(error) => WavError::Io(error),
        other => WavError::Io(std::io::Error::other(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn write(format: SampleFormat, left: &[f32], right: &[f32]) -> (Vec<u8>, Vec<u8>) {
        let mut file = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut file, 44_100, format, 0).unwrap();
        let audio = writer.write(left, right).unwrap().to_vec();
        writer.finish().unwrap();
        (file.into_inner(), audio)
    }

    #[test]
    fn floats_come_back_as_they_were() {
        let (left, right) = ([0.1, -2.0, 1e-20], [0.5, 0.25, -0.0]);
        let (file, audio) = write(SampleFormat::Float32, &left, &right);
        let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
        assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, 44_100));
        let samples: Vec<f32> = reader.samples().map(Result::unwrap).collect();
        assert_eq!(samples, [0.1, 0.5, -2.0, 0.25, 1e-20, -0.0]);
        assert!(file.ends_with(&audio));
    }

    #[test]
    fn sixteen_bit_is_within_a_step_and_a_half() {
        let ramp: Vec<f32> = (0..1_000).map(|n| n as f32 / 1_000.0 - 0.5).collect();
        let (file, audio) = write(SampleFormat::Pcm16, &ramp, &ramp);
        assert!(file.ends_with(&audio));
        let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
        let samples: Vec<i16> = reader.samples().map(Result::unwrap).collect();
        for (value, pair) in ramp.iter().zip(samples.chunks(2)) {
            for &sample in pair {
                let error = f64::from(sample) - f64::from(*value) * 32_768.0;
                assert!(error.abs() <= 1.5, "{value} became {sample}");
            }
        }
    }

    #[test]
    fn clipping_is_counted() {
        let mut writer = WavWriter::new(Cursor::new(Vec::new()), 48_000, SampleFormat::Pcm16, 0).unwrap();
        writer.write(&[1.5, 0.0], &[0.0, -1.5]).unwrap();
        assert_eq!(writer.clipped_samples(), 2);
    }
}
