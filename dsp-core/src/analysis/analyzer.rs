//! Measures spectrum, tempo and key of a recording in chunks.

use alloc::vec::Vec;

use super::key::{Chroma, Key};
use super::spectrum::{LongTermSpectrum, ThirdOctave};
use super::tempo::{OnsetCurve, Tempo};

/// The result of an [`Analyzer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Spectral centroid of the long-term spectrum in hertz: the mean frequency, weighted by
    /// amplitude (Peeters, *A large set of audio features*, 2004, section 6.1.1). `None` for
    /// silence.
    pub spectral_centroid_hz: Option<f64>,
    /// Levels of the third-octave bands from 25 Hz to 20 kHz. Bands that reach above half the
    /// sample rate are left out.
    pub third_octaves: Vec<ThirdOctave>,
    /// Tempo; `None` if the recording has no regular beat.
    pub tempo: Option<Tempo>,
    /// Musical key; `None` if the recording has no clear key.
    pub key: Option<Key>,
}

/// Measures spectrum, tempo and key of a recording that is added in chunks.
pub struct Analyzer {
    channels: usize,
    spectrum: LongTermSpectrum,
    chroma: Chroma,
    onsets: OnsetCurve,
    mono: Vec<f32>,
}

impl Analyzer {
    /// Creates an analyzer for interleaved frames. `channels` is 1 or 2.
    pub fn new(sample_rate_hz: u32, channels: usize) -> Self {
        let channels = channels.clamp(1, 2);
        let spectrum = LongTermSpectrum::new(sample_rate_hz, channels);
        Self {
            channels,
            chroma: Chroma::new(spectrum.bin_hz()),
            spectrum,
            onsets: OnsetCurve::new(sample_rate_hz),
            mono: Vec::new(),
        }
    }

    /// Adds interleaved frames. The length of `frames` is a multiple of the number of channels.
    pub fn add(&mut self, frames: &[f32]) {
        let chroma = &mut self.chroma;
        self.spectrum.add(frames, &mut |power| chroma.add(power));
        self.mono.clear();
        let weight = 1.0 / self.channels as f32;
        self.mono.extend(frames.chunks_exact(self.channels).map(|frame| frame.iter().sum::<f32>() * weight));
        self.onsets.add(&self.mono);
    }

    /// Returns the analysis of all added frames.
    pub fn finish(mut self) -> Analysis {
        let chroma = &mut self.chroma;
        self.spectrum.end(&mut |power| chroma.add(power));
        Analysis {
            spectral_centroid_hz: self.spectrum.centroid_hz(),
            third_octaves: self.spectrum.third_octaves(),
            tempo: self.onsets.tempo(),
            key: self.chroma.key(),
        }
    }
}
