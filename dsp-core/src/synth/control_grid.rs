//! The grids of control points.

use super::chunk::CHUNK_FRAMES;

/// Four grids of control points: finest, fine, middle and coarse. Their control points are at most
/// about 0.5, 2, 4 and 8 ms apart at sample rates from 16 kHz. Each control point of a grid also
/// belongs to all finer grids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ControlGrid {
    fine_frames: u32,
}

/// Spacing of the fine grid in frames, at sample rates of at least [`LOWEST_USUAL_HZ`].
const FINE_FRAMES: u32 = CHUNK_FRAMES as u32 / 2;

/// Sample rate in hertz below which the spacing is halved, and again for each octave below. It is
/// halfway between 22.05 and 44.1 kHz.
const LOWEST_USUAL_HZ: u32 = 33_075;

impl ControlGrid {
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let mut grid = Self { fine_frames: FINE_FRAMES };
        let mut lowest_hz = LOWEST_USUAL_HZ;
        while sample_rate_hz < lowest_hz && grid.fine_frames > 4 {
            grid.fine_frames /= 2;
            lowest_hz /= 2;
        }
        grid
    }

    /// Returns the spacing in frames for volume envelopes with a full fall of less than 50 ms.
    pub(super) fn finest_frames(self) -> u32 {
        self.fine_frames / 4
    }

    /// Returns the spacing in frames for modulated pitches, which change in steps, and for
    /// envelopes with a full fall of less than 250 ms.
    pub(super) fn fine_frames(self) -> u32 {
        self.fine_frames
    }

    /// Returns the spacing in frames for active modulation LFOs, and for envelopes with a full fall
    /// of less than 500 ms.
    pub(super) fn middle_frames(self) -> u32 {
        2 * self.fine_frames
    }

    /// Returns the spacing in frames for all other voices.
    pub(super) fn coarse_frames(self) -> u32 {
        4 * self.fine_frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_points_of_the_fine_grid_are_at_most_1_5_ms_apart_at_usual_sample_rates() {
        for rate_hz in [16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000] {
            let secs = f64::from(ControlGrid::new(rate_hz).fine_frames()) / f64::from(rate_hz);
            assert!(secs < 0.0015, "{secs} s at {rate_hz} Hz");
        }
        assert_eq!([44_100, 48_000, 192_000].map(|rate_hz| ControlGrid::new(rate_hz).fine_frames()), [64; 3]);
    }
}
