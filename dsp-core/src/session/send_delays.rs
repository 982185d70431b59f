//! What goes from a track to the shared effects waits for the track's own.

use super::TRACK_OUTPUTS;
use crate::delay::Delay;
use crate::effects::Glide;
use crate::join::Join;

/// Outputs of a track that go to the shared effects.
pub(super) const SENDS: usize = TRACK_OUTPUTS - 2;

/// How long sound takes to come back when the wait has changed, in seconds.
const FADE_SECS: f64 = 0.01;

/// Delays what goes to reverb and chorus.
pub(super) struct SendDelays {
    delays: [Delay; SENDS],
    last_input: [f32; SENDS],
    /// Of what comes in.
    fade: Glide,
    fade_frames: u32,
    join: Join<SENDS>,
}

impl SendDelays {
    /// No wait.
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        Self {
            delays: [Delay::new(0), Delay::new(0)],
            last_input: [0.0; SENDS],
            fade: Glide::new(1.0),
            fade_frames: libm::round(FADE_SECS * f64::from(sample_rate_hz)) as u32,
            join: Join::new(sample_rate_hz),
        }
    }

    /// Waits for so many frames from here on. Where that is a change, what was on its way is left out.
    pub(super) fn set(&mut self, frames: usize) {
        if self.delays[0].frames() == frames {
            return;
        }
        self.delays = [Delay::new(frames), Delay::new(frames)];
        self.fade = Glide::new(0.0);
        self.fade.set(1.0, self.fade_frames);
        self.join.begin();
    }

    /// Nothing is on its way.
    pub(super) fn jump(&mut self) {
        self.delays.iter_mut().for_each(Delay::clear);
        self.last_input = [0.0; SENDS];
        self.fade.jump();
        self.join.reset();
    }

    /// The last frame that came in.
    pub(super) fn last_input(&self) -> [f32; SENDS] {
        self.last_input
    }

    /// Passes the next frames, in place. Which sends may be anything but silence is said before and afterwards; those that
    /// are silent before hold anything.
    pub(super) fn process(&mut self, mut sends: [&mut [f32]; SENDS], sounding: &mut [bool; SENDS]) {
        self.last_input = last(&sends, sounding);
        if !self.fade.is_at_rest() {
            for frame in 0..sends[0].len() {
                let gain = self.fade.next() as f32;
                sends.iter_mut().for_each(|values| values[frame] *= gain);
            }
        }
        for ((delay, values), sounds) in self.delays.iter_mut().zip(&mut sends).zip(&mut *sounding) {
            if *sounds {
                delay.process(values);
            } else if delay.holds_sound() {
                delay.give_rest(values);
                *sounds = true;
            }
        }
        if self.join.is_silent() {
            return self.join.pass_by(last(&sends, sounding));
        }
        for (values, sounds) in sends.iter_mut().zip(sounding) {
            if !core::mem::replace(sounds, true) {
                values.fill(0.0);
            }
        }
        self.join.process(sends);
    }
}

/// The last frame, of those that sound.
fn last(sends: &[&mut [f32]; SENDS], sounding: &[bool; SENDS]) -> [f32; SENDS] {
    core::array::from_fn(|send| if sounding[send] { sends[send].last().copied().unwrap_or(0.0) } else { 0.0 })
}
