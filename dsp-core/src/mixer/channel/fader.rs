//! The fader and pan of a channel strip.

use core::ops::Range;

use crate::block::BLOCK_FRAMES;
use crate::gain;
use crate::mixer::TrackMix;
use crate::mixer::automation::{AutomationReader, SmoothedGain};
use crate::mixer::graph::ProcessContext;
use crate::session::{AutomationLane, AutomationTarget};

/// Applies volume and pan to left and right, and only the volume to the reverb and chorus sends.
pub(crate) struct Fader {
    mix: TrackMix,
    volume: SmoothedGain,
    /// Gains of left and right.
    pan: [SmoothedGain; 2],
    volume_db_reader: Option<AutomationReader>,
    pan_reader: Option<AutomationReader>,
    /// Whether [`Self::set_lanes`] has not been called yet.
    is_new: bool,
    sample_rate_hz: u32,
}

impl Fader {
    pub(crate) fn new(mix: &TrackMix, sample_rate_hz: u32) -> Self {
        Self {
            mix: *mix,
            volume: SmoothedGain::new(mix.gain, sample_rate_hz),
            pan: balance(mix.pan).map(|gain| SmoothedGain::new(gain, sample_rate_hz)),
            volume_db_reader: None,
            pan_reader: None,
            is_new: true,
            sample_rate_hz,
        }
    }

    /// Returns the settings of the user.
    pub(crate) fn mix(&self) -> &TrackMix {
        &self.mix
    }

    /// Sets the user's settings. Automated settings continue to follow their curves.
    pub(crate) fn set_mix(&mut self, mix: &TrackMix) {
        self.mix = *mix;
        if self.volume_db_reader.is_none() {
            self.volume.set_target(mix.gain);
        }
        if self.pan_reader.is_none() {
            self.set_pan(mix.pan);
        }
    }

    fn set_pan(&mut self, pan: f32) {
        for (gain, target) in self.pan.iter_mut().zip(balance(pan)) {
            gain.set_target(target);
        }
    }

    /// Sets the automation lanes, of which the fader follows those of volume and pan.
    pub(crate) fn set_lanes(&mut self, lanes: &[AutomationLane]) {
        let (is_new, sample_rate_hz) = (core::mem::take(&mut self.is_new), self.sample_rate_hz);
        let reader = |old, target| AutomationReader::for_target(old, lanes, target, is_new, sample_rate_hz);
        self.volume_db_reader = reader(self.volume_db_reader.take(), AutomationTarget::Volume);
        self.pan_reader = reader(self.pan_reader.take(), AutomationTarget::Pan);
    }

    fn is_automated(&self) -> bool {
        self.volume_db_reader.is_some() || self.pan_reader.is_some()
    }

    /// Sets the latency of the signal that enters the fader.
    pub(crate) fn set_latency(&mut self, frames: usize) {
        let readers = self.volume_db_reader.iter_mut().chain(&mut self.pan_reader);
        readers.for_each(|reader| reader.set_latency(frames));
    }

    /// Stops automation. Automated settings ramp to their values at `frame`.
    pub(crate) fn stop(&mut self, frame: u64) {
        self.set_targets(|reader| reader.stop(frame));
    }

    /// Follows the automation from another frame of the clock on, to which automated settings ramp.
    pub(crate) fn jump(&mut self) {
        let readers = self.volume_db_reader.iter_mut().chain(&mut self.pan_reader);
        readers.for_each(AutomationReader::leave_curve);
    }

    /// Resets to a frame of the clock.
    pub(crate) fn reset(&mut self, clock: u64) {
        self.set_targets(|reader| reader.reset(clock));
        self.gains_mut().into_iter().for_each(SmoothedGain::finish);
    }

    fn set_targets(&mut self, value: impl Fn(&mut AutomationReader) -> f64) {
        let volume = self.volume_db_reader.as_mut().map(|reader| gain::from_db(value(reader)));
        let pan = self.pan_reader.as_mut().map(|reader| value(reader) as f32);
        self.volume.set_target(volume.unwrap_or(self.mix.gain));
        self.set_pan(pan.unwrap_or(self.mix.pan));
    }

    fn gains_mut(&mut self) -> [&mut SmoothedGain; 3] {
        let [left, right] = &mut self.pan;
        [&mut self.volume, left, right]
    }

