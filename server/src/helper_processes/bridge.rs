//! Starts `songfoundry-bridge`, the program that loads plugins, and ends it.
//!
//! On Unix, the command is run by a supervisor (`songfoundry-bridge supervise`). When the pipe to
//! its standard input closes, the supervisor ends the command and all processes that the plugin
//! started. Only this process has the other end of the pipe, so they end even if this process is
//! killed.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::PARENT_VARIABLE;

use super::{HelperRegistration, Helpers};

/// Interval between checks whether a process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum time for a command to exit after it has closed its output, and for a supervisor to end
/// the processes of its command.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The program that loads plugins.
#[derive(Debug, Clone)]
pub(crate) struct Bridge {
    program: PathBuf,
    helpers: Helpers,
}

/// A command of the program that runs the code of a plugin.
pub(crate) enum BridgeCommand<'a> {
    /// Lists the plugins of this module on standard output, which is a pipe. The output of the
    /// module itself is sent through another pipe, [`BridgeProcess::take_printed`].
    Scan(&'a Path),
    /// Hosts a plugin.
    #[cfg(unix)]
    Host {
        /// The helper's end of a pair of sockets.
        socket: std::os::fd::OwnedFd,
        /// Maximum memory of the process of the plugin, in bytes.
        memory_max_bytes: u64,
        /// Whether the helper can show the plugin's own window.
        can_show_window: bool,
    },
}

impl Bridge {
    pub(crate) fn new(program: PathBuf, helpers: Helpers) -> Self {
        Self { program, helpers }
    }

    /// Returns the path of the program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Returns a command without the service's environment, which contains settings and secrets.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("LANG", "C.UTF-8").env("PATH", "/usr/bin:/bin");
        command
    }

    /// Starts a command in a new process group. The plugin gets `home` as its home folder and as
    /// its folder for temporary files. `kind` is the name of the helper in lists.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub(crate) fn start(
        &self,
        kind: &'static str,
        bridge_command: BridgeCommand<'_>,
        home: &Path,
    ) -> std::io::Result<BridgeProcess> {
        let mut command = self.command();
        #[cfg(unix)]
        {
            command.arg("supervise");
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        match bridge_command {
            BridgeCommand::Scan(module) => {
                command.arg("scan").arg(module).stdout(Stdio::piped()).stderr(Stdio::piped())
            }
            #[cfg(unix)]
            BridgeCommand::Host { socket, memory_max_bytes, can_show_window } => command
                .arg(if can_show_window { "gui" } else { "host" })
                .args(["--memory-max-bytes", &memory_max_bytes.to_string()])
                .stdout(Stdio::from(socket))
                .stderr(Stdio::null()),
        };
        for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMPDIR"] {
            command.env(variable, home);
        }
        command.env(PARENT_VARIABLE, std::process::id().to_string()).current_dir(home).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let registered = self.helpers.register(kind, child.id());
        let input = child.stdin.take();
        Ok(BridgeProcess { child, input, registered, is_reaped: false })
    }
}

/// A running command of the program. Dropping this value ends all of its processes.
#[derive(Debug)]
pub(crate) struct BridgeProcess {
    child: Child,
    /// Pipe to the supervisor, which ends when the pipe closes.
    input: Option<ChildStdin>,
    registered: HelperRegistration,
    /// Whether the process was reaped. From then on another process may have its process id.
    is_reaped: bool,
}

impl BridgeProcess {
    /// Returns the pipe from the standard output of the command, once.
    pub(crate) fn take_output(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns the pipe with the text that a scanned module prints, once.
    pub(crate) fn take_printed(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Whether an administrator has requested the end of the helper.
    pub(crate) fn is_to_end(&self) -> bool {
        self.registered.is_to_end()
    }

    /// Whether the command has ended. Does not reap it, so its process id stays reserved.
    #[cfg(unix)]
    pub(crate) fn has_ended(&mut self) -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        self.is_reaped || !matches!(waitid(Id::Pid(self.pid()), flags), Ok(WaitStatus::StillAlive))
    }

    /// Whether the command has ended.
    #[cfg(not(unix))]
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the command, which has closed its output or socket. Returns the cause of its exit, or
    /// `None` if it kept running for [`EXIT_TIMEOUT`].
    pub(crate) fn end_after_output(&mut self) -> Option<Exit> {
        let has_ended = self.has_ended_within(EXIT_TIMEOUT);
        self.end();
        let status = self.child.wait().ok();
        status.filter(|_| has_ended).map(Exit::of)
    }

    /// Ends all processes of the command.
    pub(crate) fn end(&mut self) {
        if self.is_reaped {
            return;
        }
        drop(self.input.take());
        if cfg!(not(unix)) || !self.has_ended_within(EXIT_TIMEOUT) {
            self.kill();
        }
        self.is_reaped = true;
        let _ = self.child.wait();
    }

    /// Whether the command ends within a time. Blocks until then.
    pub(crate) fn has_ended_within(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while !self.has_ended() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    #[cfg(unix)]
    fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id().cast_signed())
    }

    /// Kills the supervisor, which does not answer. The helper detects this and ends.
    #[cfg(unix)]
    fn kill(&mut self) {
        // This fails if the group has already ended.
        let _ = nix::sys::signal::killpg(self.pid(), nix::sys::signal::Signal::SIGKILL);
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for BridgeProcess {
    fn drop(&mut self) {
        self.end();
    }
}

/// Cause of a command's exit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A signal, such as `SIGSEGV`.
    Signal(String),
    /// The command exited with this status, in words.
    Status(String),
}

impl Exit {
    #[cfg(unix)]
    fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        match status.signal().and_then(|number| nix::sys::signal::Signal::try_from(number).ok()) {
            Some(signal) => Self::Signal(signal.to_string()),
            None => Self::Status(status.to_string()),
        }
    }

    #[cfg(not(unix))]
    fn of(status: ExitStatus) -> Self {
        Self::Status(status.to_string())
    }
}
