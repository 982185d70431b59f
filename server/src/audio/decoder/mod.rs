//! Decodes each audio file in a separate process.
//!
//! Containers and codecs are the largest parsers of hostile bytes in the service. They run in a
//! child of the same program (`songfoundry decode`, hidden) that gets three open-ended things only:
//! the file, and two empty files for samples and peaks. It has no settings, no secrets and no
//! sockets; its memory, processor time and file size are limited by the system; and whatever
//! happens to it (an abort for want of memory, an endless loop, a bug in a codec) is an ordinary
//! refusal of one file. A thread with `catch_unwind` would be cheaper by some milliseconds, but
//! could neither be stopped nor be limited.
//!
//! [`child`] is the process, [`program`] starts it, and [`super::decode`] is what it does.

pub(crate) mod child;
mod program;

use std::path::PathBuf;

pub(super) use program::{Decoder, Failure};
use serde::{Deserialize, Serialize};

use super::decode::{HeaderInfo, Job, Refusal, Report};

/// What a child is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// Decode a file.
    Decode(Job),
    /// Read the headers of these files, and say of each what is in it.
    Inspect(Vec<PathBuf>),
}

/// A line that a child prints.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// Share of the file that is read, 0 to 1.
    Progress(f64),
    /// The end.
    Done(Report),
    /// The other end.
    Refused(Refusal),
    /// What is in the next of the files to look into; null if it is no audio file that is read
    /// here.
    Inspected(Option<HeaderInfo>),
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;
