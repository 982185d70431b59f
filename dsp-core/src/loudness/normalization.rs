//! Computes the gain that normalizes a signal to a target loudness.

use super::measurement::Loudness;

/// Maximum true peak of a normalized signal in dBTP (EBU R 128).
pub const MAX_TRUE_PEAK_DBTP: f64 = -1.0;

/// Normalization to a target loudness: a gain, then a limiter if peaks exceed
/// [`MAX_TRUE_PEAK_DBTP`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normalization {
    /// Gain in decibels from the integrated loudness to the target loudness.
    pub gain_db: f64,
    /// Highest true peak after the gain, in dBTP.
    pub true_peak_dbtp: f64,
    /// Decibels by which [`Self::true_peak_dbtp`] exceeds [`MAX_TRUE_PEAK_DBTP`], and which a
    /// limiter must remove. 0 if the peak does not exceed it.
    pub excess_db: f64,
}

impl Normalization {
    /// Computes the normalization of a measured signal to a target in LUFS. `None` if the signal
    /// has no loudness: it is silent, shorter than 400 ms, or below the absolute gate of -70 LUFS.
    pub fn new(loudness: &Loudness, target_lufs: f64) -> Option<Self> {
        let gain_db = target_lufs - loudness.integrated_lufs;
        if !gain_db.is_finite() {
            return None;
        }
        let true_peak_dbtp = loudness.true_peak_dbtp + gain_db;
        Some(Self { gain_db, true_peak_dbtp, excess_db: (true_peak_dbtp - MAX_TRUE_PEAK_DBTP).max(0.0) })
    }

    /// Returns the gain in decibels that needs no limiter. The resulting loudness is below the
    /// target by [`Self::excess_db`].
    pub fn gain_without_limiter_db(&self) -> f64 {
        self.gain_db - self.excess_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(integrated_lufs: f64, true_peak_dbtp: f64) -> Loudness {
        Loudness {
            integrated_lufs,
            range_lu: 0.0,
            max_momentary_lufs: integrated_lufs,
            max_short_term_lufs: integrated_lufs,
            true_peak_dbtp,
            sample_peak_dbfs: true_peak_dbtp,
        }
    }

    #[test]
    fn the_gain_reaches_the_target_and_the_excess_of_the_peak_is_reported() {
        let quiet_normalization = Normalization::new(&measured(-30.0, -12.0), -23.0).unwrap();
        assert_eq!(quiet_normalization, Normalization { gain_db: 7.0, true_peak_dbtp: -5.0, excess_db: 0.0 });
        let dynamic = Normalization::new(&measured(-30.0, -12.0), -14.0).unwrap();
        assert_eq!(dynamic, Normalization { gain_db: 16.0, true_peak_dbtp: 4.0, excess_db: 5.0 });
        assert_eq!(dynamic.gain_without_limiter_db(), 11.0);
    }

    #[test]
    fn silence_has_no_normalization() {
        assert_eq!(Normalization::new(&measured(f64::NEG_INFINITY, f64::NEG_INFINITY), -23.0), None);
    }
}
