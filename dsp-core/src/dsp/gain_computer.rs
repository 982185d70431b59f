//! The static curve of a compressor.

use super::control_block::ControlBlock;
use super::decibels::{higher, lower};
use super::smoothed_value::SmoothedValue;

/// The gain computer of Giannoulis, Massberg and Reiss, "Digital Dynamic Range Compressor Design: A
/// Tutorial and Analysis", JAES 60 (6), 2012, equation 4.
///
/// Let `d` be the level above the threshold in decibels, `R` the ratio and `W` the width of the
/// knee in decibels. The reduction in decibels is 0 below the knee, `(1 - 1/R) (d + W/2)^2 / 2W`
/// within the knee, and `(1 - 1/R) d` above the knee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GainComputer {
    threshold_db: f32,
    /// Reduction per decibel above the threshold: `1 - 1/R`.
    slope: f32,
    half_knee_db: f32,
    /// `1 / 2W`; 0 for a hard knee.
    knee_factor: f32,
}

impl GainComputer {
    /// Creates the curve for a threshold, a ratio and a width of the knee. The ratio is 1 or more,
    /// and infinite for a limiter.
    pub(crate) fn new(threshold_db: f64, ratio: f64, knee_db: f64) -> Self {
        Self {
            threshold_db: threshold_db as f32,
            slope: (1.0 - 1.0 / ratio) as f32,
            half_knee_db: (0.5 * knee_db) as f32,
            knee_factor: if knee_db > 1e-6 { (0.5 / knee_db) as f32 } else { 0.0 },
        }
    }

    /// Returns the gain reduction for a level, 0 dB or more.
    #[inline(always)]
    pub(crate) fn reduction_db(&self, level_db: f32) -> f32 {
        let above_knee_start_db = level_db - self.threshold_db + self.half_knee_db;
        let above_knee_end_db = level_db - self.threshold_db - self.half_knee_db;
        let in_knee_db = lower(higher(above_knee_start_db, 0.0), 2.0 * self.half_knee_db);
        self.slope * (in_knee_db * in_knee_db * self.knee_factor + higher(above_knee_end_db, 0.0))
    }
}

/// A gain computer with smoothed threshold, ratio and knee.
#[derive(Clone)]
pub(crate) struct SmoothedGainComputer {
    pub(crate) threshold_db: SmoothedValue,
    pub(crate) ratio: SmoothedValue,
    pub(crate) knee_db: SmoothedValue,
}

impl SmoothedGainComputer {
    /// Whether no parameter ramps.
    pub(crate) fn is_steady(&self) -> bool {
        [&self.threshold_db, &self.ratio, &self.knee_db].iter().all(|smoothed| smoothed.is_steady())
    }

    /// Replaces the levels of the first `frames` frames by their reductions. The values after them
    /// are unspecified.
    #[inline(always)]
    pub(crate) fn reduce<const FRAMES: usize>(
        &mut self,
        levels_db: &mut ControlBlock<FRAMES>,
        frames: usize,
    ) {
        if self.is_steady() {
            let computer = self.current();
            levels_db.iter_mut().for_each(|level| *level = computer.reduction_db(*level));
            return;
        }
        for level in &mut levels_db[..frames] {
            *level = self.current().reduction_db(*level);
            self.threshold_db.advance(1);
            self.ratio.advance(1);
            self.knee_db.advance(1);
        }
    }

    /// Ends all ramps: each parameter gets its target.
    pub(crate) fn finish(&mut self) {
        self.threshold_db.finish();
        self.ratio.finish();
        self.knee_db.finish();
    }

    fn current(&self) -> GainComputer {
        GainComputer::new(self.threshold_db.value(), self.ratio.value(), self.knee_db.value())
    }
}
