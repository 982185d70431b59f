//! The static curve of a compressor.

use super::Glide;
use super::decibels::{higher, lower};
use super::step::Step;

/// How far a compressor turns a level down: the gain computer of Giannoulis, Massberg and Reiss,
/// "Digital Dynamic Range Compressor Design: A Tutorial and Analysis", JAES 60 (6), 2012,
/// equation 4.
///
/// With `d` decibels above the threshold, a ratio `R` and a knee `W` decibels wide, the reduction
/// is `(1 - 1/R)` times 0 below the knee, `d` above it, and `(d + W/2)^2 / 2W` within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curve {
    threshold_db: f32,
    /// Decibels down for each above: `1 - 1/R`.
    slope: f32,
    half_knee_db: f32,
    /// `1 / 2W`; 0 for a hard knee.
    bend: f32,
}

impl Curve {
    /// The curve of a threshold, a ratio (1 or more; infinite for a limiter) and the width of a
    /// knee.
    pub(crate) fn new(threshold_db: f64, ratio: f64, knee_db: f64) -> Self {
        Self {
            threshold_db: threshold_db as f32,
            slope: (1.0 - 1.0 / ratio) as f32,
            half_knee_db: (0.5 * knee_db) as f32,
            bend: if knee_db > 1e-6 { (0.5 / knee_db) as f32 } else { 0.0 },
        }
    }

    /// Decibels by which a level goes down: 0 or more.
    #[inline(always)]
    pub(crate) fn reduction_db(&self, level_db: f32) -> f32 {
        let from_knee_db = level_db - self.threshold_db + self.half_knee_db;
        let past_knee_db = level_db - self.threshold_db - self.half_knee_db;
        let in_knee_db = lower(higher(from_knee_db, 0.0), 2.0 * self.half_knee_db);
        self.slope * (in_knee_db * in_knee_db * self.bend + higher(past_knee_db, 0.0))
    }
}

/// A curve whose threshold, ratio and knee glide.
#[derive(Clone)]
pub(crate) struct GlidingCurve {
    pub(crate) threshold_db: Glide,
    pub(crate) ratio: Glide,
    pub(crate) knee_db: Glide,
}

impl GlidingCurve {
    /// Whether it stays as it is.
    pub(crate) fn is_at_rest(&self) -> bool {
        [&self.threshold_db, &self.ratio, &self.knee_db].iter().all(|glide| glide.is_at_rest())
    }

    /// Turns the levels of some frames into reductions.
    #[inline(always)]
    pub(crate) fn reduce<const FRAMES: usize>(&mut self, levels_db: &mut Step<FRAMES>, frames: usize) {
        if self.is_at_rest() {
            let curve = self.now();
            levels_db.iter_mut().for_each(|level| *level = curve.reduction_db(*level));
            return;
        }
        for level in &mut levels_db[..frames] {
            *level = self.now().reduction_db(*level);
            self.threshold_db.pass(1);
            self.ratio.pass(1);
            self.knee_db.pass(1);
        }
    }

    /// Is at its targets at once.
    pub(crate) fn jump(&mut self) {
        self.threshold_db.jump();
        self.ratio.jump();
        self.knee_db.jump();
    }

    fn now(&self) -> Curve {
        Curve::new(self.threshold_db.value(), self.ratio.value(), self.knee_db.value())
    }
}
