//! Stereo WAV files in 8, 16 or 24-bit PCM with dither, or in 32-bit float. The crate `hound`
//! writes them.

use std::io::{Seek, Write};

use crate::dither::{NoiseShaping, QuantizerConfig, QuantizerDepth, QuantizerProcessor};

/// The sample format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// 8-bit integers with TPDF dither. In the file they are unsigned, and 128 is silence.
    Pcm8,
    /// 16-bit integers with TPDF dither.
    Pcm16,
    /// 24-bit integers with TPDF dither.
    Pcm24,
    /// 32-bit IEEE floats, unchanged.
    Float32,
}

impl SampleFormat {
    /// Returns the size of a sample in bytes.
    pub fn bytes_per_sample(self) -> usize {
        match self {
            Self::Pcm8 => 1,
            Self::Pcm16 => 2,
            Self::Pcm24 => 3,
            Self::Float32 => 4,
        }
    }

    /// Returns the bit depth of integer samples, or `None` for floats.
    pub fn bit_depth(self) -> Option<QuantizerDepth> {
        match self {
            Self::Pcm8 => Some(QuantizerDepth::Eight),
            Self::Pcm16 => Some(QuantizerDepth::Sixteen),
            Self::Pcm24 => Some(QuantizerDepth::TwentyFour),
            Self::Float32 => None,
        }
    }

    /// Decodes the stereo frames of a file and appends their samples to `left` and `right`, where
    /// full scale is 1. Bytes after the last whole frame are ignored.
    pub fn decode_stereo(self, audio: &[u8], left: &mut Vec<f32>, right: &mut Vec<f32>) {
        let sample_bytes = self.bytes_per_sample();
        for frame in audio.chunks_exact(2 * sample_bytes) {
            let (first, second) = frame.split_at(sample_bytes);
            left.push(self.decode(first));
            right.push(self.decode(second));
        }
    }

    /// Decodes one sample from its [`Self::bytes_per_sample`] bytes in the file.
    fn decode(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Pcm8, &[byte]) => (f32::from(byte) - 128.0) / 128.0,
            (Self::Pcm16, &[low, high]) => f32::from(i16::from_le_bytes([low, high])) / 32_768.0,
            (Self::Pcm24, &[low, middle, high]) => {
                i32::from_le_bytes([0, low, middle, high]) as f32 / 2_147_483_648.0
            }
            (Self::Float32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            _ => 0.0,
        }
    }
}

