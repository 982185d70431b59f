//! Replacements of the C library's functions, for programs that load this library first.

use std::ffi::c_int;
use std::path::PathBuf;
use std::{env, fs, io};

use crate::Disk;

/// Variable with the folder whose syncs are recorded.
pub const FOLDER: &str = "SF_TEST_POWER_CUT_FOLDER";

/// Variable with the folder of the image.
pub const IMAGE: &str = "SF_TEST_POWER_CUT_IMAGE";

/// Replaces the C library's `fsync` (POSIX.1-2017, System Interfaces).
#[expect(unsafe_code, reason = "the name is the point: the program's calls end here")]
#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync_or_end(descriptor)
}

/// Replaces the C library's `fdatasync`.
#[expect(unsafe_code, reason = "the name is the point: the program's calls end here")]
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync_or_end(descriptor)
}

/// Ends the program if a sync cannot be recorded, as the test would prove nothing.
fn sync_or_end(descriptor: c_int) -> c_int {
    match sync(descriptor) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("power-cut: cannot record a sync: {error}");
            std::process::abort()
        }
    }
}

fn sync(descriptor: c_int) -> io::Result<()> {
    let (Some(folder), Some(image)) = (env::var_os(FOLDER), env::var_os(IMAGE)) else { return Ok(()) };
    // The link points to the file itself, whatever its current name.
    let open = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    if !fs::read_link(&open)?.starts_with(folder) {
        return Ok(());
    }
    Disk::open(image.as_ref())?.sync(&open)
}
