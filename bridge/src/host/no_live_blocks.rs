//! Replaces `live_blocks.rs` on systems other than Linux, where plugins do not process in real
//! time.

use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use super::session::Session;
use crate::module::FailureReason;

/// A type without values, because this system has no blocks in real time.
pub(super) struct LiveBlocks(std::convert::Infallible);

impl LiveBlocks {
    /// Always returns the reason why real-time processing is refused.
    pub(super) fn receive(_: &UnixStream, _: &Session) -> anyhow::Result<Result<Self, FailureReason>> {
        Ok(Err("plugins process in real time only on Linux".to_owned()))
    }

    /// Cannot be called, because [`LiveBlocks`] has no values.
    pub(super) fn posted_socket(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }

    /// Cannot be called, because [`LiveBlocks`] has no values.
    pub(super) fn process(&mut self, _: &mut Session) -> anyhow::Result<bool> {
        match self.0 {}
    }
}
