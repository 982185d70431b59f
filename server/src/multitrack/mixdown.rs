//! `POST /multitrack/mixdown`: a song as an audio file of its owner.

use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::render_options::{RenderJob, RenderOptions, RenderedProject, file_stem};
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::{Json, LongFields, LongJson};
use crate::jobs::kinds::Kind;
use crate::plugins::ProjectSources;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::{self, LeftOutOfRender};
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext};

/// A mixdown as a task.
pub(crate) const MIXDOWN: Kind = Kind { name: "mixdown", run, discard: None };

/// Folder of the store that renders pass through.
pub(super) const FOLDER: &str = "mixdowns";

/// Share of the work that rendering is; the rest is taking the file in.
const RENDER_SHARE: f64 = 0.9;

/// What to mix down.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct MixdownRequest {
    /// The project, and how.
    #[serde(flatten)]
    options: RenderOptions,
    /// Name of the audio file; by default the project's.
    name: Option<String>,
}

impl LongFields for MixdownRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

#[derive(Serialize, Deserialize)]
struct Input {
    job: RenderJob,
    name: Option<String>,
}

/// A song that is an audio file now: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Mixdown {
    /// The file, among the caller's audio.
    file: AudioFile,
    /// Gated loudness in LUFS; null for silence.
    lufs: Option<f64>,
    /// True peak in dBTP; null for silence.
    true_peak_db: Option<f64>,
    /// What the engine does not play of the project.
    left_out: Vec<LeftOutOfRender>,
    /// SoundFonts and presets that the project names and that are not there, and what played
    /// instead.
    missing_sounds: Vec<MissingSound>,
    /// The same as sentences, and whether the file is silent.
    warnings: Vec<String>,
}

/// Mixes a song down to an audio file of the caller, for clips of this or another song. The task's
/// result is a `Mixdown`.
#[utoipa::path(post, path = "/multitrack/mixdown", tag = "multitrack", request_body = MixdownRequest,
    responses((status = 202, description = "The task; its result is a `Mixdown`", body = StartedTask),
        (status = 404, description = "The caller has no such project"), CommonErrors))]
pub(super) async fn mixdown(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<MixdownRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let input = Input { job: request.options.checked(&state, &user).await?, name: request.name };
    let task_id = state.tasks.start_sized(&user.id, MIXDOWN.name, input.job.size_bytes(), input).await?;
    Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })))
}

fn run(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let Input { job, name } = serde_json::from_value(input).map_err(ApiError::internal)?;
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let snapshot = runtime.block_on(state.sound.catalogue.of(owner_id))?;
    let RenderedProject { project, options, .. } = job.open()?;
    let mut sources =
        ProjectSources::new(state, runtime, owner_id, &snapshot, &project, &mut || !task.is_cancelled())?;
    let begun = Instant::now();
    let mut writer = state.blobs.local().unnamed_writer(FOLDER)?;
    let report = mix::render(&project, &options, &mut sources, &mut writer, &mut |share| {
        task.progress(RENDER_SHARE * share, "Mixing");
        !task.is_cancelled()
    })?;
    writer.flush()?;
    let sound_secs = report.measured.frames as f64 / f64::from(options.sample_rate_hz);
    state.metrics.rendered("mixdown", begun.elapsed(), sound_secs);
    let name = format!("{}.wav", file_stem(name.as_deref().unwrap_or(&project.name)));
    let mut content = File::open(writer.temporary())?;
    let (file, _) = audio::take_in(state, runtime, owner_id, &name, &mut content, &mut |share| {
        task.progress(RENDER_SHARE + (1.0 - RENDER_SHARE) * share, "Storing");
        !task.is_cancelled()
    })?;
    let result = Mixdown {
        file,
        lufs: report.measured.integrated_lufs,
        true_peak_db: report.measured.true_peak_dbtp,
        warnings: report.warnings(),
        left_out: report.left_out,
        missing_sounds: report.missing_sounds,
    };
    JsonText::write(&result).map_err(ApiError::internal)
}
