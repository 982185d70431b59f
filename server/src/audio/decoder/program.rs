//! Starts, supervises and ends the decoder process.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::child::{INSPECTION_SECS, MEMORY_MAX_BYTES};
use super::{Message, Request};
use crate::audio::decode::{HeaderInfo, Job, Refusal, Report};
use crate::helper_processes::Helpers;
use crate::helper_processes::program::{ExitCause, HelperProcess, HelperProgram, Output, TestEntry};

/// Interval between checks whether the caller still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time between the time limit and the killing of a process that has not exited by itself.
const GRACE_DURATION: Duration = Duration::from_secs(10);

/// Reason why no audio was decoded.
#[derive(Debug)]
pub(in crate::audio) enum Failure {
    /// The file is refused.
    Refused(Refusal),
    /// The observer cancelled the work, or an administrator ended the process.
    Cancelled,
    /// The process could not be started or read, or was ended for a reason other than the file.
    Io(std::io::Error),
}

/// The test that acts as the decoder in unit tests.
pub(super) const TEST_ENTRY: TestEntry = TestEntry {
    test: "audio::decoder::tests::a_file_is_decoded_in_a_separate_process",
    mark: "SONGFOUNDRY_TEST_DECODES",
};

/// The decoder program: this executable with the `decode` command.
#[derive(Debug, Clone)]
pub(in crate::audio) struct Decoder(HelperProgram);

impl Decoder {
    /// Returns the decoder of this executable.
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        Ok(Self(HelperProgram::of_this_program("decoder", "decode", TEST_ENTRY, helpers)?))
    }

    /// Runs `job`, whose paths are relative to `folder`. Blocks. `observer` receives the fraction
    /// of the file that was read, and returns whether to continue.
    pub(in crate::audio) fn run(
        &self,
        folder: &Path,
        job: &Job,
        observer: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Report, Failure> {
        let request = Request::Decode(job.clone());
        let (mut process, messages) = Process::start(&self.0, folder, &request).map_err(Failure::Io)?;
        let deadline = Instant::now() + Duration::from_secs(job.limits.wall_secs) + GRACE_DURATION;
        let mut fraction = 0.0;
        loop {
            match messages.recv_timeout(POLL_INTERVAL) {
                Ok(Message::Progress(read_fraction)) => fraction = read_fraction,
                Ok(Message::Done(report)) => return Ok(report),
                Ok(Message::Refused(refusal)) => return Err(Failure::Refused(refusal)),
                Ok(Message::Inspected(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(process.failure(job)),
            }
            if !observer(fraction) || process.0.is_to_end() {
                return Err(Failure::Cancelled);
            }
            if Instant::now() > deadline {
                return Err(Failure::Refused(too_slow(job)));
            }
        }
    }

    /// Reads the headers of files, in the order of `files`. An entry is `None` if the file is not
    /// supported audio, or if it crashed the process. After a crash, a new process continues with
    /// the next file. Blocks until all headers are read, [`INSPECTION_SECS`] have passed, or
    /// `is_wanted` returns false. Entries that were not read are `None`.
    pub(in crate::audio) fn inspect(
        &self,
        files: &[PathBuf],
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<Vec<Option<HeaderInfo>>> {
        let mut headers = Vec::with_capacity(files.len());
        let deadline = Instant::now() + Duration::from_secs(INSPECTION_SECS);
        while headers.len() < files.len() && Instant::now() < deadline && is_wanted() {
            let remaining = &files[headers.len()..];
            let (process, messages) =
                Process::start(&self.0, Path::new("/"), &Request::Inspect(remaining.to_vec()))?;
            while headers.len() < files.len() {
                match messages.recv_timeout(POLL_INTERVAL) {
                    Ok(Message::Inspected(header)) => headers.push(header),
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {
                        if process.0.is_to_end() || !is_wanted() {
                            break;
                        }
                    }
                    Err(_) => break,
                }
            }
            if headers.len() < files.len() {
                headers.push(None);
            }
        }
        headers.resize(files.len(), None);
        Ok(headers)
    }
}

/// A running decoder. Dropping it kills the process.
struct Process(HelperProcess);

impl Process {
    /// Starts a process and sends the request. The channel receives its messages and closes when
    /// the process ends.
    fn start(
        decoder: &HelperProgram,
        folder: &Path,
        request: &Request,
    ) -> std::io::Result<(Self, Receiver<Message>)> {
        let mut process = Self(decoder.start(folder, Output::Messages, request)?);
        let messages = process.0.messages()?;
        Ok((process, messages))
    }

    /// Returns the reason why the process ended without a result.
    fn failure(&mut self, job: &Job) -> Failure {
        let status = match self.0.child.wait() {
            Ok(status) => status,
            Err(error) => return Failure::Io(error),
        };
        tracing::warn!(?status, "a decoder exited without reporting a result");
        match ExitCause::of(status) {
            ExitCause::OutOfTime => Failure::Refused(too_slow(job)),
            ExitCause::OutOfRoom => Failure::Refused(Refusal::NoRoom),
            ExitCause::Crash => Failure::Refused(Refusal::Malformed(format!(
                "is damaged, or needs more memory than the {} MiB that the decoder may use",
                MEMORY_MAX_BYTES >> 20
            ))),
            ExitCause::External => {
                Failure::Io(std::io::Error::other(format!("the decoder was ended: {status}")))
            }
        }
    }
}

fn too_slow(job: &Job) -> Refusal {
    Refusal::TooSlow(job.limits.wall_secs)
}
