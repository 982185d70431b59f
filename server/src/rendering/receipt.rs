//! The receipt of a render: measurements and hash of the file, settings, and parts of the project
//! that are missing from the file.

use dsp_core::dither::NoiseShaping;
use schemas::json::JsonText;
use schemas::project::{ChorusSettings, Interpolation, ReverbSettings, VelocityToCutoff};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::ENGINE_VERSION;
use super::channel_check::ChannelReport;
use super::missing::MissingSound;
use super::normalization::NormalizationReport;
use super::options::MixOptions;
use super::report::{LeftOutOfRender, LimiterReport, MixReport};
use super::selection::TickRange;
use crate::encoding::audio_format::{AudioFormat, BitDepth};
use crate::encoding::loudness_curve::LoudnessCurve;

/// Report of a render: measurements and hash of the file, settings, and parts that are missing from
/// it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Receipt {
    /// Highest absolute value of any sample; 1 is full scale.
    pub peak: f64,
    /// Number of samples beyond full scale. In files of integers they were clipped to it.
    pub clipped_samples: u64,
    /// Loudness range in LU (EBU Tech 3342).
    pub loudness_range_lu: f64,
    /// Highest loudness of any 400 ms in LUFS; null for silence.
    pub max_momentary_lufs: Option<f64>,
    /// Highest loudness of any 3 seconds in LUFS; null for silence.
    pub max_short_term_lufs: Option<f64>,
    /// Loudness and peaks over time.
    pub curve: LoudnessCurve,
    /// Ids of tracks that should be audible but are silent.
    pub silent_tracks: Vec<String>,
    /// Parts of the project that the engine cannot play: plugins, effects of other versions, and
    /// missing audio.
    pub left_out: Vec<LeftOutOfRender>,
    /// SoundFonts and presets of the project that are missing, and their replacements.
    pub missing_sounds: Vec<MissingSound>,
    /// Version of the engine.
    pub engine_version: &'static str,
    /// SHA-256 of the project document, in hexadecimal.
    pub project_sha256: String,
    /// SHA-256 in hexadecimal of the audio data of a WAV file, without its header, or of the
    /// decoded samples of a file in another format.
    pub pcm_sha256: String,
    /// Number of frames in the file.
    pub frames: u64,
    /// End of the last item in seconds, or length of the range. The tail of a song comes after it.
    pub song_secs: f64,
    /// Gain reduction of the mix limiter.
    pub limiter: LimiterReport,
    /// How the mix was normalized to a target loudness; null if it was not.
    pub normalization: Option<NormalizationReport>,
    /// How the mix sounds in mono; null if `channel_check` was not set.
    pub channels: Option<ChannelReport>,
    /// Settings of the render.
    pub settings: ReceiptSettings,
}

/// Settings with which a file was rendered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ReceiptSettings {
    /// Sample rate of the file in hertz.
    pub sample_rate_hz: u32,
    /// File format.
    pub format: AudioFormat,
    /// Sample format of the file; null for lossy formats.
    pub bit_depth: Option<BitDepth>,
    /// Bit rate in kilobits per second; null if the file has none.
    pub bit_rate_kbps: Option<u16>,
    /// Quality of a variable bit rate, 0 to 10; null if the file has none.
    pub quality: Option<u8>,
    /// Whether the quantization noise was shaped.
    pub noise_shaping: bool,
    /// The range of the song; null for the whole song.
    pub range: Option<TickRange>,
    /// Ids of the only tracks that play; null for all tracks.
    pub tracks: Option<Vec<String>>,
    /// Maximum length of the tail, in seconds.
    pub tail_secs: f64,
    /// Maximum number of voices of one track.
    pub polyphony: u16,
    /// How voices interpolate between the values of a sample: `linear`, `four_point` or `sinc`.
    #[schema(value_type = String)]
    pub interpolation: Interpolation,
    /// How velocity changes the filter cutoff: `as_stated` or `specification`.
    #[schema(value_type = String)]
    pub velocity_to_cutoff: VelocityToCutoff,
    /// Reverb that all instruments share, as in a project's settings.
    #[schema(value_type = Object)]
    pub reverb: ReverbSettings,
    /// Chorus that all instruments share, as in a project's settings.
    #[schema(value_type = Object)]
    pub chorus: ChorusSettings,
    /// Seed of every random sequence, including dither.
    pub seed: u64,
    /// The banks that were played, each as its `soundfont_id` or file name.
    pub soundfonts: Vec<String>,
}

/// Makes a receipt. `document` is the rendered project.
#[must_use]
pub fn receipt(
    document: &JsonText,
    project: &schemas::Project,
    options: &MixOptions,
    soundfonts: Vec<String>,
    report: &MixReport,
) -> Receipt {
    let settings = &project.settings;
    let (bit_rate_kbps, quality) = match options.format.is_lossless() {
        true => (None, None),
        false => options.quality.split(),
    };
    Receipt {
        peak: f64::from(report.file.measured.peak),
        clipped_samples: report.file.clipped_samples,
        loudness_range_lu: report.file.measured.range_lu,
        max_momentary_lufs: report.file.measured.max_momentary_lufs,
        max_short_term_lufs: report.file.measured.max_short_term_lufs,
        curve: report.file.measured.curve.clone(),
        silent_tracks: report.silent_tracks.clone(),
        left_out: report.left_out.clone(),
        missing_sounds: report.missing_sounds.clone(),
        engine_version: ENGINE_VERSION,
        project_sha256: format!("{:x}", Sha256::digest(document.as_str().as_bytes())),
        pcm_sha256: report.file.measured.pcm_sha256.clone(),
        frames: report.file.measured.frames,
        song_secs: report.song_secs,
        limiter: report.limiter,
        normalization: report.file.normalization,
        channels: report.file.channels.clone(),
        settings: ReceiptSettings {
            sample_rate_hz: options.sample_rate_hz,
            format: options.format,
            bit_depth: options.stated_bit_depth(),
            bit_rate_kbps,
            quality,
            noise_shaping: options.shaping() != NoiseShaping::Off,
            range: options.selection.range,
            tracks: options.selection.tracks.clone(),
            tail_secs: options.tail_secs,
            polyphony: settings.polyphony,
            interpolation: settings.interpolation,
            velocity_to_cutoff: settings.velocity_to_cutoff,
            reverb: settings.reverb.clone(),
            chorus: settings.chorus.clone(),
            seed: settings.seed,
            soundfonts,
        },
    }
}
