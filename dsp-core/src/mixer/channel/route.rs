//! An output or send of a channel strip.

use alloc::vec::Vec;

use crate::block::{BLOCK_FRAMES, SILENT_BLOCK, TRACK_OUTPUTS, TrackBlock, TrackSignal};
use crate::dsp::delay_line::DelayLine;
use crate::dsp::gate::Gate;
use crate::gain;
use crate::mixer::automation::{AutomationReader, SmoothedGain};
use crate::mixer::graph::{Destination, ProcessContext, Tap};
use crate::session::{AutomationLane, AutomationTarget};

/// Crossfade time after a change of a delay, in seconds.
const DELAY_FADE_SECS: f64 = 0.01;

/// A signal path from a strip to a sum. It consists of a level, a delay that aligns the signal with
/// the other signals of the sum, and a gate.
pub(crate) struct Route {
    pub(crate) tap: Tap,
    pub(crate) destination: Destination,
    /// Level of a send.
    level: SmoothedGain,
    /// The level that the user has set, as a linear gain.
    user_level: f32,
    level_db_reader: Option<AutomationReader>,
    /// Whether [`Self::set_lanes`] has not been called yet.
    is_new: bool,
    sample_rate_hz: u32,
    delays: Vec<DelayLine>,
    /// Gate that mute and solo open and close. The gate also fades the route in when an edit adds
    /// it, and out when an edit removes it.
    gate: Gate,
    /// Whether the first call of [`Self::set_open`] opens or closes the gate without a fade.
    skips_first_fade: bool,
    is_removed: bool,
}

impl Route {
    /// Creates an open route.
    pub(crate) fn new(
        tap: Tap,
        destination: Destination,
        level: f32,
        delay_frames: usize,
        sample_rate_hz: u32,
    ) -> Self {
        let channels = if tap == Tap::Output { TRACK_OUTPUTS } else { 2 };
        Self {
            tap,
            destination,
            level: SmoothedGain::new(level, sample_rate_hz),
            user_level: level,
            level_db_reader: None,
            is_new: true,
            sample_rate_hz,
            delays: (0..channels).map(|_| DelayLine::new(delay_frames)).collect(),
            gate: Gate::new_open(sample_rate_hz),
            skips_first_fade: true,
            is_removed: false,
        }
    }

    /// Returns the number of the strip's outputs that the route reads.
    pub(crate) fn channel_count(&self) -> usize {
        self.delays.len()
    }

    /// Fades in a route that an edit has added to an existing strip.
    pub(crate) fn fade_in(&mut self) {
        self.skips_first_fade = false;
        self.gate.close();
        self.gate.fade_in(self.delays[0].frames());
    }

    /// Fades out a route that the session no longer has.
    pub(crate) fn remove(&mut self) {
        self.is_removed = true;
        self.gate.fade_out();
    }

    /// Closes the route without a fade.
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

    /// Opens or closes the route according to mute and solo. The route must not be removed.
    pub(crate) fn set_open(&mut self, is_open: bool) {
        let was_closed = self.is_closed();
        if is_open {
            self.gate.fade_in(self.delays[0].frames());
        } else {
            self.gate.fade_out();
        }
        if core::mem::take(&mut self.skips_first_fade) {
            self.gate.finish();
        } else if is_open && was_closed {
            // A closed route does not write to its delays, so they may contain an old signal.
            self.delays.iter_mut().for_each(DelayLine::clear);
        }
    }

    /// Sets the delay in frames that aligns the route with the other signals of its sum.
    pub(crate) fn set_delay(&mut self, frames: usize) {
        let fade_frames = libm::round(DELAY_FADE_SECS * f64::from(self.sample_rate_hz)) as u32;
        self.delays.iter_mut().for_each(|delay| delay.set_frames(frames, fade_frames));
    }

    /// Sets the level of a send as a linear gain. An automated level continues to follow its curve.
    pub(crate) fn set_level(&mut self, level: f32) {
        self.user_level = level;
        if self.level_db_reader.is_none() {
            self.level.set_target(level);
        }
    }

