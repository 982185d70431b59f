//! Loads libraries, and never unloads them.
#![expect(unsafe_code, reason = "a library runs code of its own as soon as it is loaded")]

use std::ffi::c_void;
use std::path::Path;

use super::FailureReason;

#[cfg(unix)]
use libloading::os::unix as system;
#[cfg(windows)]
use libloading::os::windows as system;

/// A library that stays loaded, as some crash when they are unloaded.
pub(super) struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Loads a library and its dependencies.
    pub(super) fn load(path: &Path) -> Result<Self, FailureReason> {
        // SAFETY: this process exists only to run the code of libraries, and may crash.
        let library =
            unsafe { open(path) }.map_err(|error| format!("it cannot be loaded: {}", reason(&error)))?;
        Ok(Self { handle: library.into_raw().cast() })
    }

    /// The system's handle of the library.
    pub(super) fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// Finds an exported function of the library.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(super) unsafe fn find_symbol<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the handle belongs to this library and stays open, as `ManuallyDrop` below never
        // closes it.
        let library = std::mem::ManuallyDrop::new(unsafe { system::Library::from_raw(self.handle.cast()) });
        // SAFETY: guaranteed by the caller.
        unsafe { library.get::<F>(name.as_bytes()).ok().map(|symbol| *symbol) }
    }
}

/// The message of the loader instead of the generic error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(unix)]
unsafe fn open(path: &Path) -> Result<system::Library, libloading::Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { system::Library::open(Some(path), system::RTLD_NOW | system::RTLD_LOCAL) }
}

#[cfg(windows)]
unsafe fn open(path: &Path) -> Result<system::Library, libloading::Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { system::Library::new(path) }
}

/// Ends the process without the exit handlers of libraries.
pub(super) fn end_at_once() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` takes a number and does not return.
    unsafe {
        nix::libc::_exit(0)
    }
    #[cfg(not(unix))]
    std::process::exit(0)
}
