//! The report of a finished render.

use dsp_core::limiter::Reduction;
use serde::Serialize;
use utoipa::ToSchema;

use super::channel_check::ChannelReport;
use super::damaged_samples::DamagedSamples;
use super::missing::MissingSound;
use super::normalization::NormalizationReport;
use crate::encoding::measure::Measurements;

/// Report of a complete file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileReport {
    /// Measurements of the file.
    pub measured: Measurements,
    /// Number of samples beyond full scale. In files of integers they were clipped to it.
    pub clipped_samples: u64,
    /// SHA-256 of the whole file in hexadecimal; `None` for WAV files.
    pub file_sha256: Option<String>,
    /// Report of the normalization; `None` if the samples were not normalized.
    pub normalization: Option<NormalizationReport>,
    /// Report about the file in mono; `None` if this was not checked.
    pub channels: Option<ChannelReport>,
}

/// Result of a finished render.
#[derive(Debug, Clone, PartialEq)]
pub struct MixReport {
    /// The file.
    pub file: FileReport,
    /// Ids of tracks that should be audible but are silent.
    pub silent_tracks: Vec<String>,
    /// Parts of the project that the engine cannot play.
    pub left_out: Vec<LeftOutOfRender>,
    /// SoundFonts and presets of the project that are missing.
    pub missing_sounds: Vec<MissingSound>,
    /// Samples of SoundFonts that are silent because they cannot be decoded.
    pub damaged_samples: Vec<DamagedSamples>,
    /// Warnings about the sounds of plugins, as sentences.
    pub plugin_warnings: Vec<String>,
    /// Whether the file is silent apart from its dither.
    pub is_silent: bool,
    /// End of the last item in seconds, or length of the range. The tail of a song comes after it.
    pub song_secs: f64,
    /// Gain reduction of the mix limiter.
    pub limiter: LimiterReport,
}

/// Gain reduction of the mix limiter, measured at the project's sample rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct LimiterReport {
    /// Largest reduction in decibels; 0 if the mix stayed below the ceiling of -3 dBFS.
    pub largest_reduction_db: f64,
    /// Total time in the song during which the reduction exceeded 0.1 dB, in seconds.
    pub reduced_secs: f64,
}

impl LimiterReport {
    pub(super) fn new(reduction: Reduction, sample_rate_hz: u32) -> Self {
        let least_gain = f64::from(reduction.least_gain);
        Self {
            largest_reduction_db: if least_gain < 1.0 { -20.0 * least_gain.log10() } else { 0.0 },
            reduced_secs: reduction.limited_frames as f64 / f64::from(sample_rate_hz),
        }
    }

    /// Returns a warning if the limiter reduced the mix so far that softer tracks can be inaudible.
    fn warning(&self) -> Option<String> {
        let Self { largest_reduction_db, reduced_secs } = self;
        (*largest_reduction_db >= LARGE_REDUCTION_DB).then(|| {
            format!(
                "The mix exceeds full scale by far: the limiter lowered it for {reduced_secs:.1} s, by up to \
                 {largest_reduction_db:.0} dB, so softer tracks can be inaudible there."
            )
        })
    }
}

/// Gain reduction of the mix limiter in decibels from which a warning is given.
const LARGE_REDUCTION_DB: f64 = 24.0;

/// Peak below which a track or a mix counts as silent: -100 dBFS.
pub(super) const SILENT_PEAK: f32 = 1e-5;

/// Text of the warning about a silent render.
const SILENCE_WARNING: &str = "The whole render is silent: it never exceeds -100 dBFS.";

impl MixReport {
    /// Returns the warnings about the file, as sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let Self { missing_sounds, damaged_samples, plugin_warnings, is_silent, .. } = self;
        let mut warnings = warnings(missing_sounds, damaged_samples, plugin_warnings, *is_silent);
        warnings.extend(self.limiter.warning());
        warnings.extend(self.file.warnings(self.is_silent));
        warnings
    }
}

impl FileReport {
    /// Returns the warnings about the file, as sentences. The loudness of a silent file gets none.
    #[must_use]
    pub fn warnings(&self, is_silent: bool) -> Vec<String> {
        let mut warnings = self.channels.as_ref().map(ChannelReport::warnings).unwrap_or_default();
        let Some(normalization) = &self.normalization else { return warnings };
        if !is_silent {
            warnings.extend(normalization.loudness_warning(self.measured.integrated_lufs));
        }
        if let Some(peak_db) = self.measured.true_peak_dbtp
            && peak_db > normalization.true_peak_max_db
        {
            let NormalizationReport { true_peak_max_db, attempts, .. } = normalization;
            warnings.push(format!(
                "The true peak is {peak_db:.2} dBTP instead of at most {true_peak_max_db:.2} dBTP, after {attempts} attempts."
            ));
        }
        warnings
    }
}

/// Returns warnings about a render, as sentences: about missing sounds, damaged samples and
/// plugins, and if the file is silent.
pub(super) fn warnings(
    missing_sounds: &[MissingSound],
    damaged_samples: &[DamagedSamples],
    plugin_warnings: &[String],
    is_silent: bool,
) -> Vec<String> {
    let sounds = missing_sounds.iter().map(MissingSound::in_words);
    let samples = damaged_samples.iter().map(DamagedSamples::in_words);
    let plugins = plugin_warnings.iter().cloned();
    sounds.chain(samples).chain(plugins).chain(is_silent.then(|| SILENCE_WARNING.to_owned())).collect()
}

/// A part of a project that is not in the render.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct LeftOutOfRender {
    /// JSON pointer to the part in the project document.
    pub pointer: String,
    /// Reason why the part is left out.
    pub reason: String,
}
