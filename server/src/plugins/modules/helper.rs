//! Runs the plugin helper on a module, reads the helper's records, and ends it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use songfoundry_bridge_protocol::{PARENT_VARIABLE, ScanRecord, ScannedPlugin};

use crate::config::PluginsConfig;
use crate::helper_processes::{HelperRegistration, Helpers};

/// Interval between checks whether the helper has ended or a user has requested its end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a helper may take to exit after it has closed its output.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of bytes that are read from a helper.
const OUTPUT_MAX_BYTES: u64 = 4 << 20;

/// The plugins of a module, as found by a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScanResult {
    pub(super) plugins: Vec<ScannedPlugin>,
    /// Reason why the scan failed or is incomplete.
    pub(super) problem: Option<String>,
}

/// Result of a scan.
#[derive(Debug)]
pub(super) enum ScanOutcome {
    /// The scan ended. Its result is valid until the module changes.
    Scanned(ScanResult),
    /// The module was not scanned, with the reason: the helper could not be started, or a user
    /// ended the helper.
    NotScanned(String),
}

/// The program that scans modules.
#[derive(Debug)]
pub(super) struct Helper {
    program: PathBuf,
    timeout: Duration,
    helpers: Helpers,
}

impl Helper {
    pub(super) fn new(config: &PluginsConfig, helpers: Helpers) -> Self {
        Self { program: config.bridge.clone(), timeout: Duration::from_secs(config.scan_max_secs), helpers }
    }

    /// Scans a module, which gets `home` as its home folder. Blocks until the helper has answered
    /// or is ended.
    pub(super) fn scan(&self, module: &Path, home: &Path) -> ScanOutcome {
        let started = Process::start(self, module, home);
        let (mut process, records) = match started {
            Ok(started) => started,
            Err(error) => {
                let program = self.program.display();
                return ScanOutcome::NotScanned(format!(
                    "the plugin helper {program} cannot be started: {error}"
                ));
            }
        };
        let deadline = Instant::now() + self.timeout;
        let mut result = ScanResult::default();
        let mut helper_had_ended = false;
        loop {
            match records.recv_timeout(POLL_INTERVAL) {
                Ok(ScanRecord::Plugin(plugin)) => result.plugins.push(plugin),
                Ok(ScanRecord::Failed { reason }) => result.problem = Some(reason),
                Ok(ScanRecord::End { plugins }) if result.plugins.len() == plugins as usize => {
                    return ScanOutcome::Scanned(result);
                }
                Ok(ScanRecord::End { plugins }) => {
                    return failed(format!(
                        "the plugin helper reported {plugins} plugins but described {}; scan again",
                        result.plugins.len()
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => return failed(process.end_early()),
                // The helper has ended, so all of its records have arrived by now. A process that
                // the module started may still keep the pipe open.
                Err(RecvTimeoutError::Timeout) if helper_had_ended => return failed(process.end_early()),
                Err(RecvTimeoutError::Timeout) => helper_had_ended = process.has_ended(),
            }
            if process.registered.is_to_end() {
                return ScanOutcome::NotScanned(
                    "the plugin helper was ended by a user; scan again".to_owned(),
                );
            }
            if Instant::now() > deadline {
                let secs = self.timeout.as_secs();
                return failed(format!(
                    "the plugin helper did not answer within {secs} seconds (SF_PLUGIN_SCAN_MAX_SECS)"
                ));
            }
        }
    }
}

fn failed(reason: String) -> ScanOutcome {
    ScanOutcome::Scanned(ScanResult { plugins: Vec::new(), problem: Some(reason) })
}

/// A running helper. Dropping this value kills the helper's process group.
struct Process {
    child: Child,
    registered: HelperRegistration,
    /// Whether the helper was reaped. From then on another process may have its process id.
    is_reaped: bool,
}

impl Process {
    /// Starts a helper. The returned channel receives the helper's records and closes when the pipe
    /// does.
    fn start(helper: &Helper, module: &Path, home: &Path) -> std::io::Result<(Self, Receiver<ScanRecord>)> {
        let mut command = Command::new(&helper.program);
        command
            .arg("scan")
            .arg(module)
            // Hides the service's settings and secrets from the module.
            .env_clear()
            .env("HOME", home)
            .env("XDG_CONFIG_HOME", home)
            .env("XDG_DATA_HOME", home)
            .env("XDG_CACHE_HOME", home)
            .env("TMPDIR", home)
            .env("LANG", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .env(PARENT_VARIABLE, std::process::id().to_string())
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // The helper gets a new process group. Processes that the module starts are killed together
        // with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let registered = helper.helpers.register("plugin scan", child.id());
        let mut process = Self { child, registered, is_reaped: false };
        let records = process.read_records()?;
        Ok((process, records))
    }

    /// Reads records in a thread. The thread is not joined, because a process that the module
    /// started may keep the pipe open forever.
    fn read_records(&mut self) -> std::io::Result<Receiver<ScanRecord>> {
        let (sender, records) = mpsc::channel();
        let output = self.child.stdout.take();
        std::thread::Builder::new().name("plugin-scan".to_owned()).spawn(move || {
            let Some(output) = output else { return };
            for line in BufReader::new(output.take(OUTPUT_MAX_BYTES)).split(b'\n') {
                let Ok(line) = line else { break };
                // Lines that are not records, such as output of the module, are ignored.
                if let Ok(record) = serde_json::from_slice(&line)
                    && sender.send(record).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(records)
    }

    /// Ends the helper. Returns the reason why its `End` record is missing.
    fn end_early(&mut self) -> String {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL / 10);
        }
        let has_ended = self.has_ended();
        self.end_group();
        self.is_reaped = true;
        match self.child.wait() {
            Ok(status) if has_ended => exit_reason(status),
            _ => "the module closed the output of the plugin helper and kept running".to_owned(),
        }
    }

    /// Whether the helper has ended. Does not reap it, so its process id stays reserved.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.pid()), flags), Ok(WaitStatus::StillAlive))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id().cast_signed())
    }

    /// Kills the helper's process group. The helper is not reaped yet, so its process id is still
    /// its own.
    #[cfg(unix)]
    fn end_group(&mut self) {
        use nix::sys::signal::{Signal, killpg};
        // This fails if the group has already ended.
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }

    #[cfg(not(unix))]
    fn end_group(&mut self) {
        let _ = self.child.kill();
    }
}

#[cfg(unix)]
fn exit_reason(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal().and_then(|number| nix::sys::signal::Signal::try_from(number).ok()) {
        Some(signal) => format!("the module crashed during the scan ({signal})"),
        None => early_exit(status),
    }
}

#[cfg(not(unix))]
fn exit_reason(status: ExitStatus) -> String {
    early_exit(status)
}

fn early_exit(status: ExitStatus) -> String {
    format!("the module ended the plugin helper ({status})")
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.end_group();
            let _ = self.child.wait();
        }
    }
}
