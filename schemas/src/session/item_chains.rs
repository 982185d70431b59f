//! Positions of audio items in the session and in their sources, exact to the frame.
//!
//! The start of an item is in ticks, and its position in the source is in frames of the file.
//! Rounding each item separately would leave gaps between them. An item that continues another,
//! such as the second half of a split item, is therefore positioned relative to the first item of
//! the *chain*.

use std::collections::BTreeMap;

use super::Clock;
use super::media::ResolvedAudio;
use crate::project::AudioItem;

/// Maximum distance between the end of an item and the start of its continuation in the source, in
/// frames of the file. Moving split items causes such distances by rounding.
const MAX_FILE_GAP_FRAMES: u64 = 1;

/// The position of an item, in frames at the session's sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClipPosition {
    /// First frame in the session.
    pub(super) frame: u64,
    /// First frame in the source.
    pub(super) offset_frames: u64,
    /// Length of the clip.
    pub(super) length_frames: u64,
}

/// The chains of a track. Items are added in the order of their starts.
pub(super) struct ItemChains<'a> {
    clock: &'a Clock,
    /// Chains by the end of their last item: audio slot, frame in the session, frame in the file.
    by_end: BTreeMap<(u32, u64, u64), ItemChain>,
}

/// The start of a chain of items, which are positioned relative to it.
#[derive(Debug, Clone, Copy)]
struct ItemChain {
    /// First frame in the session.
    frame: u64,
    /// First frame in the file, at the session's sample rate.
    offset_frames: u64,
    /// First frame in the file, at the file's sample rate.
    file_frame: u64,
}

impl<'a> ItemChains<'a> {
    pub(super) fn new(clock: &'a Clock) -> Self {
        Self { clock, by_end: BTreeMap::new() }
    }

    /// Returns the position of an item, which must not start before the items already added.
    pub(super) fn position(&mut self, item: &AudioItem, audio: ResolvedAudio) -> ClipPosition {
        if item.looped {
            return self.loop_position(item, audio);
        }
        let (chain, frame) = self.continued_chain(item, audio).unwrap_or_else(|| self.new_chain(item, audio));
        let offset_frames = chain.offset_frames.saturating_add(frame - chain.frame);
        let Some(length_frames) = item.length_frames else {
            return ClipPosition {
                frame,
                offset_frames,
                length_frames: audio.frames.saturating_sub(offset_frames),
            };
        };
        let file_end = item.offset_frames.saturating_add(length_frames);
        let chain_frames =
            self.clock.frames_of_file(file_end.saturating_sub(chain.file_frame), audio.file_rate_hz);
        let end = chain.frame.saturating_add(chain_frames).max(frame);
        self.by_end.insert((audio.slot, end, file_end), chain);
        ClipPosition { frame, offset_frames, length_frames: end - frame }
    }

    /// Returns the position of a looped item. It joins no chain, because the length of its
    /// repetitions must not depend on its position.
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

    /// Returns a chain that starts with the item, and the first frame of the item. The source is
    /// aligned with the item's tick to within half a frame.
    fn new_chain(&self, item: &AudioItem, audio: ResolvedAudio) -> (ItemChain, u64) {
        let frame = self.clock.frame_at(item.start_tick.into());
        let beyond_frames = self.clock.tempo.offset_frames(item.start_tick.into(), self.clock.sample_rate_hz);
        let offset_frames = self.clock.offset_of_file(item.offset_frames, audio.file_rate_hz, beyond_frames);
        (ItemChain { frame, offset_frames, file_frame: item.offset_frames }, frame)
    }

    /// Returns the chain that an item continues, if any, and the end of that chain.
    fn continued_chain(&self, item: &AudioItem, audio: ResolvedAudio) -> Option<(ItemChain, u64)> {
        let frame = self.clock.frame_at(item.start_tick.into());
        let tolerance_frames = self.clock.max_gap_frames(audio.file_rate_hz);
        let lower_bound = (audio.slot, frame.saturating_sub(tolerance_frames), 0);
        let upper_bound = (audio.slot, frame.saturating_add(tolerance_frames), u64::MAX);
        let candidates =
            self.by_end.range(lower_bound..=upper_bound).filter_map(|(&(_, end, file_end), &chain)| {
                let file_gap = file_end.abs_diff(item.offset_frames);
                (file_gap <= MAX_FILE_GAP_FRAMES).then_some(((file_gap, end.abs_diff(frame)), chain, end))
            });
        candidates.min_by_key(|&(gap, ..)| gap).map(|(_, chain, end)| (chain, end))
    }
}

impl Clock {
    /// Converts a number of frames of a file to the session's sample rate, rounded to the nearest
    /// number.
    pub(super) fn frames_of_file(&self, frames: u64, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled_frames = (u128::from(frames) * rate_hz + file_rate_hz / 2) / file_rate_hz;
        u64::try_from(scaled_frames).unwrap_or(u64::MAX)
    }

    /// Returns the frame of a source, at the session's sample rate, that plays at the session frame
    /// nearest to a tick. The tick is `beyond_frames` (-0.5 to 0.5) after that session frame.
    /// `file_frame` plays exactly at the tick.
    fn offset_of_file(&self, file_frame: u64, file_rate_hz: u32, beyond_frames: f64) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled_frames = u128::from(file_frame) * rate_hz;
        let fraction = (scaled_frames % file_rate_hz) as f64 / file_rate_hz as f64;
        // Ties round down. If `fraction` is 0 and the tick is half a frame before the session frame
        // (`beyond_frames` is -0.5), the source frame stays as it is.
        let round_up = u64::from(fraction - beyond_frames > 0.5);
        u64::try_from(scaled_frames / file_rate_hz).unwrap_or(u64::MAX).saturating_add(round_up)
    }

    /// Returns the maximum distance between the end of an item and the start of its continuation,
    /// in frames of the session. It is the sum of five rounding errors: of two ticks, of two source
    /// positions, and of the length between them.
    fn max_gap_frames(&self, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        ((2 * rate_hz + 3 * file_rate_hz) / (2 * file_rate_hz)) as u64
    }

    /// Returns the sample rates of the session and of a file, in hertz.
    fn rates(&self, file_rate_hz: u32) -> (u128, u128) {
        (self.sample_rate_hz.into(), file_rate_hz.max(1).into())
    }
}
