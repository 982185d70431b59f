//! The service's end of the shared memory in which a plugin processes blocks in real time.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use songfoundry_bridge_protocol::host::{ParameterValue, Transport};
use songfoundry_bridge_protocol::live::{LIVE_MEMORY_BYTES, LiveAnswer, LiveAudio, LiveMemory};
use tokio::time::{Instant, timeout_at};

/// Resolution of the runtime's clock: its timers are up to this late.
const CLOCK_TICK: Duration = Duration::from_millis(1);

/// Number of signals that are read at once.
const SIGNALS: usize = 64;

/// The shared memory, and the sockets on which the service and the helper signal each other by
/// bytes. The helper has the other ends of the sockets. Flags that a plugin sets on its ends do not
/// apply to the service's ends, which never block.
#[derive(Debug)]
pub struct LiveLink {
    memory: LiveMemory,
    posted: UnixStream,
    answered: tokio::net::UnixStream,
    /// Number of the last posted block.
    number: u32,
}

/// The helper's descriptors: the memory, the socket that signals posted blocks, and the one that
/// signals answered blocks.
#[derive(Debug)]
pub(super) struct Descriptors([OwnedFd; 3]);

impl Descriptors {
    pub(super) fn borrowed(&self) -> [BorrowedFd<'_>; 3] {
        self.0.each_ref().map(|descriptor| descriptor.as_fd())
    }
}

impl LiveLink {
    /// Creates the memory. Must be called in the context of the runtime that waits for answers.
    pub(super) fn new() -> std::io::Result<(Self, Descriptors)> {
        let file = File::from(memfd_create(
            c"songfoundry-live",
            MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING,
        )?);
        file.set_len(LIVE_MEMORY_BYTES as u64)?;
        // The seals keep the helper from shortening the memory, which would end this process with a
        // signal.
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        let [(posted, helper_posted), (answered, helper_answered)] =
            [UnixStream::pair()?, UnixStream::pair()?];
        for socket in [&posted, &helper_posted, &answered, &helper_answered] {
            socket.set_nonblocking(true)?;
        }
        let memory = LiveMemory::map(&file)?;
        let answered = tokio::net::UnixStream::from_std(answered)?;
        let link = Self { memory, posted, answered, number: 0 };
        Ok((link, Descriptors([file.into(), helper_posted.into(), helper_answered.into()])))
    }

    /// Posts the next block. At most [`songfoundry_bridge_protocol::live::LIVE_BLOCKS`] may wait,
    /// see [`Self::waiting`].
    pub fn post(&mut self, transport: &Transport, changes: &[ParameterValue], input: &LiveAudio) {
        self.number = self.number.wrapping_add(1);
        self.memory.post(self.number, transport, changes, input);
        // Errors are ignored. A full socket already contains a signal for the helper, and a helper
        // that has closed the socket needs none.
        let _ = self.posted.write(&[1]);
    }

    /// Returns the number of posted blocks without an answer. It is large if the helper has answered a
    /// number that was never posted.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.number.wrapping_sub(self.answered_number())
    }

    /// Returns the number of the last block that the plugin has answered.
    #[must_use]
    pub fn answered_number(&self) -> u32 {
        self.memory.answered()
    }

    /// Waits until the last posted block is answered. Returns its answer and replaces the content
    /// of `output` by the block's output. Returns `None` after the deadline.
    pub async fn answer(&mut self, deadline: Instant, output: &mut LiveAudio) -> Option<LiveAnswer> {
        let early = earliness(deadline.saturating_duration_since(Instant::now()));
        let deadline = deadline.checked_sub(early).unwrap_or(deadline);
        while self.waiting() != 0 {
            let Ok(Ok(())) = timeout_at(deadline, self.answered.readable()).await else { break };
            // Signals are read before the number is checked, so an answer in between wakes this
            // task again.
            match self.answered.try_read(&mut [0; SIGNALS]) {
                // The helper has closed its end.
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => break,
            }
            // A helper that signals without end must not occupy this task.
            if Instant::now() >= deadline {
                break;
            }
        }
        (self.waiting() == 0).then(|| self.memory.read_answer(self.number, output))
    }
}

/// Returns how much earlier than its deadline a wait must end, because timers are late. At 192 kHz
/// a wait has only 1 ms, so a part of a short wait must remain.
fn earliness(wait: Duration) -> Duration {
    CLOCK_TICK.min(wait / 4)
}

#[cfg(test)]
mod tests {
    use nix::fcntl::OFlag;
    use songfoundry_bridge_protocol::live::{LIVE_CHANNELS, LIVE_FRAMES};

    use super::*;

    #[test]
    fn short_waits_do_not_vanish() {
        let waits_us = [0, 1_000, 2_000, 4_000, 100_000];
        let early = waits_us.map(|wait_us| earliness(Duration::from_micros(wait_us)).as_micros());
        assert_eq!(early, [0, 250, 500, 1_000, 1_000]);
    }

    #[tokio::test]
    async fn a_helper_cannot_block_the_service() {
        let (mut link, Descriptors(descriptors)) = LiveLink::new().expect("a link");
        // A plugin makes its ends block, and signals an answer that does not exist.
        for descriptor in &descriptors[1..] {
            fcntl(descriptor, FcntlArg::F_SETFL(OFlag::empty())).expect("its own end");
        }
        let [_memory, posted, answered] = descriptors;
        let mut answered = UnixStream::from(answered);
        answered.write_all(&[1]).expect("signals");
        link.answered.readable().await.expect("a signal");
        assert_eq!(link.answered.try_read(&mut [0; SIGNALS]).expect("a signal"), 1);
        let empty = link.answered.try_read(&mut [0; SIGNALS]).expect_err("no further signal");
        assert_eq!(empty.kind(), ErrorKind::WouldBlock);
        // The plugin does not read the signals either, and the socket is full.
        let mut audio = [[0.0; LIVE_FRAMES]; LIVE_CHANNELS];
        (0..10_000).for_each(|_| link.post(&Transport::default(), &[], &audio));
        let full_error = link.posted.write(&[1]).expect_err("a full socket");
        assert_eq!(full_error.kind(), ErrorKind::WouldBlock);
        // A wait ends if the helper has closed its ends.
        drop((posted, answered));
        link.post(&Transport::default(), &[], &audio);
        let deadline = Instant::now() + Duration::from_secs(3_600);
        assert!(link.answer(deadline, &mut audio).await.is_none());
    }
}
