//! The helper process of a hosted plugin: starts it, exchanges frames with it, and ends it.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use songfoundry_bridge_protocol::frame::{Frame, FrameError, read_frame_into, write_frame};
use songfoundry_bridge_protocol::host::{Answer, Request};

use super::PluginHosts;
use super::connection::{Connection, Socket, Stop};
use super::error::{HostError, printable};
use crate::helper_processes::bridge::{BridgeCommand, BridgeProcess};
use crate::state::make_private_dir;

/// Maximum time for a helper to end itself.
const CLOSE_MAX: Duration = Duration::from_millis(1_500);

/// A running helper. Dropping it ends all of its processes and deletes the plugin's home folder.
pub(super) struct HostHelper<'a> {
    hosts: &'a PluginHosts,
    is_cancelled: &'a dyn Fn() -> bool,
    socket: Socket,
    process: BridgeProcess,
    /// Dropped after the process, which uses the folder.
    _home: tempfile::TempDir,
}

impl<'a> HostHelper<'a> {
    /// Starts a helper, which can show the plugin's own window if `can_show_window` is true.
    /// Requests end early when `is_cancelled` returns true.
    pub(super) fn start(
        hosts: &'a PluginHosts,
        is_cancelled: &'a dyn Fn() -> bool,
        can_show_window: bool,
    ) -> Result<Self, HostError> {
        make_private_dir(&hosts.homes).map_err(io::Error::other)?;
        let home = tempfile::tempdir_in(&hosts.homes)?;
        let (socket, helper_socket) = Socket::pair()?;
        let command = BridgeCommand::Host {
            socket: OwnedFd::from(helper_socket),
            memory_max_bytes: hosts.memory_max_bytes,
            can_show_window,
        };
        let kind = if can_show_window { "plugin window" } else { "plugin" };
        let process = hosts.bridge.start(kind, command, home.path()).map_err(|error| {
            let program = hosts.bridge.program().display().to_string();
            HostError::NotStarted { program, reason: format!("it cannot be started: {error}") }
        })?;
        Ok(Self { hosts, is_cancelled, socket, process, _home: home })
    }

    /// Returns the reason why the helper has ended or must end; `None` while it runs.
    pub(super) fn end_reason(&mut self) -> Option<HostError> {
        if self.process.is_to_end() {
            return Some(HostError::EndedByAdministrator);
        }
        self.process.has_ended().then(|| HostError::of_exit(self.process.end_after_output()))
    }

    /// Asks the helper to end itself, and waits until it has ended. A killed helper cannot delete
    /// the files of its X server. Waits at most [`CLOSE_MAX`], even if the work is cancelled.
    pub(super) fn close(&mut self) {
        let deadline = Instant::now() + CLOSE_MAX;
        let mut connection = Connection::until(deadline, &mut self.socket, &|| None);
        // The answer is not read; only the end of the process matters.
        if write_frame(&mut connection, &Request::Close, &[]).is_ok() {
            self.process.has_ended_within(deadline.saturating_duration_since(Instant::now()));
        }
        self.process.end();
    }

    /// Sends a request, and returns its answer. Blocks.
    pub(super) fn request(&mut self, request: &Request, binary: &[u8]) -> Result<Frame<Answer>, HostError> {
        self.send(request, binary)?;
        let mut binary = Vec::new();
        let header = self.receive(&mut binary)?;
        Ok(Frame { header, binary })
    }

    /// Sends a request. If the helper does not read it, ends the helper. Blocks while earlier
    /// requests fill the socket's buffer.
    pub(super) fn send(&mut self, request: &Request, binary: &[u8]) -> Result<(), HostError> {
        self.exchange(|connection| write_frame(connection, request, binary))
    }

    /// Returns the next answer unless it is a refusal, and replaces the content of `binary` by its
    /// binary part. If there is no answer, ends the helper. Blocks.
    pub(super) fn receive(&mut self, binary: &mut Vec<u8>) -> Result<Answer, HostError> {
        match self.exchange(|connection| read_frame_into(connection, binary))? {
            Some(Answer::Refused { reason }) => Err(HostError::Refused { reason: printable(&reason) }),
            Some(answer) => Ok(answer),
            None => Err(HostError::of_exit(self.process.end_after_output())),
        }
    }

    /// Sends file descriptors after a request that announces them. If it fails, ends the helper.
    #[cfg(target_os = "linux")]
    pub(super) fn send_descriptors(&mut self, descriptors: [BorrowedFd<'_>; 3]) -> Result<(), HostError> {
        let send_result = self.socket.send_descriptors(descriptors);
        send_result.map_err(|error| self.end_after(FrameError::Socket(error), None))
    }

    /// If the helper has ended, or if an administrator has requested its end, ends all of its
    /// processes and returns the reason.
    pub(super) fn take_end(&mut self) -> Option<HostError> {
        if self.process.is_to_end() {
            self.process.end();
            return Some(HostError::EndedByAdministrator);
        }
        self.process.has_ended().then(|| HostError::of_exit(self.process.end_after_output()))
    }

    /// Reads or writes a frame. If it fails, ends the helper.
    fn exchange<T>(
        &mut self,
        transfer: impl FnOnce(&mut Connection<'_>) -> Result<T, FrameError>,
    ) -> Result<T, HostError> {
        let (process, is_cancelled) = (&self.process, self.is_cancelled);
        let stop = || match process.is_to_end() {
            true => Some(Stop::EndedByAdministrator),
            false => is_cancelled().then_some(Stop::Cancelled),
        };
        let deadline = Instant::now() + self.hosts.answer_max;
        let mut connection = Connection::until(deadline, &mut self.socket, &stop);
        let outcome = transfer(&mut connection);
        let stopped = connection.stopped;
        outcome.map_err(|error| self.end_after(error, stopped))
    }

    /// Ends the helper after a failed exchange. Returns the error that describes the cause.
    fn end_after(&mut self, error: FrameError, stopped: Option<Stop>) -> HostError {
        if stopped.is_none() && matches!(error, FrameError::Socket(_)) {
            return HostError::of_exit(self.process.end_after_output());
        }
        self.process.end();
        match stopped {
            Some(Stop::Late) => HostError::Late { limit_secs: self.hosts.answer_max.as_secs() },
            Some(Stop::Cancelled) => HostError::Cancelled,
            Some(Stop::EndedByAdministrator) => HostError::EndedByAdministrator,
            None => HostError::InvalidAnswer { reason: printable(&error.to_string()) },
        }
    }
}
