//! A finished file among the renders of a user.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::encoding::audio_format::{AudioFormat, BitDepth};

/// A finished file among the renders of a user.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(super) struct RenderedFile {
    /// Id of the render.
    pub(super) render_id: String,
    /// Path to download the file.
    pub(super) audio_url: String,
    /// File format.
    pub(super) format: AudioFormat,
    /// Sample format of the file; null for lossy formats.
    pub(super) bit_depth: Option<BitDepth>,
    /// Length in seconds.
    pub(super) duration_secs: f64,
    /// Sample rate in hertz.
    pub(super) sample_rate_hz: u32,
    /// Gated loudness of the file in LUFS (EBU R 128); null for silence.
    pub(super) lufs: Option<f64>,
    /// True peak of the file in dBTP; null for silence.
    pub(super) true_peak_db: Option<f64>,
}
