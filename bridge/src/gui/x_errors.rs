//! Keeps errors of the X protocol from ending this process.
#![expect(unsafe_code, reason = "the handler of errors belongs to a C library")]

use std::ffi::{c_int, c_void};

/// The type `XErrorHandler` of Xlib.
type Handler = extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// Name of Xlib, which most plugins link.
const XLIB: &str = "libX11.so.6";

extern "C" fn do_nothing(_: *mut c_void, _: *mut c_void) -> c_int {
    0
}

/// Sets the error handler of Xlib, whose default ends the process. Plugins of several toolkits
/// cause errors in ordinary use. Does nothing on systems without Xlib. Must be called before a
/// plugin is loaded.
pub(super) fn ignore() {
    // SAFETY: Xlib's initializers do nothing.
    let Ok(library) = (unsafe { libloading::Library::new(XLIB) }) else { return };
    // SAFETY: Xlib declares these functions with these types. Plugins use Xlib from several
    // threads.
    unsafe {
        if let Ok(init_threads) = library.get::<unsafe extern "C" fn() -> c_int>(b"XInitThreads\0") {
            init_threads();
        }
        let symbol = library.get::<unsafe extern "C" fn(Handler) -> Option<Handler>>(b"XSetErrorHandler\0");
        if let Ok(set_handler) = symbol {
            set_handler(do_nothing);
        }
    }
    // The library stays loaded, and its handler stays set.
    std::mem::forget(library);
}