/// The reason why a WAV file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WavError {
    /// Writing to the destination failed.
    #[error("the WAV file could not be written: {0}")]
    Io(#[from] std::io::Error),
    /// The audio is longer than a WAV file can contain.
    #[error("the audio is too long for a WAV file, which can contain at most {limit_bytes} bytes of audio")]
    TooLong {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
}

/// Maximum size of the audio in a WAV file, in bytes: the largest 32-bit size minus space for the
/// header.
pub const MAX_AUDIO_BYTES: u64 = u32::MAX as u64 - 1_024;

/// Writes a stereo WAV file block by block.
pub struct WavWriter<W: Write + Seek> {
    writer: hound::WavWriter<W>,
    format: SampleFormat,
    encoder: SampleEncoder,
    audio_bytes: u64,
    /// Encoded bytes of the last call of [`Self::write`].
    encoded: Vec<u8>,
}

/// Converts the samples of the engine to those of a file.
enum SampleEncoder {
    Pcm { quantizers: Box<[QuantizerProcessor; 2]>, steps: [Vec<i32>; 2] },
    Float { clipped_samples: u64 },
}

impl SampleEncoder {
    fn new(format: SampleFormat, sample_rate_hz: u32, shaping: NoiseShaping, seed: u64) -> Self {
        let Some(depth) = format.bit_depth() else { return Self::Float { clipped_samples: 0 } };
        let quantizers = [0, 1].map(|channel| {
            QuantizerProcessor::new(QuantizerConfig { depth, shaping, sample_rate_hz, seed, channel })
        });
        Self::Pcm { quantizers: Box::new(quantizers), steps: [Vec::new(), Vec::new()] }
    }
}

impl<W: Write + Seek> WavWriter<W> {
    /// Starts a file at a sample rate in hertz. `seed` is the seed of the dither. `shaping` filters
    /// the quantization noise at the sample rates of [`NoiseShaping::at_rate`].
    ///
    /// # Errors
    ///
    /// [`WavError::Io`] if the header cannot be written.
    pub fn new(
        destination: W,
        sample_rate_hz: u32,
        format: SampleFormat,
        shaping: NoiseShaping,
        seed: u64,
    ) -> Result<Self, WavError> {
        let spec = hound::WavSpec {
            channels: 2,
            sample_rate: sample_rate_hz,
            bits_per_sample: 8 * format.bytes_per_sample() as u16,
            sample_format: match format {
                SampleFormat::Float32 => hound::SampleFormat::Float,
                _ => hound::SampleFormat::Int,
            },
        };
        Ok(Self {
            writer: hound::WavWriter::new(destination, spec).map_err(from_hound)?,
            format,
            encoder: SampleEncoder::new(format, sample_rate_hz, shaping, seed),
            audio_bytes: 0,
            encoded: Vec::new(),
        })
    }

    /// Appends frames and returns their encoded bytes, for hashing.
    ///
    /// # Errors
    ///
    /// [`WavError::TooLong`] if the file would have more than [`MAX_AUDIO_BYTES`] of audio, and
    /// [`WavError::Io`] if writing fails.
    pub fn write(&mut self, left: &[f32], right: &[f32]) -> Result<&[u8], WavError> {
        self.encoded.clear();
        let frames = left.len().min(right.len());
        self.audio_bytes += (frames * 2 * self.format.bytes_per_sample()) as u64;
        if self.audio_bytes > MAX_AUDIO_BYTES {
            return Err(WavError::TooLong { limit_bytes: MAX_AUDIO_BYTES });
        }
        let channels = [&left[..frames], &right[..frames]];
        match &mut self.encoder {
            SampleEncoder::Pcm { quantizers, steps } => {
                for ((quantizer, steps), samples) in quantizers.iter_mut().zip(&mut *steps).zip(channels) {
                    steps.resize(frames, 0);
                    quantizer.process(samples, steps);
                }
                write_steps(&mut self.writer, self.format, steps, &mut self.encoded).map_err(from_hound)?;
            }
            SampleEncoder::Float { clipped_samples } => {
                for sample in left.iter().zip(right).flat_map(|(left, right)| [*left, *right]) {
                    *clipped_samples += u64::from(sample.abs() > 1.0);
                    self.writer.write_sample(sample).map_err(from_hound)?;
                    self.encoded.extend_from_slice(&sample.to_le_bytes());
                }
            }
        }
        Ok(&self.encoded)
    }

    /// Returns the noise shaping that is used. It is [`NoiseShaping::Off`] for floats and at sample
    /// rates without a filter.
    pub fn shaping(&self) -> NoiseShaping {
        match &self.encoder {
            SampleEncoder::Pcm { quantizers, .. } => quantizers[0].shaping(),
            SampleEncoder::Float { .. } => NoiseShaping::Off,
        }
    }

    /// Returns the number of samples above full scale.
    pub fn clipped_samples(&self) -> u64 {
        match &self.encoder {
            SampleEncoder::Pcm { quantizers, .. } => {
                quantizers.iter().map(QuantizerProcessor::clipped_samples).sum()
            }
            SampleEncoder::Float { clipped_samples } => *clipped_samples,
        }
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

/// Writes integer samples to a file and appends their encoded bytes to `encoded`.
fn write_steps<W: Write + Seek>(
    writer: &mut hound::WavWriter<W>,
    format: SampleFormat,
    [left, right]: &[Vec<i32>; 2],
    encoded: &mut Vec<u8>,
) -> hound::Result<()> {
    let steps = left.iter().zip(right).flat_map(|(left, right)| [*left, *right]);
    match format {
        // This is the most frequent format. For 16 bits, `hound` has a faster writer, which writes
        // whole blocks.
        SampleFormat::Pcm16 => {
            let mut block = writer.get_i16_writer(2 * left.len() as u32);
            for step in steps {
                block.write_sample(step as i16);
                encoded.extend_from_slice(&(step as i16).to_le_bytes());
            }
            block.flush()
        }
        SampleFormat::Pcm8 => {
            for step in steps {
                writer.write_sample(step)?;
                encoded.push((step + 128) as u8);
            }
            Ok(())
        }
        SampleFormat::Pcm24 | SampleFormat::Float32 => {
            for step in steps {
                writer.write_sample(step)?;
                encoded.extend_from_slice(&step.to_le_bytes()[..3]);
            }
            Ok(())
        }
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
        let mut writer = WavWriter::new(&mut file, 44_100, format, NoiseShaping::Off, 0).unwrap();
        let audio = writer.write(left, right).unwrap().to_vec();
        writer.finish().unwrap();
        (file.into_inner(), audio)
    }

    #[test]
    fn floats_are_read_back_unchanged() {
        let (left, right) = ([0.1, -2.0, 1e-20], [0.5, 0.25, -0.0]);
        let (file, audio) = write(SampleFormat::Float32, &left, &right);
        let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
        assert_eq!((reader.spec().channels, reader.spec().sample_rate), (2, 44_100));
        let samples: Vec<f32> = reader.samples().map(Result::unwrap).collect();
        assert_eq!(samples, [0.1, 0.5, -2.0, 0.25, 1e-20, -0.0]);
        assert!(file.ends_with(&audio));
    }

    #[test]
    fn integers_have_an_error_of_at_most_1_5_steps_and_write_returns_the_bytes_of_the_file() {
        let ramp: Vec<f32> = (0..1_000).map(|n| n as f32 / 1_000.0 - 0.5).collect();
        for (format, full_scale) in
            [(SampleFormat::Pcm8, 128.0), (SampleFormat::Pcm16, 32_768.0), (SampleFormat::Pcm24, 8_388_608.0)]
        {
            let (file, audio) = write(format, &ramp, &ramp);
            assert!(file.ends_with(&audio));
            let mut reader = hound::WavReader::new(Cursor::new(&file)).unwrap();
            assert_eq!(usize::from(reader.spec().bits_per_sample), 8 * format.bytes_per_sample());
            let samples: Vec<i32> = reader.samples().map(Result::unwrap).collect();
            assert_eq!(samples.len(), 2 * ramp.len());
            let decoded = audio.chunks(format.bytes_per_sample()).map(|bytes| format.decode(bytes));
            for ((sample, value), decoded) in
                samples.iter().zip(ramp.iter().flat_map(|v| [v, v])).zip(decoded)
            {
                let error = f64::from(*sample) - f64::from(*value) * full_scale;
                assert!(error.abs() <= 1.5, "{value} became {sample} in {format:?}");
                assert_eq!(f64::from(decoded) * full_scale, f64::from(*sample));
            }
        }
    }

    #[test]
    fn shaping_reports_the_filter_that_is_used() {
        let shaping = |sample_rate_hz, format| {
            let destination = Cursor::new(Vec::new());
            WavWriter::new(destination, sample_rate_hz, format, NoiseShaping::Wannamaker, 0)
                .unwrap()
                .shaping()
        };
        assert_eq!(shaping(44_100, SampleFormat::Pcm16), NoiseShaping::Wannamaker);
        assert_eq!(shaping(96_000, SampleFormat::Pcm16), NoiseShaping::Off);
        assert_eq!(shaping(44_100, SampleFormat::Float32), NoiseShaping::Off);
    }

    #[test]
    fn clipped_samples_are_counted() {
        for format in [SampleFormat::Pcm8, SampleFormat::Pcm16, SampleFormat::Pcm24, SampleFormat::Float32] {
            let destination = Cursor::new(Vec::new());
            let mut writer = WavWriter::new(destination, 48_000, format, NoiseShaping::Off, 0).unwrap();
            writer.write(&[1.5, 0.0], &[0.0, -1.5]).unwrap();
            assert_eq!(writer.clipped_samples(), 2, "clipped samples in {format:?}");
        }
    }
}
