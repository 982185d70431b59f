//! Starting the process that decodes, listening to it, and ending it.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::child::TIME_IS_OVER;
use super::{Job, Message, Refusal, Report};

/// How often it is asked whether the work is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a process that watches its own time gets beyond it.
const GRACE: Duration = Duration::from_secs(10);

/// Why nothing was decoded.
#[derive(Debug)]
pub(in crate::audio) enum Failure {
    /// The file is not taken.
    Refused(Refusal),
    /// The observer said that it is not wanted any more.
    Cancelled,
    /// The process could not be started or heard.
    Io(std::io::Error),
}

/// The program that decodes: this one, with the command for it.
#[derive(Debug, Clone)]
pub(in crate::audio) struct Decoder {
    program: PathBuf,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

impl Decoder {
    /// This very program, even if its file was replaced since it started.
    #[cfg(not(test))]
    pub(in crate::audio) fn of_this_program() -> std::io::Result<Self> {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() { running } else { std::env::current_exe()? };
        Ok(Self { program, arguments: &["decode"], environment: &[] })
    }

    /// The test program, which one of its tests turns into a decoder.
    #[cfg(test)]
    pub(in crate::audio) fn of_this_program() -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: &["--exact", super::tests::ENTRY, "--nocapture", "--quiet"],
            environment: &[(super::tests::ENTRY_MARK, "1")],
        })
    }

    /// Does `job`, whose paths are relative to `folder`. Blocks; `observer` hears the share that is done
    /// and says whether to go on.
    pub(in crate::audio) fn run(
        &self,
        folder: &Path,
        job: &Job,
        observer: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Report, Failure> {
        let mut process = Process::start(self, folder, job).map_err(Failure::Io)?;
        let deadline = Instant::now() + Duration::from_secs(job.limits.wall_secs) + GRACE;
        let (sender, messages) = mpsc::channel();
        let output = process.0.stdout.take();
        std::thread::Builder::new()
            .name("decoder-output".to_owned())
            .spawn(move || {
                let Some(output) = output else { return };
                for line in BufReader::new(output).lines() {
                    let Ok(line) = line else { break };
                    // Whatever else is printed means nothing.
                    if let Ok(message) = serde_json::from_str::<Message>(&line)
                        && sender.send(message).is_err()
                    {
                        break;
                    }
                }
            })
            .map_err(Failure::Io)?;
        let mut share = 0.0;
        loop {
            match messages.recv_timeout(LOOK_EVERY) {
                Ok(Message::Progress(now)) => share = now,
                Ok(Message::Done(report)) => return Ok(report),
                Ok(Message::Refused(refusal)) => return Err(Failure::Refused(refusal)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Refused(process.gave_up(job))),
            }
            if !observer(share) {
                return Err(Failure::Cancelled);
            }
            if Instant::now() > deadline {
                return Err(Failure::Refused(too_slow(job)));
            }
        }
    }
}

/// A running decoder. Dropped, it is ended.
struct Process(Child);

impl Process {
    fn start(decoder: &Decoder, folder: &Path, job: &Job) -> std::io::Result<Self> {
        let child = Command::new(&decoder.program)
            .args(decoder.arguments)
            // Nothing of the service's settings, least of all its secrets.
            .env_clear()
            .envs(decoder.environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut process = Self(child);
        let text = serde_json::to_string(job)?;
        // The pipe stays open: its end tells the process that nobody waits any more.
        let input = process.0.stdin.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        writeln!(input, "{text}")?;
        Ok(process)
    }

    /// Why there is no outcome.
    fn gave_up(&mut self, job: &Job) -> Refusal {
        let status = self.0.wait();
        tracing::warn!(?status, "a decoder ended without an outcome");
        #[cfg(unix)]
        if let Ok(status) = &status {
            use std::os::unix::process::ExitStatusExt as _;
            // Out of processor time.
            if matches!(status.signal(), Some(SIGXCPU | SIGKILL)) {
                return too_slow(job);
            }
        }
        if status.is_ok_and(|status| status.code() == Some(TIME_IS_OVER)) {
            return too_slow(job);
        }
        Refusal::Malformed("is damaged, or needs more memory than a file may have".to_owned())
    }
}

#[cfg(unix)]
const SIGXCPU: i32 = 24;
#[cfg(unix)]
const SIGKILL: i32 = 9;

fn too_slow(job: &Job) -> Refusal {
    Refusal::Limit(format!("takes longer than {} seconds to decode", job.limits.wall_secs))
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
