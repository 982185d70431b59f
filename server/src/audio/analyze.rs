//! `POST /audio/{id}/analyze`.

use std::io::BufReader;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use super::files::find;
use super::ingest::Observer;
use super::measure::{AudioAnalysis, measure};
use super::queries::AnalyzeQuery;
use super::store::{self, Content};
use super::{ContentKeys, file};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::{Json, Path, Query};
use crate::state::AppState;
use crate::tasks::StartedTask;

/// Changes when the same samples would measure otherwise; what was kept before is then measured anew.
const ANALYSIS_VERSION: u32 = 1;

/// What is kept of an analysis.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    analysis: AudioAnalysis,
}

/// Measures an audio file: length, loudness, peaks, spectrum, tempo and key. Kept, so that asking again is quick.
#[utoipa::path(post, path = "/audio/{id}/analyze", tag = "audio",
    params(("id", description = "Id of the file"), AnalyzeQuery),
    responses((status = 200, body = AudioAnalysis), (status = 202, body = StartedTask), CommonErrors))]
pub(super) async fn analyze(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<AnalyzeQuery>,
) -> ApiResult<Response> {
    let found = find(&state, &user.id, &id).await?;
    let samples = file::open(&state, ContentKeys::new(&found.content.sha256)?.samples, &id).await?;
    let (work_state, runtime) = (state.clone(), Handle::current());
    let work =
        move |observer: Observer<'_>| analysis(&work_state, &runtime, &found.content, samples, observer);
    if query.asynchronous {
        let task_id = state
            .tasks
            .start(&user.id, "audio-analysis", move |task| {
                let answer = work(&mut |share| {
                    task.progress(share, "Measuring");
                    !task.is_cancelled()
                })?;
                serde_json::to_value(answer).map_err(ApiError::internal)
            })
            .await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let _place = state.audio.places.clone().acquire_owned().await.map_err(ApiError::internal)?;
    let answer = tokio::task::spawn_blocking(move || work(&mut |_| true)).await??;
    Ok(Json(answer).into_response())
}

/// The kept analysis, or a new one, which is kept.
fn analysis(
    state: &AppState,
    runtime: &Handle,
    content: &Content,
    samples: std::fs::File,
    observer: Observer<'_>,
) -> ApiResult<AudioAnalysis> {
    let kept = runtime.block_on(store::analysis(&state.db, &content.sha256))?;
    let kept = kept.and_then(|text| serde_json::from_str::<Kept>(&text).ok());
    if let Some(kept) = kept.filter(|kept| kept.version == ANALYSIS_VERSION) {
        return Ok(kept.analysis);
    }
    let analysis = measure(BufReader::new(samples), &content.report, observer)?;
    let kept = Kept { version: ANALYSIS_VERSION, analysis };
    let text = serde_json::to_string(&kept).map_err(ApiError::internal)?;
    runtime.block_on(store::set_analysis(&state.db, &content.sha256, &text))?;
    Ok(kept.analysis)
}
