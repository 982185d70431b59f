//! Prints the results of commands.

use std::io::{self, ErrorKind, Write as _};

use anyhow::Context as _;

/// Prints a text and a line break to standard output. A closed pipe (`| head`) is not an error.
///
/// # Errors
/// Standard output cannot be written, for example to a file on a full disk.
pub(super) fn print_line(text: &str) -> anyhow::Result<()> {
    let mut standard_output = io::stdout().lock();
    check(writeln!(standard_output, "{text}").and_then(|()| standard_output.flush()))
}

/// Checks the outcome of printing. A closed pipe is not an error.
///
/// # Errors
/// Those of [`print_line`].
pub(super) fn check(print_result: io::Result<()>) -> anyhow::Result<()> {
    match print_result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write standard output")
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
