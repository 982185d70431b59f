//! Writes records to the original standard output, separate from the output of libraries.

use std::fs::File;
use std::io::Write as _;

use songfoundry_bridge_protocol::ScanRecord;

/// The destination of records.
pub(super) struct Output(File);

impl Output {
    /// Keeps the original standard output and redirects standard output to standard error.
    /// Libraries and the processes that they start cannot write to the original.
    #[cfg(unix)]
    pub(super) fn take_over() -> anyhow::Result<Self> {
        use std::os::fd::AsFd as _;
        let original = std::io::stdout().as_fd().try_clone_to_owned()?;
        nix::unistd::dup2_stdout(std::io::stderr())?;
        Ok(Self(File::from(original)))
    }

    /// A copy of standard output. Libraries print to it as well, and the reader ignores their
    /// lines.
    #[cfg(windows)]
    pub(super) fn take_over() -> anyhow::Result<Self> {
        use std::os::windows::io::AsHandle as _;
        Ok(Self(File::from(std::io::stdout().as_handle().try_clone_to_owned()?)))
    }

    /// Writes a record as a line.
    pub(super) fn write(&mut self, record: &ScanRecord) -> anyhow::Result<()> {
        // A single write that starts with a newline: a record on a line with other text would not
        // be read.
        let line = format!("\n{}\n", serde_json::to_string(record)?);
        Ok(self.0.write_all(line.as_bytes())?)
    }
}
