//! Starting the process that decodes, listening to it, and ending it.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::child::{INSPECTION_SECS, TIME_IS_OVER};
use super::{Message, Order};
use crate::audio::decode::{HeaderInfo, Job, Refusal, Report};
use crate::helper_processes::{Helpers, Registered};

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
    /// The process could not be started or heard, or something other than the file ended it.
    Io(std::io::Error),
}

/// The program that decodes: this one, with the command for it.
#[derive(Debug, Clone)]
pub(in crate::audio) struct Decoder {
    program: PathBuf,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    helpers: Helpers,
}

impl Decoder {
    /// This very program, even if its file was replaced since it started.
    #[cfg(not(test))]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() { running } else { std::env::current_exe()? };
        Ok(Self { program, arguments: &["decode"], environment: &[], helpers })
    }

    /// The test program, which one of its tests turns into a decoder.
    #[cfg(test)]
    pub(in crate::audio) fn of_this_program(helpers: Helpers) -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: &["--exact", super::tests::ENTRY, "--nocapture", "--quiet"],
            environment: &[(super::tests::ENTRY_MARK, "1")],
            helpers,
        })
    }

    /// Does `job`, whose paths are relative to `folder`. Blocks; `observer` receives the progress
    /// and returns whether to continue.
    pub(in crate::audio) fn run(
        &self,
        folder: &Path,
        job: &Job,
        observer: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Report, Failure> {
        let order = Order::Decode(job.clone());
        let (mut process, messages) = Process::start(self, folder, &order).map_err(Failure::Io)?;
        let deadline = Instant::now() + Duration::from_secs(job.limits.wall_secs) + GRACE;
        let mut share = 0.0;
        loop {
            match messages.recv_timeout(LOOK_EVERY) {
                Ok(Message::Progress(now)) => share = now,
                Ok(Message::Done(report)) => return Ok(report),
                Ok(Message::Refused(refusal)) => return Err(Failure::Refused(refusal)),
                Ok(Message::Inspected(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(process.gave_up(job)),
            }
            if !observer(share) || process.registered.is_to_end() {
                return Err(Failure::Cancelled);
            }
            if Instant::now() > deadline {
                return Err(Failure::Refused(too_slow(job)));
            }
        }
    }

    /// What the headers of files say, in their order; `None` for what is no audio file that is read
    /// here. A file that ends its process is none of them, and the next process goes on behind it.
    /// Blocks, as long as `is_wanted`.
    pub(in crate::audio) fn inspect(
        &self,
        files: &[PathBuf],
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<Vec<Option<HeaderInfo>>> {
        let mut found = Vec::with_capacity(files.len());
        let deadline = Instant::now() + Duration::from_secs(INSPECTION_SECS);
        while found.len() < files.len() && Instant::now() < deadline && is_wanted() {
            let rest = &files[found.len()..];
            let (process, messages) = Process::start(self, Path::new("/"), &Order::Inspect(rest.to_vec()))?;
            let wanted = files.len();
            while found.len() < wanted {
                match messages.recv_timeout(LOOK_EVERY) {
                    Ok(Message::Inspected(facts)) => found.push(facts),
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {
                        if process.registered.is_to_end() || !is_wanted() {
                            break;
                        }
                    }
                    Err(_) => break,
                }
            }
            if found.len() < wanted {
                found.push(None);
            }
        }
        found.resize(files.len(), None);
        Ok(found)
    }
}

/// A running decoder. Dropped, it is ended.
struct Process {
    child: Child,
    registered: Registered,
}

impl Process {
    /// Starts a process and sends its order. The channel receives its messages and closes when it
    /// ends.
    fn start(decoder: &Decoder, folder: &Path, order: &Order) -> std::io::Result<(Self, Receiver<Message>)> {
        let mut command = Command::new(&decoder.program);
        command
            .args(decoder.arguments)
            // Nothing of the service's settings, least of all its secrets.
            .env_clear()
            .envs(decoder.environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Ctrl-C in a terminal goes to the whole process group. The service ends its decoders
        // itself; one that a signal ended first would look like one that its file ended.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        let registered = decoder.helpers.register("decoder", child.id());
        let mut process = Self { child, registered };
        let text = serde_json::to_string(order)?;
        // The pipe stays open: its end tells the process that nobody waits any more.
        let input = process.child.stdin.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        writeln!(input, "{text}")?;
        let messages = process.listen()?;
        Ok((process, messages))
    }

    fn listen(&mut self) -> std::io::Result<Receiver<Message>> {
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

    /// Why there is no outcome.
    fn gave_up(&mut self, job: &Job) -> Failure {
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(error) => return Failure::Io(error),
        };
        tracing::warn!(?status, "a decoder ended without an outcome");
        if status.code() == Some(TIME_IS_OVER) {
            return Failure::Refused(too_slow(job));
        }
        match Ending::of(status) {
            Ending::OutOfTime => Failure::Refused(too_slow(job)),
            Ending::OutOfRoom => Failure::Refused(Refusal::NoRoom),
            Ending::Crash => Failure::Refused(Refusal::Malformed(
                "is damaged, or needs more memory than a file may have".to_owned(),
            )),
            Ending::FromOutside => {
                Failure::Io(std::io::Error::other(format!("the decoder was ended: {status}")))
            }
        }
    }
}

/// The reason why a process ended without an outcome.
enum Ending {
    /// Its limit of processor time, or of time.
    OutOfTime,
    /// Its limit of the size of a file.
    OutOfRoom,
    /// Itself. An allocation above its limit of memory ends so too.
    Crash,
    /// Anything but the file: a signal of somebody or of a system short of memory, or a limit that
    /// could not be set.
    FromOutside,
}

impl Ending {
    #[cfg(unix)]
    fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        match (status.code(), status.signal()) {
            (Some(TIME_IS_OVER), _) | (_, Some(libc::SIGXCPU)) => Self::OutOfTime,
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
            _ => Self::FromOutside,
        }
    }

    #[cfg(not(unix))]
    fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(TIME_IS_OVER) => Self::OutOfTime,
            // The codes of exceptions have their highest bit set.
            Some(..0) => Self::Crash,
            _ => Self::FromOutside,
        }
    }
}

fn too_slow(job: &Job) -> Refusal {
    Refusal::TooSlow(job.limits.wall_secs)
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
