//! Waits for requests and blocks, and meanwhile does the work that plugins want done between them.
#![expect(unsafe_code, reason = "the socket and the plugin's descriptors are numbers")]

use std::os::fd::{AsFd as _, BorrowedFd, FromRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::plugin::{HostedPlugin, IdleWork};

/// Takes the inherited socket. Programs that a plugin starts do not inherit it.
pub(crate) fn take_socket(descriptor: RawFd) -> anyhow::Result<UnixStream> {
    anyhow::ensure!(descriptor > 2, "the socket must not be a standard stream, but is {descriptor}");
    // SAFETY: the descriptor is used only if the next call finds it open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    fcntl(borrowed, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))
        .with_context(|| format!("the file descriptor {descriptor} is not open"))?;
    // SAFETY: the descriptor is open, and the service passes it for this purpose only.
    Ok(unsafe { UnixStream::from_raw_fd(descriptor) })
}

/// What can be read after [`wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ready {
    /// A block was posted. There may be a request, too, which came later.
    Block,
    /// There is a request, or the end of the socket.
    Request,
}

/// Waits until a request can be read, or a block was posted. Meanwhile the plugin's timers and
/// descriptors are served, but not before a posted block. `posted` is the socket that signals
/// posted blocks.
pub(super) fn wait(
    socket: &UnixStream,
    posted: Option<BorrowedFd<'_>>,
    mut plugin: Option<&mut dyn HostedPlugin>,
) -> anyhow::Result<Ready> {
    loop {
        let work = plugin.as_ref().map(|plugin| plugin.idle_work()).unwrap_or_default();
        let (first, ready) = poll_once(socket, posted, &work)?;
        if first == Some(Ready::Block) {
            return Ok(Ready::Block);
        }
        if let Some(plugin) = &mut plugin {
            plugin.idle(&ready);
        }
        if first == Some(Ready::Request) {
            return Ok(Ready::Request);
        }
    }
}

/// Waits until a block was posted, a request or one of the descriptors of `work` can be read, or the
/// time of `work` has passed. Returns what comes first, and the readable descriptors.
pub(crate) fn poll_once(
    socket: &UnixStream,
    posted: Option<BorrowedFd<'_>>,
    work: &IdleWork,
) -> anyhow::Result<(Option<Ready>, Vec<RawFd>)> {
    // A plugin may have closed a descriptor without telling the host. `poll` then reports it as
    // invalid.
    let borrow = |descriptor: &RawFd| {
        // SAFETY: `poll` accepts numbers that are not open.
        PollFd::new(unsafe { BorrowedFd::borrow_raw(*descriptor) }, PollFlags::POLLIN)
    };
    // The socket of requests stands for the one of blocks before there is one.
    let posted_or_socket = posted.unwrap_or(socket.as_fd());
    let mut polled = [socket.as_fd(), posted_or_socket].map(|fd| PollFd::new(fd, PollFlags::POLLIN)).to_vec();
    polled.extend(work.descriptors.iter().filter(|descriptor| **descriptor >= 0).map(borrow));
    // Rounds up, so that the timer is due after the wait.
    let timeout = work.timeout.map_or(PollTimeout::NONE, |timeout| {
        PollTimeout::try_from(timeout + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
    });
    match poll(&mut polled, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_ready = |polled: &PollFd| polled.revents().is_some_and(|events| !events.is_empty());
    let first = if posted.is_some() && is_ready(&polled[1]) {
        Some(Ready::Block)
    } else {
        is_ready(&polled[0]).then_some(Ready::Request)
    };
    let descriptors = work.descriptors.iter().filter(|descriptor| **descriptor >= 0);
    let ready = descriptors.zip(&polled[2..]).filter(|(_, polled)| {
        polled.revents().is_some_and(|events| events.intersects(PollFlags::POLLIN | PollFlags::POLLHUP))
    });
    Ok((first, ready.map(|(descriptor, _)| *descriptor).collect()))
}
