//! Handler of `POST /audio/{id}/analyze`.

use std::io::BufReader;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;

use super::import::Observer;
use super::measure::{AudioAnalysis, measure};
use super::queries::AnalyzeQuery;
use super::store;
use super::store::find;
use super::{ContentKeys, download};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path, Query};
use crate::permits::Caller;
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext, TaskKind};

/// Version of the measurements. Increase it when a measurement changes, so that stored analyses are
/// repeated.
const ANALYSIS_VERSION: u32 = 2;

/// A stored analysis.
#[derive(Serialize, Deserialize)]
struct StoredAnalysis {
    version: u32,
    analysis: AudioAnalysis,
}

/// Measures an audio file: length, loudness, peaks, spectrum, tempo and key. The result is stored
/// for later requests.
#[utoipa::path(post, path = "/audio/{id}/analyze", tag = "audio",
    params(("id", description = "Id of the file"), AnalyzeQuery),
    responses((status = 200, body = AudioAnalysis), (status = 202, body = StartedTask)))]
pub(super) async fn analyze(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Query(query): Query<AnalyzeQuery>,
) -> ApiResult<Response> {
    if query.asynchronous {
        find(&state, &user.id, &id).await?;
        let input = serde_json::to_value(AnalysisInput { file_id: id }).map_err(ApiError::internal)?;
        let task_id = state.tasks.start(&user.id, ANALYSIS_TASK.name, &input).await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    find(&state, &user.id, &id).await?;
    let (runtime, owner_id) = (Handle::current(), user.id.clone());
    let permits = state.audio.decoding.clone();
    let work = move |caller: &Caller| {
        read_or_measure_analysis(&state, &runtime, &owner_id, &id, &mut |_| !caller.has_disconnected())
    };
    let answer = permits.run_for(&user.id, 1, work).await?;
    Ok(Json(answer).into_response())
}

/// The kind of task that analyses an audio file.
pub(crate) const ANALYSIS_TASK: TaskKind =
    TaskKind { name: "audio-analysis", run: analysis_task, discard: None };

/// Input of the task.
#[derive(Serialize, Deserialize)]
struct AnalysisInput {
    file_id: String,
}

fn analysis_task(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let AnalysisInput { file_id } = serde_json::from_value(input).map_err(ApiError::internal)?;
    let answer =
        read_or_measure_analysis(state, task.runtime(), task.owner_id(), &file_id, &mut |fraction| {
            task.report_progress(fraction, "Measuring");
            !task.is_cancelled()
        })?;
    JsonText::write(&answer).map_err(ApiError::internal)
}

/// Returns the stored analysis of a file. If there is none, measures the file and stores the
/// result.
fn read_or_measure_analysis(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    file_id: &str,
    observer: Observer<'_>,
) -> ApiResult<AudioAnalysis> {
    let stored_file = runtime.block_on(find(state, owner_id, file_id))?;
    let content = &stored_file.content;
    let stored_text = runtime.block_on(store::read_analysis(&state.db, &content.sha256))?;
    let stored_analysis = stored_text.and_then(|text| serde_json::from_str::<StoredAnalysis>(&text).ok());
    if let Some(stored_analysis) =
        stored_analysis.filter(|stored_analysis| stored_analysis.version == ANALYSIS_VERSION)
    {
        return Ok(stored_analysis.analysis);
    }
    let samples = ContentKeys::new(&content.sha256)?.samples;
    let samples = runtime.block_on(download::open(state, samples, file_id))?;
    let analysis = measure(BufReader::new(samples), &content.report, observer)?;
    let stored_analysis = StoredAnalysis { version: ANALYSIS_VERSION, analysis };
    let text = serde_json::to_string(&stored_analysis).map_err(ApiError::internal)?;
    runtime.block_on(store::set_analysis(&state.db, &content.sha256, &text))?;
    Ok(stored_analysis.analysis)
}
