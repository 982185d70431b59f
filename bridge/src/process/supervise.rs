//! `songfoundry-bridge supervise COMMAND`: runs another command of this program, and ends all
//! processes of that command together.
//!
//! Plugins may start processes, also in new sessions and process groups. On Linux, such a process
//! becomes a child of the supervisor when its parent ends (`PR_SET_CHILD_SUBREAPER`). The
//! supervisor never loads a plugin itself. It ends all of its children, and then itself, as soon
//! as the command ends or the supervisor's standard input is closed. The service holds the other
//! end of that pipe, so the system closes it however the service ends. The system refuses most
//! signals of plugins to the supervisor (`signals.rs`).

use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use clap::Subcommand;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg, raise};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use songfoundry_bridge_protocol::PARENT_VARIABLE;

use super::children::{KILL_INTERVAL, kill_children};
use super::signals::SERVICE_VARIABLE;

/// Difference between the number of a signal and the exit code that stands for it, as in shells.
const SIGNAL_EXIT_CODE_OFFSET: i32 = 128;

/// A command that can be supervised.
#[derive(Subcommand)]
pub(crate) enum Supervised {
    /// Host a plugin. Standard output is the socket to the service.
    Host {
        /// Maximum memory of the process of the plugin.
        #[arg(long)]
        memory_max_bytes: u64,
    },
    /// Show the own window of a plugin. Standard output is the socket to the service.
    Gui {
        /// Maximum memory of the process of the plugin.
        #[arg(long)]
        memory_max_bytes: u64,
    },
    /// List the plugins in a module, on standard output.
    Scan {
        /// A VST3 or VST2 module: a library or a bundle.
        file: PathBuf,
    },
}

/// Runs a command, and ends this process as the command ended: with its exit code or signal.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub(crate) fn run(command: Supervised) -> anyhow::Result<()> {
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)?;
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    #[cfg(target_os = "linux")]
    let has_x_server = matches!(command, Supervised::Gui { .. });
    let child = start(command)?;
    let running_child = Arc::new(Mutex::new(Some(child)));
    end_when_input_closes(Arc::clone(&running_child))?;
    let status = wait(child, &running_child)?;
    // Only this process reaps these children, so their ids cannot be reused by other processes.
    while kill_children() {
        std::thread::sleep(KILL_INTERVAL);
    }
    #[cfg(target_os = "linux")]
    if has_x_server {
        super::x_server_socket::delete_left_socket(&std::env::temp_dir());
    }
    end_like(status)
}

fn start(supervised: Supervised) -> anyhow::Result<Pid> {
    let mut command = Command::new(this_program()?);
    // This duplicate is closed when this function returns, after the child has inherited it.
    let mut _socket = None;
    let name = if matches!(supervised, Supervised::Gui { .. }) { "gui" } else { "host" };
    match supervised {
        Supervised::Host { memory_max_bytes } | Supervised::Gui { memory_max_bytes } => {
            // A plugin may print to standard output, so the socket must have another number. The
            // child inherits duplicates of `dup`.
            let socket = nix::unistd::dup(std::io::stdout())?;
            command.args([name, "--socket", &socket.as_raw_fd().to_string()]);
            command.args(["--memory-max-bytes", &memory_max_bytes.to_string()]).stdout(Stdio::null());
            _socket = Some(socket);
        }
        Supervised::Scan { file } => {
            command.arg("scan").arg(file);
        }
    }
    command.stdin(Stdio::null()).process_group(0);
    command.env(PARENT_VARIABLE, std::process::id().to_string());
    command.env(SERVICE_VARIABLE, std::os::unix::process::parent_id().to_string());
    let child = command.spawn().context("cannot start this program again")?;
    // Only the child may keep the service's pipe or socket open.
    nix::unistd::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(Pid::from_raw(child.id().cast_signed()))
}

/// Returns this program, even if its file was replaced since it started.
fn this_program() -> std::io::Result<PathBuf> {
    let running_child = PathBuf::from("/proc/self/exe");
    if running_child.exists() { Ok(running_child) } else { std::env::current_exe() }
}

/// Starts a thread that kills the child's process group when standard input is closed. `running_child` is
/// the child until it is reaped.
fn end_when_input_closes(running_child: Arc<Mutex<Option<Pid>>>) -> std::io::Result<()> {
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        let mut ignored_bytes = [0; 16];
        while std::io::stdin().lock().read(&mut ignored_bytes).is_ok_and(|count| count > 0) {}
        if let Some(child) = *running_child.lock().unwrap_or_else(PoisonError::into_inner) {
            // The child may have left its group, which then no longer exists.
            let _ = killpg(child, Signal::SIGKILL);
            let _ = kill(child, Signal::SIGKILL);
        }
    })?;
    Ok(())
}

/// Waits until `child` has ended, and reaps other children that end before.
fn wait(child: Pid, running_child: &Mutex<Option<Pid>>) -> nix::Result<WaitStatus> {
    loop {
        let ended_child = match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT) {
            Ok(status) => status.pid(),
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error),
        };
        if ended_child == Some(child) {
            let mut running_child = running_child.lock().unwrap_or_else(PoisonError::into_inner);
            // The process id stays reserved until the child is reaped.
            let _ = killpg(child, Signal::SIGKILL);
            *running_child = None;
            return waitpid(child, None);
        }
        if let Some(end) = ended_child {
            waitpid(end, None)?;
        }
    }
}

fn end_like(status: WaitStatus) -> ! {
    let code = match status {
        WaitStatus::Exited(_, code) => code,
        WaitStatus::Signaled(_, signal, _) => {
            // The handler of Rust's runtime for SIGSEGV and SIGBUS only restores the default, so
            // the signal must be raised twice.
            for _ in 0..2 {
                let _ = raise(signal);
            }
            SIGNAL_EXIT_CODE_OFFSET + signal as i32
        }
        _ => 1,
    };
    std::process::exit(code)
}
