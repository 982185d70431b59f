//! Ends the helper when the service that started it ends.

/// Starts a thread that checks every 250 ms whether the parent process has ended. The thread then
/// kills this process and its children: on Linux, all processes below it, because processes whose
/// parents end become its children. If this process leads its process group, the thread kills the
/// whole group. Does nothing if the environment variable [`PARENT_VARIABLE`] is not set.
///
/// `PR_SET_PDEATHSIG` is not sufficient: it reacts to the end of the parent's thread instead of the
/// parent, and exists only on Linux.
///
/// [`PARENT_VARIABLE`]: songfoundry_bridge_protocol::PARENT_VARIABLE
#[cfg(unix)]
pub(crate) fn end_with_parent() -> anyhow::Result<()> {
    use std::time::Duration;

    use anyhow::Context as _;
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{getpgrp, getpid};
    use songfoundry_bridge_protocol::PARENT_VARIABLE;

    use super::children::{KILL_INTERVAL, kill_children};

    /// Maximum number of calls of [`kill_children`], because the plugin may start further ones.
    const KILLS_MAX: usize = 500;

    let Ok(text) = std::env::var(PARENT_VARIABLE) else { return Ok(()) };
    let parent = text
        .parse::<u32>()
        .with_context(|| format!("{PARENT_VARIABLE} must be the id of the parent process, not {text:?}"))?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    std::thread::Builder::new().name("parent".to_owned()).spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(Duration::from_millis(250));
        }
        for _ in 0..KILLS_MAX {
            if cfg!(not(target_os = "linux")) || !kill_children() {
                break;
            }
            std::thread::sleep(KILL_INTERVAL);
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
pub(crate) fn end_with_parent() -> anyhow::Result<()> {
    Ok(())
}
