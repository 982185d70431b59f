//! Records on what was standard output, out of reach of libraries that print.

use std::fs::File;
use std::io::Write as _;

use songfoundry_bridge_protocol::ScanRecord;

/// Where records go.
pub(super) struct Output(File);

impl Output {
    /// Takes standard output over: whatever a library prints from now on goes to standard error.
    /// What a library starts does not get it either.
    #[cfg(unix)]
    pub(super) fn take_over() -> anyhow::Result<Self> {
        use std::os::fd::AsFd as _;
        let own = std::io::stdout().as_fd().try_clone_to_owned()?;
        nix::unistd::dup2_stdout(std::io::stderr())?;
        Ok(Self(File::from(own)))
    }

    /// A copy of standard output; what libraries print goes there as well, and whoever reads passes
    /// it over.
    #[cfg(windows)]
    pub(super) fn take_over() -> anyhow::Result<Self> {
        use std::os::windows::io::AsHandle as _;
        Ok(Self(File::from(std::io::stdout().as_handle().try_clone_to_owned()?)))
    }

    /// Writes a record as a line.
    pub(super) fn write(&mut self, record: &ScanRecord) -> anyhow::Result<()> {
        // In one call, and after a line's end: on a line with something else it would not be read.
        let line = format!("\n{}\n", serde_json::to_string(record)?);
        Ok(self.0.write_all(line.as_bytes())?)
    }
}
