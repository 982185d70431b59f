//! The time signatures of a song, which plugins get with the position of the current bar.

use schemas::Project;
use schemas::TICKS_PER_QUARTER;
use schemas::project::TimeSignature;
use schemas::session::tempo_map;
use serde::Serialize;

use crate::rendering::RenderError;

/// A time signature that applies from a frame on, at which a bar starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeSignatureChange {
    /// First frame.
    pub frame: u64,
    /// Position of this frame in quarter notes.
    pub quarters: f64,
    /// Number of beats of a bar.
    pub numerator: u8,
    /// Length of a beat: 4 is a quarter note.
    pub denominator: u8,
}

impl TimeSignatureChange {
    /// 4/4 from the start of a song.
    pub(super) const DEFAULT: Self = Self { frame: 0, quarters: 0.0, numerator: 4, denominator: 4 };

    /// Returns the time signatures of a project in ascending order, without those that move no bar.
    ///
    /// # Errors
    /// The tempo map is invalid.
    pub fn all(project: &Project) -> Result<Vec<Self>, RenderError> {
        let tempo = tempo_map(project)?;
        let change = |signature: &TimeSignature| Self {
            frame: tempo.frame_at(signature.tick.into(), project.sample_rate_hz),
            quarters: f64::from(signature.tick) / f64::from(TICKS_PER_QUARTER),
            numerator: signature.numerator,
            denominator: signature.denominator,
        };
        let mut last = (0, Self::DEFAULT.numerator, Self::DEFAULT.denominator);
        let changes_bars = |signature: &&TimeSignature| {
            let changes_bars = !repeats(last, signature);
            if changes_bars {
                last = (signature.tick, signature.numerator, signature.denominator);
            }
            changes_bars
        };
        Ok(project.time_signatures.iter().filter(changes_bars).map(change).collect())
    }

    /// Returns the start of the bar at a position in quarter notes.
    pub(super) fn bar_start_quarters(&self, position_quarters: f64) -> f64 {
        let bar_quarters = f64::from(self.numerator) * 4.0 / f64::from(self.denominator);
        let bars = ((position_quarters - self.quarters) / bar_quarters).floor();
        self.quarters + bars * bar_quarters
    }
}

/// Whether a time signature equals the last one, given by its tick, numerator and denominator, and
/// a bar of the last one starts with it.
fn repeats((tick, numerator, denominator): (u32, u8, u8), signature: &TimeSignature) -> bool {
    let ticks = u64::from(signature.tick.saturating_sub(tick));
    let whole_bar = u64::from(numerator) * 4 * u64::from(TICKS_PER_QUARTER);
    let is_bar_start = (ticks * u64::from(denominator)).is_multiple_of(whole_bar);
    (signature.numerator, signature.denominator) == (numerator, denominator) && is_bar_start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_signatures_that_move_no_bar_are_left_out() {
        let check = |signatures: &[(u32, u8, u8)], expected: &[u32]| {
            let signature = |&(tick, numerator, denominator)| serde_json::json!({"tick": tick, "numerator": numerator, "denominator": denominator});
            let signatures: Vec<_> = signatures.iter().map(signature).collect();
            let project = serde_json::json!({"schema_version": 1, "project_id": "p", "name": "p",
                "sample_rate_hz": 48_000, "tracks": [], "time_signatures": signatures});
            let project: Project = serde_json::from_value(project).expect("a project");
            let changes = TimeSignatureChange::all(&project).expect("valid");
            let ticks = changes.iter().map(|change| (change.quarters * f64::from(TICKS_PER_QUARTER)) as u32);
            assert_eq!(ticks.collect::<Vec<_>>(), expected);
        };
        check(&[], &[]);
        check(&[(0, 4, 4), (3_840, 4, 4), (7_680, 4, 4)], &[]);
        // A bar starts earlier than it would without the time signature.
        check(&[(0, 4, 4), (1_920, 4, 4), (5_760, 4, 4)], &[1_920]);
        check(&[(0, 7, 8), (3_360, 7, 8), (6_720, 4, 4), (10_560, 7, 8)], &[0, 6_720, 10_560]);
        check(&[(0, 8, 8), (3_840, 4, 4)], &[0, 3_840]);
    }

    #[test]
    fn bars_are_counted_from_the_time_signature() {
        let waltz = TimeSignatureChange { quarters: 4.0, numerator: 3, ..TimeSignatureChange::DEFAULT };
        let starts = [4.0, 6.9, 7.0, 10.5].map(|position| waltz.bar_start_quarters(position));
        assert_eq!(starts, [4.0, 4.0, 7.0, 10.0]);
        let eighths = TimeSignatureChange { numerator: 7, denominator: 8, ..TimeSignatureChange::DEFAULT };
        assert_eq!([3.4, 3.5, 7.1].map(|position| eighths.bar_start_quarters(position)), [0.0, 3.5, 7.0]);
    }
}
