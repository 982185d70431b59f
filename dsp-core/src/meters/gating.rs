//! Integrated loudness: the mean of gated blocks (ITU-R BS.1770-4, annex 1, equations 4 to 7).
//!
//! A signal of any length is kept as a histogram of its blocks. Each of its bins holds the powers
//! that fell into it, so that only the relative gate is rounded, to a tenth of a LU.

use alloc::vec;
use alloc::vec::Vec;

/// What is added to ten times the logarithm of a power (BS.1770-4, annex 1, equation 2), in LU.
pub(crate) const LOUDNESS_OFFSET_LUFS: f64 = -0.691;

/// Blocks from here on count, in LUFS.
const ABSOLUTE_GATE_LUFS: f64 = -70.0;

/// How far below the mean of these the relative gate lies, in LU.
const RELATIVE_GATE_LU: f64 = -10.0;

const BINS_A_LU: f64 = 10.0;

/// Bins up to 10 LUFS, a square wave of full scale in both channels and more; what is louder is in
/// the last.
const BINS: usize = 800;

/// The loudness of a power under K-weighting, the sum of the channels' mean squares, in LUFS.
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
        // Of silence it is minus infinity.
        if above_gate >= 0.0 {
            let bin = &mut self.bins[((above_gate * BINS_A_LU) as usize).min(BINS - 1)];
            bin.blocks = bin.blocks.saturating_add(1);
            bin.power += power;
        }
    }

    /// Loudness of all blocks; minus infinity if none was loud enough.
    pub(super) fn lufs(&self) -> f64 {
        let all = mean_power(&self.bins);
        let gate = lufs(all) + RELATIVE_GATE_LU - ABSOLUTE_GATE_LUFS;
        // Of a bin that the gate parts, the half decides.
        let first = (gate * BINS_A_LU + 0.5) as usize;
        lufs(mean_power(&self.bins[first.min(BINS - 1)..]))
    }
}

/// Mean power of the blocks in some bins; 0 if there is none.
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
    fn equal_blocks_have_their_own_loudness() {
        for level_lufs in [-69.95, -23.03, 0.0, 12.3] {
            assert!((of_blocks(&[(100, level_lufs)]) - level_lufs).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_below_the_gates_does_not_count() {
        assert_eq!(of_blocks(&[]), f64::NEG_INFINITY);
        assert_eq!(of_blocks(&[(1_000, -70.5), (10, f64::NEG_INFINITY)]), f64::NEG_INFINITY);
        // The mean of all is -23.04 LUFS, and the relative gate ten LU below.
        assert!((of_blocks(&[(1_000, -70.5), (99, -23.0), (1, -33.3)]) + 23.0).abs() < 1e-9);
        let both = lufs((99.0 * power(-23.0) + power(-32.7)) / 100.0);
        assert!((of_blocks(&[(99, -23.0), (1, -32.7)]) - both).abs() < 1e-9);
    }
}
