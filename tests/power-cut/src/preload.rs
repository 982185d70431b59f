//! Replacements of functions of the C library, for programs that load this library first.

use std::ffi::c_int;
use std::path::PathBuf;
use std::{env, fs, io};

use crate::Disk;

/// Environment variable with the path of the folder whose syncs are recorded.
pub const FOLDER: &str = "SF_TEST_POWER_CUT_FOLDER";

/// Environment variable with the path of the folder of the image.
pub const IMAGE: &str = "SF_TEST_POWER_CUT_IMAGE";

/// Replaces the C library's `fsync` (POSIX.1-2017, System Interfaces).
#[expect(unsafe_code, reason = "calls of the program must find this function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn fsync(descriptor: c_int) -> c_int {
    sync_or_abort(descriptor)
}

/// Replaces the C library's `fdatasync` (POSIX.1-2017, System Interfaces).
#[expect(unsafe_code, reason = "calls of the program must find this function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    sync_or_abort(descriptor)
}

/// Records a sync. Ends the program if that fails, because the test would prove nothing.
fn sync_or_abort(descriptor: c_int) -> c_int {
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
    // The link points to the file even if the file was renamed.
    let descriptor_path = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    if !fs::read_link(&descriptor_path)?.starts_with(folder) {
        return Ok(());
    }
    Disk::open(image.as_ref())?.sync(&descriptor_path)
}
