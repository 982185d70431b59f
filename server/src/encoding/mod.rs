//! Encodes rendered audio as FLAC, MP3, Ogg Vorbis or Opus, each file in a separate process.
//!
//! The codecs are C libraries, except FLAC. They run in a child process of the same program
//! (`songfoundry encode`, a hidden command), so that no codec can stop the service, read its
//! secrets, or use more memory than a limit. The child gets the samples through its standard input
//! and writes to an unnamed file as its standard output. When the file is complete, the child
//! decodes and measures it: the report is about what a listener will hear.
//!
//! [`program`] starts and supervises the process, [`child`] is the process. [`codecs`] has a file
//! for each format, and [`decoding`] decodes a complete file.

pub(crate) mod chapters;
pub(crate) mod child;
mod codecs;
pub(crate) mod cover;
mod decoding;
pub(crate) mod loudness_curve;
pub(crate) mod measure;
mod program;
pub(crate) mod quality;
pub(crate) mod tags;
#[cfg(test)]
mod tests;

pub(crate) use program::{EncoderProcess, EncoderProgram, EncodingError};
use serde::{Deserialize, Serialize};

use measure::Measured;
use quality::Quality;
use tags::Tags;

/// Number of channels of every file.
const CHANNELS: usize = 2;

/// A codec with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Codec {
    /// FLAC. The samples are integers of this many bits: 16 or 24.
    Flac { bits: u8 },
    /// MP3. The samples are floats.
    Mp3(Quality),
    /// Vorbis in an Ogg file. The samples are floats.
    Vorbis(Quality),
    /// Opus in an Ogg file. The samples are floats.
    Opus(Quality),
}

/// The request to a child: a file to encode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The codec.
    pub(crate) codec: Codec,
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: u32,
    /// Title, artist and so on.
    pub(crate) tags: Tags,
    /// Maximum number of frames.
    pub(crate) max_frames: u64,
}

impl Codec {
    /// Returns the size of a sample that the child receives, in bytes.
    fn sample_bytes(self) -> usize {
        match self {
            Self::Flac { bits } => usize::from(bits / 8),
            Self::Mp3(_) | Self::Vorbis(_) | Self::Opus(_) => size_of::<f32>(),
        }
    }
}

/// The samples that a child has received.
struct Sent {
    /// SHA-256 of the samples, in hexadecimal.
    sha256: String,
    /// Number of frames.
    frames: u64,
}

/// A line that a child prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// The file is complete.
    Done(Encoded),
    /// The file cannot be encoded, with the reason for the log.
    Failed(String),
}

/// A complete file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Encoded {
    /// Measurements of the file's samples, as decoded from it.
    pub(crate) measured: Measured,
    /// Number of decoded samples beyond full scale.
    pub(crate) clipped_samples: u64,
    /// SHA-256 of the whole file, in hexadecimal.
    pub(crate) file_sha256: String,
}
