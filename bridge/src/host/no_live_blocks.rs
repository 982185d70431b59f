//! Systems other than Linux, where no blocks are processed in real time.

use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use super::session::Session;
use crate::module::FailureReason;

/// There are no such blocks.
pub(super) struct LiveBlocks(std::convert::Infallible);

impl LiveBlocks {
    /// Always refuses.
    pub(super) fn receive(_: &UnixStream, _: &Session) -> anyhow::Result<Result<Self, FailureReason>> {
        Ok(Err("plugins process in real time only on Linux".to_owned()))
    }

    /// Is never called.
    pub(super) fn posted_socket(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn process(&mut self, _: &mut Session) -> anyhow::Result<bool> {
        match self.0 {}
    }
}
