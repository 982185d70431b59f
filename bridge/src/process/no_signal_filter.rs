//! Systems whose filters of system calls the helper does not know: plugins may send signals to the
//! supervisor and the service.

/// Environment variable with the process id of the service, which the supervisor sets for its
/// command.
#[cfg(unix)]
pub(super) const SERVICE_VARIABLE: &str = "SF_SERVICE_PID";

/// Does nothing.
pub(crate) fn protect_ancestors() {}
