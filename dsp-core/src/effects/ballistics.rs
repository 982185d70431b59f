//! How fast a gain falls and recovers.

use super::Glide;
use super::decibels::Step;

/// A reduction in decibels that follows its target by an attack and a release: the smooth, branching
/// detector of Giannoulis, Massberg and Reiss 2012, equation 16, applied behind the static curve.
///
/// Both times are time constants: after a step of the target, so long until 63 % (`1 - 1/e`) of the way
/// in decibels is done, whichever way.
pub(crate) struct Ballistics {
    attack: TimeConstant,
    release: TimeConstant,
    /// In double precision: close to its target the steps of a slow release vanish in an f32.
    reduction_db: f64,
}

/// A time constant that glides.
pub(crate) struct TimeConstant {
    time_ms: Glide,
    frames_per_ms: f64,
    /// The time for which `keep` was computed.
    kept_ms: f64,
    /// What is left of a distance after a frame: `exp(-1 / frames)`.
    keep: f64,
}

impl TimeConstant {
    pub(crate) fn new(time_ms: f64, sample_rate_hz: u32) -> Self {
        let frames_per_ms = f64::from(sample_rate_hz) / 1_000.0;
        let mut constant = Self { time_ms: Glide::new(time_ms), frames_per_ms, kept_ms: 0.0, keep: 0.0 };
        constant.refresh();
        constant
    }

    pub(crate) fn set(&mut self, time_ms: f64, glide_frames: u32) {
        self.time_ms.set(time_ms, glide_frames);
    }

    pub(crate) fn jump(&mut self) {
        self.time_ms.jump();
        self.refresh();
    }

    /// To be called at every control place.
    pub(crate) fn refresh(&mut self) {
        let time_ms = self.time_ms.value();
        if time_ms != self.kept_ms {
            self.kept_ms = time_ms;
            self.keep = libm::exp(-1.0 / (time_ms * self.frames_per_ms));
        }
    }

    pub(crate) fn pass(&mut self, frames: usize) {
        self.time_ms.pass(frames);
    }

    /// What is left of a distance after a frame.
    pub(crate) fn keep(&self) -> f64 {
        self.keep
    }
}

/// Below this, in decibels, a reduction is none.
const NO_REDUCTION_DB: f64 = 1e-9;

impl Ballistics {
    pub(crate) fn new(attack_ms: f64, release_ms: f64, sample_rate_hz: u32) -> Self {
        Self {
            attack: TimeConstant::new(attack_ms, sample_rate_hz),
            release: TimeConstant::new(release_ms, sample_rate_hz),
            reduction_db: 0.0,
        }
    }

    pub(crate) fn set_attack_ms(&mut self, attack_ms: f64, glide_frames: u32) {
        self.attack.set(attack_ms, glide_frames);
    }

    pub(crate) fn set_release_ms(&mut self, release_ms: f64, glide_frames: u32) {
        self.release.set(release_ms, glide_frames);
    }

    /// Without reduction, and at the targets of its times.
    pub(crate) fn reset(&mut self) {
        self.attack.jump();
        self.release.jump();
        self.reduction_db = 0.0;
    }

    /// To be called at every control place.
    pub(crate) fn refresh(&mut self) {
        self.attack.refresh();
        self.release.refresh();
        if self.reduction_db < NO_REDUCTION_DB {
            self.reduction_db = 0.0;
        }
    }

    /// Turns the targets of some frames into what the reduction is.
    pub(crate) fn follow(&mut self, reductions_db: &mut Step, frames: usize) {
        let (attack, release) = (self.attack.keep(), self.release.keep());
        self.attack.pass(frames);
        self.release.pass(frames);
        if self.reduction_db == 0.0 && reductions_db[..frames].iter().all(|target| *target == 0.0) {
            return;
        }
        let mut now = self.reduction_db;
        // Attacking when the target is above and releasing when it is below gets to the higher of
        // what either gives if the attack is the faster one, and to the lower if not.
        if attack <= release {
            for reduction in &mut reductions_db[..frames] {
                let target = f64::from(*reduction);
                let attacked = attack * now + (1.0 - attack) * target;
                let released = release * now + (1.0 - release) * target;
                now = if attacked > released { attacked } else { released };
                *reduction = now as f32;
            }
        } else {
            for reduction in &mut reductions_db[..frames] {
                let target = f64::from(*reduction);
                let attacked = attack * now + (1.0 - attack) * target;
                let released = release * now + (1.0 - release) * target;
                now = if attacked < released { attacked } else { released };
                *reduction = now as f32;
            }
        }
        self.reduction_db = now;
    }

    /// What the reduction is now, in decibels.
    pub(crate) fn reduction_db(&self) -> f32 {
        self.reduction_db as f32
    }
}
