//! The socket to a hosted plugin. Reads and writes block until a deadline, and only while the
//! result is still needed.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;
use songfoundry_bridge_protocol::frame::{BINARY_BYTES_MAX, HEADER_BYTES_MAX};

/// Interval between checks whether the result is still needed.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Size of the buffer of each direction of a socket, in bytes, which the system may limit. It holds
/// several requests of a render, so that the plugin finds the next request as soon as it has
/// answered one.
const SOCKET_BUFFER_BYTES: usize = 512 << 10;

/// Maximum number of bytes that are read from the socket at once while a request is written.
const CHUNK_BYTES: usize = 64 << 10;

/// Maximum number of received bytes that have not been read yet: the length of the longest frame.
const RECEIVED_BYTES_MAX: usize = HEADER_BYTES_MAX + BINARY_BYTES_MAX;

/// Reason why the work on a connection was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The deadline has passed.
    Late,
    /// The result is no longer needed.
    Cancelled,
    /// An administrator has requested the end of the helper.
    EndedByAdministrator,
}

/// A socket to a helper, and the answers that arrived while requests were written.
#[derive(Debug)]
pub(super) struct Socket {
    stream: UnixStream,
    received: VecDeque<u8>,
}

impl Socket {
    /// Returns a socket and its other end, which is for the helper.
    pub(super) fn pair() -> io::Result<(Self, UnixStream)> {
        let (stream, helper_stream) = UnixStream::pair()?;
        for end in [&stream, &helper_stream] {
            SockRef::from(end).set_send_buffer_size(SOCKET_BUFFER_BYTES)?;
        }
        stream.set_nonblocking(true)?;
        Ok((Self { stream, received: VecDeque::new() }, helper_stream))
    }

    /// Sends a byte with file descriptors. The helper must have read all earlier bytes.
    #[cfg(target_os = "linux")]
    pub(super) fn send_descriptors(&self, descriptors: [std::os::fd::BorrowedFd<'_>; 3]) -> io::Result<()> {
        use nix::sys::socket::{ControlMessage, MsgFlags, UnixAddr, sendmsg};
        let numbers = descriptors.map(|descriptor| std::os::fd::AsRawFd::as_raw_fd(&descriptor));
        let rights = [ControlMessage::ScmRights(&numbers)];
        let (parts, flags) = ([io::IoSlice::new(&[0])], MsgFlags::MSG_NOSIGNAL);
        sendmsg::<UnixAddr>(std::os::fd::AsRawFd::as_raw_fd(&self.stream), &parts, &rights, flags, None)?;
        Ok(())
    }
}

/// A socket with a deadline. While the socket's buffer is too full for a request, answers are read
/// from the socket. A helper that is still writing its answer reads no requests.
pub(super) struct Connection<'a> {
    socket: &'a mut Socket,
    deadline: Instant,
    /// Returns a reason to stop before the deadline.
    stop: &'a dyn Fn() -> Option<Stop>,
    /// The reason why the connection was stopped.
    pub(super) stopped: Option<Stop>,
}

impl<'a> Connection<'a> {
    pub(super) fn until(
        deadline: Instant,
        socket: &'a mut Socket,
        stop: &'a dyn Fn() -> Option<Stop>,
    ) -> Self {
        Self { socket, deadline, stop, stopped: None }
    }

    /// Returns an error if the connection must stop. This is checked even if data has arrived,
    /// because a plugin could send single bytes without end.
    fn check(&mut self) -> io::Result<()> {
        self.stopped = match Instant::now() > self.deadline {
            true => Some(Stop::Late),
            false => (self.stop)(),
        };
        match self.stopped {
            Some(_) => Err(ErrorKind::TimedOut.into()),
            None => Ok(()),
        }
    }

