//! Resources that exports need besides their destination: disk space, temporary files and encoders.

use std::fs::File;
use std::io;

use crate::encoding::EncoderProgram;
use crate::helper_processes::Helpers;

/// Provides disk space, temporary files and encoders for an export.
pub trait Workspace {
    /// Makes sure that an export can write `size_bytes`, its temporary files included. The default
    /// does not check.
    ///
    /// # Errors
    /// The disk is full.
    fn ensure_room(&mut self, _size_bytes: u64) -> io::Result<()> {
        Ok(())
    }

    /// Makes a file without a name, for data that is kept until the exported file is complete. The
    /// default is a file in the system's folder for temporary files.
    ///
    /// # Errors
    /// The file cannot be created.
    fn temporary_file(&mut self) -> io::Result<File> {
        tempfile::tempfile()
    }

    /// Returns the program that encodes compressed files.
    ///
    /// # Errors
    /// The path of this program is unknown.
    fn encoder(&self) -> io::Result<EncoderProgram> {
        EncoderProgram::of_this_program(Helpers::default())
    }
}
