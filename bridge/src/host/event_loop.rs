//! Waits for requests and blocks. Meanwhile, runs the timers and descriptor handlers of the plugin.
#![expect(unsafe_code, reason = "the socket and the plugin's descriptors are numbers")]

use std::os::fd::{AsFd as _, BorrowedFd, FromRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::Context as _;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::plugin::{HostedPlugin, IdleWork};

/// Opens the inherited socket. Programs that a plugin starts do not inherit it.
pub(crate) fn take_socket(descriptor: RawFd) -> anyhow::Result<UnixStream> {
    anyhow::ensure!(descriptor > 2, "the socket must not be a standard stream, but is {descriptor}");
    // SAFETY: the descriptor is used only if the next call finds it open.
    let borrowed_descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    fcntl(borrowed_descriptor, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))
        .with_context(|| format!("the file descriptor {descriptor} is not open"))?;
    // SAFETY: the descriptor is open, and the service passes it for this purpose only.
    Ok(unsafe { UnixStream::from_raw_fd(descriptor) })
}

/// The event that ended [`wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    /// A block was posted. A request may be readable, too.
    Block,
    /// A request can be read, or the service has closed the socket.
    Request,
}

/// The result of [`poll_once`].
pub(crate) struct Polled {
    /// Whether a block was posted.
    pub(crate) has_block: bool,
    /// Whether a request can be read, or the service has closed the socket.
    pub(crate) has_request: bool,
    /// The readable descriptors of the plugin.
    pub(crate) descriptors: Vec<RawFd>,
}

/// Waits until a request can be read, or a block was posted. Meanwhile, runs the plugin's timers
/// and descriptor handlers, but not before a posted block. `posted` is the socket that signals
/// posted blocks.
///
/// If the `last` event was a block, the plugin's timers, descriptor handlers and a waiting request
/// precede further blocks. Requests are thus answered even if the plugin is slower than real time.
pub(super) fn wait(
    socket: &UnixStream,
    posted: Option<BorrowedFd<'_>>,
    mut plugin: Option<&mut dyn HostedPlugin>,
    last: Option<Ready>,
) -> anyhow::Result<Ready> {
    let mut is_after_blocks = last == Some(Ready::Block);
    loop {
        let mut work = plugin.as_ref().map(|plugin| plugin.idle_work()).unwrap_or_default();
        if is_after_blocks {
            work.timeout = Some(Duration::ZERO);
        }
        let polled = poll_once(socket, posted, &work)?;
        if polled.has_block && !is_after_blocks {
            return Ok(Ready::Block);
        }
        if let Some(plugin) = &mut plugin {
            plugin.idle(&polled.descriptors);
        }
        if polled.has_request {
            return Ok(Ready::Request);
        }
        if polled.has_block {
            return Ok(Ready::Block);
        }
        is_after_blocks = false;
    }
}

/// Waits until a block was posted, a request or a descriptor of `work` can be read, or the time of
/// `work` has passed.
pub(crate) fn poll_once(
    socket: &UnixStream,
    posted: Option<BorrowedFd<'_>>,
    work: &IdleWork,
) -> anyhow::Result<Polled> {
    // A plugin may have closed a descriptor without unregistering it. `poll` then reports the
    // descriptor as invalid.
    let borrow = |descriptor: &RawFd| {
        // SAFETY: `poll` accepts numbers that are not open.
        PollFd::new(unsafe { BorrowedFd::borrow_raw(*descriptor) }, PollFlags::POLLIN)
    };
    // Before the socket of blocks exists, the socket of requests is polled in its place.
    let posted_or_socket = posted.unwrap_or(socket.as_fd());
    let mut polled = [socket.as_fd(), posted_or_socket].map(|fd| PollFd::new(fd, PollFlags::POLLIN)).to_vec();
    polled.extend(work.descriptors.iter().filter(|descriptor| **descriptor >= 0).map(borrow));
    // Rounds up, so that the timer is due after the wait.
    let timeout = work.timeout.map_or(PollTimeout::NONE, |timeout| match timeout {
        Duration::ZERO => PollTimeout::ZERO,
        timeout => PollTimeout::try_from(timeout + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX),
    });
    match poll(&mut polled, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_ready = |polled: &PollFd| polled.revents().is_some_and(|events| !events.is_empty());
    let (has_block, has_request) = (posted.is_some() && is_ready(&polled[1]), is_ready(&polled[0]));
    let descriptors = work.descriptors.iter().filter(|descriptor| **descriptor >= 0);
    let ready = descriptors.zip(&polled[2..]).filter(|(_, polled)| {
        polled.revents().is_some_and(|events| events.intersects(PollFlags::POLLIN | PollFlags::POLLHUP))
    });
    let descriptors = ready.map(|(descriptor, _)| *descriptor).collect();
    Ok(Polled { has_block, has_request, descriptors })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn blocks_come_first_but_a_request_follows_them() {
        let [(mut requests, socket), (mut blocks, posted)] =
            [(); 2].map(|()| UnixStream::pair().expect("a pair"));
        let ready = |last| wait(&socket, Some(posted.as_fd()), None, last).expect("waits");
        blocks.write_all(&[1]).expect("posts");
        assert_eq!([ready(None), ready(Some(Ready::Block))], [Ready::Block; 2]);
        requests.write_all(&[1]).expect("sends");
        assert_eq!([ready(None), ready(Some(Ready::Request))], [Ready::Block; 2]);
        assert_eq!(ready(Some(Ready::Block)), Ready::Request);
    }
}
