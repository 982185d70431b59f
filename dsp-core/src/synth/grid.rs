//! The grids on which slow things are computed.

use super::interpolation::CHUNK_FRAMES;

/// Coarser and finer places in time, at most about 0.4, 1.5, 3 and 6 ms apart at any sample rate.
/// Each grid is made of places of the finer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    fine_frames: u32,
}

/// Distance of the finest places at the usual rates, in frames.
const FINE_FRAMES: u32 = CHUNK_FRAMES as u32 / 2;

/// The rate in hertz below which, by octaves, places lie fewer frames apart: halfway between 22.05
/// and 44.1 kHz.
const LOWEST_USUAL_HZ: u32 = 33_075;

impl Grid {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let mut grid = Self { fine_frames: FINE_FRAMES };
        let mut lowest_hz = LOWEST_USUAL_HZ;
        while sample_rate_hz < lowest_hz && grid.fine_frames > 4 {
            grid.fine_frames /= 2;
            lowest_hz /= 2;
        }
        grid
    }

    /// For what falls in a moment.
    pub(super) fn finest_frames(self) -> u32 {
        self.fine_frames / 4
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
    fn its_places_are_close_in_time_at_any_rate() {
        for rate_hz in [16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000] {
            let secs = f64::from(Grid::new(rate_hz).fine_frames()) / f64::from(rate_hz);
            assert!(secs < 0.0015, "{secs} s at {rate_hz} Hz");
        }
        assert_eq!([44_100, 48_000, 192_000].map(|rate_hz| Grid::new(rate_hz).fine_frames()), [64; 3]);
    }
}
