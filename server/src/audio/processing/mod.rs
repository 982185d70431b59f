//! Processed copies of audio files: reversed, stretched, transposed and normalized.
//!
//! The service makes a copy once and stores it as an audio file of the user. Browser and exports
//! play this file, so they have the same samples. The key of a copy is the hash of the source's
//! content and of the operations ([`recipe`]), so the same request never processes twice.

mod piece;
mod recipe;
mod renderer;
mod store;

use std::fs::File;
use std::io::{BufReader, Write as _};

use axum::extract::State;
use axum::http::StatusCode;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::import::import_stored;
use super::store::{StoredFile, find};
use super::{AudioFile, ContentKeys, FOLDER, download, float_wav, import_content};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, Path};
use crate::state::AppState;
use crate::storage::{Allowance, clean_name, ensure_room};
use crate::tasks::{StartedTask, TaskContext, TaskKind};
use piece::Piece;
use recipe::Recipe;

/// Returns the routes of processing, relative to `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(process))
}

/// The kind of task that processes an audio file.
pub(crate) const PROCESSING_TASK: TaskKind = TaskKind { name: "audio-processing", run, discard: None };

/// Progress at the end of the processing. Storing the copy is the remainder.
const RENDERED: f64 = 0.8;

/// Input of the task.
#[derive(Serialize, Deserialize)]
struct Input {
    file_id: String,
    recipe: Recipe,
}

/// A processed copy: the result of the task.
#[derive(Debug, Serialize)]
struct ProcessedAudio {
    /// The copy, as an audio file of the caller. It has the sample rate and the channels of the
    /// decoded source.
    file: AudioFile,
    /// Whether the copy was stored already, so that nothing was processed.
    is_stored: bool,
}

/// Makes a processed copy of a piece of an audio file: reversed, stretched, transposed or
/// normalized. The copy is an audio file of the caller and counts toward the quota. The task's
/// result is a `ProcessedAudio`. The same operations on the same audio are processed only once.
#[utoipa::path(post, path = "/audio/{id}/process", tag = "audio", request_body = Recipe,
    params(("id", description = "Id of the file")),
    responses((status = 202, description = "The task; its result is a `ProcessedAudio`", body = StartedTask),
        (status = 404, description = "The caller has no such file")))]
async fn process(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(id): Path<String>,
    Json(recipe): Json<Recipe>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let source = find(&state, &user.id, &id).await?;
    check(&state, &source, &recipe)?;
    let input = serde_json::to_value(Input { file_id: id, recipe }).map_err(ApiError::internal)?;
    let task_id = state.tasks.start(&user.id, PROCESSING_TASK.name, &input).await?;
    Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })))
}

fn check(state: &AppState, source: &StoredFile, recipe: &Recipe) -> ApiResult<()> {
    let report = &source.content.report;
    recipe.check(report.frames, report.sample_rate_hz, state.config.limits.audio.max_secs)?;
    // The copy is imported like an upload. A copy above that limit is refused before the work.
    let limit_bytes = state.config.limits.upload_max_bytes;
    match float_wav::file_bytes(report.channels, recipe.output_frames(report.frames)) > limit_bytes {
        true => Err(ApiError::TooLarge { subject: "A processed file", limit_bytes }),
        false => Ok(()),
    }
}

fn run(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let Input { file_id, recipe } = serde_json::from_value(input).map_err(ApiError::internal)?;
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let source = runtime.block_on(find(state, owner_id, &file_id))?;
    check(state, &source, &recipe)?;
    let (content, name) = (&source.content, clean_name(&recipe.name_of_copy(&source.file.name)));
    let key = recipe.key(&content.sha256)?;
    if let Some(sha256) = runtime.block_on(store::find(&state.db, &key))?
        && let Some(file) = import_stored(state, runtime, owner_id, &name, &sha256)?
    {
        return answer(file, true);
    }
    let report = &content.report;
    let output_frames = recipe.output_frames(report.frames);
    let output_bytes = float_wav::file_bytes(report.channels, output_frames);
    // The copy counts twice, as the file and as its decoded samples.
    runtime.block_on(Allowance::load(state, owner_id))?.check(output_bytes.saturating_mul(2))?;
    let blobs = state.blobs.local();
    // At most three files exist at a time: without and with the gain, and the decoded samples.
    ensure_room(state, runtime, blobs.root(), output_bytes.saturating_mul(3))?;
    let samples =
        runtime.block_on(download::open(state, ContentKeys::new(&content.sha256)?.samples, &file_id))?;
    let mut piece = Piece {
        source: BufReader::new(samples),
        channels: report.channels,
        start_frame: recipe.start_frame,
        frames: recipe.piece_frames(report.frames),
        is_reversed: recipe.reverse,
    };
    let mut writer = blobs.unnamed_writer(FOLDER)?;
    let mut observer = |fraction: f64| {
        task.report_progress(RENDERED * fraction, "Processing");
        !task.is_cancelled()
    };
    let temporary_folder = (&blobs, FOLDER);
    renderer::render(
        &mut piece,
        report.sample_rate_hz,
        &recipe,
        output_frames,
        temporary_folder,
        &mut writer,
        &mut observer,
    )?;
    writer.flush()?;
    let mut storing = |fraction: f64| {
        task.report_progress(RENDERED + (1.0 - RENDERED) * fraction, "Storing");
        !task.is_cancelled()
    };
    let mut copy = File::open(writer.temporary())?;
    let (file, _) = import_content(state, runtime, owner_id, &name, &mut copy, &mut storing)?;
    runtime.block_on(store::insert(&state.db, &key, &file.sha256))?;
    answer(file, false)
}

fn answer(file: AudioFile, is_stored: bool) -> ApiResult<JsonText> {
    JsonText::write(&ProcessedAudio { file, is_stored }).map_err(ApiError::internal)
}
