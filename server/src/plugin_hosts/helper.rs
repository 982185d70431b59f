//! The helper process of a hosted plugin: starts it, exchanges frames with it, and ends it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use songfoundry_bridge_protocol::frame::{Frame, FrameError, read_frame, write_frame};
use songfoundry_bridge_protocol::host::{Answer, Request};

use super::PluginHosts;
use super::connection::{Connection, Stop};
use super::error::{HostError, printable};
use crate::helper_processes::bridge::{BridgeCommand, BridgeProcess};
use crate::state::make_private_dir;

/// A running helper. Dropping it ends all of its processes and deletes the plugin's home folder.
pub(super) struct HostHelper<'a> {
    hosts: &'a PluginHosts,
    is_cancelled: &'a dyn Fn() -> bool,
    socket: UnixStream,
    process: BridgeProcess,
    /// Dropped after the process, which uses the folder.
    _home: tempfile::TempDir,
}

impl<'a> HostHelper<'a> {
    /// Starts a helper. Requests end early when `is_cancelled` returns true.
    pub(super) fn start(
        hosts: &'a PluginHosts,
        is_cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, HostError> {
        make_private_dir(&hosts.homes).map_err(io::Error::other)?;
        let home = tempfile::tempdir_in(&hosts.homes)?;
        let (socket, helper_socket) = UnixStream::pair()?;
        Connection::prepare(&socket)?;
        let command = BridgeCommand::Host {
            socket: OwnedFd::from(helper_socket),
            memory_max_bytes: hosts.memory_max_bytes,
        };
        let process = hosts.bridge.start("plugin", command, home.path()).map_err(|error| {
            let program = hosts.bridge.program().display().to_string();
            HostError::NotStarted { program, reason: format!("it cannot be started: {error}") }
        })?;
        Ok(Self { hosts, is_cancelled, socket, process, _home: home })
    }

    /// Sends a request, and returns its answer unless it is a refusal. Blocks.
    pub(super) fn accepted(&mut self, request: &Request, binary: &[u8]) -> Result<Frame<Answer>, HostError> {
        match self.request(request, binary)? {
            Frame { header: Answer::Refused { reason }, .. } => {
                Err(HostError::Refused { reason: printable(&reason) })
            }
            frame => Ok(frame),
        }
    }

    /// Sends a request, and returns its answer. If there is no answer, ends the helper. Blocks.
    pub(super) fn request(&mut self, request: &Request, binary: &[u8]) -> Result<Frame<Answer>, HostError> {
        let (process, is_cancelled) = (&self.process, self.is_cancelled);
        let stop = || match process.is_to_end() {
            true => Some(Stop::EndedByAdministrator),
            false => is_cancelled().then_some(Stop::Cancelled),
        };
        let deadline = Instant::now() + self.hosts.answer_max;
        let mut connection = Connection::until(deadline, &self.socket, &stop);
        let answer = write_frame(&mut connection, request, binary)
            .and_then(|()| read_frame::<Answer>(&mut connection));
        let stopped = connection.stopped;
        match answer {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(HostError::of_exit(self.process.end_after_output())),
            Err(error) => Err(self.end_after(error, stopped)),
        }
    }

    /// Ends the helper after a failed exchange. Returns the reason in the terms of the plugin.
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
