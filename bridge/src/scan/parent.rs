//! Ends the helper when its parent process ends.

/// If the variable of the protocol names the parent, kills this process and all that it started
/// when the parent has ended.
///
/// `PR_SET_PDEATHSIG` follows a thread of the parent instead of the parent, and exists only on
/// Linux.
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
            // The group includes this process.
            let _ = killpg(getpgrp(), Signal::SIGKILL);
        }
        std::process::abort();
    })?;
    Ok(())
}

/// On other systems the parent must end the helper.
#[cfg(not(unix))]
pub(super) fn end_with_parent() -> anyhow::Result<()> {
    Ok(())
}
