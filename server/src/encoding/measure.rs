//! Hashes and measures audio while it is written.

use dsp_core::block::BLOCK_FRAMES;
use dsp_core::loudness::{ChannelLayout, LoudnessError, LoudnessMeter};
use dsp_core::wav::SampleFormat;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::loudness_curve::{CurveCollector, LoudnessCurve};

/// Hashes and measures the samples of a file.
pub(crate) struct FileMeter {
    format: SampleFormat,
    meter: LoudnessMeter,
    curve: CurveCollector,
    hash: Sha256,
    peak: f32,
    frames: u64,
    left: Vec<f32>,
    right: Vec<f32>,
}

/// Measurements of an audio file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    /// Number of frames in the file.
    pub frames: u64,
    /// Highest absolute value of any sample; 1 is full scale.
    pub peak: f32,
    /// Integrated (gated) loudness in LUFS; `None` for silence.
    pub integrated_lufs: Option<f64>,
    /// Highest true peak in dBTP; `None` for silence.
    pub true_peak_dbtp: Option<f64>,
    /// Loudness range in LU (EBU Tech 3342).
    pub range_lu: f64,
    /// Highest loudness of any 400 ms in LUFS; `None` for silence.
    pub max_momentary_lufs: Option<f64>,
    /// Highest loudness of any 3 seconds in LUFS; `None` for silence.
    pub max_short_term_lufs: Option<f64>,
    /// Loudness and peaks over time.
    pub curve: LoudnessCurve,
    /// SHA-256 in hexadecimal of the audio data of a WAV file, or of the decoded samples of a file
    /// in another format.
    pub pcm_sha256: String,
}

impl FileMeter {
    /// Starts measuring samples of this format.
    ///
    /// # Errors
    /// The loudness meter does not support the sample rate.
    pub(crate) fn new(sample_rate_hz: u32, format: SampleFormat) -> Result<Self, LoudnessError> {
        Ok(Self {
            format,
            meter: LoudnessMeter::new(sample_rate_hz, ChannelLayout::Stereo)?,
            curve: CurveCollector::new(sample_rate_hz),
            hash: Sha256::new(),
            peak: 0.0,
            frames: 0,
            left: Vec::with_capacity(BLOCK_FRAMES),
            right: Vec::with_capacity(BLOCK_FRAMES),
        })
    }

    /// Adds the audio data of whole frames.
    pub(crate) fn add(&mut self, audio: &[u8]) {
        self.hash.update(audio);
        self.left.clear();
        self.right.clear();
        self.format.decode_stereo(audio, &mut self.left, &mut self.right);
        self.frames += self.left.len() as u64;
        let (mut left, mut right) = (&*self.left, &*self.right);
        while !left.is_empty() {
            let frames = left.len().min(self.curve.missing_frames() as usize);
            let (left_part, right_part);
            (left_part, left) = left.split_at(frames);
            (right_part, right) = right.split_at(frames);
            self.meter.add(&[left_part, right_part]);
            let peak = left_part.iter().chain(right_part).fold(0.0_f32, |peak, value| peak.max(value.abs()));
            let lufs = self.meter.short_term_lufs();
            self.curve.add(frames as u64, lufs, || self.meter.end_peak_interval());
            self.peak = self.peak.max(peak);
        }
    }

    /// Returns the measurements.
    pub(crate) fn finish(self) -> Measurements {
        let loudness = self.meter.loudness();
        let finite = |value: f64| value.is_finite().then_some(value);
        Measurements {
            frames: self.frames,
            peak: self.peak,
            integrated_lufs: finite(loudness.integrated_lufs),
            true_peak_dbtp: finite(loudness.true_peak_dbtp),
            range_lu: loudness.range_lu,
            max_momentary_lufs: finite(loudness.max_momentary_lufs),
            max_short_term_lufs: finite(loudness.max_short_term_lufs),
            curve: self.curve.finish(self.meter.last_interval_true_peak()),
            pcm_sha256: format!("{:x}", self.hash.finalize()),
        }
    }
}
