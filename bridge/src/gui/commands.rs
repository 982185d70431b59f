//! Commands of the server's thread to the main thread, which waits on a file descriptor.

use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, SyncSender};

use songfoundry_bridge_protocol::host::ParameterValue;

use crate::host::plugin::Descriptor;

/// Maximum number of commands that wait for the main thread.
const WAITING_MAX: usize = 256;

/// A command of a client.
#[derive(Debug)]
pub(super) enum Command {
    /// Sets values of parameters.
    SetParameters(Vec<ParameterValue>),
    /// Hides the window.
    Hide,
    /// Shows the window.
    Show,
    /// Ends this process.
    Close,
}

/// The server's end.
pub(super) struct CommandSender {
    commands: SyncSender<Command>,
    wake: UnixStream,
}

/// The main thread's end.
pub(super) struct Commands {
    commands: Receiver<Command>,
    wake: UnixStream,
}

/// Makes a queue of commands.
pub(super) fn channel() -> std::io::Result<(CommandSender, Commands)> {
    let (sender, receiver) = mpsc::sync_channel(WAITING_MAX);
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    Ok((CommandSender { commands: sender, wake }, Commands { commands: receiver, wake: woken }))
}

impl CommandSender {
    /// Sends a command. Returns false if too many wait, as while the plugin hangs.
    pub(super) fn send(&self, command: Command) -> bool {
        let is_sent = self.commands.try_send(command).is_ok();
        // A full pipe wakes the main thread as well.
        let _ = (&self.wake).write(&[0]);
        is_sent
    }
}

impl Commands {
    /// Returns the descriptor that can be read while commands wait.
    pub(super) fn descriptor(&self) -> Descriptor {
        self.wake.as_raw_fd()
    }

    /// Takes the waiting commands.
    pub(super) fn take(&mut self) -> Vec<Command> {
        let mut ignored_bytes = [0; WAITING_MAX];
        while self.wake.read(&mut ignored_bytes).is_ok_and(|count| count == ignored_bytes.len()) {}
        self.commands.try_iter().take(WAITING_MAX).collect()
    }
}
