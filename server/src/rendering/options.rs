//! Options of a render.

use std::ops::Range;

use dsp_core::dither::{NoiseShaping, full_scale_steps};
use dsp_core::session::Session;
use dsp_core::wav::SampleFormat;

use super::CHANNELS;
use super::normalization::Target;
use super::selection::Selection;
use crate::encoding::audio_format::{AudioFormat, BitDepth};
use crate::encoding::quality::Quality;
use crate::encoding::tags::Tags;

/// Bytes per second of a lossy file at the highest quality, with a margin.
const LOSSY_MAX_BYTES_PER_SEC: u64 = 80_000;

/// Size in bytes that the headers and tags of a file can have.
const HEADER_MAX_BYTES: u64 = 1 << 21;

/// Options of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct MixOptions {
    /// Sample rate of the file in hertz.
    pub sample_rate_hz: u32,
    /// Format of the file.
    pub format: AudioFormat,
    /// Sample format of the file. For lossy formats, that of the samples that are encoded:
    /// [`BitDepth::Float32`].
    pub bit_depth: BitDepth,
    /// Quality of a lossy file.
    pub quality: Quality,
    /// Tags of the file. `None` leaves out the description of a WAV file.
    pub tags: Option<Tags>,
    /// Whether the quantization noise is shaped, if the sample format and the sample rate allow it.
    pub noise_shaping: bool,
    /// Loudness and true peak to which a mix is normalized. Parts of a mix are not normalized.
    pub normalization: Option<Target>,
    /// The part of the song.
    pub selection: Selection,
    /// Whether to check how the mix sounds in mono.
    pub channel_check: bool,
    /// Maximum length of the tail after the last item, in seconds.
    pub tail_secs: f64,
}

impl MixOptions {
    /// Returns the maximum number of frames of a file: those of the range, or of the whole session
    /// with the maximum tail.
    pub(super) fn max_frames(&self, session: &Session, range: Option<&Range<u64>>) -> u64 {
        let secs = |frames: u64| frames as f64 / f64::from(session.sample_rate_hz);
        let file_secs = match range {
            None => secs(session.length_frames) + self.tail_secs,
            Some(range) => secs(range.end.saturating_sub(range.start)),
        };
        (file_secs * f64::from(self.sample_rate_hz)).ceil() as u64
    }

    /// Returns the largest size of a file with this number of frames, in bytes.
    pub(super) fn max_file_bytes(&self, frames: u64) -> u64 {
        let sound_bytes = match self.format.is_lossless() {
            true => frames.saturating_mul(CHANNELS * self.sample_format().bytes_per_sample() as u64),
            false => (frames / u64::from(self.sample_rate_hz.max(1))).saturating_mul(LOSSY_MAX_BYTES_PER_SEC),
        };
        sound_bytes.saturating_add(HEADER_MAX_BYTES)
    }

    /// Whether another process encodes the file, which is true for all formats except WAV.
    pub(super) fn needs_encoder(&self) -> bool {
        self.format != AudioFormat::Wav
    }

    /// Returns the bit depth of the file; `None` for lossy formats, which have none.
    #[must_use]
    pub fn stated_bit_depth(&self) -> Option<BitDepth> {
        (!self.format.bit_depths().is_empty()).then_some(self.bit_depth)
    }

    /// Returns the sample format of the file as the engine's type.
    pub(super) fn sample_format(&self) -> SampleFormat {
        self.bit_depth.into()
    }

    /// Returns the maximum amount by which dither and rounding can change a sample, with a margin
    /// for peaks between the samples. Full scale is 1.
    pub(super) fn quantization_peak(&self) -> f64 {
        let Some(bits) = self.sample_format().integer_bits() else { return 0.0 };
        // The noise of the filter has a standard deviation of 4.2 steps.
        let steps = if self.shaping() == NoiseShaping::Off { 3.0 } else { 20.0 };
        steps / f64::from(full_scale_steps(bits))
    }

    /// Returns the noise shaping of the file: off for floats, and at sample rates without a filter.
    pub(super) fn shaping(&self) -> NoiseShaping {
        let is_integer = self.sample_format().integer_bits().is_some();
        match self.noise_shaping && is_integer {
            true => NoiseShaping::Wannamaker.at_rate(self.sample_rate_hz),
            false => NoiseShaping::Off,
        }
    }
}
