//! The two envelopes of a voice (section 9.1.7): delay, attack, hold, decay, sustain, release.

use super::units::{KnownGain, gain_to_centibels, larger, smaller};

/// A fall from full to nothing, as the times of decay and release count it, in centibels.
pub(super) const FULL_FALL_CB: f32 = 960.0;

/// Times of an envelope in frames; decay and release are those of a fall from full to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct EnvelopeTimes {
    pub(super) delay: f32,
    pub(super) attack: f32,
    pub(super) hold: f32,
    pub(super) decay: f32,
    pub(super) release: f32,
}

/// Where an envelope is. Stages with a length count the share of it that is over.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Delay(f32),
    Attack(f32),
    Hold(f32),
    Decay,
    Release,
}

impl Stage {
    /// Passes time through the stages with a length; returns the stage it ends in, and what is
    /// left of the time there.
    fn pass(self, times: &EnvelopeTimes, mut frames: f32) -> (Self, f32) {
        let mut stage = self;
        loop {
            let (share, length, next) = match stage {
                Self::Delay(share) => (share, times.delay, Self::Attack(0.0)),
                Self::Attack(share) => (share, times.attack, Self::Hold(0.0)),
                Self::Hold(share) => (share, times.hold, Self::Decay),
                Self::Decay | Self::Release => return (stage, frames),
            };
            let rest = (1.0 - share) * length;
            if frames < rest {
                let share = share + frames / length;
                let stage = match stage {
                    Self::Delay(_) => Self::Delay(share),
                    Self::Attack(_) => Self::Attack(share),
                    _ => Self::Hold(share),
                };
                return (stage, 0.0);
            }
            frames -= rest;
            stage = next;
        }
    }
}

impl Stage {
    /// Frames to the beginning or the end of the attack or to the end of the hold, whichever is
    /// next.
    fn frames_to_corner(self, times: &EnvelopeTimes) -> Option<f32> {
        match self {
            Self::Delay(share) => Some((1.0 - share) * times.delay),
            Self::Attack(share) => Some((1.0 - share) * times.attack),
            Self::Hold(share) => Some((1.0 - share) * times.hold),
            Self::Decay | Self::Release => None,
        }
    }
}

/// The share of a fall that a time is, for a fall that takes `length`; a fall in no time is over.
fn fall(frames: f32, length: f32) -> f32 {
    if length > frames { frames / length } else { 1.0 }
}

/// The envelope of the volume: its attack is linear in amplitude, its falls in decibels.
#[derive(Debug, Clone, Copy)]
pub(super) struct VolumeEnvelope {
    stage: Stage,
    /// Of decay and release.
    attenuation_cb: f32,
}

