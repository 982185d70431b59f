//! Measures the samples of a decoded file: loudness, peaks, spectrum, tempo and key.

use std::io::{Read, Seek};

use dsp_core::analysis::{Analyzer, Key, Mode};
use dsp_core::loudness::{ChannelLayout, LoudnessMeter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::decode::Report;
use super::float_wav::FloatWavReader;
use super::import::Observer;
use crate::error::{ApiError, ApiResult};

/// Number of frames per read.
const READ_FRAMES: u64 = 16_384;

/// Names of the pitch classes from C upwards.
const TONICS: [&str; 12] = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"];

/// Measurements of an audio file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct AudioAnalysis {
    /// Length in seconds.
    pub(crate) duration_secs: f64,
    /// Sample rate in hertz.
    pub(crate) sample_rate_hz: u32,
    /// Gated loudness of the whole file in LUFS (ITU-R BS.1770, EBU R 128); null for silence and
    /// for files shorter than 400 ms. A mono file is measured as if both loudspeakers played it,
    /// which is 3 LU more than on meters that measure it as one channel.
    pub(crate) lufs: Option<f64>,
    /// Loudness range in LU (EBU Tech 3342).
    pub(crate) loudness_range_lu: f64,
    /// Highest momentary loudness (of any 400 ms) in LUFS; of the whole file if it is shorter. Null
    /// for silence and for files shorter than 10 ms. Mono files are measured as for `lufs`.
    pub(crate) max_momentary_lufs: Option<f64>,
    /// Highest short-term loudness (of any 3 s) in LUFS; of the whole file if it is shorter. Null
    /// for silence and for files shorter than 10 ms. Mono files are measured as for `lufs`.
    pub(crate) max_short_term_lufs: Option<f64>,
    /// Highest true peak of any channel in dBTP; null for silence.
    pub(crate) true_peak_db: Option<f64>,
    /// Highest magnitude of any sample in dBFS; null for silence.
    pub(crate) sample_peak_db: Option<f64>,
    /// Mean frequency of the spectrum weighted by amplitude, in hertz; null for silence.
    pub(crate) spectral_centroid_hz: Option<f64>,
    /// Estimated tempo; null if no beat was found.
    pub(crate) tempo: Option<TempoEstimate>,
    /// Estimated key; null if no tones were found.
    pub(crate) key: Option<KeyEstimate>,
    /// Levels in third-octave bands (IEC 61260-1) from 25 Hz to 20 kHz, up to half the sample rate.
    pub(crate) third_octaves: Vec<BandLevel>,
}

/// A tempo, estimated from the autocorrelation of the spectral flux. If weak and strong onsets
/// alternate, a tempo below 80 or above 165 beats per minute may be doubled or halved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct TempoEstimate {
    /// Beats per minute.
    pub(crate) bpm: f64,
    /// Regularity of the beat, 0.1 to 1.
    pub(crate) regularity: f64,
}

/// A key, estimated by correlation with the profiles of Krumhansl and Kessler. A relative or
/// neighbouring key correlates nearly as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct KeyEstimate {
    /// Tonic, such as `C` or `F#`.
    pub(crate) tonic: String,
    /// `major` or `minor`.
    pub(crate) mode: String,
    /// Correlation with the profile of the key, 0.5 to 1.
    pub(crate) correlation: f64,
}

/// Level of a frequency band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct BandLevel {
    /// Exact centre frequency of the band in hertz.
    pub(crate) center_hz: f64,
    /// Level in dBFS, where a sine of full scale has 0 dBFS; null for silence.
    pub(crate) level_db: Option<f64>,
}

impl From<Key> for KeyEstimate {
    fn from(key: Key) -> Self {
        let tonic = TONICS[usize::from(key.tonic) % TONICS.len()].to_owned();
        let mode = match key.mode {
            Mode::Major => "major",
            Mode::Minor => "minor",
        };
        Self { tonic, mode: mode.to_owned(), correlation: key.correlation }
    }
}

/// Measures a decoded copy. Blocks. `observer` receives the progress, 0 to 1, and returns whether
/// to continue.
pub(super) fn measure(
    samples: impl Read + Seek,
    report: &Report,
    observer: Observer<'_>,
) -> ApiResult<AudioAnalysis> {
    let rate_hz = report.sample_rate_hz;
    let channels = report.channels as usize;
    let mut reader = FloatWavReader::new(samples, report.channels, 0, report.frames)?;
    let mut meter = LoudnessMeter::new(rate_hz, ChannelLayout::Stereo)
        .map_err(|error| ApiError::Unprocessable { code: "not_measurable", detail: error.to_string() })?;
    let mut analyzer = Analyzer::new(rate_hz, channels);
    let (mut part, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
    let mut frames = 0;
    loop {
        reader.read(READ_FRAMES, &mut part)?;
        if part.is_empty() {
            break;
        }
        left.clear();
        left.extend(part.iter().step_by(channels));
        right.clear();
        right.extend(part.iter().skip(channels - 1).step_by(channels));
        meter.add(&[&left, &right]);
        analyzer.add(&part);
        frames += left.len() as u64;
        if !observer(frames as f64 / report.frames.max(1) as f64) {
            return Err(ApiError::Conflict {
                code: "cancelled",
                detail: "The analysis was cancelled.".to_owned(),
            });
        }
    }
    let (loudness, analysis) = (meter.loudness(), analyzer.finish());
    let finite = |value: f64| value.is_finite().then_some(value);
    let bands = analysis.third_octaves.iter();
    Ok(AudioAnalysis {
        duration_secs: report.frames as f64 / f64::from(rate_hz.max(1)),
        sample_rate_hz: rate_hz,
        lufs: finite(loudness.integrated_lufs),
        loudness_range_lu: loudness.range_lu,
        max_momentary_lufs: finite(loudness.max_momentary_lufs),
        max_short_term_lufs: finite(loudness.max_short_term_lufs),
        true_peak_db: finite(loudness.true_peak_dbtp),
        sample_peak_db: finite(loudness.sample_peak_dbfs),
        spectral_centroid_hz: analysis.spectral_centroid_hz,
        tempo: analysis.tempo.map(|tempo| TempoEstimate { bpm: tempo.bpm, regularity: tempo.regularity }),
        key: analysis.key.map(KeyEstimate::from),
        third_octaves: bands
            .map(|band| BandLevel { center_hz: band.center_hz, level_db: finite(band.level_db) })
            .collect(),
    })
}
