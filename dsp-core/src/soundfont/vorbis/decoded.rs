//! The decoded streams of a bank. Each is decoded once, whoever asks for it first.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::super::BankError;
use super::super::skipped::Reason;
use super::super::streams::Stream;
use super::setups::Setups;
use super::{Failure, Frames, decode};

/// Most frames of a bank that are decoded, all streams together: 1 GiB of memory.
const MOST_BANK_FRAMES: u64 = 1 << 29;

/// Bytes of a decoded frame.
const FRAME_BYTES: u64 = 2;

/// The decoded streams of a bank, by their numbers.
pub(in super::super) struct Decoded {
    streams: Vec<OnceLock<Result<Frames, Reason>>>,
    /// Held by the one thread that decodes.
    decoding: Mutex<()>,
}

impl Decoded {
    pub(in super::super) fn none(streams: usize) -> Self {
        Self { streams: (0..streams).map(|_| OnceLock::new()).collect(), decoding: Mutex::new(()) }
    }

    /// The frames of a stream, if it is decoded.
    pub(in super::super) fn get(&self, stream: usize) -> Option<&[[u8; 2]]> {
        self.streams.get(stream)?.get()?.as_deref().ok()
    }

    /// The streams that could not be decoded so far.
    pub(in super::super) fn failures(&self) -> impl Iterator<Item = (usize, Reason)> {
        let failure = |(stream, cell): (usize, &OnceLock<Result<_, Reason>>)| match cell.get() {
            Some(Err(reason)) => Some((stream, *reason)),
            _ => None,
        };
        self.streams.iter().enumerate().filter_map(failure)
    }

    /// Bytes of memory that the decoded streams take.
    pub(in super::super) fn bytes(&self) -> u64 {
        let decoded = self.streams.iter().filter_map(|cell| cell.get()?.as_ref().ok());
        decoded.map(|frames| frames.len() as u64 * FRAME_BYTES).sum()
    }

    /// Bytes of memory that streams will take which are not decoded yet.
    pub(in super::super) fn missing_bytes<'a>(
        &self,
        streams: impl Iterator<Item = (usize, &'a Stream)>,
    ) -> u64 {
        Self::whole_bytes(streams.filter(|(number, _)| self.streams[*number].get().is_none()))
    }

    /// Bytes of memory that streams take once they are decoded.
    pub(in super::super) fn whole_bytes<'a>(streams: impl Iterator<Item = (usize, &'a Stream)>) -> u64 {
        streams.map(|(_, stream)| u64::from(stream.frames.unwrap_or(0)) * FRAME_BYTES).sum()
    }

    /// Decodes streams that are not decoded yet. `wave` is the sample data; `go_on` is asked after
    /// each few packets whether to go on.
    pub(in super::super) fn prepare<'a>(
        &self,
        wave: &[u8],
        streams: impl Iterator<Item = (usize, &'a Stream)> + Clone,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), BankError> {
        if self.missing_bytes(streams.clone()) == 0 {
            return Ok(());
        }
        let _turn = self.decoding.lock().unwrap_or_else(PoisonError::into_inner);
        let frames = (self.bytes() + self.missing_bytes(streams.clone())) / FRAME_BYTES;
        if frames > MOST_BANK_FRAMES {
            return Err(BankError::TooLong { frames, limit_frames: MOST_BANK_FRAMES });
        }
        let mut setups = Setups::default();
        for (number, stream) in streams {
            let (Ok(frames), Some(bytes)) = (stream.frames, wave.get(stream.bytes.clone())) else { continue };
            if self.streams[number].get().is_some() {
                continue;
            }
            if !go_on() {
                return Err(BankError::Stopped);
            }
            // A damaged stream can do anything to a decoder; it must not reach further.
            let decoded =
                catch_unwind(AssertUnwindSafe(|| decode(bytes, frames as usize, &mut setups, go_on)));
            let decoded = match decoded {
                Ok(Ok(frames)) => Ok(frames),
                Ok(Err(Failure::Stream(reason))) => Err(reason),
                Ok(Err(Failure::Bank(error))) => return Err(error),
                Err(_) => Err(Reason::Vorbis("it makes the decoder fail")),
            };
            // Nobody else fills it: this thread holds the lock.
            let _ = self.streams[number].set(decoded);
        }
        Ok(())
    }
}
