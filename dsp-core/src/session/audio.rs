//! Audio files in memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// Bytes of a sample.
const VALUE_BYTES: usize = 4;

/// A source of audio for clips.
#[derive(Debug, Clone)]
pub enum AudioSlot {
    /// Audio that is in memory as a whole.
    Whole(Audio),
    /// Audio that the caller streams block by block: see
    /// [`Mixer::wanted_audio`](crate::mixer::Mixer::wanted_audio).
    Streamed {
        /// Length in frames.
        frames: u64,
    },
}

impl AudioSlot {
    /// Length in frames.
    pub fn frames(&self) -> u64 {
        match self {
            Self::Whole(audio) => audio.frames(),
            Self::Streamed { frames } => *frames,
        }
    }
}

/// Why bytes cannot be used as audio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AudioError {
    /// Neither mono nor stereo.
    #[error("audio has {channels} channels; one or two can be played")]
    Channels {
        /// The number of channels.
        channels: u16,
    },
    /// The range of the samples lies outside the bytes.
    #[error("the samples end after the last of the {bytes} bytes")]
    Range {
        /// Number of bytes.
        bytes: usize,
    },
}

/// Mono or stereo audio at the session's sample rate: little-endian 32-bit floats, channels
/// interleaved, as in a WAV file. Cheap to clone.
#[derive(Clone)]
pub struct Audio {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    start: usize,
    frames: u64,
    channels: u16,
}

/// Whether both read the same bytes in memory.
impl PartialEq for Audio {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
            && (self.start, self.frames, self.channels) == (other.start, other.frames, other.channels)
    }
}

impl Audio {
    /// Audio in shared bytes, such as a memory map of a file, which is read in place. `data` is the
    /// range of the samples; an incomplete frame at its end is ignored.
    ///
    /// # Errors
    ///
    /// [`AudioError`] for other than one or two channels, or a range outside the bytes.
    pub fn from_shared(
        bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
        data: Range<usize>,
        channels: u16,
    ) -> Result<Self, AudioError> {
        if !(1..=2).contains(&channels) {
            return Err(AudioError::Channels { channels });
        }
        let size = (*bytes).as_ref().len();
        if data.start > data.end || data.end > size {
            return Err(AudioError::Range { bytes: size });
        }
        let frames = (data.len() / (VALUE_BYTES * usize::from(channels))) as u64;
        Ok(Self { bytes, start: data.start, frames, channels })
    }

    /// Audio with a copy of one or two channels; as long as the shorter one.
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
        let frames = (bytes.len() / (VALUE_BYTES * usize::from(channels))) as u64;
        Self { bytes: Arc::new(bytes), start: 0, frames, channels }
    }

    /// Length in frames.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Left and right; both are the same for mono audio. Samples that are not finite become 0.
    pub(crate) fn channels(&self) -> [Vec<f32>; 2] {
        let frames = self.frames as usize;
        let mut channels = [alloc::vec![0.0; frames], alloc::vec![0.0; frames]];
        let [left, right] = &mut channels;
        self.read(0, [left, right]);
        channels
    }

    /// Reads frames from `frame` on, all of which the audio must have.
    pub(crate) fn read(&self, frame: u64, [left, right]: [&mut [f32]; 2]) {
        let width = VALUE_BYTES * usize::from(self.channels);
        let start = self.start + frame as usize * width;
        let bytes = (*self.bytes).as_ref().get(start..start + left.len() * width).unwrap_or(&[]);
        if self.channels == 1 {
            for ((left, right), frame) in left.iter_mut().zip(right).zip(bytes.as_chunks::<VALUE_BYTES>().0) {
                *left = number(*frame);
                *right = *left;
            }
        } else {
            for ((left, right), frame) in
                left.iter_mut().zip(right).zip(bytes.as_chunks::<{ 2 * VALUE_BYTES }>().0)
            {
                let [a, b, c, d, e, f, g, h] = *frame;
                (*left, *right) = (number([a, b, c, d]), number([e, f, g, h]));
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

fn number(bytes: [u8; VALUE_BYTES]) -> f32 {
    let value = f32::from_le_bytes(bytes);
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_where_they_lie() {
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
        assert_eq!(error(3..end + 1, 2), AudioError::Range { bytes: end });
    }
}
