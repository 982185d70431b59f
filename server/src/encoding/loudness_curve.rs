//! The loudness and peaks of a file over time, for a graph.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of points for complete intervals.
const POINTS_MAX: usize = 600;

/// Loudness and peaks over time: 300 to 601 points for a file of more than a minute.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoudnessCurve {
    /// Interval of the points in seconds. The first interval begins at the start of the file.
    pub interval_secs: f64,
    /// Highest short-term loudness (of 3 seconds) in each interval in LUFS; null for silence.
    pub short_term_lufs: Vec<Option<f32>>,
    /// Highest true peak in each interval in dBTP; null for silence. A peak between samples at the
    /// end of an interval may count in the next one.
    pub peak_db: Vec<Option<f32>>,
}

/// Collects the points of a curve. When there are more than [`POINTS_MAX`], each two neighbouring
/// points are joined.
#[derive(Debug)]
pub(super) struct CurveCollector {
    sample_rate_hz: u32,
    interval_frames: u64,
    points: Vec<Point>,
    /// Highest values of the incomplete interval.
    current: Point,
    /// Number of frames in the incomplete interval.
    current_frames: u64,
}

/// Highest loudness of an interval in LUFS, and its highest true peak, where 1 is full scale.
#[derive(Debug, Clone, Copy)]
struct Point {
    lufs: f64,
    peak: f32,
}

impl Point {
    const SILENCE: Self = Self { lufs: f64::NEG_INFINITY, peak: 0.0 };

    fn highest(self, point: Self) -> Self {
        Self { lufs: self.lufs.max(point.lufs), peak: self.peak.max(point.peak) }
    }
}

impl CurveCollector {
    /// Starts with intervals of a tenth of a second.
    pub(super) fn new(sample_rate_hz: u32) -> Self {
        let interval_frames = u64::from(sample_rate_hz / 10).max(1);
        Self {
            sample_rate_hz,
            interval_frames,
            points: Vec::new(),
            current: Point::SILENCE,
            current_frames: 0,
        }
    }

    /// Returns the number of frames until the end of the interval.
    pub(super) fn missing_frames(&self) -> u64 {
        self.interval_frames - self.current_frames
    }

    /// Adds at most [`Self::missing_frames`] frames with the loudness at their end. If they
    /// complete an interval, `true_peak` returns its true peak.
    pub(super) fn add(&mut self, frames: u64, lufs: f64, true_peak: impl FnOnce() -> f32) {
        self.current.lufs = self.current.lufs.max(lufs);
        self.current_frames += frames;
        if self.missing_frames() == 0 {
            self.current.peak = self.current.peak.max(true_peak());
            self.points.push(std::mem::replace(&mut self.current, Point::SILENCE));
            self.current_frames = 0;
        }
        if self.points.len() > POINTS_MAX {
            self.halve();
        }
    }

    /// Joins each two neighbouring points. A point without a neighbour becomes the incomplete
    /// interval.
    fn halve(&mut self) {
        let pairs = self.points.chunks_exact(2);
        if let [last] = pairs.remainder() {
            self.current = self.current.highest(*last);
            self.current_frames += self.interval_frames;
        }
        self.points = pairs.map(|pair| pair[0].highest(pair[1])).collect();
        self.interval_frames *= 2;
    }

    /// Returns the curve. `last_true_peak` is the true peak since the last complete interval.
    pub(super) fn finish(mut self, last_true_peak: f32) -> LoudnessCurve {
        let last = self.current.highest(Point { peak: last_true_peak, ..Point::SILENCE });
        if self.current_frames > 0 {
            self.points.push(last);
        } else if let Some(point) = self.points.last_mut() {
            // The last interval is complete; `last` has only the peaks between its last samples.
            *point = point.highest(last);
        }
        // Two decimal places are enough for a graph.
        let rounded_db = |db: f64| db.is_finite().then(|| ((100.0 * db).round() / 100.0) as f32);
        LoudnessCurve {
            interval_secs: self.interval_frames as f64 / f64::from(self.sample_rate_hz),
            short_term_lufs: self.points.iter().map(|point| rounded_db(point.lufs)).collect(),
            peak_db: self
                .points
                .iter()
                .map(|point| rounded_db(20.0 * f64::from(point.peak).log10()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the curve of parts with these numbers of frames, loudness and true peaks.
    fn curve(parts: impl Iterator<Item = (u64, f64, f32)>) -> LoudnessCurve {
        let mut collector = CurveCollector::new(48_000);
        let mut interval_peak = 0.0_f32;
        for (frames, lufs, peak) in parts {
            interval_peak = interval_peak.max(peak);
            collector.add(frames, lufs, || std::mem::take(&mut interval_peak));
        }
        collector.finish(interval_peak)
    }

    #[test]
    fn a_short_file_has_a_point_for_each_tenth_of_a_second() {
        let silence = f64::NEG_INFINITY;
        let expected = |last_db: Option<f32>| LoudnessCurve {
            interval_secs: 0.1,
            short_term_lufs: vec![Some(-20.0), None],
            peak_db: vec![Some(-20.0), last_db],
        };
        let parts = [(800, -30.0, 0.1), (4_000, -20.0, 0.01), (1, silence, 0.0)];
        assert_eq!(curve(parts.into_iter()), expected(None));
        let parts = [(4_800, -20.0, 0.1), (4_800, silence, 0.0)];
        let mut collector = CurveCollector::new(48_000);
        parts.into_iter().for_each(|(frames, lufs, peak)| collector.add(frames, lufs, || peak));
        assert_eq!(collector.finish(0.01), expected(Some(-40.0)), "a peak after the last complete interval");
    }

    #[test]
    fn a_long_file_has_a_bounded_number_of_points_that_keep_the_peaks() {
        for count in [600, 601, 602, 1_201, 100_000] {
            let part = |index: i32| (4_800, f64::NEG_INFINITY, if index == count - 1 { 1.0 } else { 0.1 });
            let loudness_points = curve((0..count).map(part));
            let points = loudness_points.peak_db.len();
            assert!(points <= POINTS_MAX + 1, "{points} points for {count} intervals");
            let secs = points as f64 * loudness_points.interval_secs;
            assert!(
                (0.0..=loudness_points.interval_secs).contains(&(secs - 0.1 * f64::from(count))),
                "{secs} s"
            );
            assert_eq!(loudness_points.peak_db.last(), Some(&Some(0.0)), "{count}");
            assert!(loudness_points.peak_db[..points - 1].iter().all(|db| *db == Some(-20.0)), "{count}");
        }
    }
}