    /// Whether this route is the send at an index in the current session.
    pub(crate) fn is_send(&self, index: usize) -> bool {
        let (Tap::PostFader(send) | Tap::PreFader(send)) = self.tap else { return false };
        !self.is_removed && send as usize == index
    }

    /// Sets the automation lanes, of which a send follows that of its level.
    pub(crate) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let (Tap::PostFader(index) | Tap::PreFader(index)) = self.tap else { return };
        let (old, is_new) = (self.level_db_reader.take(), core::mem::take(&mut self.is_new));
        let target = AutomationTarget::Send(index);
        self.level_db_reader = AutomationReader::for_target(old, lanes, target, is_new, self.sample_rate_hz);
        self.set_level(self.user_level);
    }

    /// Sets the latency in frames of the signal that enters the route.
    pub(crate) fn set_latency(&mut self, frames: usize) {
        self.level_db_reader.iter_mut().for_each(|reader| reader.set_latency(frames));
    }

    /// Stops automation. An automated level ramps to its value at `frame`.
    pub(crate) fn stop(&mut self, frame: u64) {
        if let Some(reader) = &mut self.level_db_reader {
            self.level.set_target(gain::from_db(reader.stop(frame)));
        }
    }

    /// Follows the automation from another frame of the clock on, to which an automated level
    /// ramps.
    pub(crate) fn jump(&mut self) {
        self.level_db_reader.iter_mut().for_each(AutomationReader::leave_curve);
    }

    /// Clears all audio state and resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        if let Some(reader) = &mut self.level_db_reader {
            self.level.set_target(gain::from_db(reader.reset(clock)));
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

    /// Whether the output is silent for any input.
    pub(crate) fn is_closed(&self) -> bool {
        self.gate.is_closed()
    }

    /// Whether the output is silent while the input is silent.
    pub(crate) fn is_silent(&self) -> bool {
        !self.delays.iter().any(DelayLine::is_ringing)
    }

    /// Adds the delayed `signal`, times `gains`, to a sum. [`Self::only_delays`] must be true.
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

    /// Advances by the frames of a block without output. The route must be closed
    /// ([`Self::is_closed`]), or silent ([`Self::is_silent`]) with silent input.
    pub(crate) fn skip(&mut self, context: ProcessContext) {
        self.delays.iter_mut().for_each(DelayLine::settle_if_silent);
        if self.level_db_reader.is_some() || !self.level.is_steady() {
            self.for_each_segment(context, |route, frames| route.level.advance(frames));
        }
        self.gate.advance(context.frames);
    }

    /// Processes in place those channels of `block` that the route reads. If `is_silent` is true,
    /// these channels must be silent.
    pub(crate) fn process(&mut self, context: ProcessContext, block: &mut TrackBlock, is_silent: bool) {
        let frames = context.frames;
        let mut gains = [0.0; BLOCK_FRAMES];
        if self.tap != Tap::Output {
            let mut processed_frames = 0;
            self.for_each_segment(context, |route, frames| {
                route.level.fill(&mut gains[processed_frames..processed_frames + frames]);
                processed_frames += frames;
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
            let channels = self.channel_count();
            multiply(&mut block[..channels], &gains[..frames]);
        }
    }

    /// Calls `process` with the number of frames of each segment between two control points.
    fn for_each_segment(&mut self, context: ProcessContext, mut process: impl FnMut(&mut Self, usize)) {
        let mut processed_frames = 0;
        while processed_frames < context.frames {
            let clock = context.clock + processed_frames as u64;
            let mut segment_frames = context.frames - processed_frames;
            if let (true, Some(reader)) = (context.is_playing, &mut self.level_db_reader) {
                if let Some(step) = reader.step(clock) {
                    self.level.follow(step, gain::from_db);
                }
                segment_frames = segment_frames
                    .min(usize::try_from(reader.next_control_point() - clock).unwrap_or(segment_frames));
            }
            process(self, segment_frames);
            processed_frames += segment_frames;
        }
    }
}

fn multiply(channels: &mut [[f32; BLOCK_FRAMES]], gains: &[f32]) {
    for values in channels {
        values.iter_mut().zip(gains).for_each(|(value, gain)| *value *= gain);
    }
}
