//! What stands in for the system's own where this library is loaded before a program.

use std::ffi::c_int;
use std::path::PathBuf;
use std::{env, fs, io};

use crate::Disk;

/// The variable that names the folder whose syncs count.
pub const FOLDER: &str = "SF_TEST_POWER_CUT_FOLDER";

/// The variable that names the folder of the image.
pub const IMAGE: &str = "SF_TEST_POWER_CUT_IMAGE";

/// In place of the C library's `fsync` (POSIX.1-2017, System Interfaces).
#[expect(unsafe_code, reason = "the name is the point: the program's calls end here")]
#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync_or_end(descriptor)
}

/// In place of the C library's `fdatasync`.
#[expect(unsafe_code, reason = "the name is the point: the program's calls end here")]
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync_or_end(descriptor)
}

/// A program that went on after a sync that this crate could not take over would prove nothing.
fn sync_or_end(descriptor: c_int) -> c_int {
    match sync(descriptor) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("power-cut: cannot take over a sync: {error}");
            std::process::abort()
        }
    }
}

fn sync(descriptor: c_int) -> io::Result<()> {
    let (Some(folder), Some(image)) = (env::var_os(FOLDER), env::var_os(IMAGE)) else { return Ok(()) };
    // Leads to the file itself, whatever its name is now.
    let open = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    if !fs::read_link(&open)?.starts_with(folder) {
        return Ok(());
    }
    Disk::open(image.as_ref())?.sync(&open)
}
