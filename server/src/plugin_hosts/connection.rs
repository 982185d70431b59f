//! The socket to a hosted plugin. Reads and writes block, but only until a deadline, and only while
//! somebody waits for the result.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Interval of the checks whether the work is still wanted.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Reason why a connection gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The deadline has passed.
    Late,
    /// Nobody waits for the result any more.
    Cancelled,
    /// An administrator has requested the end of the helper.
    EndedByAdministrator,
}

/// A socket with a deadline.
pub(super) struct Connection<'a> {
    socket: &'a UnixStream,
    deadline: Instant,
    /// Returns a reason to give up before the deadline.
    stop: &'a dyn Fn() -> Option<Stop>,
    /// The reason why the connection gave up.
    pub(super) stopped: Option<Stop>,
}

impl<'a> Connection<'a> {
    /// Sets the time-outs of the socket, which [`Self::until`] relies on.
    pub(super) fn prepare(socket: &UnixStream) -> io::Result<()> {
        socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        socket.set_write_timeout(Some(CHECK_INTERVAL))
    }

    pub(super) fn until(
        deadline: Instant,
        socket: &'a UnixStream,
        stop: &'a dyn Fn() -> Option<Stop>,
    ) -> Self {
        Self { socket, deadline, stop, stopped: None }
    }

    /// Repeats a call that returns after [`CHECK_INTERVAL`] until it has transferred something.
    fn repeat(&mut self, mut call: impl FnMut(&UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            // Also checked if there is data, because a plugin could send single bytes for ever.
            if Instant::now() > self.deadline {
                self.stopped = Some(Stop::Late);
            } else if let Some(reason) = (self.stop)() {
                self.stopped = Some(reason);
            }
            if self.stopped.is_some() {
                return Err(ErrorKind::TimedOut.into());
            }
            match call(self.socket) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                outcome => return outcome,
            }
        }
    }
}

impl Read for &mut Connection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.repeat(|mut socket| socket.read(buffer))
    }
}

impl Write for &mut Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.repeat(|mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped_by(deadline: Instant, stop: &dyn Fn() -> Option<Stop>, send: bool) -> Option<Stop> {
        let (socket, mut peer) = UnixStream::pair().expect("sockets");
        Connection::prepare(&socket).expect("time-outs");
        if send {
            peer.write_all(b"x").expect("writes");
        }
        let mut connection = Connection::until(deadline, &socket, stop);
        let read = (&mut connection).read(&mut [0; 8]);
        assert_eq!(read.is_ok(), connection.stopped.is_none());
        connection.stopped
    }

    #[test]
    fn a_silent_peer_is_waited_for_until_the_deadline_or_a_stop() {
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        assert_eq!(stopped_by(now + 2 * CHECK_INTERVAL, &|| None, false), Some(Stop::Late));
        assert_eq!(stopped_by(later, &|| Some(Stop::Cancelled), false), Some(Stop::Cancelled));
        assert_eq!(stopped_by(later, &|| None, true), None);
        assert_eq!(stopped_by(now, &|| None, true), Some(Stop::Late), "data does not extend the deadline");
    }
}
