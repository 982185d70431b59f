//! The time of the song at a frame of a stream.

use dsp_core::effects::MusicalTime;
use songfoundry_bridge_protocol::host::Transport;

/// Sample rate and tempo of a stream, which plays in 4/4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SongTime {
    pub(super) sample_rate_hz: u32,
    /// Tempo in quarter notes per minute.
    pub(super) bpm: f64,
}

impl SongTime {
    /// Returns the time for effects of the engine.
    pub(super) fn musical(self, frame: u64) -> MusicalTime {
        let secs = frame as f64 / f64::from(self.sample_rate_hz);
        MusicalTime { bpm: self.bpm, beat: secs * self.bpm / 60.0 }
    }

    /// Returns the time for plugins.
    pub(super) fn transport(self, frame: u64) -> Transport {
        let default = Transport::default();
        let position_quarters = self.musical(frame).beat;
        let bar_quarters = f64::from(default.numerator) * 4.0 / f64::from(default.denominator);
        Transport {
            tempo_bpm: self.bpm,
            position_frames: i64::try_from(frame).unwrap_or(i64::MAX),
            position_quarters,
            bar_start_quarters: (position_quarters / bar_quarters).floor() * bar_quarters,
            ..default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_counts_quarters_and_bars() {
        let time = SongTime { sample_rate_hz: 48_000, bpm: 120.0 };
        let Transport { position_frames, position_quarters, bar_start_quarters, tempo_bpm, .. } =
            time.transport(132_000);
        assert_eq!(
            (position_frames, position_quarters, bar_start_quarters, tempo_bpm),
            (132_000, 5.5, 4.0, 120.0)
        );
    }
}
