//! Writes stereo WAV files block by block.

use std::io::{self, Seek, SeekFrom, Write};

use super::{SampleFormat, header::header};
use crate::dither::{NoiseShaping, QuantizerConfig, QuantizerProcessor};

/// Writes a stereo WAV file block by block. A file above 4 GiB becomes an RF64 file.
pub struct WavWriter<W> {
    destination: W,
    /// Offset of the file in the destination, in bytes.
    start: u64,
    sample_rate_hz: u32,
    format: SampleFormat,
    encoder: SampleEncoder,
    frames: u64,
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
    /// If the header cannot be written.
    pub fn new(
        mut destination: W,
        sample_rate_hz: u32,
        format: SampleFormat,
        shaping: NoiseShaping,
        seed: u64,
    ) -> io::Result<Self> {
        let start = destination.stream_position()?;
        destination.write_all(&header(format, 2, sample_rate_hz, 0))?;
        let encoder = SampleEncoder::new(format, sample_rate_hz, shaping, seed);
        Ok(Self { destination, start, sample_rate_hz, format, encoder, frames: 0, encoded: Vec::new() })
    }

    /// Appends frames and returns their encoded bytes, for hashing.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, left: &[f32], right: &[f32]) -> io::Result<&[u8]> {
        self.encoded.clear();
        let frames = left.len().min(right.len());
        let channels = [&left[..frames], &right[..frames]];
        match &mut self.encoder {
            SampleEncoder::Pcm { quantizers, steps } => {
                for ((quantizer, steps), samples) in quantizers.iter_mut().zip(&mut *steps).zip(channels) {
                    steps.resize(frames, 0);
                    quantizer.process(samples, steps);
                }
                encode_steps(self.format, steps, &mut self.encoded);
            }
            SampleEncoder::Float { clipped_samples } => {
                for sample in left.iter().zip(right).flat_map(|(left, right)| [*left, *right]) {
                    *clipped_samples += u64::from(sample.abs() > 1.0);
                    self.encoded.extend_from_slice(&sample.to_le_bytes());
                }
            }
        }
        self.destination.write_all(&self.encoded)?;
        self.frames += frames as u64;
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

    /// Writes the final sizes into the header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<()> {
        let header = header(self.format, 2, self.sample_rate_hz, self.frames);
        let end = self.destination.stream_position()?;
        self.destination.seek(SeekFrom::Start(self.start))?;
        self.destination.write_all(&header)?;
        self.destination.seek(SeekFrom::Start(end))?;
        self.destination.flush()
    }
}

/// Appends the bytes of integer samples to `encoded`.
fn encode_steps(format: SampleFormat, [left, right]: &[Vec<i32>; 2], encoded: &mut Vec<u8>) {
    let steps = left.iter().zip(right).flat_map(|(left, right)| [*left, *right]);
    match format {
        SampleFormat::Pcm8 => encoded.extend(steps.map(|step| (step + 128) as u8)),
        SampleFormat::Pcm16 => steps.for_each(|step| encoded.extend_from_slice(&(step as i16).to_le_bytes())),
        SampleFormat::Pcm24 | SampleFormat::Float32 => {
            steps.for_each(|step| encoded.extend_from_slice(&step.to_le_bytes()[..3]));
        }
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
