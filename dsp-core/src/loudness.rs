//! Loudness after ITU-R BS.1770 and true peak, measured by the `ebur128` crate.

use ebur128::{EbuR128, Mode};

/// What a finished signal measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Gated loudness of the whole signal in LUFS (EBU R 128); minus infinity for silence.
    pub integrated_lufs: f64,
    /// Highest true peak of any channel in dBTP; minus infinity for silence.
    pub true_peak_dbtp: f64,
}

/// Why loudness cannot be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("loudness cannot be measured at {sample_rate_hz} Hz")]
pub struct LoudnessError {
    /// The refused sample rate, in hertz.
    pub sample_rate_hz: u32,
}

/// A running measurement of a stereo signal.
pub struct LoudnessMeter {
    meter: EbuR128,
}

impl LoudnessMeter {
    /// A meter for stereo at a sample rate in hertz.
    ///
    /// # Errors
    ///
    /// [`LoudnessError`] for a rate that the measurement does not support.
    pub fn new(sample_rate_hz: u32) -> Result<Self, LoudnessError> {
        let meter = EbuR128::new(2, sample_rate_hz, Mode::I | Mode::TRUE_PEAK | Mode::HISTOGRAM)
            .map_err(|_| LoudnessError { sample_rate_hz })?;
        Ok(Self { meter })
    }

    /// Adds frames; both slices have the same length.
    ///
    /// # Panics
    ///
    /// If `left` and `right` differ in length.
    pub fn add(&mut self, left: &[f32], right: &[f32]) {
        self.meter.add_frames_planar_f32(&[left, right]).expect("two channels of equal length");
    }

    /// The measurement of all that was added.
    pub fn loudness(&self) -> Loudness {
        let integrated_lufs = self.meter.loudness_global().expect("the meter has mode I");
        let true_peak = |channel| self.meter.true_peak(channel).expect("the meter has mode TRUE_PEAK");
        Loudness { integrated_lufs, true_peak_dbtp: crate::gain::to_db(true_peak(0).max(true_peak(1))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EBU Tech 3341 case 1: a stereo tone of 1 kHz at -23 dBFS for 20 s measures -23 LUFS.
    #[test]
    fn the_first_case_of_tech_3341() {
        for sample_rate_hz in [44_100, 48_000, 96_000] {
            let mut meter = LoudnessMeter::new(sample_rate_hz).unwrap();
            let amplitude = f64::from(crate::gain::from_db(-23.0));
            let step = core::f64::consts::TAU * 1_000.0 / f64::from(sample_rate_hz);
            let tone: Vec<f32> = (0..20 * sample_rate_hz)
                .map(|frame| (amplitude * libm::sin(step * f64::from(frame))) as f32)
                .collect();
            meter.add(&tone, &tone);
            let loudness = meter.loudness();
            assert!((loudness.integrated_lufs + 23.0).abs() < 0.1, "{loudness:?} at {sample_rate_hz} Hz");
            assert!((loudness.true_peak_dbtp + 23.0).abs() < 0.2, "{loudness:?} at {sample_rate_hz} Hz");
        }
    }

    #[test]
    fn silence_measures_minus_infinity() {
        let mut meter = LoudnessMeter::new(48_000).unwrap();
        meter.add(&[0.0; 48_000], &[0.0; 48_000]);
        assert_eq!(meter.loudness().integrated_lufs, f64::NEG_INFINITY);
        assert_eq!(meter.loudness().true_peak_dbtp, f64::NEG_INFINITY);
    }
}
