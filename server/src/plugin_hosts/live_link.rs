//! The service's end of the shared memory in which a plugin processes blocks in real time.
#![expect(unsafe_code, reason = "the runtime requires that a registered descriptor stays open")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::memfd::{MFdFlags, memfd_create};
use songfoundry_bridge_protocol::host::{ParameterValue, Transport};
use songfoundry_bridge_protocol::live::{LIVE_MEMORY_BYTES, LiveAnswer, LiveAudio, LiveMemory};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

/// Resolution of the runtime's clock: its timers are up to this late.
const CLOCK_TICK: Duration = Duration::from_millis(1);

/// The shared memory and its events. The helper keeps duplicates of the descriptors.
#[derive(Debug)]
pub struct LiveLink {
    memory: LiveMemory,
    posted: File,
    answered: AsyncFd<File>,
    /// Number of the last posted block.
    number: u32,
}

/// The helper's descriptors: the memory, the event of posted blocks, and that of answered blocks.
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
        // A helper that shortened the memory would end this process by a signal.
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        let event = || EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let [posted, answered] = [File::from(OwnedFd::from(event()?)), File::from(OwnedFd::from(event()?))];
        let descriptors = [posted.try_clone()?.into(), answered.try_clone()?.into()];
        let memory = LiveMemory::map(&file)?;
        let [posted_descriptor, answered_descriptor] = descriptors;
        // SAFETY: the file is owned by the result, which never replaces or closes it.
        let answered = unsafe { AsyncFd::register_with_interest(answered, Interest::READABLE) }
            .map_err(std::io::Error::from)?;
        let link = Self { memory, posted, answered, number: 0 };
        Ok((link, Descriptors([file.into(), posted_descriptor, answered_descriptor])))
    }

    /// Posts the next block. At most [`songfoundry_bridge_protocol::live::LIVE_BLOCKS`] may wait,
    /// see [`Self::waiting`].
    pub fn post(&mut self, transport: &Transport, changes: &[ParameterValue], input: &LiveAudio) {
        self.number = self.number.wrapping_add(1);
        self.memory.post(self.number, transport, changes, input);
        // The counter cannot be full, because the helper reads it, or soon no block is posted.
        let _ = self.posted.write(&1_u64.to_ne_bytes());
    }

    /// Returns the number of posted blocks without an answer. A helper that writes another number
    /// counts as silent.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.number.wrapping_sub(self.answered_number())
    }

    /// Returns the number of the last block that the plugin has answered.
    #[must_use]
    pub fn answered_number(&self) -> u32 {
        self.memory.answered()
    }

    /// Waits until the last posted block is answered. Returns its answer and replaces `output` by
    /// its output; `None` after the deadline.
    pub async fn answer(&mut self, deadline: Instant, output: &mut LiveAudio) -> Option<LiveAnswer> {
        let deadline = deadline.checked_sub(CLOCK_TICK).unwrap_or(deadline);
        while self.waiting() != 0 {
            let Ok(Ok(mut ready)) = timeout_at(deadline, self.answered.readable_mut()).await else {
                break;
            };
            // The counter is read before the number, so an answer in between wakes this task again.
            if ready.get_inner_mut().read(&mut [0; 8]).is_err() {
                ready.clear_ready();
            }
        }
        (self.waiting() == 0).then(|| self.memory.read_answer(self.number, output))
    }
}
