//! The sample formats of WAV files, and the bytes of their samples.

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
    /// Returns the number of bits of an integer sample, or `None` for floats.
    pub fn integer_bits(self) -> Option<u32> {
        match self {
            Self::Pcm8 => Some(8),
            Self::Pcm16 => Some(16),
            Self::Pcm24 => Some(24),
            Self::Float32 => None,
        }
    }

    /// Returns the size of a sample in bytes.
    pub fn bytes_per_sample(self) -> usize {
        self.integer_bits().unwrap_or(32) as usize / 8
    }

    /// Decodes the stereo frames of a file and appends their samples to `left` and `right`, where
    /// full scale is 1. Bytes after the last whole frame are ignored.
    pub fn decode_stereo(self, audio: &[u8], left: &mut Vec<f32>, right: &mut Vec<f32>) {
        let mut channels = [left, right];
        match self {
            Self::Pcm8 => deinterleave::<1>(audio, &mut channels, decode_integer),
            Self::Pcm16 => deinterleave::<2>(audio, &mut channels, decode_integer),
            Self::Pcm24 => deinterleave::<3>(audio, &mut channels, decode_integer),
            Self::Float32 => deinterleave(audio, &mut channels, f32::from_le_bytes),
        }
    }

    /// Appends samples of a decoded file to `audio` as they were in the file. A float holds every
    /// integer of up to 24 bits exactly.
    pub fn encode_decoded(self, samples: &[f32], audio: &mut Vec<u8>) {
        match self {
            Self::Pcm8 => encode_integers::<1>(samples, audio),
            Self::Pcm16 => encode_integers::<2>(samples, audio),
            Self::Pcm24 => encode_integers::<3>(samples, audio),
            Self::Float32 => audio.extend(samples.iter().flat_map(|sample| sample.to_le_bytes())),
        }
    }

    /// Replaces `audio` by the bytes of integer samples of two channels. Floats have no steps, so
    /// their bytes are 0.
    pub(super) fn encode_steps(self, [left, right]: &[Vec<i32>; 2], audio: &mut Vec<u8>) {
        audio.resize(2 * self.bytes_per_sample() * left.len(), 0);
        match self {
            Self::Pcm8 => interleave::<1>(left, right, audio),
            Self::Pcm16 => interleave::<2>(left, right, audio),
            Self::Pcm24 => interleave::<3>(left, right, audio),
            Self::Float32 => {}
        }
    }
}

/// Returns the bytes of an integer sample. Samples of 8 bits are unsigned.
fn encode_integer<const BYTES: usize>(step: i32) -> [u8; BYTES] {
    let stored_step = if BYTES == 1 { step + 128 } else { step };
    let bytes = stored_step.to_le_bytes();
    core::array::from_fn(|index| bytes[index])
}

/// Returns the sample of the bytes of an integer, where full scale is 1.
fn decode_integer<const BYTES: usize>(bytes: [u8; BYTES]) -> f32 {
    let mut highest_bytes = [0; 4];
    highest_bytes[4 - BYTES..].copy_from_slice(&bytes);
    // Samples of 8 bits are unsigned. With its highest bit inverted, the byte is signed.
    if BYTES == 1 {
        highest_bytes[3] ^= 0x80;
    }
    i32::from_le_bytes(highest_bytes) as f32 / 2_147_483_648.0
}

/// Appends the bytes of samples that are exact integers of `BYTES` bytes.
fn encode_integers<const BYTES: usize>(samples: &[f32], audio: &mut Vec<u8>) {
    let full_scale = (1_u32 << (8 * BYTES - 1)) as f32;
    audio.extend(samples.iter().flat_map(|sample| encode_integer::<BYTES>((sample * full_scale) as i32)));
}

/// Writes the frames of two channels of integers.
fn interleave<const BYTES: usize>(left: &[i32], right: &[i32], audio: &mut [u8]) {
    let frames = audio.as_chunks_mut::<BYTES>().0.as_chunks_mut::<2>().0;
    for ((frame, left), right) in frames.iter_mut().zip(left).zip(right) {
        *frame = [encode_integer(*left), encode_integer(*right)];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_samples_become_the_bytes_of_the_file_again() {
        for (format, bytes) in [
            (SampleFormat::Pcm8, vec![0, 1, 127, 128, 129, 255]),
            (SampleFormat::Pcm16, [i16::MIN, -1, 0, 1, 12_345, i16::MAX].map(i16::to_le_bytes).concat()),
            (SampleFormat::Pcm24, vec![0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0xFF, 0xFF, 0x7F]),
            (SampleFormat::Float32, [-1.5_f32, 0.1].map(f32::to_le_bytes).concat()),
        ] {
            let (mut left, mut right, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
            format.decode_stereo(&bytes, &mut left, &mut right);
            for (left, right) in left.iter().zip(&right) {
                format.encode_decoded(&[*left, *right], &mut encoded);
            }
            assert_eq!(encoded, bytes, "{format:?}");
        }
    }
}
