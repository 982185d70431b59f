//! Loads dynamic libraries and never unloads them.
#![expect(unsafe_code, reason = "loading a library runs the library's code")]

use std::ffi::c_void;
use std::path::Path;

use super::{FailureReason, loader_message, machine};

#[cfg(unix)]
use libloading::os::unix as system;
#[cfg(windows)]
use libloading::os::windows as system;

/// A loaded library. It is never unloaded, because some libraries crash when they are unloaded.
pub(crate) struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Loads a library and its dependencies.
    ///
    /// # Errors
    /// Names the machine that the library is built for, if it is another one, or the library or
    /// function that the library needs, if it is missing.
    pub(crate) fn load(path: &Path) -> Result<Self, FailureReason> {
        machine::check(path)?;
        // SAFETY: the library may run any code, and this process exists only for that and may
        // crash.
        let library = unsafe { open(path) }.map_err(|error| {
            let message = loader_message::in_plain_words(&message_of(&error), path);
            format!("the library cannot be loaded: {message}")
        })?;
        Ok(Self { handle: library.into_raw().cast() })
    }

    /// Returns the operating system's handle of the library.
    pub(crate) fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// Finds an exported function of the library.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(crate) unsafe fn find_symbol<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the handle belongs to this library. It stays open, because `ManuallyDrop` keeps
        // the destructor from closing it.
        let library = std::mem::ManuallyDrop::new(unsafe { system::Library::from_raw(self.handle.cast()) });
        // SAFETY: guaranteed by the caller.
        unsafe { library.get::<F>(name.as_bytes()).ok().map(|symbol| *symbol) }
    }
}

/// Returns the message of the system's loader, which the generic error does not contain.
fn message_of(error: &libloading::Error) -> String {
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

/// Ends the process without running the exit handlers of loaded libraries.
pub(crate) fn end_at_once() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` takes a number and does not return.
    unsafe {
        nix::libc::_exit(0)
    }
    #[cfg(not(unix))]
    std::process::exit(0)
}
