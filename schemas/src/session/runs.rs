//! Where audio items lie in the session and in their sources, to the frame.
//!
//! A project counts the start of an item in ticks, and what it plays in frames of the file. What is
//! rounded item by item does not meet: an item that goes on where another ends, as the halves of a
//! split one do, is placed by that other one, so that all of a *run* sound as one.

use std::collections::BTreeMap;

use super::Clock;
use super::sounds::AudioPlace;
use crate::project::AudioItem;

/// How far the source of an item may begin from the end of another's that it continues, in frames
/// of the file: as much as what was moved after a split is rounded differently.
const JOINT_FILE_FRAMES: u64 = 1;

/// Where an item lies, in frames at the session's sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// From the start of the session to its first.
    pub(super) frame: u64,
    /// Where in the source it begins.
    pub(super) offset_frames: u64,
    /// How long it is.
    pub(super) length_frames: u64,
}

/// The runs of a track; its items are placed in the order of their starts.
pub(super) struct Runs<'a> {
    clock: &'a Clock,
    /// By where they end: slot of the source, frame of the session, frame of the file.
    by_end: BTreeMap<(u32, u64, u64), Run>,
}

/// The first frame of items that continue one another. All of them are counted from it.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// From the start of the session.
    frame: u64,
    /// In the source, at the session's sample rate.
    offset_frames: u64,
    /// In the source, at the file's own.
    file_frame: u64,
}

impl<'a> Runs<'a> {
    pub(super) fn new(clock: &'a Clock) -> Self {
        Self { clock, by_end: BTreeMap::new() }
    }

    /// Gives an item its position in frames. The caller passes items by ascending start.
    pub(super) fn place(&mut self, item: &AudioItem, audio: AudioPlace) -> Place {
        if item.looped {
            return self.place_loop(item, audio);
        }
        let (run, frame) = self.continued(item, audio).unwrap_or_else(|| self.begun(item, audio));
        let offset_frames = run.offset_frames.saturating_add(frame - run.frame);
        let Some(length) = item.length_frames else {
            return Place { frame, offset_frames, length_frames: audio.frames.saturating_sub(offset_frames) };
        };
        let file_end = item.offset_frames.saturating_add(length);
        let run_frames =
            self.clock.frames_of_file(file_end.saturating_sub(run.file_frame), audio.file_rate_hz);
        let end = run.frame.saturating_add(run_frames).max(frame);
        self.by_end.insert((audio.slot, end, file_end), run);
        Place { frame, offset_frames, length_frames: end - frame }
    }

    /// A loop begins and ends by itself: where its source starts over must not depend on where it
    /// stands.
    fn place_loop(&self, item: &AudioItem, audio: AudioPlace) -> Place {
        let frames = |frames| self.clock.frames_of_file(frames, audio.file_rate_hz);
        let offset_frames = frames(item.offset_frames);
        let to_end = audio.frames.saturating_sub(offset_frames);
        Place {
            frame: self.clock.frame_at(item.start_tick.into()),
            offset_frames,
            length_frames: item.length_frames.map_or(to_end, frames),
        }
    }

    /// A run that begins with an item, and its first frame. The source stands to the item's tick as
    /// the project says, to half a frame.
    fn begun(&self, item: &AudioItem, audio: AudioPlace) -> (Run, u64) {
        let frame = self.clock.frame_at(item.start_tick.into());
        let beyond = self.clock.tempo.frames_beyond(item.start_tick.into(), self.clock.sample_rate_hz);
        let offset_frames = self.clock.offset_of_file(item.offset_frames, audio.file_rate_hz, beyond);
        (Run { frame, offset_frames, file_frame: item.offset_frames }, frame)
    }

    /// The run that an item continues, if there is one, and where that ends.
    fn continued(&self, item: &AudioItem, audio: AudioPlace) -> Option<(Run, u64)> {
        let frame = self.clock.frame_at(item.start_tick.into());
        let room = self.clock.joint_frames(audio.file_rate_hz);
        let from = (audio.slot, frame.saturating_sub(room), 0);
        let to = (audio.slot, frame.saturating_add(room), u64::MAX);
        let near = self.by_end.range(from..=to).filter_map(|(&(_, end, file_end), &run)| {
            let file_gap = file_end.abs_diff(item.offset_frames);
            (file_gap <= JOINT_FILE_FRAMES).then_some(((file_gap, end.abs_diff(frame)), run, end))
        });
        near.min_by_key(|&(gap, ..)| gap).map(|(_, run, end)| (run, end))
    }
}

impl Clock {
    /// Frames of a file at the session's sample rate, to the nearest.
    pub(super) fn frames_of_file(&self, frames: u64, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled = (u128::from(frames) * rate_hz + file_rate_hz / 2) / file_rate_hz;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The frame of a source, at the session's sample rate, that sounds at the frame nearest to a
    /// tick which lies `beyond` that, -0.5 to 0.5 frames; at the tick itself, a frame of the file
    /// is to sound.
    fn offset_of_file(&self, file_frame: u64, file_rate_hz: u32, beyond: f64) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        let scaled = u128::from(file_frame) * rate_hz;
        let part = (scaled % file_rate_hz) as f64 / file_rate_hz as f64;
        // Halves go down: a tick that lies half a frame before its frame leaves whole frames as
        // they are.
        let up = u64::from(part - beyond > 0.5);
        u64::try_from(scaled / file_rate_hz).unwrap_or(u64::MAX).saturating_add(up)
    }

    /// How far from the end of an item another that continues it may start, in frames. The ticks of
    /// the two were rounded to frames of the file, their starts to those of the session, and what
    /// lies between, once each.
    fn joint_frames(&self, file_rate_hz: u32) -> u64 {
        let (rate_hz, file_rate_hz) = self.rates(file_rate_hz);
        ((2 * rate_hz + 3 * file_rate_hz) / (2 * file_rate_hz)) as u64
    }

    /// The session's sample rate and a file's.
    fn rates(&self, file_rate_hz: u32) -> (u128, u128) {
        (self.sample_rate_hz.into(), file_rate_hz.max(1).into())
    }
}
