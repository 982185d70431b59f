//! The two envelopes of a voice (section 9.1.7): delay, attack, hold, decay, sustain, release.

use super::cached_gain::CachedGain;
use super::curves::convex;
use super::units::{gain_to_centibels, higher, lower};

/// Increase of the attenuation during a full fall, in centibels. The times of decay and release are
/// those of a full fall (section 8.1.2, generators 36 and 38).
pub(super) const FULL_FALL_CB: f32 = 960.0;

/// Durations of the stages of an envelope in frames. Decay and release are the durations of a full
/// fall: 96 dB for the volume envelope, 100 % for the modulation envelope.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct EnvelopeTimes {
    pub(super) delay_frames: f32,
    pub(super) attack_frames: f32,
    pub(super) hold_frames: f32,
    pub(super) full_decay_frames: f32,
    pub(super) full_release_frames: f32,
}

/// The stage of an envelope. The number is the fraction of the stage that has passed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Delay(f32),
    Attack(f32),
    Hold(f32),
    Decay,
    Release,
}

impl Stage {
    /// Advances through delay, attack and hold. Returns the stage after these frames, and the
    /// number of frames that have passed in the decay or release.
    fn advance(self, times: &EnvelopeTimes, mut frames: f32) -> (Self, f32) {
        let mut stage = self;
        loop {
            let (elapsed_fraction, duration, next) = match stage {
                Self::Delay(elapsed_fraction) => (elapsed_fraction, times.delay_frames, Self::Attack(0.0)),
                Self::Attack(elapsed_fraction) => (elapsed_fraction, times.attack_frames, Self::Hold(0.0)),
                Self::Hold(elapsed_fraction) => (elapsed_fraction, times.hold_frames, Self::Decay),
                Self::Decay | Self::Release => return (stage, frames),
            };
            let remaining = (1.0 - elapsed_fraction) * duration;
            if frames < remaining {
                let elapsed_fraction = elapsed_fraction + frames / duration;
                let stage = match stage {
                    Self::Delay(_) => Self::Delay(elapsed_fraction),
                    Self::Attack(_) => Self::Attack(elapsed_fraction),
                    _ => Self::Hold(elapsed_fraction),
                };
                return (stage, 0.0);
            }
            frames -= remaining;
            stage = next;
        }
    }

    /// Returns the number of frames to the next corner: the end of the delay, of the attack or of
    /// the hold.
    fn frames_to_corner(self, times: &EnvelopeTimes) -> Option<f32> {
        match self {
            Self::Delay(elapsed_fraction) => Some((1.0 - elapsed_fraction) * times.delay_frames),
            Self::Attack(elapsed_fraction) => Some((1.0 - elapsed_fraction) * times.attack_frames),
            Self::Hold(elapsed_fraction) => Some((1.0 - elapsed_fraction) * times.hold_frames),
            Self::Decay | Self::Release => None,
        }
    }
}

/// Returns the fraction of a full fall in some frames, at most 1. `duration` is that of a full fall
/// in frames.
fn fall_fraction(frames: f32, duration: f32) -> f32 {
    if duration > frames { frames / duration } else { 1.0 }
}

/// The volume envelope. The attack is linear in amplitude. Decay and release are linear in
/// decibels.
#[derive(Debug, Clone, Copy)]
pub(super) struct VolumeEnvelope {
    stage: Stage,
    /// Attenuation in the decay and the release, in centibels.
    attenuation_cb: f32,
}

