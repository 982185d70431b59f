//! The options of an export that concern the samples of its file, and the checked settings of the
//! file.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

use super::file_options::CheckedFile;
use crate::encoding::audio_format::{AudioFormat, BitDepth};
use crate::encoding::quality::Quality;
use crate::encoding::tags::Tags;
use crate::error::{ApiError, ApiResult};
use crate::rendering::mix::MixOptions;
use crate::rendering::normalization::{
    LUFS_DEFAULT, LUFS_MIN, TRUE_PEAK_DEFAULT_DB, TRUE_PEAK_MIN_DB, Target,
};
use crate::rendering::selection::Selection;

/// Sample format, dither, loudness and sample rate of a file.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(super) struct SoundOptions {
    /// Sample format of the file. The default of `/plugins/render` is `pcm16`, that of the other
    /// exports is `float32`.
    #[schema(value_type = Option<BitDepth>)]
    pub(super) bit_depth: Option<String>,
    /// Whether the quantization noise of integer samples is moved to frequencies at which the ear
    /// is least sensitive. This has an effect at 44100 and 48000 Hz; false by default.
    pub(super) noise_shaping: Option<bool>,
    /// Target of a loudness normalization; without it, the mix is not normalized. Stems and frozen
    /// tracks cannot be normalized.
    pub(super) normalize: Option<Normalize>,
    /// Whether to check how the mix sounds in mono: `/plugins/render` reports it in the receipt,
    /// and warns of octaves that a mono loudspeaker loses. Stems and frozen tracks cannot be
    /// checked.
    pub(super) channel_check: Option<bool>,
    /// 44100, 48000 or 96000 Hz; by default the rate of the project or of the exported file, or the
    /// next rate that the format supports.
    #[schema(schema_with = rate_choices)]
    pub(super) sample_rate_hz: Option<u32>,
}

/// Target of a loudness normalization.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Normalize {
    /// Gated loudness in LUFS; -14 by default.
    #[schema(minimum = -60, maximum = 0)]
    lufs: Option<f64>,
    /// Highest true peak in dBTP; -1 by default.
    #[schema(minimum = -20, maximum = 0)]
    true_peak_db: Option<f64>,
}

impl Normalize {
    /// Returns the target, with defaults for missing values.
    ///
    /// # Errors
    /// 400 `bad_normalization` if a value is out of range.
    pub(super) fn target(self) -> ApiResult<Target> {
        let checked = |name: &str, value: f64, min: f64| match (min..=0.0).contains(&value) {
            true => Ok(value),
            false => Err(ApiError::bad_request(
                "bad_normalization",
                format!("`normalize.{name}` is {value:?}; expected {min} to 0."),
            )),
        };
        Ok(Target {
            lufs: checked("lufs", self.lufs.unwrap_or(LUFS_DEFAULT), LUFS_MIN)?,
            true_peak_db: checked(
                "true_peak_db",
                self.true_peak_db.unwrap_or(TRUE_PEAK_DEFAULT_DB),
                TRUE_PEAK_MIN_DB,
            )?,
        })
    }
}

/// Defaults of an export.
#[derive(Debug, Clone, Copy)]
pub(super) struct SoundDefaults {
    /// Sample format, if the format of the file supports it.
    pub(super) bit_depth: BitDepth,
    /// Error code for an unknown bit depth.
    pub(super) unknown_bit_depth: &'static str,
}

/// Checked settings of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FileSettings {
    format: AudioFormat,
    bit_depth: BitDepth,
    #[serde(default)]
    quality: Quality,
    #[serde(default)]
    pub(super) tags: Option<Tags>,
    #[serde(default)]
    noise_shaping: bool,
    #[serde(default)]
    pub(super) normalization: Option<Target>,
    #[serde(default)]
    channel_check: bool,
    sample_rate_hz: Option<u32>,
}

impl FileSettings {
    /// Checks the options of a file.
    ///
    /// # Errors
    /// 400 or 422, with a detail that names the invalid option.
    pub(super) fn check(file: CheckedFile, sound: SoundOptions, defaults: SoundDefaults) -> ApiResult<Self> {
        let CheckedFile { format, quality, tags } = file;
        let SoundOptions { bit_depth, noise_shaping, normalize, channel_check, sample_rate_hz } = sound;
        let bit_depth = match bit_depth {
            None => format.depth_for(defaults.bit_depth),
            Some(name) => format
                .check_depth(&name)
                .map_err(|detail| ApiError::bad_request(defaults.unknown_bit_depth, detail))?,
        };
        Ok(Self {
            format,
            bit_depth,
            quality,
            tags,
            noise_shaping: noise_shaping.unwrap_or(false),
            normalization: normalize.map(Normalize::target).transpose()?,
            channel_check: channel_check.unwrap_or(false),
            sample_rate_hz: sample_rate_hz.map(|rate_hz| checked_rate(format, rate_hz)).transpose()?,
        })
    }

    /// Gives a file with tags but without a title the name of its project, if that is not blank.
    pub(super) fn name_after(&mut self, project_name: &str) {
        if let Some(tags) = &mut self.tags
            && tags.title.is_none()
        {
            let visible: String =
                project_name.chars().filter(|visible_name| !visible_name.is_control()).collect();
            tags.title = Some(visible.trim().to_owned()).filter(|title| !title.is_empty());
        }
    }

    /// Returns the options of a render from a source with this sample rate in hertz.
    pub(super) fn options(self, source_rate_hz: u32, selection: Selection, tail_secs: f64) -> MixOptions {
        let Self { format, bit_depth, quality, tags, noise_shaping, normalization, channel_check, .. } = self;
        MixOptions {
            sample_rate_hz: self.sample_rate_hz.unwrap_or_else(|| format.rate_for(source_rate_hz)),
            format,
            bit_depth,
            quality,
            tags,
            noise_shaping,
            normalization,
            selection,
            channel_check,
            tail_secs,
        }
    }
}

/// Returns the sample rate if the format supports it.
///
/// # Errors
/// 400 if no format supports the rate, 422 if another format does.
pub(super) fn checked_rate(format: AudioFormat, sample_rate_hz: u32) -> ApiResult<u32> {
    format.check_rate(sample_rate_hz).map_err(|detail| {
        const CODE: &str = "unsupported_sample_rate";
        match AudioFormat::default().check_rate(sample_rate_hz) {
            Ok(_) => ApiError::Unprocessable { code: CODE, detail },
            Err(_) => ApiError::bad_request(CODE, detail),
        }
    })
}

/// Returns the schema of the rates of [`AudioFormat`], or null.
pub(super) fn rate_choices() -> Object {
    let rates = AudioFormat::default().sample_rates_hz().iter().map(|rate_hz| Value::from(*rate_hz));
    let types = SchemaType::from_iter([Type::Integer, Type::Null]);
    ObjectBuilder::new().schema_type(types).enum_values(Some(rates.chain([Value::Null]))).build()
}
