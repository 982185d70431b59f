//! Starts, supervises and ends the decoder process.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::child::{EXIT_TIMED_OUT, INSPECTION_SECS};
use super::{Message, Request};
use crate::audio::decode::{HeaderInfo, Job, Refusal, Report};
use crate::helper_processes::{Helpers, Registered};

/// How often to check whether the caller still waits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time beyond its limit until a process that did not exit by itself is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Why nothing was decoded.
#[derive(Debug)]
pub(in crate::audio) enum Failure {
    /// The file is refused.
    Refused(Refusal),
    /// The observer cancelled the work.
    Cancelled,
    /// The process could not be started or read, or something other than the file ended it.
    Io(std::io::Error),
}

/// The decoder program: this executable with the `decode` command.
#[derive(Debug, Clone)]
pub(in crate::audio) struct Decoder {
    program: PathBuf,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    helpers: Helpers,
}

impl Decoder {
    /// This executable, even if its file was replaced since it started.
    #[cfg(not(test))]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() { running } else { std::env::current_exe()? };
        Ok(Self { program, arguments: &["decode"], environment: &[], helpers })
    }

    /// The test executable, which one of its tests turns into a decoder.
    #[cfg(test)]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: &["--exact", super::tests::ENTRY, "--nocapture", "--quiet"],
            environment: &[(super::tests::ENTRY_MARK, "1")],
            helpers,
        })
    }

    /// Executes `job`, whose paths are relative to `folder`. Blocks; `observer` receives the
    /// progress and returns whether to continue.
    pub(in crate::audio) fn run(
        &self,
        folder: &Path,
        job: &Job,
        observer: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Report, Failure> {
        let request = Request::Decode(job.clone());
        let (mut process, messages) = Process::start(self, folder, &request).map_err(Failure::Io)?;
        let deadline = Instant::now() + Duration::from_secs(job.limits.wall_secs) + GRACE;
        let mut fraction = 0.0;
        loop {
            match messages.recv_timeout(POLL_INTERVAL) {
                Ok(Message::Progress(read)) => fraction = read,
                Ok(Message::Done(report)) => return Ok(report),
                Ok(Message::Refused(refusal)) => return Err(Failure::Refused(refusal)),
                Ok(Message::Inspected(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(process.failure(job)),
            }
            if !observer(fraction) || process.registered.is_to_end() {
                return Err(Failure::Cancelled);
            }
            if Instant::now() > deadline {
                return Err(Failure::Refused(too_slow(job)));
            }
        }
    }

    /// Reads the headers of files, in their order. `None` for files that are not supported audio,
    /// and for a file that crashes its process. The next process continues after it. Blocks until
    /// `is_wanted` returns false.
    pub(in crate::audio) fn inspect(
        &self,
        files: &[PathBuf],
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<Vec<Option<HeaderInfo>>> {
        let mut headers = Vec::with_capacity(files.len());
        let deadline = Instant::now() + Duration::from_secs(INSPECTION_SECS);
        while headers.len() < files.len() && Instant::now() < deadline && is_wanted() {
            let remaining = &files[headers.len()..];
            let (process, messages) =
                Process::start(self, Path::new("/"), &Request::Inspect(remaining.to_vec()))?;
            while headers.len() < files.len() {
                match messages.recv_timeout(POLL_INTERVAL) {
                    Ok(Message::Inspected(header)) => headers.push(header),
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {
                        if process.registered.is_to_end() || !is_wanted() {
                            break;
                        }
                    }
                    Err(_) => break,
                }
            }
            if headers.len() < files.len() {
                headers.push(None);
            }
        }
        headers.resize(files.len(), None);
        Ok(headers)
    }
}

/// A running decoder. Dropping it kills the process.
struct Process {
    child: Child,
    registered: Registered,
}

impl Process {
    /// Starts a process and sends the request. The channel receives its messages and closes when
    /// the process ends.
    fn start(
        decoder: &Decoder,
        folder: &Path,
        request: &Request,
    ) -> std::io::Result<(Self, Receiver<Message>)> {
        let mut command = Command::new(&decoder.program);
        command
            .args(decoder.arguments)
            // Hides the settings and secrets of the service.
            .env_clear()
            .envs(decoder.environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Ctrl-C in a terminal signals the whole process group. The service ends its decoders
        // itself; one that the signal killed would look as if its file had crashed it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let registered = decoder.helpers.register("decoder", child.id());
        let mut process = Self { child, registered };
        let text = serde_json::to_string(request)?;
        // The pipe stays open, because the process exits when it closes.
        let input = process.child.stdin.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        writeln!(input, "{text}")?;
        let messages = process.read_messages()?;
        Ok((process, messages))
    }

    fn read_messages(&mut self) -> std::io::Result<Receiver<Message>> {
        let (sender, messages) = mpsc::channel();
        let output = self.child.stdout.take();
        std::thread::Builder::new().name("decoder-output".to_owned()).spawn(move || {
            let Some(output) = output else { return };
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                // Ignores output that is not a message.
                if let Ok(message) = serde_json::from_str::<Message>(&line)
                    && sender.send(message).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(messages)
    }

    /// The reason why the process ended without an outcome.
    fn failure(&mut self, job: &Job) -> Failure {
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return Failure::Io(error),
        };
        tracing::warn!(?status, "a decoder exited without reporting a result");
        if status.code() == Some(EXIT_TIMED_OUT) {
            return Failure::Refused(too_slow(job));
        }
        match ExitCause::of(status) {
            ExitCause::OutOfTime => Failure::Refused(too_slow(job)),
            ExitCause::OutOfRoom => Failure::Refused(Refusal::NoRoom),
            ExitCause::Crash => Failure::Refused(Refusal::Malformed(
                "is damaged, or needs more memory than the decoder may use".to_owned(),
            )),
            ExitCause::External => {
                Failure::Io(std::io::Error::other(format!("the decoder was ended: {status}")))
            }
        }
    }
}

/// The cause of a process exit.
enum ExitCause {
    /// The limit of time or processor time.
    OutOfTime,
    /// The limit of the file size.
    OutOfRoom,
    /// A crash, also by an allocation above the memory limit.
    Crash,
    /// Not the file: a signal from outside (such as the OOM killer), or a limit that could not be
    /// set.
    External,
}

impl ExitCause {
    #[cfg(unix)]
    fn of(status: ExitStatus) -> Self {
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

    #[cfg(not(unix))]
    fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(EXIT_TIMED_OUT) => Self::OutOfTime,
            // Exception codes have the highest bit set.
            Some(..0) => Self::Crash,
            _ => Self::External,
        }
    }
}

fn too_slow(job: &Job) -> Refusal {
    Refusal::TooSlow(job.limits.wall_secs)
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that it has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
