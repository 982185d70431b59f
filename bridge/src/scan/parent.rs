//! Ending with the process that waits for this one.

/// If the variable of the protocol names the process that waits, ends this one with everything that
/// it started when that has gone.
///
/// The system's own way (`PR_SET_PDEATHSIG`) heeds a thread of the parent rather than the parent,
/// and there is none outside Linux.
#[cfg(unix)]
pub(super) fn end_with_it() -> anyhow::Result<()> {
    use std::time::Duration;

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{getpgrp, getpid};
    use songfoundry_bridge_protocol::PARENT_VARIABLE;

    let Ok(text) = std::env::var(PARENT_VARIABLE) else { return Ok(()) };
    let parent: u32 = text.parse()?;
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(Duration::from_millis(250));
        }
        if getpgrp() == getpid() {
            // This process is one of them.
            let _ = killpg(getpgrp(), Signal::SIGKILL);
        }
        std::process::abort();
    })?;
    Ok(())
}

/// Elsewhere whoever waits has to see to it.
#[cfg(not(unix))]
pub(super) fn end_with_it() -> anyhow::Result<()> {
    Ok(())
}
