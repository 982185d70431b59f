//! The grids on which slow things are computed.

use super::interpolation::CHUNK_FRAMES;

/// Coarser and finer places in time, about 1.3, 2.7 and 5.3 ms apart at any sample rate. Each grid is made of
/// places of the finer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    fine_frames: u32,
}

/// Distance of the finest places at the usual rates, in frames.
const FINE_FRAMES: u32 = CHUNK_FRAMES as u32 / 2;

/// The rate in hertz from which on, by octaves, places lie farther apart: halfway between 48 kHz and its double.
const LOWEST_DOUBLED_HZ: u32 = 67_882;

impl Grid {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let mut grid = Self { fine_frames: FINE_FRAMES };
        let mut doubled_hz = LOWEST_DOUBLED_HZ;
        while sample_rate_hz >= doubled_hz {
            grid.fine_frames *= 2;
            doubled_hz *= 2;
        }
        while sample_rate_hz < doubled_hz / 2 {
            grid.fine_frames /= 2;
            doubled_hz /= 2;
        }
        grid
    }

    /// For a pitch that moves, which goes in steps, and for what falls fast.
    pub(super) fn fine_frames(self) -> u32 {
        self.fine_frames
    }

    /// For what moves less fast.
    pub(super) fn middle_frames(self) -> u32 {
        2 * self.fine_frames
    }

    /// For everything else.
    pub(super) fn coarse_frames(self) -> u32 {
        4 * self.fine_frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_places_are_as_far_apart_in_seconds_at_any_rate() {
        for rate_hz in [16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000] {
            let secs = f64::from(Grid::new(rate_hz).fine_frames()) / f64::from(rate_hz);
            assert!((0.000_9..0.002_1).contains(&secs), "{secs} s at {rate_hz} Hz");
        }
        assert_eq!([44_100, 48_000].map(|rate_hz| Grid::new(rate_hz).fine_frames()), [64, 64]);
    }
}
