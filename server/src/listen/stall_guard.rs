//! Ends connections whose peers do not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A connection whose writes fail with `TimedOut` if they wait for the peer longer than `wait_max`.
#[derive(Debug)]
pub(super) struct StallGuard<Io> {
    io: Io,
    wait_max: Duration,
    /// Runs while a write waits for the peer.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<Io> StallGuard<Io> {
    pub(super) fn new(io: Io, wait_max: Duration) -> Self {
        Self { io, wait_max, timer: None }
    }

    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        write_poll: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if write_poll.is_ready() {
            self.timer = None;
            return write_poll;
        }
        let wait_max = self.wait_max;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(wait_max)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading")))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for StallGuard<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for StallGuard<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write_poll = Pin::new(&mut self.io).poll_write(context, bytes);
        self.watch(context, write_poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write_poll = Pin::new(&mut self.io).poll_write_vectored(context, pieces);
        self.watch(context, write_poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flush_poll = Pin::new(&mut self.io).poll_flush(context);
        self.watch(context, flush_poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(context);
        self.watch(context, shut)
    }
}
