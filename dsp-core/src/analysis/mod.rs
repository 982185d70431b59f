//! What a recording is like: its spectrum, its tempo, its key.
//!
//! These are estimates for a person to look at.

mod key;
mod spectrum;
mod tempo;

use alloc::vec::Vec;

use key::Chroma;
pub use key::{Key, Mode};
use spectrum::LongTermSpectrum;
pub use spectrum::ThirdOctave;
use tempo::OnsetCurve;
pub use tempo::Tempo;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Where the middle of the spectrum lies, in hertz: the mean frequency weighted by amplitude
    /// (Peeters, *A large set of audio features*, 2004, section 6.1.1) of the long-term spectrum.
    /// `None` for silence.
    pub spectral_centroid_hz: Option<f64>,
    /// Levels in bands of a third of an octave, as far as the sample rate goes.
    pub third_octaves: Vec<ThirdOctave>,
    /// Tempo, where there is a pulse.
    pub tempo: Option<Tempo>,
    /// Key, where there are tones.
    pub key: Option<Key>,
}

/// A running analysis.
pub struct Analyzer {
    channels: usize,
    spectrum: LongTermSpectrum,
    chroma: Chroma,
    onsets: OnsetCurve,
    mono: Vec<f32>,
}

impl Analyzer {
    /// For interleaved frames of one or two channels at a sample rate in hertz.
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

    /// Adds whole frames.
    pub fn add(&mut self, frames: &[f32]) {
        let chroma = &mut self.chroma;
        self.spectrum.add(frames, &mut |power| chroma.add(power));
        self.mono.clear();
        let share = 1.0 / self.channels as f32;
        self.mono.extend(frames.chunks_exact(self.channels).map(|frame| frame.iter().sum::<f32>() * share));
        self.onsets.add(&self.mono);
    }

    /// Everything, once all frames have come.
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

#[cfg(test)]
mod tests;
