//! A finished file among the renders of a user.

use serde::Serialize;
use utoipa::ToSchema;

use super::render_files::{self, RenderContent, RenderFile, audio_url};
use crate::error::ApiResult;
use crate::rendering::audio_format::BitDepth;
use crate::rendering::mix::{FileReport, MixOptions};
use crate::state::AppState;
use crate::storage::BlobWriter;

/// A finished file among the renders of a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct RenderedFile {
    /// Id of the render.
    render_id: String,
    /// Path to download the file.
    audio_url: String,
    /// File format.
    format: &'static str,
    /// Sample format of the file; null for lossy formats.
    bit_depth: Option<BitDepth>,
    /// Length in seconds.
    duration_secs: f64,
    /// Sample rate in hertz.
    sample_rate_hz: u32,
    /// Gated loudness of the file in LUFS (EBU R 128); null for silence.
    lufs: Option<f64>,
    /// True peak of the file in dBTP; null for silence.
    true_peak_db: Option<f64>,
}

/// A file that is being rendered. Dropping it deletes the file.
pub(super) struct NewRender<'a> {
    state: &'a AppState,
    owner_id: &'a str,
    render_id: String,
    file: RenderFile,
    pub(super) writer: BlobWriter,
}

impl<'a> NewRender<'a> {
    /// Starts a file.
    ///
    /// # Errors
    /// The storage cannot be written.
    pub(super) fn create(state: &'a AppState, owner_id: &'a str, options: &MixOptions) -> ApiResult<Self> {
        let render_id = uuid::Uuid::new_v4().simple().to_string();
        let file = RenderFile::new(owner_id, &render_id, options.format)?;
        let writer = state.blobs.writer(&file.audio)?;
        Ok(Self { state, owner_id, render_id, file, writer })
    }

    /// Stores the file with its description, and deletes the oldest renders of the user beyond the
    /// quota. `name` names the download of a file without a title.
    ///
    /// # Errors
    /// The storage cannot be written.
    pub(super) fn finish(
        self,
        name: &str,
        options: &MixOptions,
        report: &FileReport,
    ) -> ApiResult<RenderedFile> {
        let Self { state, owner_id, render_id, file, mut writer } = self;
        let size_bytes = writer.size_bytes()?;
        writer.finish()?;
        let title = options.tags.as_ref().and_then(|tags| tags.title.as_deref()).unwrap_or(name);
        let measured = &report.measured;
        let content = RenderContent {
            pcm_sha256: measured.pcm_sha256.clone(),
            file_sha256: report.file_sha256.clone(),
            size_bytes: Some(size_bytes),
        };
        render_files::store_description(&state.blobs, &file, title, content)?;
        render_files::keep_newest(&state.blobs, owner_id, state.config.limits.renders_quota_bytes)?;
        Ok(RenderedFile {
            audio_url: audio_url(&render_id),
            render_id,
            format: options.format.extension(),
            bit_depth: options.stated_bit_depth(),
            duration_secs: measured.frames as f64 / f64::from(options.sample_rate_hz),
            sample_rate_hz: options.sample_rate_hz,
            lufs: measured.integrated_lufs,
            true_peak_db: measured.true_peak_dbtp,
        })
    }
}
