//! Sound that waits for other sound, for a time that may change while it sounds.

use super::SWITCH_SECS;
use crate::dsp::declicker::Declicker;
use crate::dsp::delay_line::DelayLine;
use crate::effects::Glide;

/// Delays some outputs alike. Where the delay changes, what was on its way is left out, and what
/// comes then fades in.
pub(super) struct Wait<const OUTPUTS: usize> {
    delays: [DelayLine; OUTPUTS],
    last_input: [f32; OUTPUTS],
    /// Of what comes in.
    fade: Glide,
    fade_frames: u32,
    declicker: Declicker<OUTPUTS>,
}

impl<const OUTPUTS: usize> Wait<OUTPUTS> {
    /// No wait.
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            delays: core::array::from_fn(|_| DelayLine::new(0)),
            last_input: [0.0; OUTPUTS],
            fade: Glide::new(1.0),
            fade_frames: libm::round(SWITCH_SECS * f64::from(sample_rate_hz)) as u32,
            declicker: Declicker::new(sample_rate_hz),
        }
    }

    /// Waits for so many frames from here on.
    pub(super) fn set(&mut self, frames: usize) {
        if self.frames() == frames {
            return;
        }
        self.delays = core::array::from_fn(|_| DelayLine::new(frames));
        self.fade = Glide::new(0.0);
        self.fade.set(1.0, self.fade_frames);
        self.declicker.switch();
    }

    fn frames(&self) -> usize {
        self.delays.first().map_or(0, DelayLine::frames)
    }

    /// Whether it changes nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.frames() == 0 && self.fade.is_at_rest() && self.declicker.is_idle()
    }

    /// What comes from here on belongs to what ended with this frame, which passed by while it
    /// [`Self::is_idle`].
    pub(super) fn pass_by(&mut self, last: [f32; OUTPUTS]) {
        self.declicker.bypass(last);
    }

    /// Nothing is on its way.
    pub(super) fn jump(&mut self) {
        self.delays.iter_mut().for_each(DelayLine::clear);
        self.last_input = [0.0; OUTPUTS];
        self.fade.jump();
        self.declicker.reset();
    }

    /// The last frame that came in by [`Self::process`].
    pub(super) fn last_input(&self) -> [f32; OUTPUTS] {
        self.last_input
    }

    /// Passes the next frames, in place. Which outputs may be anything but silence is said before
    /// and afterwards; those that are silent before hold anything.
    pub(super) fn process(&mut self, mut outputs: [&mut [f32]; OUTPUTS], sounding: &mut [bool; OUTPUTS]) {
        self.last_input = last(&outputs, sounding);
        if !self.fade.is_at_rest() {
            for frame in 0..outputs.first().map_or(0, |values| values.len()) {
                let gain = self.fade.next() as f32;
                outputs.iter_mut().for_each(|values| values[frame] *= gain);
            }
        }
        for ((delay, values), sounds) in self.delays.iter_mut().zip(&mut outputs).zip(&mut *sounding) {
            if *sounds {
                delay.process(values);
            } else if delay.is_ringing() {
                delay.drain(values);
                *sounds = true;
            }
        }
        if self.declicker.is_idle() {
            return self.declicker.bypass(last(&outputs, sounding));
        }
        for (values, sounds) in outputs.iter_mut().zip(sounding) {
            if !core::mem::replace(sounds, true) {
                values.fill(0.0);
            }
        }
        self.declicker.process(outputs);
    }
}

/// The last frame, of those that sound.
fn last<const OUTPUTS: usize>(outputs: &[&mut [f32]; OUTPUTS], sounding: &[bool; OUTPUTS]) -> [f32; OUTPUTS] {
    let last = |output: usize| outputs[output].last().copied().unwrap_or(0.0);
    core::array::from_fn(|output| if sounding[output] { last(output) } else { 0.0 })
}
