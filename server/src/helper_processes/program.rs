//! Starts this program again as a helper process, with a hidden command such as `decode`.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{HelperRegistration, Helpers};

/// Exit code of a helper that exceeded its time limit.
pub(crate) const EXIT_TIMED_OUT: i32 = 75;

/// This executable with a hidden command.
#[derive(Debug, Clone)]
pub(crate) struct HelperProgram {
    kind: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
    environment: Vec<(&'static str, &'static str)>,
    helpers: Helpers,
}

/// The test that acts as a helper in unit tests, where the executable has no commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestEntry {
    /// Path of the test function, as the test harness expects it, such as `encoding::tests::a_test`.
    #[cfg_attr(not(test), expect(dead_code, reason = "only unit tests start it"))]
    pub(crate) test: &'static str,
    /// Environment variable that is set if the test must act as the helper.
    #[cfg_attr(not(test), expect(dead_code, reason = "only unit tests start it"))]
    pub(crate) mark: &'static str,
}

impl HelperProgram {
    /// Returns this executable, even if its file was replaced since it started, with `command`.
    /// `kind` is the name of the helper in lists.
    #[cfg(not(test))]
    pub(crate) fn of_this_program(
        kind: &'static str,
        command: &'static str,
        _: TestEntry,
        helpers: Helpers,
    ) -> std::io::Result<Self> {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() { running } else { std::env::current_exe()? };
        Ok(Self { kind, program, arguments: vec![command], environment: Vec::new(), helpers })
    }

    /// Returns the test executable. One of its tests acts as the helper.
    #[cfg(test)]
    pub(crate) fn of_this_program(
        kind: &'static str,
        _: &'static str,
        entry: TestEntry,
        helpers: Helpers,
    ) -> std::io::Result<Self> {
        Ok(Self {
            kind,
            program: std::env::current_exe()?,
            arguments: vec!["--exact", entry.test, "--nocapture", "--quiet"],
            environment: vec![(entry.mark, "1")],
            helpers,
        })
    }

    /// Starts a process in `folder` and sends it `request` as its first line of input. The messages
    /// of the process are read through [`HelperProcess::messages`].
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(crate) fn start(
        &self,
        folder: &Path,
        output: Output,
        request: &impl Serialize,
    ) -> std::io::Result<HelperProcess> {
        let mut command = Command::new(&self.program);
        let (stdout, stderr) = match output {
            Output::Messages => (Stdio::piped(), Stdio::null()),
            Output::File(file) => (Stdio::from(file), Stdio::piped()),
        };
        command
            .args(&self.arguments)
            // The helper must not see the settings and secrets of the service.
            .env_clear()
            .envs(self.environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(stderr);
        // Ctrl-C in a terminal sends a signal to the whole process group. If this signal killed the
        // helper, the file would be regarded as the cause of a crash. Therefore the helper has a
        // separate group, and the service ends it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let registered = self.helpers.register(self.kind, child.id());
        let input = child.stdin.take();
        let mut process = HelperProcess { child, input, registered };
        let text = serde_json::to_string(request)?;
        let input = process.input.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        writeln!(input, "{text}")?;
        Ok(process)
    }
}

/// Output of a helper.
pub(crate) enum Output {
    /// The helper writes messages to its standard output.
    Messages,
    /// The helper writes to this file as its standard output, and messages to its standard error.
    File(File),
}

/// A running helper. Dropping it kills the process.
pub(crate) struct HelperProcess {
    pub(crate) child: Child,
    /// Pipe to the helper's standard input. It stays open until this value is dropped, because the
    /// helper exits when the pipe closes.
    input: Option<ChildStdin>,
    registered: HelperRegistration,
}

impl HelperProcess {
    /// Returns the pipe to the helper, which the caller then keeps open.
    ///
    /// # Errors
    /// If it was taken before.
    pub(crate) fn take_input(&mut self) -> std::io::Result<ChildStdin> {
        self.input.take().ok_or(ErrorKind::BrokenPipe.into())
    }

    /// Starts a thread that reads the messages of the process, one line of JSON each. Other output
    /// is ignored. The channel closes when the process ends.
    ///
    /// # Errors
    /// If the thread cannot be started, or the messages were taken before.
    pub(crate) fn messages<M: DeserializeOwned + Send + 'static>(&mut self) -> std::io::Result<Receiver<M>> {
        // A process that writes a file to its standard output writes its messages to standard
        // error.
        let stdout = self.child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
        let stderr = || self.child.stderr.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
        let output = stdout.or_else(stderr).ok_or(ErrorKind::BrokenPipe)?;
        let (sender, messages) = mpsc::channel();
        std::thread::Builder::new().name("helper-output".to_owned()).spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(messages)
    }

    /// Whether an administrator has requested the end of the helper.
    pub(crate) fn is_to_end(&self) -> bool {
        self.registered.is_to_end()
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        // An error means that the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The cause of a helper's exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCause {
    /// The process exceeded its limit of time or of processor time.
    OutOfTime,
    /// The process exceeded its limit of file size.
    OutOfRoom,
    /// The process crashed, which includes an allocation above the memory limit.
    Crash,
    /// The file was not the cause. A signal from outside ended the process (such as from the OOM
    /// killer), or a limit could not be set.
    External,
}

impl ExitCause {
    /// Returns the cause for an exit status.
    #[cfg(unix)]
    pub(crate) fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        match (status.code(), status.signal()) {
            (Some(EXIT_TIMED_OUT), _) | (_, Some(libc::SIGXCPU)) => Self::OutOfTime,
            (_, Some(libc::SIGXFSZ)) => Self::OutOfRoom,
            (
                _,
                Some(
                    libc::SIGSEGV
                    | libc::SIGBUS
                    | libc::SIGILL
                    | libc::SIGFPE
                    | libc::SIGTRAP
                    | libc::SIGABRT,
                ),
            ) => Self::Crash,
            _ => Self::External,
        }
    }

    /// Returns the cause for an exit status.
    #[cfg(not(unix))]
    pub(crate) fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(EXIT_TIMED_OUT) => Self::OutOfTime,
            // The exit code of an exception has its highest bit set, so it is negative.
            Some(..0) => Self::Crash,
            _ => Self::External,
        }
    }
}
