//! Ends the children of this process.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Pause between calls of [`kill_children`].
pub(super) const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// Kills the children of this process, and reaps those that have ended. Returns whether children
/// remain, such as children of the killed processes.
///
/// On Linux, a subreaper (`PR_SET_CHILD_SUBREAPER`) gets all processes below it as children when
/// their parents have ended.
pub(super) fn kill_children() -> bool {
    // An id stays reserved until its process is reaped.
    for child in children() {
        let _ = kill(child, Signal::SIGKILL);
    }
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Returns the children of this process, from `/proc`. Empty on systems without it, where processes
/// outside the killed group do not become children of this process either.
fn children() -> Vec<Pid> {
    let this_process = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| parent_of(*id) == Some(this_process)).map(Pid::from_raw).collect()
}

/// Returns the parent of a process: the fourth field of `/proc/PID/stat` (proc(5)). The second
/// field is the name in parentheses, which may contain spaces and parentheses.
fn parent_of(id: i32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{id}/stat")).ok()?;
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}
