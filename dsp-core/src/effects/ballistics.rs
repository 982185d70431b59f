//! How fast a gain falls and recovers.

use wide::f64x2;

use super::Glide;
use super::step::Step;

/// A reduction in decibels that follows its target by an attack and a release: the smooth,
/// branching detector of Giannoulis, Massberg and Reiss 2012, equation 16, applied behind the
/// static curve.
///
/// Both times are time constants: after a step of the target, so long until 63 % (`1 - 1/e`) of the
/// way in decibels is done, whichever way.
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

    /// Whether [`Self::refresh`] would do nothing.
    pub(crate) fn is_still(&self) -> bool {
        self.time_ms.is_at_rest() && self.time_ms.target() == self.kept_ms
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
const NO_REDUCTION_DB: f64 = 1e-6;

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
    }

    /// Whether [`Self::refresh`] would do nothing.
    pub(crate) fn is_still(&self) -> bool {
        self.attack.is_still() && self.release.is_still()
    }

    /// Lets a reduction end; to be called at fixed places of the clock.
    pub(crate) fn hush(&mut self) {
        if self.reduction_db < NO_REDUCTION_DB {
            self.reduction_db = 0.0;
        }
    }

    /// Whether its times stay as they are, and nothing is reduced.
    pub(crate) fn rests(&self) -> bool {
        self.reduction_db == 0.0 && self.is_still()
    }

    /// Turns the targets of some frames into what the reduction is.
    #[inline(always)]
    pub(crate) fn follow<const FRAMES: usize>(&mut self, reductions_db: &mut Step<FRAMES>, frames: usize) {
        let (attack, release) = (self.attack.keep(), self.release.keep());
        self.attack.pass(frames);
        self.release.pass(frames);
        if self.reduction_db == 0.0 && reductions_db[..frames].iter().all(|target| *target == 0.0) {
            return;
        }
        // Attacking when the target is above and releasing when it is below gets to the higher of
        // what either gives if the attack is the faster one, and to the lower if not.
        let now = if attack <= release {
            go(self.reduction_db, [attack, release], &mut reductions_db[..frames], f64x2::fast_max)
        } else {
            go(self.reduction_db, [attack, release], &mut reductions_db[..frames], f64x2::fast_min)
        };
        self.reduction_db = now;
    }

    /// What the reduction is now, in decibels.
    pub(crate) fn reduction_db(&self) -> f32 {
        self.reduction_db as f32
    }
}

/// Goes from a reduction towards the targets of some frames by one of two ways, which is chosen
/// between two lanes that are the same: of single numbers, compilers make a branch on some targets.
#[inline(always)]
fn go(from_db: f64, keeps: [f64; 2], targets_db: &mut [f32], choose: impl Fn(f64x2, f64x2) -> f64x2) -> f64 {
    let keeps = keeps.map(f64x2::splat);
    let mut now = f64x2::splat(from_db);
    for target_db in targets_db {
        let target = f64x2::splat(f64::from(*target_db));
        let [attacked, released] = keeps.map(|keep| keep * now + (1.0 - keep) * target);
        now = choose(attacked, released);
        *target_db = now.to_array()[0] as f32;
    }
    now.to_array()[0]
}
