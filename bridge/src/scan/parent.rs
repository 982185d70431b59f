//! Ends the helper when the service that started it ends.

/// Starts a thread that kills this process, and the processes it started, when the parent ends.
/// Does nothing if the environment variable [`PARENT_VARIABLE`] is not set.
///
/// `PR_SET_PDEATHSIG` does not serve: it reacts to the end of the parent's thread instead of the
/// parent, and exists only on Linux.
///
/// [`PARENT_VARIABLE`]: songfoundry_bridge_protocol::PARENT_VARIABLE
#[cfg(unix)]
pub(super) fn end_with_parent() -> anyhow::Result<()> {
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
            // This process leads the process group, so the signal also reaches this process.
            let _ = killpg(getpgrp(), Signal::SIGKILL);
        }
        std::process::abort();
    })?;
    Ok(())
}

/// Does nothing: on systems other than Unix, the service itself must end the helper.
#[cfg(not(unix))]
pub(super) fn end_with_parent() -> anyhow::Result<()> {
    Ok(())
}
