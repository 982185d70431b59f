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

/// Time after the time limit until a process that has not exited by itself is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Why nothing was decoded.
#[derive(Debug)]
pub(in crate::audio) enum Failure {
    /// The file is refused.
    Refused(Refusal),
    /// The observer cancelled the work.
    Cancelled,
    /// The process could not be started or read, or was ended for a reason other than the file.
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
    /// Returns this executable, even if its file was replaced since it started.
    #[cfg(not(test))]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() { running } else { std::env::current_exe()? };
        Ok(Self { program, arguments: &["decode"], environment: &[], helpers })
    }

    /// Returns the test executable. One of its tests acts as the decoder.
    #[cfg(test)]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: &["--exact", super::tests::ENTRY, "--nocapture", "--quiet"],
            environment: &[(super::tests::ENTRY_MARK, "1")],
            helpers,
        })
    }

    /// Runs `job`, whose paths are relative to `folder`. Blocks. `observer` receives the fraction
    /// of the file that was read, and returns whether to continue.
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

    /// Reads the headers of files, in the order of `files`. An entry is `None` if the file is not
    /// supported audio, or if it crashed the process; a new process then continues with the next
    /// file. Blocks until all headers are read, or until `is_wanted` returns false.
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
            // The decoder must not see the settings and secrets of the service.
            .env_clear()
            .envs(decoder.environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Ctrl-C in a terminal sends a signal to the whole process group. If it killed the decoder,
        // its file would seem to have crashed it. So the decoder gets its own group, and the
        // service ends it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let registered = decoder.helpers.register("decoder", child.id());
        let mut process = Self { child, registered };
        let text = serde_json::to_string(request)?;
        // The pipe stays open, because the process exits when the pipe closes.
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
                // Output that is not a message is ignored.
                if let Ok(message) = serde_json::from_str::<Message>(&line)
                    && sender.send(message).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(messages)
    }

    /// Returns the reason why the process ended without a result.
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
                "is damaged, or needs more memory than the decoder is allowed to use".to_owned(),
            )),
            ExitCause::External => {
                Failure::Io(std::io::Error::other(format!("the decoder was ended: {status}")))
            }
        }
    }
}

/// The cause of a process exit.
enum ExitCause {
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
            // The exit code of an exception has its highest bit set, so it is negative.
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
        // An error means that the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
