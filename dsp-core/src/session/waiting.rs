//! A strip's own sound, where it has to wait for what else comes to the strip.

use alloc::vec::Vec;

use super::TRACK_OUTPUTS;
use super::strip::{Own, TrackBlock};
use crate::delay::Delay;
use crate::effects::Glide;
use crate::join::Join;

/// How long sound takes to come back when the wait has changed, in seconds.
const FADE_SECS: f64 = 0.01;

/// Delays all outputs of a source.
pub(super) struct Waiting {
    delays: Vec<Delay>,
    /// Frames for which they may still hold sound.
    ringing_frames: usize,
    /// Of what comes in.
    fade: Glide,
    fade_frames: u32,
    join: Join<TRACK_OUTPUTS>,
}

impl Waiting {
    /// No wait.
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            delays: Vec::new(),
            ringing_frames: 0,
            fade: Glide::new(1.0),
            fade_frames: libm::round(FADE_SECS * f64::from(sample_rate_hz)) as u32,
            join: Join::new(sample_rate_hz),
        }
    }

    /// Waits for so many frames from here on. Where that is a change, what was on its way is left out.
    pub(super) fn set(&mut self, frames: usize) {
        if self.frames() == frames {
            return;
        }
        let channels = if frames == 0 { 0 } else { TRACK_OUTPUTS };
        self.delays = (0..channels).map(|_| Delay::new(frames)).collect();
        self.ringing_frames = 0;
        self.fade = Glide::new(0.0);
        self.fade.set(1.0, self.fade_frames);
        self.join.begin();
    }

    fn frames(&self) -> usize {
        self.delays.first().map_or(0, Delay::frames)
    }

    /// Whether it changes nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.delays.is_empty() && self.fade.is_at_rest() && self.join.is_silent()
    }

    /// What comes passes by while it [`Self::is_idle`]: what there is to be joined to if it no longer is.
    pub(super) fn pass_by(&mut self, own: Own<'_>) {
        self.come_from(own.map(|values| values.and_then(|values| values.last()).copied().unwrap_or(0.0)));
    }

    /// What comes from here on belongs to what ended with these values, which passed by.
    pub(super) fn come_from(&mut self, last: [f32; TRACK_OUTPUTS]) {
        self.join.pass_by(last);
    }

    /// Nothing is on its way.
    pub(super) fn jump(&mut self) {
        self.delays.iter_mut().for_each(Delay::clear);
        self.ringing_frames = 0;
        self.fade.jump();
        self.join.reset();
    }

    /// Passes the next frames, of which `sounds` says whether they may be anything but silence, and says
    /// the same of what comes out.
    pub(super) fn process(&mut self, block: &mut TrackBlock, frames: usize, sounds: bool) -> bool {
        if !self.fade.is_at_rest() {
            for frame in 0..frames {
                let gain = self.fade.next() as f32;
                block.iter_mut().for_each(|values| values[frame] *= gain);
            }
        }
        for (delay, values) in self.delays.iter_mut().zip(&mut *block) {
            delay.process(&mut values[..frames]);
        }
        let rings = self.ringing_frames > 0 || !self.join.is_silent();
        self.ringing_frames = if sounds { self.frames() } else { self.ringing_frames.saturating_sub(frames) };
        self.join.process(block.each_mut().map(|values| &mut values[..frames]));
        sounds || rings
    }
}
