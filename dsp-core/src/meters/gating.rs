//! Integrated loudness: the mean power of gated blocks (ITU-R BS.1770-4, annex 1, equations 4 to
//! 7).
//!
//! A histogram of fixed size stores the blocks of a signal of any length. Each bin holds the exact
//! sum of the powers of its blocks. Only the relative gate is rounded, to 0.1 LU.

use alloc::vec;
use alloc::vec::Vec;

/// Offset that converts a power in decibels to a loudness in LUFS (BS.1770-4, annex 1, equation 2).
pub(crate) const LOUDNESS_OFFSET_LUFS: f64 = -0.691;

/// Absolute gate in LUFS: quieter blocks are ignored.
const ABSOLUTE_GATE_LUFS: f64 = -70.0;

/// Level of the relative gate in LU, relative to the mean of the blocks that pass the absolute
/// gate.
const RELATIVE_GATE_LU: f64 = -10.0;

/// Number of bins per LU.
const BINS_PER_LU: f64 = 10.0;

/// Number of bins, from -70 to 10 LUFS. The last bin also holds louder blocks.
const BIN_COUNT: usize = 800;

/// Converts a power, the sum of the channels' K-weighted mean squares, to loudness in LUFS.
pub(crate) fn lufs(power: f64) -> f64 {
    LOUDNESS_OFFSET_LUFS + 10.0 * libm::log10(power)
}

/// Blocks of about the same loudness.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    blocks: u32,
    /// Sum of the powers of the blocks.
    power: f64,
}

#[derive(Debug, Clone)]
pub(super) struct GatedLoudness {
    bins: Vec<Bin>,
}

impl GatedLoudness {
    pub(super) fn new() -> Self {
        Self { bins: vec![Bin::default(); BIN_COUNT] }
    }

    pub(super) fn reset(&mut self) {
        self.bins.fill(Bin::default());
    }

    /// Adds the power of a block of 400 ms.
    pub(super) fn add_block(&mut self, power: f64) {
        let above_gate_lu = lufs(power) - ABSOLUTE_GATE_LUFS;
        // Silence has minus infinity and does not pass the gate.
        if above_gate_lu >= 0.0 {
            let bin = &mut self.bins[((above_gate_lu * BINS_PER_LU) as usize).min(BIN_COUNT - 1)];
            bin.blocks = bin.blocks.saturating_add(1);
            bin.power += power;
        }
    }

    /// Returns the loudness of the gated blocks in LUFS; minus infinity if no block passed the
    /// gates.
    pub(super) fn lufs(&self) -> f64 {
        let ungated_power = mean_power(&self.bins);
        let gate_lu = lufs(ungated_power) + RELATIVE_GATE_LU - ABSOLUTE_GATE_LUFS;
        // The bin that contains the gate counts if the gate lies in the lower half of the bin.
        let first = (gate_lu * BINS_PER_LU + 0.5) as usize;
        lufs(mean_power(&self.bins[first.min(BIN_COUNT - 1)..]))
    }
}

/// Returns the mean power of the blocks in the bins; 0 without blocks.
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

    fn loudness_of_blocks(blocks: &[(u32, f64)]) -> f64 {
        let mut loudness = GatedLoudness::new();
        for (count, lufs) in blocks {
            (0..*count).for_each(|_| loudness.add_block(power(*lufs)));
        }
        loudness.lufs()
    }

    #[test]
    fn blocks_of_equal_loudness_have_that_loudness() {
        for level_lufs in [-69.95, -23.03, 0.0, 12.3] {
            assert!((loudness_of_blocks(&[(100, level_lufs)]) - level_lufs).abs() < 1e-9);
        }
    }

    #[test]
    fn blocks_below_the_gates_do_not_count() {
        assert_eq!(loudness_of_blocks(&[]), f64::NEG_INFINITY);
        assert_eq!(loudness_of_blocks(&[(1_000, -70.5), (10, f64::NEG_INFINITY)]), f64::NEG_INFINITY);
        // The mean of the blocks above the absolute gate is -23.04 LUFS. The relative gate is at
        // -33.04 LUFS.
        assert!((loudness_of_blocks(&[(1_000, -70.5), (99, -23.0), (1, -33.3)]) + 23.0).abs() < 1e-9);
        let expected_lufs = lufs((99.0 * power(-23.0) + power(-32.7)) / 100.0);
        assert!((loudness_of_blocks(&[(99, -23.0), (1, -32.7)]) - expected_lufs).abs() < 1e-9);
    }
}
