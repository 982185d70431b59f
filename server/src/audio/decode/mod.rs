//! Decodes uploaded audio files to samples.
//!
//! [`repair`] scans for damage, [`source`] decodes the packets that [`packets`] reads, and [`sink`]
//! writes the outputs; [`reader`] calls all of them. [`mp4_edit`] finds where the audio of an M4A
//! file begins. This module does not depend on the service: [`super::decoder`] runs it in a
//! separate process, and `tests/fuzz` compiles it alone.

mod input;
mod mp4_edit;
mod packets;
mod reader;
mod refusal;
mod repair;
mod sink;
mod source;
mod speakers;

use std::path::PathBuf;

pub(super) use reader::{decode, inspect};
use serde::{Deserialize, Serialize};

/// Lowest and highest accepted sample rate, in hertz.
const SAMPLE_RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// Properties from the header of an audio file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeaderInfo {
    /// Kind of file: `wave`, `flac`, `mp3` and so on.
    pub(crate) container: String,
    /// Codec of the samples.
    pub(crate) codec: String,
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: u32,
    /// Number of channels.
    pub(crate) channels: u32,
    /// Length in frames, if the header contains it.
    pub(crate) frames: Option<u64>,
}

/// A file to decode. Paths are relative to the working folder of the decoder process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    /// The file to read.
    pub(super) input: PathBuf,
    /// Output for the samples; see [`super::float_wav`].
    pub(super) samples: PathBuf,
    /// Output for the peaks; see [`super::peaks_file`].
    pub(super) peaks: PathBuf,
    pub(super) limits: Limits,
}

/// Limits of decoding.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Longest audio, in seconds.
    pub(super) max_secs: u64,
    /// Maximum number of channels.
    pub(super) max_channels: u64,
    /// Maximum size of the decoded copy, in bytes.
    pub(super) max_output_bytes: u64,
    /// Maximum time to decode, in seconds.
    pub(super) wall_secs: u64,
}

/// Properties of a decoded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    /// Kind of file: `wave`, `flac`, `mp3` and so on.
    pub(super) container: String,
    /// Codec of the samples.
    pub(super) codec: String,
    /// Sample rate in hertz.
    pub(super) sample_rate_hz: u32,
    /// Number of channels of the file.
    pub(super) source_channels: u32,
    /// Number of channels of the decoded copy: 1 or 2.
    pub(super) channels: u32,
    /// Length in frames.
    pub(super) frames: u64,
    /// Faults of the file that did not prevent decoding, as sentences.
    pub(super) warnings: Vec<String>,
}

/// Reason why a file is refused. Each text completes the sentence "`name` cannot be used: it ...".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    /// The format or codec is not supported.
    Unsupported(String),
    /// The file is damaged or contradicts its header.
    Malformed(String),
    /// The file exceeds a limit.
    Limit(String),
    /// Decoding took longer than this limit in seconds. A busy machine can be the cause.
    TooSlow(u64),
    /// The decoded copy exceeds the available space.
    NoRoom,
    /// Reading or writing failed, with this message for the log.
    Io(String),
}
