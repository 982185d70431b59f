//! Limits that a helper process sets for itself.

use std::io::Read as _;
use std::process::exit;
use std::time::Duration;

use super::program::EXIT_TIMED_OUT;

/// Seconds of processor time between SIGXCPU and SIGKILL.
#[cfg(unix)]
const KILL_GRACE_SECS: u64 = 5;

/// Limits on the system resources of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceLimits {
    /// Maximum address space in bytes.
    pub(crate) memory_bytes: u64,
    /// Maximum processor time in seconds.
    pub(crate) cpu_secs: u64,
    /// Maximum size of a file that the process writes, in bytes.
    pub(crate) file_bytes: u64,
}

impl ResourceLimits {
    /// Limits this process.
    ///
    /// # Errors
    /// If the system refuses a limit.
    #[cfg(unix)]
    pub(crate) fn set(self) -> anyhow::Result<()> {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let Self { memory_bytes, cpu_secs, file_bytes } = self;
        for (resource, soft, hard) in [
            (Resource::RLIMIT_AS, memory_bytes, memory_bytes),
            // Only the limit of processor time sends SIGXCPU. SIGKILL could have other causes than
            // the hard limit.
            (Resource::RLIMIT_CPU, cpu_secs, cpu_secs.saturating_add(KILL_GRACE_SECS)),
            (Resource::RLIMIT_FSIZE, file_bytes, file_bytes),
            (Resource::RLIMIT_NOFILE, 64, 64),
            (Resource::RLIMIT_CORE, 0, 0),
        ] {
            // A process cannot raise the hard limits that it inherits.
            let (_, inherited_limit) = getrlimit(resource)?;
            setrlimit(resource, soft.min(inherited_limit), hard.min(inherited_limit))?;
        }
        Ok(())
    }

    /// Does nothing, because on other systems only the time is limited.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub(crate) fn set(self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Starts a thread that exits the process when its input ends, because its result is no longer
/// needed then.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn exit_with_parent() -> std::io::Result<()> {
    std::thread::Builder::new().spawn(|| {
        let mut ignored_bytes = [0; 16];
        while std::io::stdin().lock().read(&mut ignored_bytes).is_ok_and(|count| count > 0) {}
        exit(1);
    })?;
    Ok(())
}

/// Starts a thread that exits the process after `wall_secs`.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn exit_after(wall_secs: u64) -> std::io::Result<()> {
    std::thread::Builder::new().spawn(move || {
        std::thread::sleep(Duration::from_secs(wall_secs));
        exit(EXIT_TIMED_OUT);
    })?;
    Ok(())
}
