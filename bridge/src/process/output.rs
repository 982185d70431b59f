//! Writes records to the original standard output. On Unix, text that libraries print goes to
//! standard error.

use std::fs::File;
use std::io::Write as _;

use songfoundry_bridge_protocol::ScanRecord;

/// The original standard output, to which records are written.
pub(crate) struct Output(File);

impl Output {
    /// Duplicates standard output for records, then redirects standard output to standard error.
    /// Thus libraries, and processes that they start, cannot print between the records.
    #[cfg(unix)]
    pub(crate) fn take_over() -> anyhow::Result<Self> {
        use std::os::fd::AsFd as _;
        let original_output = std::io::stdout().as_fd().try_clone_to_owned()?;
        nix::unistd::dup2_stdout(std::io::stderr())?;
        Ok(Self(File::from(original_output)))
    }

    /// Duplicates standard output for records. On Windows, libraries print to it as well, and the
    /// service ignores lines that are not records.
    #[cfg(windows)]
    pub(crate) fn take_over() -> anyhow::Result<Self> {
        use std::os::windows::io::AsHandle as _;
        Ok(Self(File::from(std::io::stdout().as_handle().try_clone_to_owned()?)))
    }

    /// Writes a record as a separate line.
    pub(crate) fn write(&mut self, record: &ScanRecord) -> anyhow::Result<()> {
        // The newline before the record ends an unfinished line that a library may have printed.
        // The service would ignore a record that shares a line with other text.
        let line = format!("\n{}\n", serde_json::to_string(record)?);
        Ok(self.0.write_all(line.as_bytes())?)
    }
}
