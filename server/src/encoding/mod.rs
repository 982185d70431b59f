//! Encodes rendered audio as FLAC, MP3, Ogg Vorbis or Opus, each file in a separate process.
//!
//! The codecs are C libraries, except FLAC. They run in a child process of the same program
//! (`songfoundry encode`, a hidden command). So no codec can stop the service, read its secrets, or
//! use more memory than a limit. The child gets the samples through its standard input and writes
//! to an unnamed file as its standard output. When the file is complete, the child decodes and
//! measures it, so that the report describes the audio that a player decodes.
//!
//! [`program`] starts and supervises the process, [`child`] is the process. [`audio_format`]
//! describes the formats, [`codecs`] has a module for each, and [`decoding`] measures a complete
//! file.

pub(crate) mod audio_format;
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

use dsp_core::wav::SampleFormat;
pub(crate) use program::{EncoderProcess, EncoderProgram, EncodingError};
use serde::{Deserialize, Serialize};

use audio_format::{AudioFormat, BitDepth};
use measure::Measurements;
use quality::Quality;
use tags::Tags;

/// Number of channels of every file.
const CHANNELS: usize = 2;

/// The request to a child: a file to encode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Format of the file, any except WAV.
    pub(crate) format: AudioFormat,
    /// Format of the samples: floats for lossy formats.
    pub(crate) bit_depth: BitDepth,
    /// Quality of a lossy file.
    pub(crate) quality: Quality,
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: u32,
    /// Tags of the file.
    pub(crate) tags: Tags,
    /// Maximum number of frames.
    pub(crate) max_frames: u64,
}

impl Request {
    fn sample_format(&self) -> SampleFormat {
        self.bit_depth.into()
    }
}

/// The samples that a child has received.
struct SentSamples {
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
    Done(EncodedFile),
    /// The file cannot be encoded, with the reason for the log.
    Failed(String),
}

/// A complete file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EncodedFile {
    /// Measurements of the file's samples, as decoded from it.
    pub(crate) measured: Measurements,
    /// Number of decoded samples beyond full scale.
    pub(crate) clipped_samples: u64,
    /// SHA-256 of the whole file, in hexadecimal.
    pub(crate) file_sha256: String,
}
