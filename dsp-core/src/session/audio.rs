//! Audio of clips and impulse responses.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// Size of a sample in bytes.
const SAMPLE_BYTES: usize = 4;

/// A source of audio for clips and impulse responses.
#[derive(Debug, Clone)]
pub enum AudioSlot {
    /// Audio that is completely in memory.
    Whole(Audio),
    /// Audio that the caller streams block by block: see
    /// [`Mixer::wanted_audio`](crate::mixer::Mixer::wanted_audio).
    Streamed {
        /// Length in frames at the sample rate of the session.
        frames: u64,
    },
}

impl AudioSlot {
    /// Returns the length in frames.
    pub fn frames(&self) -> u64 {
        match self {
            Self::Whole(audio) => audio.frames(),
            Self::Streamed { frames } => *frames,
        }
    }
}

/// The reason why bytes cannot be used as audio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AudioError {
    /// The audio is neither mono nor stereo.
    #[error("the audio has {channels} channels; only one or two channels are supported")]
    Channels {
        /// The unsupported number of channels.
        channels: u16,
    },
    /// The range of the samples lies outside the bytes.
    #[error("the samples at bytes {start} to {end} lie outside the audio data, which has {bytes} bytes")]
    Range {
        /// Offset of the first byte of the samples.
        start: usize,
        /// Offset of the end of the samples.
        end: usize,
        /// Number of bytes of the audio data.
        bytes: usize,
    },
}

/// Mono or stereo audio at the session's sample rate, stored as interleaved little-endian 32-bit
/// floats, as in a WAV file. A clone shares the bytes.
#[derive(Clone)]
pub struct Audio {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    /// Offset of the first sample in bytes.
    start: usize,
    frames: u64,
    channels: u16,
}

/// Two values are equal if they read the same bytes in memory.
impl PartialEq for Audio {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
            && (self.start, self.frames, self.channels) == (other.start, other.frames, other.channels)
    }
}

impl Audio {
    /// Creates audio from shared bytes, such as a memory map of a file, without a copy.
    /// `sample_range` is the byte range of the samples. An incomplete frame at the end of the range
    /// is ignored.
    ///
    /// # Errors
    ///
    /// [`AudioError`] if `channels` is not 1 or 2, or if the range lies outside the bytes.
    pub fn from_shared(
        bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
        sample_range: Range<usize>,
        channels: u16,
    ) -> Result<Self, AudioError> {
        if !(1..=2).contains(&channels) {
            return Err(AudioError::Channels { channels });
        }
        let size_bytes = (*bytes).as_ref().len();
        if sample_range.start > sample_range.end || sample_range.end > size_bytes {
            return Err(AudioError::Range {
                start: sample_range.start,
                end: sample_range.end,
                bytes: size_bytes,
            });
        }
        let frames = (sample_range.len() / (SAMPLE_BYTES * usize::from(channels))) as u64;
        Ok(Self { bytes, start: sample_range.start, frames, channels })
    }

    /// Creates audio with a copy of one or two channels. It is as long as the shorter channel.
    pub fn from_channels(left: &[f32], right: Option<&[f32]>) -> Self {
        let bytes: Vec<u8> = match right {
            Some(right) => left
                .iter()
                .zip(right)
                .flat_map(|(left, right)| [left, right])
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            None => left.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let channels = if right.is_some() { 2 } else { 1 };
        let frames = (bytes.len() / (SAMPLE_BYTES * usize::from(channels))) as u64;
        Self { bytes: Arc::new(bytes), start: 0, frames, channels }
    }

    /// Returns the length in frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns left and right, which are equal for mono audio. Samples that are not finite become
    /// 0.
    pub(crate) fn channels(&self) -> [Vec<f32>; 2] {
        let frames = self.frames as usize;
        let mut channels = [alloc::vec![0.0; frames], alloc::vec![0.0; frames]];
        let [left, right] = &mut channels;
        self.read(0, [left, right]);
        channels
    }

    /// Reads frames into the slices, starting with `frame`. The audio must have all of these
    /// frames.
    pub(crate) fn read(&self, frame: u64, [left, right]: [&mut [f32]; 2]) {
        let frame_bytes = SAMPLE_BYTES * usize::from(self.channels);
        let start = self.start + frame as usize * frame_bytes;
        let bytes = (*self.bytes).as_ref().get(start..start + left.len() * frame_bytes).unwrap_or(&[]);
        if self.channels == 1 {
            for ((left, right), frame) in left.iter_mut().zip(right).zip(bytes.as_chunks::<SAMPLE_BYTES>().0)
            {
                *left = finite_sample(*frame);
                *right = *left;
            }
        } else {
            for ((left, right), frame) in
                left.iter_mut().zip(right).zip(bytes.as_chunks::<{ 2 * SAMPLE_BYTES }>().0)
            {
                let [a, b, c, d, e, f, g, h] = *frame;
                (*left, *right) = (finite_sample([a, b, c, d]), finite_sample([e, f, g, h]));
            }
        }
    }
}

impl fmt::Debug for Audio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, channels, .. } = self;
        formatter
            .debug_struct("Audio")
            .field("frames", frames)
            .field("channels", channels)
            .finish_non_exhaustive()
    }
}

/// Converts bytes to a sample; 0 if it is not finite.
fn finite_sample(bytes: [u8; SAMPLE_BYTES]) -> f32 {
    let value = f32::from_le_bytes(bytes);
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_from_any_byte_offset() {
        let mut bytes = alloc::vec![9; 3];
        for value in [1.0_f32, -1.0, 0.5, f32::NAN, 0.25, 4.0] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.push(9);
        let end = bytes.len();
        let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(bytes);
        let stereo = Audio::from_shared(Arc::clone(&bytes), 3..end, 2).unwrap();
        assert_eq!(stereo.frames(), 3);
        assert_eq!(stereo.channels(), [alloc::vec![1.0, 0.5, 0.25], alloc::vec![-1.0, 0.0, 4.0]]);
        let mono = Audio::from_shared(Arc::clone(&bytes), 3..15, 1).unwrap();
        assert_eq!(mono.channels(), [alloc::vec![1.0, -1.0, 0.5], alloc::vec![1.0, -1.0, 0.5]]);
        let error = |data, channels| Audio::from_shared(Arc::clone(&bytes), data, channels).unwrap_err();
        assert_eq!(error(3..15, 3), AudioError::Channels { channels: 3 });
        assert_eq!(error(3..end + 1, 2), AudioError::Range { start: 3, end: end + 1, bytes: end });
    }
}
