//! WAV files in 8, 16 or 24-bit PCM with dither, or in 32-bit float.

mod float_writer;
mod header;
mod sample_encoder;
mod writer;

pub use float_writer::{FLOAT_HEADER_BYTES, FloatWavWriter};
pub use sample_encoder::SampleEncoder;
pub use writer::WavWriter;

use crate::dither::QuantizerDepth;

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