impl VolumeEnvelope {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Delay(0.0), attenuation_cb: 0.0 }
    }

    /// Lets time pass. `sustain_cb` is where the decay ends.
    pub(super) fn advance(&mut self, times: &EnvelopeTimes, sustain_cb: f32, frames: f32) {
        let (stage, rest) = self.stage.pass(times, frames);
        self.stage = stage;
        match stage {
            Stage::Decay if self.attenuation_cb < sustain_cb => {
                let fallen = self.attenuation_cb + FULL_FALL_CB * fall(rest, times.decay);
                self.attenuation_cb = smaller(fallen, sustain_cb);
            }
            Stage::Release => self.attenuation_cb += FULL_FALL_CB * fall(rest, times.release),
            _ => {}
        }
    }

    /// Frames to the next corner that a straight line between two places would cut off.
    pub(super) fn frames_to_corner(&self, times: &EnvelopeTimes) -> Option<f32> {
        self.stage.frames_to_corner(times)
    }

    /// Frames until it has fallen so far, if it does.
    pub(super) fn frames_to_fall(
        &self,
        times: &EnvelopeTimes,
        sustain_cb: f32,
        fallen_cb: f32,
    ) -> Option<f32> {
        let length = match self.stage {
            Stage::Decay if sustain_cb >= fallen_cb => times.decay,
            Stage::Release => times.release,
            _ => return None,
        };
        Some(larger(fallen_cb - self.attenuation_cb, 0.0) * (length / FULL_FALL_CB))
    }

    /// Frames to the end of the delay, while that is not over.
    pub(super) fn delay_frames(&self, times: &EnvelopeTimes) -> Option<f32> {
        match self.stage {
            Stage::Delay(share) => Some((1.0 - share) * times.delay),
            _ => None,
        }
    }

    /// Whether it falls, or soon will, all of the way in less than `frames`. `sustain_cb` is where
    /// the decay ends.
    pub(super) fn falls_within(&self, times: &EnvelopeTimes, sustain_cb: f32, frames: f32) -> bool {
        match self.stage {
            Stage::Hold(_) | Stage::Decay => self.attenuation_cb < sustain_cb && times.decay < frames,
            Stage::Release => times.release < frames,
            Stage::Delay(_) | Stage::Attack(_) => false,
        }
    }

    /// The linear gain. `fallen` is that of an earlier place.
    pub(super) fn gain(&self, fallen: &mut KnownGain) -> f32 {
        match self.stage {
            Stage::Delay(_) => 0.0,
            Stage::Attack(share) => share,
            Stage::Hold(_) => 1.0,
            Stage::Decay | Stage::Release => fallen.of(self.attenuation_cb),
        }
    }

    /// How far the envelope has fallen, if it can only fall further or stay: in centibels.
    pub(super) fn fallen_cb(&self) -> Option<f32> {
        matches!(self.stage, Stage::Decay | Stage::Release).then_some(self.attenuation_cb)
    }

    /// Goes over to the release, from wherever it is.
    pub(super) fn release(&mut self) {
        if self.stage == Stage::Release {
            return;
        }
        self.attenuation_cb = match self.stage {
            Stage::Delay(_) => FULL_FALL_CB,
            Stage::Attack(share) if share > 0.0 => gain_to_centibels(share),
            Stage::Attack(_) => FULL_FALL_CB,
            Stage::Hold(_) => 0.0,
            Stage::Decay | Stage::Release => self.attenuation_cb,
        };
        self.stage = Stage::Release;
    }
}

/// The envelope of modulation, 0 to 1: its attack is convex, its falls are linear.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModulationEnvelope {
    stage: Stage,
    /// Of decay and release.
    level: f32,
}

impl ModulationEnvelope {
    /// Frames to the next corner that a straight line between two places would cut off.
    pub(super) fn frames_to_corner(&self, times: &EnvelopeTimes) -> Option<f32> {
        self.stage.frames_to_corner(times)
    }

    pub(super) fn new() -> Self {
        Self { stage: Stage::Delay(0.0), level: 1.0 }
    }

    /// Lets time pass. `sustain` is where the decay ends.
    pub(super) fn advance(&mut self, times: &EnvelopeTimes, sustain: f32, frames: f32) {
        let (stage, rest) = self.stage.pass(times, frames);
        self.stage = stage;
        match stage {
            Stage::Decay if self.level > sustain => {
                self.level = larger(self.level - fall(rest, times.decay), sustain);
            }
            Stage::Release => self.level = larger(self.level - fall(rest, times.release), 0.0),
            _ => {}
        }
    }

    /// Whether it rises, or falls all of the way in less than `frames`. `sustain` is where the
    /// decay ends.
    pub(super) fn moves_within(&self, times: &EnvelopeTimes, sustain: f32, frames: f32) -> bool {
        match self.stage {
            Stage::Attack(_) => true,
            Stage::Hold(_) | Stage::Decay => self.level > sustain && times.decay < frames,
            Stage::Release => self.level > 0.0 && times.release < frames,
            Stage::Delay(_) => false,
        }
    }

    pub(super) fn level(&self) -> f32 {
        match self.stage {
            Stage::Delay(_) => 0.0,
            Stage::Attack(share) => super::curves::convex(share),
            Stage::Hold(_) => 1.0,
            Stage::Decay | Stage::Release => self.level,
        }
    }

    /// Goes over to the release, from wherever it is.
    pub(super) fn release(&mut self) {
        if self.stage != Stage::Release {
            self.level = self.level();
            self.stage = Stage::Release;
        }
    }
}
