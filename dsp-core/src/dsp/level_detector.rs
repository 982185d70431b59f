//! Peak and RMS level of a stereo signal.

use wide::f64x2;

use super::control_block::ControlBlock;
use super::decibels::{level_db, peak_levels_db};
use super::smoothed_value::SmoothedValue;

/// Time constant of the mean square, in milliseconds.
const RMS_MS: f64 = 10.0;

/// Measures the level of the louder channel.
pub(crate) struct LevelDetector {
    /// 1 while the detector measures the root mean square, 0 while it measures peaks.
    rms_fraction: SmoothedValue,
    /// Whether the detector measures both levels until the next control point.
    is_crossfading: bool,
    mean_squares: f64x2,
    /// Factor by which the mean square decays per frame.
    decay: f64,
}

/// A mean square below this value, -300 dBFS, becomes 0.
const SILENT_SQUARE: f64 = 1e-30;

impl LevelDetector {
    pub(crate) fn new(sample_rate_hz: u32) -> Self {
        let frames = RMS_MS / 1_000.0 * f64::from(sample_rate_hz);
        Self {
            rms_fraction: SmoothedValue::new(0.0),
            is_crossfading: false,
            mean_squares: f64x2::ZERO,
            decay: libm::exp(-1.0 / frames),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.rms_fraction.finish();
        self.is_crossfading = false;
        self.mean_squares = f64x2::ZERO;
    }

    pub(crate) fn set_rms_fraction(&mut self, fraction: f64, ramp_frames: u32) {
        self.rms_fraction.set_target(fraction, ramp_frames);
        self.is_crossfading = true;
    }

    /// Updates the detector. The caller calls this at every control point.
    pub(crate) fn refresh(&mut self) {
        self.is_crossfading = !self.rms_fraction.is_steady();
        if !self.is_crossfading && self.rms_fraction.target() == 0.0 {
            self.mean_squares = f64x2::ZERO;
        }
    }

    /// Whether [`Self::refresh`] would change nothing.
    pub(crate) fn is_steady(&self) -> bool {
        !self.is_crossfading
    }

    pub(crate) fn is_idle(&self) -> bool {
        !self.is_crossfading && self.mean_squares.to_array() == [0.0; 2]
    }

    /// Sets an inaudible mean square to 0. The caller calls this at fixed frames of the clock.
    pub(crate) fn flush_denormals(&mut self) {
        let [left, right] = self.mean_squares.to_array();
        let flush = |square| if square < SILENT_SQUARE { 0.0 } else { square };
        self.mean_squares = f64x2::from([flush(left), flush(right)]);
    }

    /// Writes the level of each frame of `input` in dBFS.
    #[inline(always)]
    pub(crate) fn levels_db<const FRAMES: usize>(
        &mut self,
        input: [&[f32]; 2],
        levels_db: &mut ControlBlock<FRAMES>,
    ) {
        if !self.is_crossfading && self.rms_fraction.target() == 1.0 {
            return self.rms_levels_db(input, levels_db);
        }
        peak_levels_db(input, levels_db);
        if self.is_crossfading {
            let mut rms_levels_db = [0.0; FRAMES];
            self.rms_levels_db(input, &mut rms_levels_db);
            let fraction: ControlBlock<FRAMES> = self.rms_fraction.next_values(input[0].len());
            for ((level, rms_level), fraction) in levels_db.iter_mut().zip(rms_levels_db).zip(fraction) {
                *level += fraction * (rms_level - *level);
            }
        }
    }

    #[inline(always)]
    fn rms_levels_db(&mut self, [left, right]: [&[f32]; 2], levels_db: &mut [f32]) {
        for ((level, left), right) in levels_db.iter_mut().zip(left).zip(right) {
            let values = f64x2::from([f64::from(*left), f64::from(*right)]);
            self.mean_squares = self.mean_squares * self.decay + values * values * (1.0 - self.decay);
            let [left, right] = self.mean_squares.to_array();
            *level = (if left > right { left } else { right }) as f32;
        }
        levels_db.iter_mut().for_each(|level| *level = 0.5 * level_db(*level));
    }
}
