//! Converts the samples of the engine to those of a file.

use super::SampleFormat;
use crate::dither::{NoiseShaping, QuantizerConfig, QuantizerProcessor};

/// Converts stereo frames of the engine to the audio data of a WAV file, block by block. Integers
/// get dither.
pub struct SampleEncoder {
    format: SampleFormat,
    conversion: Conversion,
    /// Encoded bytes of the last call of [`Self::encode`].
    encoded_bytes: Vec<u8>,
}

enum Conversion {
    Integers { quantizers: Box<[QuantizerProcessor; 2]>, steps: [Vec<i32>; 2] },
    Floats { clipped_samples: u64 },
}

impl SampleEncoder {
    /// Creates an encoder for a format and a sample rate in hertz. `seed` is the seed of the
    /// dither. `shaping` filters the quantization noise at the sample rates of
    /// [`NoiseShaping::at_rate`].
    pub fn new(format: SampleFormat, sample_rate_hz: u32, shaping: NoiseShaping, seed: u64) -> Self {
        let conversion = match format.integer_bits() {
            None => Conversion::Floats { clipped_samples: 0 },
            Some(bits) => {
                let quantizers = [0, 1].map(|channel| {
                    QuantizerProcessor::new(QuantizerConfig { bits, shaping, sample_rate_hz, seed, channel })
                });
                Conversion::Integers { quantizers: Box::new(quantizers), steps: [Vec::new(), Vec::new()] }
            }
        };
        Self { format, conversion, encoded_bytes: Vec::new() }
    }

    /// Returns the audio data of the next frames.
    pub fn encode(&mut self, left: &[f32], right: &[f32]) -> &[u8] {
        self.encoded_bytes.clear();
        let frames = left.len().min(right.len());
        let channels = [&left[..frames], &right[..frames]];
        match &mut self.conversion {
            Conversion::Integers { quantizers, steps } => {
                for ((quantizer, steps), samples) in quantizers.iter_mut().zip(&mut *steps).zip(channels) {
                    steps.resize(frames, 0);
                    quantizer.process(samples, steps);
                }
                self.format.encode_steps(steps, &mut self.encoded_bytes);
            }
            Conversion::Floats { clipped_samples } => {
                for sample in left.iter().zip(right).flat_map(|(left, right)| [*left, *right]) {
                    *clipped_samples += u64::from(sample.abs() > 1.0);
                    self.encoded_bytes.extend_from_slice(&sample.to_le_bytes());
                }
            }
        }
        &self.encoded_bytes
    }

    /// Returns the noise shaping that is used. It is [`NoiseShaping::Off`] for floats and at sample
    /// rates without a filter.
    pub fn shaping(&self) -> NoiseShaping {
        match &self.conversion {
            Conversion::Integers { quantizers, .. } => quantizers[0].shaping(),
            Conversion::Floats { .. } => NoiseShaping::Off,
        }
    }

    /// Returns the number of samples above full scale so far.
    pub fn clipped_samples(&self) -> u64 {
        match &self.conversion {
            Conversion::Integers { quantizers, .. } => {
                quantizers.iter().map(QuantizerProcessor::clipped_samples).sum()
            }
            Conversion::Floats { clipped_samples } => *clipped_samples,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaping_reports_the_filter_that_is_used() {
        let shaping = |sample_rate_hz, format| {
            SampleEncoder::new(format, sample_rate_hz, NoiseShaping::Wannamaker, 0).shaping()
        };
        assert_eq!(shaping(44_100, SampleFormat::Pcm16), NoiseShaping::Wannamaker);
        assert_eq!(shaping(96_000, SampleFormat::Pcm16), NoiseShaping::Off);
        assert_eq!(shaping(44_100, SampleFormat::Float32), NoiseShaping::Off);
    }

    #[test]
    fn clipped_samples_are_counted() {
        for format in [SampleFormat::Pcm8, SampleFormat::Pcm16, SampleFormat::Pcm24, SampleFormat::Float32] {
            let mut encoder = SampleEncoder::new(format, 48_000, NoiseShaping::Off, 0);
            encoder.encode(&[1.5, 0.0], &[0.0, -1.5]);
            assert_eq!(encoder.clipped_samples(), 2, "clipped samples in {format:?}");
        }
    }
}
