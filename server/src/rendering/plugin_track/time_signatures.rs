//! The time signatures of a song, which plugins get with the position of the current bar.

use schemas::Project;
use schemas::TICKS_PER_QUARTER;
use schemas::session::tempo_map;
use serde::Serialize;

use crate::rendering::RenderError;

/// A time signature from a frame on, where a bar starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeSignatureChange {
    /// First frame.
    pub frame: u64,
    /// Position of this frame in quarter notes.
    pub quarters: f64,
    /// Beats of a bar.
    pub numerator: u8,
    /// Length of a beat: 4 is a quarter note.
    pub denominator: u8,
}

impl TimeSignatureChange {
    /// 4/4 from the start of a song.
    pub(super) const DEFAULT: Self = Self { frame: 0, quarters: 0.0, numerator: 4, denominator: 4 };

    /// Returns the time signatures of a project in ascending order.
    ///
    /// # Errors
    /// The tempo map is invalid.
    pub fn all(project: &Project) -> Result<Vec<Self>, RenderError> {
        let tempo = tempo_map(project)?;
        let change = |signature: &schemas::project::TimeSignature| Self {
            frame: tempo.frame_at(signature.tick.into(), project.sample_rate_hz),
            quarters: f64::from(signature.tick) / f64::from(TICKS_PER_QUARTER),
            numerator: signature.numerator,
            denominator: signature.denominator,
        };
        Ok(project.time_signatures.iter().map(change).collect())
    }

    /// Returns the start of the bar at a position in quarter notes.
    pub(super) fn bar_start_quarters(&self, position_quarters: f64) -> f64 {
        let bar_quarters = f64::from(self.numerator) * 4.0 / f64::from(self.denominator);
        let bars = ((position_quarters - self.quarters) / bar_quarters).floor();
        self.quarters + bars * bar_quarters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_counted_from_the_time_signature() {
        let waltz = TimeSignatureChange { quarters: 4.0, numerator: 3, ..TimeSignatureChange::DEFAULT };
        let starts = [4.0, 6.9, 7.0, 10.5].map(|position| waltz.bar_start_quarters(position));
        assert_eq!(starts, [4.0, 4.0, 7.0, 10.0]);
        let eighths = TimeSignatureChange { numerator: 7, denominator: 8, ..TimeSignatureChange::DEFAULT };
        assert_eq!([3.4, 3.5, 7.1].map(|position| eighths.bar_start_quarters(position)), [0.0, 3.5, 7.0]);
    }
}
