//! The decoded streams of a bank. Each stream is decoded once, before its first use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::super::error::BankError;
use super::super::skipped::BankIssueReason;
use super::super::stream::Stream;
use super::decoder::{Frames, decode};
use super::failure::Failure;
use super::setup_cache::SetupCache;

/// Maximum number of decoded frames of a bank: 1 GiB of memory.
const BANK_FRAMES_MAX: u64 = 1 << 29;

/// Size of a decoded frame in bytes.
const FRAME_BYTES: u64 = 2;

/// The decoded streams of a bank, by the index of the stream in the bank.
pub(in super::super) struct DecodedStreams {
    streams: Vec<OnceLock<Result<Frames, BankIssueReason>>>,
    /// Locked by the thread that decodes streams.
    decoding_lock: Mutex<()>,
}

impl DecodedStreams {
    /// Creates the state in which none of the streams is decoded.
    pub(in super::super) fn undecoded(streams: usize) -> Self {
        Self { streams: (0..streams).map(|_| OnceLock::new()).collect(), decoding_lock: Mutex::new(()) }
    }

    /// Returns the frames of a stream; `None` if it is not decoded.
    pub(in super::super) fn get(&self, stream: usize) -> Option<&[[u8; 2]]> {
        self.streams.get(stream)?.get()?.as_deref().ok()
    }

    /// Returns the indices of the streams that could not be decoded so far, and the reasons.
    pub(in super::super) fn failures(&self) -> impl Iterator<Item = (usize, BankIssueReason)> {
        let failure = |(stream, cell): (usize, &OnceLock<Result<_, BankIssueReason>>)| match cell.get() {
            Some(Err(reason)) => Some((stream, *reason)),
            _ => None,
        };
        self.streams.iter().enumerate().filter_map(failure)
    }

    /// Returns the memory of the decoded streams in bytes.
    pub(in super::super) fn bytes(&self) -> u64 {
        let decoded_streams = self.streams.iter().filter_map(|cell| cell.get()?.as_ref().ok());
        decoded_streams.map(|frames| frames.len() as u64 * FRAME_BYTES).sum()
    }

    /// Returns the memory in bytes that the decoding of `streams` would allocate. Streams that are
    /// already decoded do not count.
    pub(in super::super) fn missing_bytes<'a>(
        &self,
        streams: impl Iterator<Item = (usize, &'a Stream)>,
    ) -> u64 {
        Self::whole_bytes(streams.filter(|(number, _)| self.streams[*number].get().is_none()))
    }

    /// Returns the memory in bytes of `streams` after they are decoded.
    pub(in super::super) fn whole_bytes<'a>(streams: impl Iterator<Item = (usize, &'a Stream)>) -> u64 {
        streams.map(|(_, stream)| u64::from(stream.frames.unwrap_or(0)) * FRAME_BYTES).sum()
    }

    /// Decodes those of `streams` that are not yet decoded. `wave` holds the sample data. Calls
    /// `should_continue` before each stream and at every 16th packet, and stops if the call returns
    /// false.
    pub(in super::super) fn prepare<'a>(
        &self,
        wave: &[u8],
        streams: impl Iterator<Item = (usize, &'a Stream)> + Clone,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), BankError> {
        if self.missing_bytes(streams.clone()) == 0 {
            return Ok(());
        }
        let _guard = self.decoding_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let frames = (self.bytes() + self.missing_bytes(streams.clone())) / FRAME_BYTES;
        if frames > BANK_FRAMES_MAX {
            return Err(BankError::TooLong { frames, limit_frames: BANK_FRAMES_MAX });
        }
        let mut setups = SetupCache::default();
        for (number, stream) in streams {
            let (Ok(frames), Some(bytes)) = (stream.frames, wave.get(stream.bytes.clone())) else { continue };
            if self.streams[number].get().is_some() {
                continue;
            }
            if !should_continue() {
                return Err(BankError::Stopped);
            }
            // A damaged stream may cause a panic in the decoder. The panic must not end the
            // process.
            let decode_result = catch_unwind(AssertUnwindSafe(|| {
                decode(bytes, frames as usize, &mut setups, should_continue)
            }));
            let decode_result = match decode_result {
                Ok(Ok(frames)) => Ok(frames),
                Ok(Err(Failure::Stream(reason))) => Err(reason),
                Ok(Err(Failure::Bank(error))) => return Err(error),
                Err(_) => Err(BankIssueReason::Vorbis("the decoder failed unexpectedly")),
            };
            // The result is not set yet: only the thread that holds the lock sets results.
            let _ = self.streams[number].set(decode_result);
        }
        Ok(())
    }
}
