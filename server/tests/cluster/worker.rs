//! `songfoundry worker` as a process.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use crate::support::songfoundry;

/// A worker process, which is killed when dropped.
pub(crate) struct Worker {
    child: Child,
    /// The line that the worker printed when it was ready.
    pub(crate) greeting: String,
    /// Stays open so that the worker can write further output.
    stdout: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub(crate) fn start(storage: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = songfoundry(storage);
        command.arg("worker").envs(settings.iter().copied()).stderr(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("reads");
        assert!(line.contains("runs tasks"), "{line:?} {:?}", child.try_wait());
        Self { child, greeting: line, stdout }
    }

    /// Reads the next line of the worker's output.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("reads");
        line
    }

    /// Sends SIGKILL, which allows no cleanup, and waits until the worker has ended.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kills");
        self.child.wait().expect("ends");
    }

    /// Sends SIGTERM and waits until the worker has ended.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
        self.child.wait().expect("ends")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // In most tests the worker has already ended, and this fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
