//! Decodes each audio file in a separate process.
//!
//! Containers and codecs are the most complex untrusted input that the service parses. They are
//! parsed in a child process of the same program (`songfoundry decode`, a hidden command). The
//! child gets the file and two empty files for samples and peaks, but no settings, secrets or
//! sockets. The operating system limits its memory, processor time and file size. If it runs out of
//! memory, loops endlessly or crashes, only this file is refused. A thread with `catch_unwind`
//! would save some milliseconds, but could be neither stopped nor limited.
//!
//! [`child`] is the process, [`program`] starts it, and [`super::decode`] decodes the file.

pub(crate) mod child;
mod program;

use std::path::PathBuf;

pub(super) use program::{Decoder, Failure};
use serde::{Deserialize, Serialize};

use super::decode::{HeaderInfo, Job, Refusal, Report};

/// A request to a child.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Decode a file.
    Decode(Job),
    /// Read the headers of these files.
    Inspect(Vec<PathBuf>),
}

/// A line that a child prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// Fraction of the file read so far, 0 to 1.
    Progress(f64),
    /// The file was decoded.
    Done(Report),
    /// The file was refused.
    Refused(Refusal),
    /// The header of the next file; null if the file is not supported audio.
    Inspected(Option<HeaderInfo>),
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;
