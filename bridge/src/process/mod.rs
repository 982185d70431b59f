//! The helper's own process: its end, its limits and its standard output.

#[cfg(unix)]
mod children;
pub(crate) mod denormals;
pub(crate) mod limits;
pub(crate) mod output;
pub(crate) mod parent;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) mod signals;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "no_signal_filter.rs"]
pub(crate) mod signals;
#[cfg(unix)]
pub(crate) mod supervise;
#[cfg(target_os = "linux")]
pub(crate) mod x_server_socket;
