//! Integrated loudness: the mean of gated blocks (ITU-R BS.1770-4, annex 1, equations 4 to 7).
//!
//! A histogram stores the blocks of a signal of any length. Each bin holds the sum of its powers,
//! so that only the relative gate is rounded, to 0.1 LU.

use alloc::vec;
use alloc::vec::Vec;

/// Offset from ten times the logarithm of a power to loudness (BS.1770-4, annex 1, equation 2).
pub(crate) const LOUDNESS_OFFSET_LUFS: f64 = -0.691;

/// Loudness from which blocks count, in LUFS.
const ABSOLUTE_GATE_LUFS: f64 = -70.0;

/// Offset from the mean of these blocks to the relative gate, in LU.
const RELATIVE_GATE_LU: f64 = -10.0;

/// Number of bins per LU.
const BINS_PER_LU: f64 = 10.0;

/// Number of bins, up to 10 LUFS. The last bin holds louder blocks too.
const BINS: usize = 800;

/// Converts a power, the sum of the channels' K-weighted mean squares, to loudness in LUFS.
pub(crate) fn lufs(power: f64) -> f64 {
    LOUDNESS_OFFSET_LUFS + 10.0 * libm::log10(power)
}

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    blocks: u32,
    power: f64,
}

#[derive(Debug, Clone)]
pub(super) struct GatedLoudness {
    bins: Vec<Bin>,
}

impl GatedLoudness {
    pub(super) fn new() -> Self {
        Self { bins: vec![Bin::default(); BINS] }
    }

    pub(super) fn reset(&mut self) {
        self.bins.fill(Bin::default());
    }

    /// Adds a block of 400 ms by its power.
    pub(super) fn add_block(&mut self, power: f64) {
        let above_gate = lufs(power) - ABSOLUTE_GATE_LUFS;
        // Minus infinity for silence.
        if above_gate >= 0.0 {
            let bin = &mut self.bins[((above_gate * BINS_PER_LU) as usize).min(BINS - 1)];
            bin.blocks = bin.blocks.saturating_add(1);
            bin.power += power;
        }
    }

    /// Loudness of all blocks; minus infinity if none passed the gates.
    pub(super) fn lufs(&self) -> f64 {
        let all = mean_power(&self.bins);
        let gate = lufs(all) + RELATIVE_GATE_LU - ABSOLUTE_GATE_LUFS;
        // A bin that contains the gate counts if the gate is in its lower half.
        let first = (gate * BINS_PER_LU + 0.5) as usize;
        lufs(mean_power(&self.bins[first.min(BINS - 1)..]))
    }
}

/// Mean power of the blocks in some bins; 0 without blocks.
fn mean_power(bins: &[Bin]) -> f64 {
    let blocks: u64 = bins.iter().map(|bin| u64::from(bin.blocks)).sum();
    bins.iter().map(|bin| bin.power).sum::<f64>() / blocks.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(lufs: f64) -> f64 {
        libm::exp10((lufs - LOUDNESS_OFFSET_LUFS) / 10.0)
    }

    fn of_blocks(blocks: &[(u32, f64)]) -> f64 {
        let mut loudness = GatedLoudness::new();
        for (count, lufs) in blocks {
            (0..*count).for_each(|_| loudness.add_block(power(*lufs)));
        }
        loudness.lufs()
    }

    #[test]
    fn blocks_of_equal_loudness_have_that_loudness() {
        for level_lufs in [-69.95, -23.03, 0.0, 12.3] {
            assert!((of_blocks(&[(100, level_lufs)]) - level_lufs).abs() < 1e-9);
        }
    }

    #[test]
    fn blocks_below_the_gates_do_not_count() {
        assert_eq!(of_blocks(&[]), f64::NEG_INFINITY);
        assert_eq!(of_blocks(&[(1_000, -70.5), (10, f64::NEG_INFINITY)]), f64::NEG_INFINITY);
        // The mean of all is -23.04 LUFS, and the relative gate ten LU below.
        assert!((of_blocks(&[(1_000, -70.5), (99, -23.0), (1, -33.3)]) + 23.0).abs() < 1e-9);
        let both = lufs((99.0 * power(-23.0) + power(-32.7)) / 100.0);
        assert!((of_blocks(&[(99, -23.0), (1, -32.7)]) - both).abs() < 1e-9);
    }
}