    /// Waits until the socket can be written, and reads answers in the meantime.
    fn wait_to_write(&mut self) -> io::Result<()> {
        let Socket { stream, received } = &mut *self.socket;
        let is_full = received.len() >= RECEIVED_BYTES_MAX;
        let events = if is_full { PollFlags::POLLOUT } else { PollFlags::POLLOUT | PollFlags::POLLIN };
        if wait(stream, events)? {
            let mut chunk = [0; CHUNK_BYTES];
            match stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => received.extend(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits for one of the events, for at most [`CHECK_INTERVAL`]. Returns whether the stream can be
/// read.
fn wait(stream: &UnixStream, events: PollFlags) -> io::Result<bool> {
    let mut poll_fds = [PollFd::new(stream.as_fd(), events)];
    match poll(&mut poll_fds, PollTimeout::try_from(CHECK_INTERVAL).unwrap_or(PollTimeout::ZERO)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(poll_fds[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN)))
}

impl Read for &mut Connection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.check()?;
            if !self.socket.received.is_empty() {
                return self.socket.received.read(buffer);
            }
            match self.socket.stream.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait(&self.socket.stream, PollFlags::POLLIN)?;
                }
                outcome => return outcome,
            }
        }
    }
}

impl Write for &mut Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.check()?;
            match self.socket.stream.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_to_write()?,
                outcome => return outcome,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped_by(deadline: Instant, stop: &dyn Fn() -> Option<Stop>, send: bool) -> Option<Stop> {
        let (mut socket, mut peer) = Socket::pair().expect("sockets");
        if send {
            peer.write_all(b"x").expect("writes");
        }
        let mut connection = Connection::until(deadline, &mut socket, stop);
        let read_bytes = (&mut connection).read(&mut [0; 8]);
        assert_eq!(read_bytes.is_ok(), connection.stopped.is_none());
        connection.stopped
    }

    #[test]
    fn waiting_for_a_silent_peer_ends_at_the_deadline_or_a_stop() {
        let now = Instant::now();
        let later_time = now + Duration::from_secs(60);
        assert_eq!(stopped_by(now + 2 * CHECK_INTERVAL, &|| None, false), Some(Stop::Late));
        assert_eq!(stopped_by(later_time, &|| Some(Stop::Cancelled), false), Some(Stop::Cancelled));
        assert_eq!(stopped_by(later_time, &|| None, true), None);
        assert_eq!(stopped_by(now, &|| None, true), Some(Stop::Late), "data does not extend the deadline");
    }

    #[test]
    fn answers_are_received_while_the_peer_does_not_read() {
        let (mut socket, mut peer) = Socket::pair().expect("sockets");
        let bytes: Vec<u8> = (0..8 << 20).map(|index: u32| (index % 251) as u8).collect();
        let expected = bytes.clone();
        std::thread::scope(|scope| {
            // The peer reads only after it has written all of its own bytes.
            let exchange = scope.spawn(move || {
                peer.write_all(&bytes).expect("writes");
                let mut read_bytes = vec![0; bytes.len()];
                peer.read_exact(&mut read_bytes).expect("reads");
                read_bytes == bytes
            });
            let deadline = Instant::now() + Duration::from_secs(60);
            let mut connection = Connection::until(deadline, &mut socket, &|| None);
            (&mut connection).write_all(&expected).expect("writes");
            let mut read_bytes = vec![0; expected.len()];
            (&mut connection).read_exact(&mut read_bytes).expect("reads");
            assert!(read_bytes == expected);
            assert!(exchange.join().expect("no panic"));
        });
    }

    #[test]
    fn a_peer_that_closes_without_reading_is_an_error() {
        let (mut socket, peer) = Socket::pair().expect("sockets");
        peer.shutdown(std::net::Shutdown::Write).expect("shuts down");
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut connection = Connection::until(deadline, &mut socket, &|| None);
        let error = (&mut connection).write_all(&vec![0; 8 << 20]).expect_err("nobody reads");
        assert_eq!((error.kind(), connection.stopped), (ErrorKind::UnexpectedEof, None));
    }
}
