//! Options of a render.

use dsp_core::wav::SampleFormat;

use super::audio_format::{AudioFormat, BitDepth};

/// Options of a render.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixOptions {
    /// Sample rate of the file in hertz.
    pub sample_rate_hz: u32,
    /// Format of the file.
    pub format: AudioFormat,
    /// Sample format of the file.
    pub bit_depth: BitDepth,
    /// Maximum length of the tail after the last item, in seconds.
    pub tail_secs: f64,
}

impl MixOptions {
    /// Returns the sample format of the file as the engine's type.
    pub(super) fn sample_format(&self) -> SampleFormat {
        self.bit_depth.into()
    }
}
