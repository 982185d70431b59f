//! Letting the plugin helper look into a module, listening to it, and ending it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use songfoundry_bridge_protocol::{PARENT_VARIABLE, ScanRecord, ScannedPlugin};

use crate::config::PluginsConfig;
use crate::helper_processes::{Helpers, Registered};

/// How often it is asked whether the scan is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a helper that says nothing more may take to end.
const END_WITHIN: Duration = Duration::from_secs(2);

/// Most bytes that are read from a helper.
const OUTPUT_MAX_BYTES: u64 = 4 << 20;

/// What is in a module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Contents {
    pub(super) plugins: Vec<ScannedPlugin>,
    /// Why it is not known what is in it, or not all of it.
    pub(super) problem: Option<String>,
}

/// What became of looking into a module.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It holds as long as the module is the same.
    Known(Contents),
    /// It says nothing of the module: the helper could not be started, or somebody ended it.
    Unknown(String),
}

/// The program that looks into modules.
#[derive(Debug)]
pub(super) struct Helper {
    program: PathBuf,
    longest: Duration,
    helpers: Helpers,
}

impl Helper {
    pub(super) fn new(config: &PluginsConfig, helpers: Helpers) -> Self {
        Self { program: config.bridge.clone(), longest: Duration::from_secs(config.scan_max_secs), helpers }
    }

    /// Looks into a module. `home` is all that the module gets of this machine's folders. Blocks
    /// until the helper has answered or is ended.
    pub(super) fn look_into(&self, module: &Path, home: &Path) -> Outcome {
        let started = Process::start(self, module, home);
        let (mut process, records) = match started {
            Ok(started) => started,
            Err(error) => {
                let program = self.program.display();
                return Outcome::Unknown(format!("the plugin helper {program} cannot be started: {error}"));
            }
        };
        let deadline = Instant::now() + self.longest;
        let mut contents = Contents::default();
        let mut had_ended = false;
        loop {
            match records.recv_timeout(LOOK_EVERY) {
                Ok(ScanRecord::Plugin(plugin)) => contents.plugins.push(plugin),
                Ok(ScanRecord::Failed { reason }) => contents.problem = Some(reason),
                Ok(ScanRecord::End { plugins }) if contents.plugins.len() == plugins as usize => {
                    return Outcome::Known(contents);
                }
                Ok(ScanRecord::End { .. }) => {
                    return failed("the helper lost some of what it said".to_owned());
                }
                Err(RecvTimeoutError::Disconnected) => return failed(process.gave_up()),
                // What a module has started may hold the pipe; what the helper had said before it
                // ended has come by now.
                Err(RecvTimeoutError::Timeout) if had_ended => return failed(process.gave_up()),
                Err(RecvTimeoutError::Timeout) => had_ended = process.has_ended(),
            }
            if process.registered.is_to_end() {
                return Outcome::Unknown("somebody ended the helper".to_owned());
            }
            if Instant::now() > deadline {
                let secs = self.longest.as_secs();
                return failed(format!("it did not answer within {secs} seconds (SF_PLUGIN_SCAN_MAX_SECS)"));
            }
        }
    }
}

fn failed(reason: String) -> Outcome {
    Outcome::Known(Contents { plugins: Vec::new(), problem: Some(reason) })
}

/// A running helper. Dropped, it is ended with everything that it has started.
struct Process {
    child: Child,
    registered: Registered,
    /// Whether its number may already be another's.
    waited_for: bool,
}

impl Process {
    /// Starts one; its records come by the channel, which closes when nobody can write any more.
    fn start(helper: &Helper, module: &Path, home: &Path) -> std::io::Result<(Self, Receiver<ScanRecord>)> {
        let mut command = Command::new(&helper.program);
        command
            .arg("scan")
            .arg(module)
            // Nothing of the service's settings, least of all its secrets.
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
        // A group of its own, so that what a module starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let registered = helper.helpers.register("plugin scan", child.id());
        let mut process = Self { child, registered, waited_for: false };
        let records = process.listen()?;
        Ok((process, records))
    }

    /// The thread is not waited for: a process that got away may hold the pipe for ever.
    fn listen(&mut self) -> std::io::Result<Receiver<ScanRecord>> {
        let (sender, records) = mpsc::channel();
        let output = self.child.stdout.take();
        std::thread::Builder::new().name("plugin-scan".to_owned()).spawn(move || {
            let Some(output) = output else { return };
            for line in BufReader::new(output.take(OUTPUT_MAX_BYTES)).split(b'\n') {
                let Ok(line) = line else { break };
                // Whatever else is printed means nothing.
                if let Ok(record) = serde_json::from_slice(&line)
                    && sender.send(record).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(records)
    }

    /// Why there is no end to what it said.
    fn gave_up(&mut self) -> String {
        let deadline = Instant::now() + END_WITHIN;
        while !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(LOOK_EVERY / 10);
        }
        let has_ended = self.has_ended();
        self.end_group();
        self.waited_for = true;
        match self.child.wait() {
            Ok(status) if has_ended => ended_by(status),
            _ => "it took the helper's output away and went on".to_owned(),
        }
    }

    /// Whether it has ended, without making its number free for another process.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.pid()), look), Ok(WaitStatus::StillAlive))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    #[cfg(unix)]
    fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id().cast_signed())
    }

    /// Ends the helper and everything in its group. Its number is still its own: nobody has waited
    /// for it.
    #[cfg(unix)]
    fn end_group(&mut self) {
        use nix::sys::signal::{Signal, killpg};
        // It may have ended by itself.
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }

    #[cfg(not(unix))]
    fn end_group(&mut self) {
        let _ = self.child.kill();
    }
}

#[cfg(unix)]
fn ended_by(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal().and_then(|number| nix::sys::signal::Signal::try_from(number).ok()) {
        Some(signal) => format!("it crashed while it was looked into ({signal})"),
        None => left(status),
    }
}

#[cfg(not(unix))]
fn ended_by(status: ExitStatus) -> String {
    left(status)
}

fn left(status: ExitStatus) -> String {
    format!("it ended the process that looked into it ({status})")
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.waited_for {
            self.end_group();
            let _ = self.child.wait();
        }
    }
}
