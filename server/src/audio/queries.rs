//! Query parameters of this slice.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::any_case;
use crate::searches;

/// Whether the answer to an upload waits for decoding.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct UploadQuery {
    /// If `true`, the answer is 202 with a task as soon as the bytes have been received. The task
    /// decodes the files, and its result is the answer described here.
    #[serde(default, rename = "async")]
    pub(super) asynchronous: bool,
}

/// Selects the files of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Part of the name; upper and lower case count as equal.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) search: Option<String>,
    /// A tag that the files have; upper and lower case count as equal.
    #[serde(default, deserialize_with = "searches::text")]
    #[param(max_length = 100)]
    pub(super) tag: Option<String>,
}

/// Format in which a file is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileFormat {
    /// The file as it was uploaded.
    #[default]
    Original,
    /// The samples of the file as a 32-bit float WAV file, mono or stereo.
    Wav32f,
}

/// Format and rate in which a file is sent.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FileQuery {
    /// `original`, the default, or `wav32f`: the samples that the browser and the service play, as
    /// a 32-bit float WAV file.
    #[serde(default, deserialize_with = "any_case::word")]
    #[param(inline)]
    pub(super) format: FileFormat,
    /// Only with `wav32f`: sample rate in hertz. It may be a rate that a project can have (44100,
    /// 48000 or 96000), or the rate of the file, which is the default.
    pub(super) sample_rate_hz: Option<u32>,
}

/// Format in which peaks are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PeaksFormat {
    /// Binary, the `.dat` format of audiowaveform.
    #[default]
    Dat,
    /// JSON with the same fields.
    Json,
}

/// The requested peaks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PeaksQuery {
    /// `dat`, the default, or `json`.
    #[serde(default, deserialize_with = "any_case::word")]
    #[param(inline)]
    pub(super) format: PeaksFormat,
    /// Width of the values in bits: 8 or 16 (the default).
    pub(super) bits: Option<u32>,
    /// Frames per pixel: a power of two from 1 to 65536. The default is 256. Without `start` and
    /// `pixels`, the default is the finest of 256 to 65536 at which the complete file fits into one
    /// answer.
    pub(super) samples_per_pixel: Option<u64>,
    /// First pixel, 0 by default.
    pub(super) start: Option<u64>,
    /// Number of pixels; by default all from `start` on. At most 1048576, or 65536 if a pixel has
    /// fewer than 256 frames.
    pub(super) pixels: Option<u64>,
}

/// Whether the answer waits for the analysis.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AnalyzeQuery {
    /// If `true`, the answer is 202 with a task. The task's result is the answer described here.
    #[serde(default, rename = "async")]
    pub(super) asynchronous: bool,
}
