//! Audio files in the form that the engine plays.

use std::ops::Range;

use dsp_core::session::Audio;
use dsp_core::wav::FLOAT_HEADER_BYTES;

use super::{renditions, store};
use crate::error::{ApiError, ApiResult};
use crate::rendering::memory;
use crate::rendering::sources::Recording;
use crate::state::AppState;

/// Returns the samples of a user's file at a sample rate, identical to those that the page gets.
/// Returns `None` if the user has no such file.
pub(crate) async fn recording(
    state: &AppState,
    owner_id: &str,
    id: &str,
    rate_hz: u32,
) -> ApiResult<Option<Recording>> {
    let Some(stored_file) = store::find_by_id(&state.db, owner_id, id).await? else { return Ok(None) };
    let file = renditions::open(state, owner_id, &stored_file, rate_hz).await?;
    let report = &stored_file.content.report;
    let channels = report.channels;
    let bytes = tokio::task::spawn_blocking(move || memory::map_file(&file)).await??;
    let sample_range: Range<usize> = FLOAT_HEADER_BYTES as usize..(*bytes).as_ref().len();
    let audio = Audio::from_shared(bytes, sample_range, channels as u16).map_err(ApiError::internal)?;
    Ok(Some(Recording { audio, file_rate_hz: report.sample_rate_hz }))
}
