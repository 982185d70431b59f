//! Starts, supervises and ends the encoder process.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::Path;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::child::CPU_SECS;
use super::{EncodedFile, Message, Request};
use crate::helper_processes::Helpers;
use crate::helper_processes::program::{ExitCause, HelperProcess, HelperProgram, Output, TestEntry};

/// Interval between checks whether the caller still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of bytes that are sent to the process at a time.
const SEND_BYTES: usize = 1 << 16;

/// The test that acts as the encoder in unit tests.
pub(super) const TEST_ENTRY: TestEntry = TestEntry {
    test: "encoding::tests::a_file_is_encoded_in_a_separate_process",
    mark: "SONGFOUNDRY_TEST_ENCODES",
};

/// Reason why a file was not encoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncodingError {
    /// The caller no longer waits.
    #[error("the export was cancelled")]
    Cancelled,
    /// The process failed, or its file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The encoder program: this executable with the `encode` command.
#[derive(Debug, Clone)]
pub struct EncoderProgram(HelperProgram);

impl EncoderProgram {
    /// Returns the encoder of this executable.
    ///
    /// # Errors
    /// If the path of the executable is unknown.
    pub(crate) fn of_this_program(helpers: Helpers) -> io::Result<Self> {
        Ok(Self(HelperProgram::of_this_program("encoder", "encode", TEST_ENTRY, helpers)?))
    }

    /// Starts encoding to `file`, whose content is replaced.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(crate) fn start(&self, request: &Request, file: File) -> io::Result<EncoderProcess> {
        let output = Output::File(file.try_clone()?);
        let mut process = self.0.start(Path::new("/"), output, request)?;
        let input = BufWriter::with_capacity(SEND_BYTES, process.take_input()?);
        let messages = process.messages()?;
        Ok(EncoderProcess { input, messages, process, file })
    }
}

/// A running encoder. Dropping it kills the process.
pub(crate) struct EncoderProcess {
    input: BufWriter<ChildStdin>,
    messages: Receiver<Message>,
    process: HelperProcess,
    file: File,
}

impl EncoderProcess {
    /// Sends the samples of whole frames, in the form that the codec needs.
    ///
    /// # Errors
    /// If the process has ended; [`EncodingError::Cancelled`] if an administrator ends it.
    pub(crate) fn write(&mut self, samples: &[u8]) -> Result<(), EncodingError> {
        if self.process.is_to_end() {
            return Err(EncodingError::Cancelled);
        }
        // A part without samples would end the file.
        if samples.is_empty() {
            return Ok(());
        }
        let send_result = self
            .input
            .write_all(&(samples.len() as u32).to_le_bytes())
            .and_then(|()| self.input.write_all(samples));
        send_result.map_err(|error| self.failure().unwrap_or(error).into())
    }

    /// Ends the samples and waits until the file is complete and measured. Calls `is_wanted`
    /// repeatedly and stops when it returns false. Returns the file, from its start.
    ///
    /// # Errors
    /// [`EncodingError`].
    pub(crate) fn finish(
        mut self,
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(File, EncodedFile), EncodingError> {
        let send_result = self.input.write_all(&0_u32.to_le_bytes()).and_then(|()| self.input.flush());
        send_result.map_err(|error| self.failure().unwrap_or(error))?;
        loop {
            match self.messages.recv_timeout(POLL_INTERVAL) {
                Ok(Message::Done(encoded)) => {
                    self.file.rewind()?;
                    let file = self.file.try_clone()?;
                    return Ok((file, encoded));
                }
                Ok(Message::Failed(reason)) => return Err(io::Error::other(reason).into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.exit_error().into()),
            }
            if !is_wanted() || self.process.is_to_end() {
                return Err(EncodingError::Cancelled);
            }
        }
    }

    /// Returns the reason why the process no longer reads, or `None` if it reports a complete file.
    fn failure(&mut self) -> Option<io::Error> {
        match self.messages.recv() {
            Ok(Message::Failed(reason)) => Some(io::Error::other(reason)),
            Ok(Message::Done(_)) => None,
            Err(_) => Some(self.exit_error()),
        }
    }

    fn exit_error(&mut self) -> io::Error {
        let status = match self.process.child.wait() {
            Ok(status) => status,
            Err(error) => return error,
        };
        tracing::warn!(?status, "an encoder exited without a result");
        match ExitCause::of(status) {
            ExitCause::OutOfRoom => io::ErrorKind::FileTooLarge.into(),
            ExitCause::OutOfTime => io::Error::other(format!(
                "the encoder exceeded its limit of processor time: {CPU_SECS} seconds plus the duration of the file"
            )),
            ExitCause::Crash => io::Error::other("the encoder crashed"),
            ExitCause::External => io::Error::other(format!("the encoder was ended: {status}")),
        }
    }
}
