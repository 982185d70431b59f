//! Compares third-octave spectra of notes.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

use super::StereoSlice;
use crate::song::RATE_HZ;
use crate::stats::{median, power_db};

/// Length of the Fourier transform in frames. A note with its release is shorter.
const SPECTRUM_FRAMES: usize = 1 << 18;
/// Centre frequencies of the bands, in thirds of an octave from 1 kHz: 25 Hz to 20 kHz (IEC 61260).
const BANDS: core::ops::RangeInclusive<i32> = -16..=13;
/// Bands that are farther below the loudest band are ignored, in decibels.
const RANGE_DB: f64 = 60.0;

/// Difference of two spectra.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BandDifference {
    /// Median over the bands of the absolute difference, in decibels.
    pub(crate) median_db: f64,
    /// Power of our note relative to theirs, in decibels.
    pub(crate) level_db: f64,
}

/// Compares notes by the power per band, summed over both channels.
pub(crate) struct Bands {
    fft: Arc<dyn RealToComplex<f32>>,
}

impl Bands {
    pub(crate) fn new() -> Self {
        Self { fft: RealFftPlanner::new().plan_fft_forward(SPECTRUM_FRAMES) }
    }

    /// Returns the power in each band.
    fn powers(&self, note: StereoSlice<'_>) -> anyhow::Result<Vec<f64>> {
        let mut powers = vec![0.0; BANDS.count()];
        let mut spectrum = self.fft.make_output_vec();
        for channel in [note.left, note.right] {
            let mut frames = self.fft.make_input_vec();
            let length = channel.len().min(SPECTRUM_FRAMES);
            frames[..length].copy_from_slice(&channel[..length]);
            self.fft.process(&mut frames, &mut spectrum)?;
            let bin_hz = f64::from(RATE_HZ) / SPECTRUM_FRAMES as f64;
            for (bin, value) in spectrum.iter().enumerate().skip(1) {
                let thirds = 3.0 * (bin as f64 * bin_hz / 1000.0).log2();
                let band = thirds.round() as i32 - BANDS.start();
                if let Some(power) = usize::try_from(band).ok().and_then(|band| powers.get_mut(band)) {
                    *power += f64::from(value.norm_sqr());
                }
            }
        }
        Ok(powers)
    }

    /// Compares a note. `gain_db` is our known gain relative to theirs. Returns `None` if either
    /// note is silent.
    pub(crate) fn compare(
        &self,
        our_frames: StereoSlice<'_>,
        their_frames: StereoSlice<'_>,
        gain_db: f64,
    ) -> anyhow::Result<Option<BandDifference>> {
        let (our_frames, their_frames) = (self.powers(our_frames)?, self.powers(their_frames)?);
        let (our_sum, their_sum) = (our_frames.iter().sum::<f64>(), their_frames.iter().sum::<f64>());
        if our_sum < 1e-9 || their_sum < 1e-9 {
            return Ok(None);
        }
        let floor = their_frames.iter().copied().fold(0.0, f64::max) * 10_f64.powf(-RANGE_DB / 10.0);
        let compared_bands =
            our_frames.iter().zip(&their_frames).filter(|(_, their_frames)| **their_frames >= floor);
        let differences = compared_bands.map(|(our_frames, their_frames)| {
            (power_db(*our_frames) - power_db(*their_frames) - gain_db).abs()
        });
        Ok(median(differences).map(|median_db| BandDifference {
            median_db,
            level_db: power_db(our_sum) - power_db(their_sum) - gain_db,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a decaying sawtooth wave, which has power in many bands.
    fn saw(gain: f32) -> Vec<f32> {
        (0..96_000)
            .map(|n| gain * ((n as f32 * 0.01).fract() - 0.5) * (-(n as f32) / 20_000.0).exp())
            .collect()
    }

    #[test]
    fn a_gain_is_measured_and_a_known_gain_is_subtracted() {
        let (a, b) = (saw(0.5), saw(1.0));
        let stereo = |mono| StereoSlice { left: mono, right: mono };
        let difference =
            Bands::new().compare(stereo(&a), stereo(&b), 0.0).expect("computes").expect("not silent");
        assert!((difference.median_db - 6.0206).abs() < 1e-3, "{difference:?}");
        assert!((difference.level_db + 6.0206).abs() < 1e-3, "{difference:?}");
        let known_difference =
            Bands::new().compare(stereo(&a), stereo(&b), -6.0206).expect("computes").expect("not silent");
        assert!(known_difference.median_db < 1e-3, "{known_difference:?}");
    }

    #[test]
    fn a_silent_note_is_not_compared() {
        let (silent_signal, loud) = (vec![0.0; 48_000], saw(1.0));
        let stereo = |mono| StereoSlice { left: mono, right: mono };
        let compared_bands =
            Bands::new().compare(stereo(&silent_signal), stereo(&loud), 0.0).expect("computes");
        assert!(compared_bands.is_none());
    }
}
