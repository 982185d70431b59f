//! Positions of audio items in the session and in their sources, exact to the frame.
//!
//! A project counts the start of an item in ticks, and its source in frames of the file. Items that
//! are rounded separately would leave gaps. An item that continues another, such as the second half
//! of a split item, is therefore positioned relative to the first item of the *chain*.

use std::collections::BTreeMap;

use super::Clock;
use super::media::ResolvedAudio;
use crate::project::AudioItem;

/// Maximum distance between the end of an item and the source of its continuation, in frames of the
/// file. Rounding after a move of split items causes it.
const JOINT_FILE_FRAMES: u64 = 1;

/// The position of an item, in frames at the session's sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClipPosition {
    /// First frame in the session.
    pub(super) frame: u64,
    /// First frame in the source.
    pub(super) offset_frames: u64,
    /// Length.
    pub(super) length_frames: u64,
}

/// The chains of a track. Items are added in the order of their starts.
pub(super) struct ItemChains<'a> {
    clock: &'a Clock,
    /// Chains by their end: slot of the source, frame of the session, frame of the file.
    by_end: BTreeMap<(u32, u64, u64), ItemChain>,
}

/// The first frame of consecutive items, which are positioned relative to it.
#[derive(Debug, Clone, Copy)]
struct ItemChain {
    /// In the session.
    frame: u64,
    /// In the source, at the session's sample rate.
    offset_frames: u64,
    /// In the source, at the file's sample rate.
    file_frame: u64,
}

impl<'a> ItemChains<'a> {
    pub(super) fn new(clock: &'a Clock) -> Self {
        Self { clock, by_end: BTreeMap::new() }
    }

    /// The position of an item that starts no earlier than those before.
    pub(super) fn position(&mut self, item: &AudioItem, audio: ResolvedAudio) -> ClipPosition {
        if item.looped {
            return self.loop_position(item, audio);
        }
        let (chain, frame) = self.continued_chain(item, audio).unwrap_or_else(|| self.new_chain(item, audio));
        let offset_frames = chain.offset_frames.saturating_add(frame - chain.frame);
        let Some(length) = item.length_frames else {
            return ClipPosition {
                frame,
                offset_frames,
                length_frames: audio.frames.saturating_sub(offset_frames),
            };
        };
        let file_end = item.offset_frames.saturating_add(length);
        let chain_frames =
            self.clock.frames_of_file(file_end.saturating_sub(chain.file_frame), audio.file_rate_hz);
        let end = chain.frame.saturating_add(chain_frames).max(frame);
        self.by_end.insert((audio.slot, end, file_end), chain);
        ClipPosition { frame, offset_frames, length_frames: end - frame }
    }

    /// A loop is positioned alone: the length of its rounds must not depend on its position.
    fn loop_position(&self, item: &AudioItem, audio: ResolvedAudio) -> ClipPosition {
        let frames = |frames| self.clock.frames_of_file(frames, audio.file_rate_hz);
        let offset_frames = frames(item.offset_frames);
        let to_end = audio.frames.saturating_sub(offset_frames);
        ClipPosition {
            frame: self.clock.frame_at(item.start_tick.into()),
            offset_frames,
            length_frames: item.length_frames.map_or(to_end, frames),
        }
    }

    /// A chain that starts with an item, and its first frame. The source is aligned with the item's
    /// tick to half a frame.
    fn new_chain(&self, item: &AudioItem, audio: ResolvedAudio) -> (ItemChain, u64) {
        let frame = self.clock.frame_at(item.start_tick.into());
        let beyond = self.clock.tempo.frames_beyond(item.start_tick.into(), self.clock.sample_rate_hz);
        let offset_frames = self.clock.offset_of_file(item.offset_frames, audio.file_rate_hz, beyond);
        (ItemChain { frame, offset_frames, file_frame: item.offset_frames }, frame)
    }

    /// The chain that an item continues, if any, and the end of that chain.
    fn continued_chain(&self, item: &AudioItem, audio: ResolvedAudio) -> Option<(ItemChain, u64)> {
        let frame = self.clock.frame_at(item.start_tick.into());
        let tolerance_frames = self.clock.joint_frames(audio.file_rate_hz);
        let from = (audio.slot, frame.saturating_sub(tolerance_frames), 0);
        let to = (audio.slot, frame.saturating_add(tolerance_frames), u64::MAX);
        let near = self.by_end.range(from..=to).filter_map(|(&(_, end, file_end), &chain)| {
            let file_gap = file_end.abs_diff(item.offset_frames);
            (file_gap <= JOINT_FILE_FRAMES).then_some(((file_gap, end.abs_diff(frame)), chain, end))
        });
        near.min_by_key(|&(gap, ..)| gap).map(|(_, chain, end)| (chain, end))
    }
}

impl Clock {
    /// Frames of a file, converted to the session's sample rate and rounded.
    pub(super) fn frames_of_file(&self, frames: u64, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled = (u128::from(frames) * rate_hz + file_rate_hz / 2) / file_rate_hz;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The frame of a source, at the session's sample rate, for the frame nearest to a tick. The
    /// tick is `beyond` that frame, by -0.5 to 0.5 frames, and `file_frame` plays at the tick
    /// itself.
    fn offset_of_file(&self, file_frame: u64, file_rate_hz: u32, beyond: f64) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled = u128::from(file_frame) * rate_hz;
        let fraction = (scaled % file_rate_hz) as f64 / file_rate_hz as f64;
        // Halves are rounded down, so that a tick half a frame before its frame does not change
        // whole frames.
        let up = u64::from(fraction - beyond > 0.5);
        u64::try_from(scaled / file_rate_hz).unwrap_or(u64::MAX).saturating_add(up)
    }

    /// Maximum distance between the end of an item and the start of its continuation, in frames. It
    /// is the sum of five rounding errors: of two ticks and two starts, and of the length between.
    fn joint_frames(&self, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        ((2 * rate_hz + 3 * file_rate_hz) / (2 * file_rate_hz)) as u64
    }

    /// The sample rates of the session and of a file.
    fn rates(&self, file_rate_hz: u32) -> (u128, u128) {
        (self.sample_rate_hz.into(), file_rate_hz.max(1).into())
    }
}
