//! The gates of the integrated loudness and of the loudness range, over the blocks of a signal.

use alloc::vec::Vec;

use crate::meters::gating::lufs;

/// Power of the absolute gate: -70 LUFS (BS.1770-4, annex 1, equation 4). Quieter blocks are
/// ignored.
const ABSOLUTE_GATE_POWER: f64 = 1.172_465_304_582_298e-7;

/// Ratios of the relative gates to the mean power of all blocks above the absolute gate. They are
/// -10 LU for the integrated loudness (BS.1770-4, annex 1, equation 6), and -20 LU for the loudness
/// range (EBU Tech 3342, section 3.1).
const INTEGRATED_GATE_RATIO: f64 = 0.1;
const RANGE_GATE_RATIO: f64 = 0.01;

/// The quantiles whose distance is the loudness range (EBU Tech 3342, section 3.1).
const QUANTILES: [f64; 2] = [0.1, 0.95];

/// Powers of the blocks above the absolute gate.
#[derive(Debug, Default)]
pub(super) struct GatedBlocks(Vec<f64>);

impl GatedBlocks {
    pub(super) fn add(&mut self, power: f64) {
        if power >= ABSOLUTE_GATE_POWER {
            self.0.push(power);
        }
    }

    /// Returns the loudness of the blocks above both gates in LUFS; minus infinity without blocks.
    pub(super) fn integrated_lufs(&self) -> f64 {
        let gate = INTEGRATED_GATE_RATIO * self.mean();
        let (mut sum, mut count) = (0.0, 0_u32);
        for power in self.0.iter().filter(|power| **power >= gate) {
            (sum, count) = (sum + power, count + 1);
        }
        lufs(sum / f64::from(count.max(1)))
    }

    /// Returns the distance of the quantiles of the blocks above both gates in LU; 0 without
    /// blocks.
    pub(super) fn range_lu(&self) -> f64 {
        let gate = RANGE_GATE_RATIO * self.mean();
        let mut powers: Vec<f64> = self.0.iter().copied().filter(|power| *power >= gate).collect();
        powers.sort_unstable_by(f64::total_cmp);
        let Some(last_index) = powers.len().checked_sub(1) else { return 0.0 };
        let [low, high] =
            QUANTILES.map(|quantile| lufs(powers[(last_index as f64 * quantile + 0.5) as usize]));
        high - low
    }

    /// Returns the mean power; 0 without blocks.
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meters::gating::LOUDNESS_OFFSET_LUFS;

    fn blocks(levels_lufs: impl IntoIterator<Item = f64>) -> GatedBlocks {
        let mut blocks = GatedBlocks::default();
        for level_lufs in levels_lufs {
            blocks.add(libm::exp10((level_lufs - LOUDNESS_OFFSET_LUFS) / 10.0));
        }
        blocks
    }

    #[test]
    fn the_absolute_gate_is_at_minus_70_lufs() {
        assert!((lufs(ABSOLUTE_GATE_POWER) + 70.0).abs() < 1e-9);
        assert_eq!(blocks([-70.01, f64::NEG_INFINITY]).integrated_lufs(), f64::NEG_INFINITY);
        assert!((blocks([-69.99]).integrated_lufs() + 69.99).abs() < 1e-9);
    }

    #[test]
    fn blocks_below_the_relative_gates_do_not_count() {
        // The relative gates are 10 and 20 LU below -13.01 LUFS.
        let levels = blocks([-10.0, -40.0, -24.0, f64::NEG_INFINITY, -10.0]);
        assert!((levels.integrated_lufs() + 10.0).abs() < 1e-9, "{} LUFS", levels.integrated_lufs());
        assert!((levels.range_lu() - 14.0).abs() < 1e-9, "range of {} LU", levels.range_lu());
        assert_eq!((blocks([]).range_lu(), blocks([-20.0]).range_lu()), (0.0, 0.0));
    }
}
