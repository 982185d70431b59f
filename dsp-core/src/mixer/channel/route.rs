//! An output or send of a channel strip at work.

use alloc::vec::Vec;

use crate::block::{BLOCK_FRAMES, SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock, TrackSignal};
use crate::dsp::delay_line::DelayLine;
use crate::dsp::gate::Gate;
use crate::gain;
use crate::mixer::automation::{AutomationReader, SmoothedGain};
use crate::mixer::graph::{Destination, ProcessContext, Tap};
use crate::session::{AutomationLane, AutomationTarget};

/// Crossfade of a delay that changes, in seconds.
const DELAY_FADE_SECS: f64 = 0.01;

/// A signal path from a strip into a sum: a level, a delay that aligns it with the other signals,
/// and a gate.
pub(crate) struct Route {
    pub(crate) tap: Tap,
    pub(crate) to: Destination,
    /// Level of a send.
    level: SmoothedGain,
    /// The level that a user has set, as a linear gain.
    set_level: f32,
    level_db_reader: Option<AutomationReader>,
    /// Whether [`Self::set_lanes`] has not been called yet.
    is_new: bool,
    sample_rate_hz: u32,
    delays: Vec<DelayLine>,
    /// Closed by mute and solo; fades a route in when an edit adds it and out when one removes it.
    gate: Gate,
    /// Whether the gate follows the first call of [`Self::set_open`] at once.
    opens_at_once: bool,
    is_removed: bool,
}

impl Route {
    /// A route that is open at once.
    pub(crate) fn new(
        tap: Tap,
        to: Destination,
        level: f32,
        delay_frames: usize,
        sample_rate_hz: u32,
    ) -> Self {
        let channels = if tap == Tap::Output { TRACK_OUTPUTS } else { 2 };
        Self {
            tap,
            to,
            level: SmoothedGain::new(level, sample_rate_hz),
            set_level: level,
            level_db_reader: None,
            is_new: true,
            sample_rate_hz,
            delays: (0..channels).map(|_| DelayLine::new(delay_frames)).collect(),
            gate: Gate::open(sample_rate_hz),
            opens_at_once: true,
            is_removed: false,
        }
    }

    /// Number of the strip's outputs that the route reads.
    pub(crate) fn channels(&self) -> usize {
        self.delays.len()
    }

    /// Fades in from here: an edit has added the route to a strip that sounds.
    pub(crate) fn fade_in(&mut self) {
        self.opens_at_once = false;
        self.gate.close();
        self.gate.fade_in(self.delays[0].frames());
    }

    /// Fades out: the session no longer has the route.
    pub(crate) fn remove(&mut self) {
        self.is_removed = true;
        self.gate.fade_out();
    }

    /// Ends at once.
    pub(crate) fn cut(&mut self) {
        self.gate.close();
    }

    pub(crate) fn is_removed(&self) -> bool {
        self.is_removed
    }

