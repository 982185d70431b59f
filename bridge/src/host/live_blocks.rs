//! Processes blocks in real time, in memory that the service shares
//! ([`songfoundry_bridge_protocol::live`]).
#![expect(unsafe_code, reason = "descriptors come from the socket as numbers")]

use std::fs::File;
use std::io::{ErrorKind, IoSliceMut, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use anyhow::Context as _;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixAddr, recvmsg};
use songfoundry_bridge_protocol::host::{Event, EventKind, Process};
use songfoundry_bridge_protocol::live::{
    LIVE_BLOCKS, LIVE_CHANNELS, LIVE_FRAMES, LiveAnswer, LiveAudio, LiveControl, LiveMemory,
};

use super::session::Session;
use crate::module::FailureReason;

/// Priority (`nice`) of the thread that processes blocks, where the system allows it. On a
/// processor shared with a busy thread of priority 0, such a thread gets nine tenths of the time.
const REAL_TIME_NICE: i32 = -10;

/// Number of signals that are read at once.
const SIGNALS: usize = 64;

/// The shared memory, the sockets that signal blocks, and buffers that keep their memory between
/// blocks.
pub(super) struct LiveBlocks {
    memory: LiveMemory,
    posted: UnixStream,
    answered: UnixStream,
    control: LiveControl,
    audio: LiveAudio,
    input: Vec<Vec<f32>>,
    output: Vec<Vec<f32>>,
}

impl LiveBlocks {
    /// Receives the memory and the sockets from the service, and raises the priority of this
    /// thread. Returns the reason if no plugin is open.
    ///
    /// # Errors
    /// The socket fails, or the descriptors are not those that the protocol states.
    pub(super) fn receive(
        socket: &UnixStream,
        session: &Session,
    ) -> anyhow::Result<Result<Self, FailureReason>> {
        let [memory, posted, answered] = receive_descriptors(socket)?;
        if !session.is_open() {
            return Ok(Err("no plugin is open".to_owned()));
        }
        let memory = LiveMemory::map(&File::from(memory))?;
        let [posted, answered] = [posted, answered].map(UnixStream::from);
        for socket in [&posted, &answered] {
            socket.set_nonblocking(true)?;
        }
        // Only some users may raise a priority. Without it, blocks may be late on a busy machine.
        let _ = rustix::process::setpriority_process(None, REAL_TIME_NICE);
        let channels = vec![vec![0.0; LIVE_FRAMES]; LIVE_CHANNELS];
        Ok(Ok(Self {
            memory,
            posted,
            answered,
            control: LiveControl::default(),
            audio: [[0.0; LIVE_FRAMES]; LIVE_CHANNELS],
            input: channels.clone(),
            output: channels,
        }))
    }

    /// Returns the socket that signals posted blocks.
    pub(super) fn posted_socket(&self) -> BorrowedFd<'_> {
        self.posted.as_fd()
    }

    /// Processes all posted blocks in order. Returns false if the service has closed its ends of
    /// the sockets.
    ///
    /// # Errors
    /// The sockets fail, or the plugin refuses to process. The helper then ends.
    pub(super) fn process(&mut self, session: &mut Session) -> anyhow::Result<bool> {
        match self.posted.read(&mut [0; SIGNALS]) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error.into()),
        }
        let mut last = self.memory.answered();
        // The service never overwrites a waiting block, so at most `LIVE_BLOCKS` blocks wait.
        for _ in 0..LIVE_BLOCKS {
            if self.memory.posted() == last {
                break;
            }
            last = last.wrapping_add(1);
            self.process_block(last, session).map_err(anyhow::Error::msg)?;
        }
        Ok(true)
    }

    fn process_block(&mut self, number: u32, session: &mut Session) -> Result<(), FailureReason> {
        self.memory.read(number, &mut self.control, &mut self.audio);
        for (channel, samples) in self.input.iter_mut().zip(&self.audio) {
            channel.copy_from_slice(samples);
        }
        let changes = self.control.changes.iter().filter(|change| session.has_parameter(change.id));
        let changes = changes.map(|change| Event { frame: 0, kind: EventKind::Parameter(*change) });
        let events = changes.chain(self.control.events.iter().copied()).collect();
        let process = Process {
            frames: LIVE_FRAMES as u32,
            input_channels: LIVE_CHANNELS as u16,
            output_channels: LIVE_CHANNELS as u16,
            transport: self.control.transport,
            events,
            ..Process::default()
        };
        let process_result = session.process_block(&process, &self.input, &mut self.output)?;
        for (samples, channel) in self.audio.iter_mut().zip(&self.output) {
            samples.copy_from_slice(channel);
        }
        let answer = LiveAnswer {
            latency_frames: process_result.latency_frames,
            non_finite_samples: u32::try_from(process_result.non_finite_samples).unwrap_or(u32::MAX),
        };
        self.memory.answer(number, &self.audio, answer);
        // A full socket already signals an answer, and a socket that the service has closed needs
        // no signal.
        let _ = self.answered.write(&[1]);
        Ok(())
    }
}

/// Receives the byte with three descriptors that follows the request.
fn receive_descriptors(socket: &UnixStream) -> anyhow::Result<[OwnedFd; 3]> {
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; 3]);
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<UnixAddr>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    let mut descriptors = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = control {
            // SAFETY: the system has just opened these descriptors for this process.
            descriptors.extend(numbers.into_iter().map(|number| unsafe { OwnedFd::from_raw_fd(number) }));
        }
    }
    let count = descriptors.len();
    descriptors.try_into().ok().with_context(|| format!("expected 3 descriptors, not {count}"))
}
