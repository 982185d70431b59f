//! Attack and release of a gain reduction.

use wide::f64x2;

use super::control_block::ControlBlock;
use super::smoothed_value::SmoothedValue;

/// A gain reduction in decibels that approaches its target with an attack and a release time. The
/// algorithm is the smooth, branching detector of Giannoulis, Massberg and Reiss, JAES 60 (6),
/// 2012, equation 16, applied after the static curve.
///
/// Both times are time constants: the time for 63 % (`1 - 1/e`) of a step in decibels.
pub(crate) struct Ballistics {
    attack: TimeConstant,
    release: TimeConstant,
    /// The reduction in double precision. The last steps of a slow release are too small for an
    /// `f32`.
    reduction_db: f64,
}

/// A smoothed time constant.
pub(crate) struct TimeConstant {
    time_ms: SmoothedValue,
    frames_per_ms: f64,
    /// The time for which `decay` was computed, in milliseconds.
    computed_ms: f64,
    /// Factor by which the distance to the target shrinks per frame: `exp(-1 / frames)`.
    decay: f64,
}

impl TimeConstant {
    pub(crate) fn new(time_ms: f64, sample_rate_hz: u32) -> Self {
        let frames_per_ms = f64::from(sample_rate_hz) / 1_000.0;
        let mut constant =
            Self { time_ms: SmoothedValue::new(time_ms), frames_per_ms, computed_ms: 0.0, decay: 0.0 };
        constant.refresh();
        constant
    }

    pub(crate) fn set_time_ms(&mut self, time_ms: f64, ramp_frames: u32) {
        self.time_ms.set_target(time_ms, ramp_frames);
    }

    pub(crate) fn finish(&mut self) {
        self.time_ms.finish();
        self.refresh();
    }

    /// Updates the coefficient. The caller calls this at every control point.
    pub(crate) fn refresh(&mut self) {
        let time_ms = self.time_ms.value();
        if time_ms != self.computed_ms {
            self.computed_ms = time_ms;
            self.decay = libm::exp(-1.0 / (time_ms * self.frames_per_ms));
        }
    }

    /// Whether [`Self::refresh`] would change nothing.
    pub(crate) fn is_steady(&self) -> bool {
        self.time_ms.is_steady() && self.time_ms.target() == self.computed_ms
    }

    pub(crate) fn advance(&mut self, frames: usize) {
        self.time_ms.advance(frames);
    }

    /// Returns the factor by which the distance to the target shrinks per frame.
    pub(crate) fn decay(&self) -> f64 {
        self.decay
    }
}

/// A reduction of less than this many decibels counts as 0 dB.
const NO_REDUCTION_DB: f64 = 1e-6;

impl Ballistics {
    pub(crate) fn new(attack_ms: f64, release_ms: f64, sample_rate_hz: u32) -> Self {
        Self {
            attack: TimeConstant::new(attack_ms, sample_rate_hz),
            release: TimeConstant::new(release_ms, sample_rate_hz),
            reduction_db: 0.0,
        }
    }

    pub(crate) fn set_attack_ms(&mut self, attack_ms: f64, ramp_frames: u32) {
        self.attack.set_time_ms(attack_ms, ramp_frames);
    }

    pub(crate) fn set_release_ms(&mut self, release_ms: f64, ramp_frames: u32) {
        self.release.set_time_ms(release_ms, ramp_frames);
    }

    /// Ends all ramps and sets the reduction to 0.
    pub(crate) fn reset(&mut self) {
        self.attack.finish();
        self.release.finish();
        self.reduction_db = 0.0;
    }

    /// Updates the coefficients. The caller calls this at every control point.
    pub(crate) fn refresh(&mut self) {
        self.attack.refresh();
        self.release.refresh();
    }

    /// Whether [`Self::refresh`] would change nothing.
    pub(crate) fn is_steady(&self) -> bool {
        self.attack.is_steady() && self.release.is_steady()
    }

    /// Sets a reduction that is close to 0 to exactly 0. The caller calls this at fixed frames of
    /// the clock.
    pub(crate) fn flush_denormals(&mut self) {
        if self.reduction_db < NO_REDUCTION_DB {
            self.reduction_db = 0.0;
        }
    }

    /// Whether both times are steady and the reduction is 0.
    pub(crate) fn is_idle(&self) -> bool {
        self.reduction_db == 0.0 && self.is_steady()
    }

    /// Replaces the targets of the first `frames` frames by the smoothed reductions.
    #[inline(always)]
    pub(crate) fn smooth<const FRAMES: usize>(
        &mut self,
        reductions_db: &mut ControlBlock<FRAMES>,
        frames: usize,
    ) {
        let (attack, release) = (self.attack.decay(), self.release.decay());
        self.attack.advance(frames);
        self.release.advance(frames);
        if self.reduction_db == 0.0 && reductions_db[..frames].iter().all(|target| *target == 0.0) {
            return;
        }
        // If the attack is faster than the release, the larger of both results is chosen, otherwise
        // the smaller.
        let reduction_db = if attack <= release {
            smooth_with(self.reduction_db, [attack, release], &mut reductions_db[..frames], f64x2::fast_max)
        } else {
            smooth_with(self.reduction_db, [attack, release], &mut reductions_db[..frames], f64x2::fast_min)
        };
        self.reduction_db = reduction_db;
    }

    /// Returns the current reduction in decibels.
    pub(crate) fn reduction_db(&self) -> f32 {
        self.reduction_db as f32
    }
}

/// Smooths targets with two coefficients, and chooses one of both results for each frame. Returns
/// the last reduction. The function computes in two equal lanes, because some compilers turn scalar
/// code into a branch.
#[inline(always)]
fn smooth_with(
    from_db: f64,
    decays: [f64; 2],
    targets_db: &mut [f32],
    choose: impl Fn(f64x2, f64x2) -> f64x2,
) -> f64 {
    let decays = decays.map(f64x2::splat);
    let mut reduction_db = f64x2::splat(from_db);
    for target_db in targets_db {
        let target = f64x2::splat(f64::from(*target_db));
        let [attacked_db, released_db] = decays.map(|decay| decay * reduction_db + (1.0 - decay) * target);
        reduction_db = choose(attacked_db, released_db);
        *target_db = reduction_db.to_array()[0] as f32;
    }
    reduction_db.to_array()[0]
}
