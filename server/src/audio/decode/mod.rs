//! Audio files of others as samples.
//!
//! [`repair`] looks for damage first, [`source`] reads and decodes [`packets`], [`sink`] writes,
//! and [`reader`] joins them; [`mp4_edit`] finds where the sound of an M4A file begins. Nothing
//! here knows the service: [`super::decoder`] runs it in a process of its own, and `tests/fuzz`
//! compiles it by itself.

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

/// Lowest and highest sample rate that is taken, in hertz.
const SAMPLE_RATES_HZ: std::ops::RangeInclusive<u32> = 8_000..=192_000;

/// What the header of an audio file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Kind of file: `wave`, `flac`, `mp3` and so on.
    pub(crate) container: String,
    /// How its samples are coded.
    pub(crate) codec: String,
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: u32,
    /// Channels.
    pub(crate) channels: u32,
    /// Length in frames, if the header says it.
    pub(crate) frames: Option<u64>,
}

/// What is to be decoded. In a child, paths are relative to its folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    /// The file to read.
    pub(super) input: PathBuf,
    /// Where the samples go; see [`super::float_wav`].
    pub(super) samples: PathBuf,
    /// Where the peaks go; see [`super::peaks_file`].
    pub(super) peaks: PathBuf,
    pub(super) limits: Limits,
}

/// How far decoding may go.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Longest audio, in seconds.
    pub(super) max_secs: u64,
    /// Most channels.
    pub(super) max_channels: u64,
    /// Most bytes that may be written.
    pub(super) max_output_bytes: u64,
    /// Longest time, in seconds.
    pub(super) wall_secs: u64,
}

/// What was decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Report {
    /// Kind of file: `wave`, `flac`, `mp3` and so on.
    pub(super) container: String,
    /// How its samples are coded.
    pub(super) codec: String,
    /// Sample rate in hertz.
    pub(super) sample_rate_hz: u32,
    /// Channels of the file.
    pub(super) source_channels: u32,
    /// Channels of the decoded copy: 1 or 2.
    pub(super) channels: u32,
    /// Length in frames.
    pub(super) frames: u64,
    /// What was found wrong with the file and passed over, in sentences.
    pub(super) warnings: Vec<String>,
}

/// Why a file is not taken. The texts complete the sentence "`name` cannot be used: it ...".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    /// A kind of file or a coding that is not read here.
    Unsupported(String),
    /// The file is damaged or lies about itself.
    Malformed(String),
    /// It is longer or wider than is accepted.
    Limit(String),
    /// Decoding took longer than it may, in seconds: a busy machine can be the cause.
    TooSlow(u64),
    /// The decoded copy is larger than there is room for.
    NoRoom,
    /// The disk failed; for the log.
    Io(String),
}