impl VolumeEnvelope {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Delay(0.0), attenuation_cb: 0.0 }
    }

    /// Advances by some frames. The decay ends at `sustain_cb`.
    pub(super) fn advance(&mut self, times: &EnvelopeTimes, sustain_cb: f32, frames: f32) {
        let (stage, remaining) = self.stage.advance(times, frames);
        self.stage = stage;
        match stage {
            Stage::Decay if self.attenuation_cb < sustain_cb => {
                let attenuation_cb =
                    self.attenuation_cb + FULL_FALL_CB * fall_fraction(remaining, times.full_decay_frames);
                self.attenuation_cb = lower(attenuation_cb, sustain_cb);
            }
            Stage::Release => {
                self.attenuation_cb += FULL_FALL_CB * fall_fraction(remaining, times.full_release_frames);
            }
            _ => {}
        }
    }

    /// Returns the number of frames to the next corner. Each corner needs a control point.
    pub(super) fn frames_to_corner(&self, times: &EnvelopeTimes) -> Option<f32> {
        self.stage.frames_to_corner(times)
    }

    /// Returns the number of frames until the envelope reaches an attenuation. `None` if it will
    /// not reach it, or is not yet in the decay.
    pub(super) fn frames_to_attenuation(
        &self,
        times: &EnvelopeTimes,
        sustain_cb: f32,
        attenuation_cb: f32,
    ) -> Option<f32> {
        let duration = match self.stage {
            Stage::Decay if sustain_cb >= attenuation_cb => times.full_decay_frames,
            Stage::Release => times.full_release_frames,
            _ => return None,
        };
        Some(higher(attenuation_cb - self.attenuation_cb, 0.0) * (duration / FULL_FALL_CB))
    }

    /// Returns the remaining frames of the delay; `None` after the delay.
    pub(super) fn delay_frames(&self, times: &EnvelopeTimes) -> Option<f32> {
        match self.stage {
            Stage::Delay(elapsed_fraction) => Some((1.0 - elapsed_fraction) * times.delay_frames),
            _ => None,
        }
    }

    /// Whether the envelope falls now, or after the hold, and a full fall takes less than `frames`
    /// frames.
    pub(super) fn falls_within(&self, times: &EnvelopeTimes, sustain_cb: f32, frames: f32) -> bool {
        match self.stage {
            Stage::Hold(_) | Stage::Decay => {
                self.attenuation_cb < sustain_cb && times.full_decay_frames < frames
            }
            Stage::Release => times.full_release_frames < frames,
            Stage::Delay(_) | Stage::Attack(_) => false,
        }
    }

    /// Returns the current linear gain. `cache` holds the last conversion.
    pub(super) fn gain(&self, cache: &mut CachedGain) -> f32 {
        match self.stage {
            Stage::Delay(_) => 0.0,
            Stage::Attack(elapsed_fraction) => elapsed_fraction,
            Stage::Hold(_) => 1.0,
            Stage::Decay | Stage::Release => cache.gain(self.attenuation_cb),
        }
    }

    /// Returns the attenuation in decay, sustain and release. It does not decrease in these stages.
    /// `None` in earlier stages.
    pub(super) fn falling_attenuation_cb(&self) -> Option<f32> {
        matches!(self.stage, Stage::Decay | Stage::Release).then_some(self.attenuation_cb)
    }

    /// Starts the release at the current level.
    pub(super) fn release(&mut self) {
        if self.stage == Stage::Release {
            return;
        }
        self.attenuation_cb = match self.stage {
            Stage::Delay(_) => FULL_FALL_CB,
            Stage::Attack(elapsed_fraction) if elapsed_fraction > 0.0 => gain_to_centibels(elapsed_fraction),
            Stage::Attack(_) => FULL_FALL_CB,
            Stage::Hold(_) => 0.0,
            Stage::Decay | Stage::Release => self.attenuation_cb,
        };
        self.stage = Stage::Release;
    }
}

/// The modulation envelope, 0 to 1. The attack is convex. Decay and release are linear.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModulationEnvelope {
    stage: Stage,
    /// Level in the decay and the release.
    level: f32,
}

impl ModulationEnvelope {
    pub(super) fn new() -> Self {
        Self { stage: Stage::Delay(0.0), level: 1.0 }
    }

    /// Returns the number of frames to the next corner. Each corner needs a control point.
    pub(super) fn frames_to_corner(&self, times: &EnvelopeTimes) -> Option<f32> {
        self.stage.frames_to_corner(times)
    }

    /// Advances by some frames. The decay ends at the level `sustain`.
    pub(super) fn advance(&mut self, times: &EnvelopeTimes, sustain: f32, frames: f32) {
        let (stage, remaining) = self.stage.advance(times, frames);
        self.stage = stage;
        match stage {
            Stage::Decay if self.level > sustain => {
                self.level = higher(self.level - fall_fraction(remaining, times.full_decay_frames), sustain);
            }
            Stage::Release => {
                self.level = higher(self.level - fall_fraction(remaining, times.full_release_frames), 0.0);
            }
            _ => {}
        }
    }

    /// Whether the envelope is in its attack, or falls now or after the hold and a full fall takes
    /// less than `frames` frames.
    pub(super) fn changes_within(&self, times: &EnvelopeTimes, sustain: f32, frames: f32) -> bool {
        match self.stage {
            Stage::Attack(_) => true,
            Stage::Hold(_) | Stage::Decay => self.level > sustain && times.full_decay_frames < frames,
            Stage::Release => self.level > 0.0 && times.full_release_frames < frames,
            Stage::Delay(_) => false,
        }
    }

    /// Returns the current level, 0 to 1.
    pub(super) fn level(&self) -> f32 {
        match self.stage {
            Stage::Delay(_) => 0.0,
            Stage::Attack(elapsed_fraction) => convex(elapsed_fraction),
            Stage::Hold(_) => 1.0,
            Stage::Decay | Stage::Release => self.level,
        }
    }

    /// Starts the release at the current level.
    pub(super) fn release(&mut self) {
        if self.stage != Stage::Release {
            self.level = self.level();
            self.stage = Stage::Release;
        }
    }
}
