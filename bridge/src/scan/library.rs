//! Loading libraries, and never unloading them.
#![expect(unsafe_code, reason = "a library runs code of its own as soon as it is loaded")]

use std::ffi::c_void;
use std::path::Path;

use super::Refusal;

#[cfg(unix)]
use libloading::os::unix as system;
#[cfg(windows)]
use libloading::os::windows as system;

/// A library that stays loaded: some crash when they are unloaded.
pub(super) struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Loads a library with all that it needs.
    pub(super) fn load(path: &Path) -> Result<Self, Refusal> {
        // SAFETY: this process is there for nothing else than to run the code of libraries, and may
        // be lost.
        let library =
            unsafe { open(path) }.map_err(|error| format!("it cannot be loaded: {}", reason(&error)))?;
        Ok(Self { handle: library.into_raw().cast() })
    }

    /// The library as the system calls it.
    pub(super) fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// A function of the library, if there is one of that name.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to that function.
    pub(super) unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the handle came from the same library and was not closed; closing is left out
        // below.
        let library = std::mem::ManuallyDrop::new(unsafe { system::Library::from_raw(self.handle.cast()) });
        // SAFETY: what the caller promises.
        unsafe { library.get::<F>(name.as_bytes()).ok().map(|symbol| *symbol) }
    }
}

/// What the loader said, not only that it failed.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(unix)]
unsafe fn open(path: &Path) -> Result<system::Library, libloading::Error> {
    // SAFETY: what the caller promises.
    unsafe { system::Library::open(Some(path), system::RTLD_NOW | system::RTLD_LOCAL) }
}

#[cfg(windows)]
unsafe fn open(path: &Path) -> Result<system::Library, libloading::Error> {
    // SAFETY: what the caller promises.
    unsafe { system::Library::new(path) }
}

/// Ends the process without what libraries have left to be done at its end.
pub(super) fn end_at_once() -> ! {
    #[cfg(unix)]
    // SAFETY: it takes a number and does not return.
    unsafe {
        nix::libc::_exit(0)
    }
    #[cfg(not(unix))]
    std::process::exit(0)
}