    /// Advances the automation to a frame of the clock. Returns how many of the next `frames`
    /// frames are before the next control point.
    fn follow_automation(&mut self, clock: u64, frames: usize) -> usize {
        let mut next_control_point = u64::MAX;
        if let Some(reader) = &mut self.volume_db_reader {
            if let Some(step) = reader.step(clock) {
                self.volume.follow(step, gain::from_db);
            }
            next_control_point = reader.next_control_point();
        }
        if let Some(reader) = &mut self.pan_reader {
            if let Some(step) = reader.step(clock) {
                for (side, gain) in self.pan.iter_mut().enumerate() {
                    gain.follow(step, |pan| balance(pan as f32)[side]);
                }
            }
            next_control_point = next_control_point.min(reader.next_control_point());
        }
        frames.min(usize::try_from(next_control_point - clock).unwrap_or(frames))
    }

    /// Returns the gains of left, right and the sends, or `None` if they are automated or ramp.
    pub(crate) fn steady_gains(&self) -> Option<[f32; 3]> {
        if self.is_automated() { None } else { self.segment_gains() }
    }

    /// Returns the gains of left, right and the sends, or `None` if they ramp before the next
    /// control point.
    fn segment_gains(&self) -> Option<[f32; 3]> {
        let is_steady = self.volume.is_steady() && self.pan.iter().all(SmoothedGain::is_steady);
        let [left, right] = self.pan.each_ref().map(SmoothedGain::target);
        let volume = self.volume.target();
        is_steady.then_some([volume * left, volume * right, volume])
    }

    /// Applies the fader to at most a block of left, right and the sends.
    pub(crate) fn process(
        &mut self,
        context: ProcessContext,
        [left, right]: [&mut [f32]; 2],
        mut sends: Option<[&mut [f32]; 2]>,
    ) {
        self.for_each_segment(context, |fader, segment| {
            let sends =
                sends.as_mut().map(|sends| sends.each_mut().map(|values| &mut values[segment.clone()]));
            fader.process_segment([&mut left[segment.clone()], &mut right[segment]], sends);
        });
    }

    fn process_segment(&mut self, sides: [&mut [f32]; 2], sends: Option<[&mut [f32]; 2]>) {
        let sends = sends.into_iter().flatten();
        if let Some([left, right, volume]) = self.segment_gains() {
            let values_and_gains =
                sides.into_iter().zip([left, right]).chain(sends.map(|values| (values, volume)));
            for (values, gain) in values_and_gains.filter(|(_, gain)| *gain != 1.0) {
                values.iter_mut().for_each(|value| *value *= gain);
            }
            return;
        }
        let (mut volume, mut pan) = ([0.0; BLOCK_FRAMES], [0.0; BLOCK_FRAMES]);
        let frames = sides[0].len();
        let (volume, pan) = (&mut volume[..frames], &mut pan[..frames]);
        self.volume.fill(volume);
        for (values, gain) in sides.into_iter().zip(&mut self.pan) {
            gain.fill(pan);
            for (value, (volume, pan)) in values.iter_mut().zip(volume.iter().zip(&*pan)) {
                *value *= volume * pan;
            }
        }
        for values in sends {
            values.iter_mut().zip(&*volume).for_each(|(value, volume)| *value *= volume);
        }
    }

    /// Advances by the frames of a block of silence.
    pub(crate) fn skip(&mut self, context: ProcessContext) {
        if self.steady_gains().is_none() {
            self.for_each_segment(context, |fader, segment| {
                fader.gains_mut().into_iter().for_each(|gain| gain.advance(segment.len()));
            });
        }
    }

    /// Calls `process` for each segment of the block between two control points.
    fn for_each_segment(
        &mut self,
        context: ProcessContext,
        mut process: impl FnMut(&mut Self, Range<usize>),
    ) {
        let mut processed_frames = 0;
        while processed_frames < context.frames {
            let mut segment_frames = context.frames - processed_frames;
            if context.is_playing && self.is_automated() {
                segment_frames =
                    self.follow_automation(context.clock + processed_frames as u64, segment_frames);
            }
            process(self, processed_frames..processed_frames + segment_frames);
            processed_frames += segment_frames;
        }
    }
}

/// Returns the gains of left and right for a pan.
fn balance(pan: f32) -> [f32; 2] {
    gain::balance(f64::from(pan)).into()
}
