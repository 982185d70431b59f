//! A file that is being rendered, and becomes one of the renders of a user.

use serde::Serialize;
use serde_json::value::to_raw_value;

use super::render_files::{self, RenderDescription, RenderKeys, RenderRecord, audio_url};
use super::rendered_file::RenderedFile;
use crate::clock;
use crate::error::{ApiError, ApiResult};
use crate::rendering::mix::{FileReport, MixOptions};
use crate::state::AppState;
use crate::storage::BlobWriter;

/// A file that is being rendered. Dropping it deletes the file.
pub(super) struct NewRender<'a> {
    state: &'a AppState,
    render_id: String,
    file: RenderKeys,
    pub(super) writer: BlobWriter,
}

impl<'a> NewRender<'a> {
    /// Starts a file.
    ///
    /// # Errors
    /// The storage cannot be written.
    pub(super) fn create(state: &'a AppState, owner_id: &'a str, options: &MixOptions) -> ApiResult<Self> {
        let render_id = uuid::Uuid::new_v4().simple().to_string();
        let file = RenderKeys::new(owner_id, &render_id, options.format)?;
        let writer = state.blobs.writer(&file.audio)?;
        Ok(Self { state, render_id, file, writer })
    }

    /// Stores the file with its description and the answer to the request. `name` names the
    /// download of a file without a title; `project_id` is the id of the rendered project. `answer`
    /// adds the file to the answer.
    ///
    /// # Errors
    /// The storage cannot be written.
    pub(super) fn finish<A: Serialize>(
        self,
        name: &str,
        project_id: Option<&str>,
        options: &MixOptions,
        report: &FileReport,
        answer: impl FnOnce(RenderedFile) -> A,
    ) -> ApiResult<A> {
        let Self { state, render_id, file, mut writer } = self;
        let size_bytes = writer.size_bytes()?;
        writer.finish()?;
        let title = options.tags.as_ref().and_then(|tags| tags.title.as_deref()).unwrap_or(name);
        let measurements = &report.measured;
        let rendered = RenderedFile {
            audio_url: audio_url(&render_id),
            render_id,
            format: options.format,
            bit_depth: options.stated_bit_depth(),
            duration_secs: measurements.frames as f64 / f64::from(options.sample_rate_hz),
            sample_rate_hz: options.sample_rate_hz,
            lufs: measurements.integrated_lufs,
            true_peak_db: measurements.true_peak_dbtp,
        };
        let record = RenderRecord {
            file: rendered.clone(),
            project_id: project_id.map(ToOwned::to_owned),
            created_at: clock::now_text(),
        };
        let answer = answer(rendered);
        let description = RenderDescription {
            title: title.to_owned(),
            pcm_sha256: measurements.pcm_sha256.clone(),
            file_sha256: report.file_sha256.clone(),
            size_bytes: Some(size_bytes),
            format: options.format,
            record: Some(record),
            answer: Some(to_raw_value(&answer).map_err(ApiError::internal)?),
        };
        render_files::store_description(&state.blobs, &file, &description)?;
        Ok(answer)
    }
}
