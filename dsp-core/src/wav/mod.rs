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
        let mut channels = [left, right];
        match self {
            Self::Pcm8 => deinterleave(audio, &mut channels, |[byte]| (f32::from(byte) - 128.0) / 128.0),
            Self::Pcm16 => {
                deinterleave(audio, &mut channels, |bytes| f32::from(i16::from_le_bytes(bytes)) / 32_768.0);
            }
            Self::Pcm24 => deinterleave(audio, &mut channels, |[low, middle, high]| {
                i32::from_le_bytes([0, low, middle, high]) as f32 / 2_147_483_648.0
            }),
            Self::Float32 => deinterleave(audio, &mut channels, f32::from_le_bytes),
        }
    }
}

/// Appends the samples of stereo frames to the two channels. `decode` decodes one sample.
fn deinterleave<const BYTES: usize>(
    audio: &[u8],
    channels: &mut [&mut Vec<f32>; 2],
    decode: impl Fn([u8; BYTES]) -> f32,
) {
    let frames = audio.as_chunks::<BYTES>().0.as_chunks::<2>().0;
    for (channel, samples) in channels.iter_mut().enumerate() {
        samples.extend(frames.iter().map(|frame| decode(frame[channel])));
    }
}