    /// Whether the route is removed and no longer audible.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_removed && self.is_closed()
    }

    /// Opens or closes the route, as mute and solo require. Not for removed routes.
    pub(crate) fn set_open(&mut self, open: bool) {
        let was_closed = self.is_closed();
        if open {
            self.gate.fade_in(self.delays[0].frames());
        } else {
            self.gate.fade_out();
        }
        if core::mem::take(&mut self.opens_at_once) {
            self.gate.finish();
        } else if open && was_closed {
            // A closed route does not fill its delays.
            self.delays.iter_mut().for_each(DelayLine::clear);
        }
    }

    /// Sets the delay that aligns the route with the other signals of its sum.
    pub(crate) fn set_delay(&mut self, frames: usize) {
        let fade_frames = libm::round(DELAY_FADE_SECS * f64::from(self.sample_rate_hz)) as u32;
        self.delays.iter_mut().for_each(|delay| delay.set_frames(frames, fade_frames));
    }

    /// Sets the level of a send as a linear gain; an automated level keeps following its curve.
    pub(crate) fn set_level(&mut self, level: f32) {
        self.set_level = level;
        if self.level_db_reader.is_none() {
            self.level.set(level);
        }
    }

    /// Whether this is the send at an index of the track, as the session has it now.
    pub(crate) fn is_send(&self, index: usize) -> bool {
        let (Tap::PostFader(send) | Tap::PreFader(send)) = self.tap else { return false };
        !self.is_removed && send as usize == index
    }

    /// Follows the lane of its level, if there is one.
    pub(crate) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let (Tap::PostFader(index) | Tap::PreFader(index)) = self.tap else { return };
        let (old, is_new) = (self.level_db_reader.take(), core::mem::take(&mut self.is_new));
        let target = AutomationTarget::Send(index);
        self.level_db_reader = AutomationReader::for_target(old, lanes, target, is_new, self.sample_rate_hz);
        self.set_level(self.set_level);
    }

    /// Sets the latency of the signal that enters the route.
    pub(crate) fn set_latency(&mut self, frames: usize) {
        self.level_db_reader.iter_mut().for_each(|reader| reader.set_latency(frames));
    }

    /// The session stops at a frame.
    pub(crate) fn stop(&mut self, frame: u64) {
        if let Some(reader) = &mut self.level_db_reader {
            self.level.set(gain::from_db(reader.stop(frame)));
        }
    }

    /// Clears all signal and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        if let Some(reader) = &mut self.level_db_reader {
            self.level.set(gain::from_db(reader.reset(clock)));
        }
        self.level.finish();
        self.gate.finish();
        self.delays.iter_mut().for_each(DelayLine::clear);
    }

    /// Whether mute and solo let the signal pass.
    pub(crate) fn lets_through(&self) -> bool {
        !self.is_removed && self.gate.is_opening()
    }

    /// Whether the output equals the input.
    pub(crate) fn is_direct(&self) -> bool {
        self.only_delays() && self.delays[0].is_idle()
    }

    /// Whether the output is the delayed input.
    pub(crate) fn only_delays(&self) -> bool {
        self.tap == Tap::Output && self.gate.is_open()
    }

    /// Whether nothing passes whatever the input is.
    pub(crate) fn is_closed(&self) -> bool {
        self.gate.is_closed()
    }

    /// Whether the output is silent while the input is.
    pub(crate) fn is_silent(&self) -> bool {
        !self.delays.iter().any(DelayLine::is_ringing)
    }

    /// Adds the delayed `signal`, times `gains`, to a sum. Requires [`Self::only_delays`].
    pub(crate) fn delay_into(
        &mut self,
        sum: &mut TrackBlock,
        signal: TrackSignal<'_>,
        gains: [f32; TRACK_OUTPUTS],
        frames: usize,
    ) {
        for (((delay, sum), values), gain) in self.delays.iter_mut().zip(sum).zip(signal).zip(gains) {
            match values {
                Some(values) => delay.process_into(&mut sum[..frames], &values[..frames], gain),
                None => delay.drain_into(&mut sum[..frames], &SILENT_BLOCK[0][..frames]),
            }
        }
    }

    /// Advances by frames of silence while it [`Self::is_silent`], or by any frames while it
    /// [`Self::is_closed`].
    pub(crate) fn skip(&mut self, context: ProcessContext) {
        self.delays.iter_mut().for_each(DelayLine::settle_if_silent);
        if self.level_db_reader.is_some() || !self.level.is_steady() {
            self.for_each_segment(context, |route, frames| route.level.advance(frames));
        }
        self.gate.advance(context.frames);
    }

    /// Processes the first channels of `block` in place. `is_silent` says that they hold silence.
    pub(crate) fn process(&mut self, context: ProcessContext, block: &mut TrackBlock, is_silent: bool) {
        let frames = context.frames;
        let mut gains = [0.0; BLOCK_FRAMES];
        if self.tap != Tap::Output {
            let mut done = 0;
            self.for_each_segment(context, |route, frames| {
                route.level.fill(&mut gains[done..done + frames]);
                done += frames;
            });
            multiply(&mut block[..2], &gains[..frames]);
        }
        for (delay, values) in self.delays.iter_mut().zip(&mut *block) {
            match is_silent {
                true => delay.drain(&mut values[..frames]),
                false => delay.process(&mut values[..frames]),
            }
        }
        if !self.gate.is_open() {
            self.gate.fill(&mut gains[..frames]);
            let channels = self.channels();
            multiply(&mut block[..channels], &gains[..frames]);
        }
    }

    /// Calls `process` with the number of frames of each segment between two control points.
    fn for_each_segment(&mut self, context: ProcessContext, mut process: impl FnMut(&mut Self, usize)) {
        let mut done = 0;
        while done < context.frames {
            let clock = context.clock + done as u64;
            let mut segment_frames = context.frames - done;
            if let (true, Some(reader)) = (context.is_playing, &mut self.level_db_reader) {
                if let Some(step) = reader.step(clock) {
                    self.level.follow(step, gain::from_db);
                }
                segment_frames = segment_frames
                    .min(usize::try_from(reader.next_control_point() - clock).unwrap_or(segment_frames));
            }
            process(self, segment_frames);
            done += segment_frames;
        }
    }
}

fn multiply(channels: &mut [[f32; BLOCK_FRAMES]], gains: &[f32]) {
    for values in channels {
        values.iter_mut().zip(gains).for_each(|(value, gain)| *value *= gain);
    }
}
