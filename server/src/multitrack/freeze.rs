//! `POST /multitrack/freeze`: a track as audio, in its own place.

use std::fs::File;
use std::io::Write as _;

use axum::extract::State;
use axum::http::StatusCode;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::frozen_track::{self, Stage};
use super::render_options::{RenderJob, RenderOptions, RenderedProject, file_stem, nothing_to_render};
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::{Json, LongFields, LongJson};
use crate::jobs::kinds::Kind;
use crate::plugins::ProjectSources;
use crate::raw_json;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::{LeftOutOfRender, warnings};
use crate::rendering::parts::{Part, Parts};
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext};

/// Freezing as a task.
pub(crate) const FREEZE: Kind = Kind { name: "freeze", run, discard: None };

/// Share of the work that rendering is; the rest is taking the file in.
const RENDER_SHARE: f64 = 0.9;

/// Which track to freeze.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct FreezeRequest {
    /// The project, and how.
    #[serde(flatten)]
    options: RenderOptions,
    /// Id of the track.
    track_id: String,
    /// Where its sound is taken: `before_fader`, the default, or `after_fader`.
    #[serde(default)]
    stage: Stage,
}

impl LongFields for FreezeRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

#[derive(Serialize, Deserialize)]
struct Input {
    job: RenderJob,
    track_id: String,
    stage: Stage,
}

/// A frozen track: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Frozen {
    /// Its sound, among the caller's audio.
    file: AudioFile,
    /// The track turned into an audio track that plays the file, for its index in the project. It
    /// is not stored.
    #[serde(serialize_with = "raw_json::serialize")]
    #[schema(value_type = Object)]
    track: JsonText,
    /// What the engine does not play of the project.
    left_out: Vec<LeftOutOfRender>,
    /// SoundFonts and presets that the project names and that are not there, and what played
    /// instead.
    missing_sounds: Vec<MissingSound>,
    /// The same as sentences; also that the track is silent, or that it has too many fields that
    /// this version does not know.
    warnings: Vec<String>,
}

/// Renders a track with its effects, and what it sends to the shared reverb and chorus, to an audio
/// file of the caller, and answers the track of a project that plays that file and sounds as the
/// track did. The task's result is a `Frozen`.
#[utoipa::path(post, path = "/multitrack/freeze", tag = "multitrack", request_body = FreezeRequest,
    responses((status = 202, description = "The task; its result is a `Frozen`", body = StartedTask),
        (status = 404, description = "The caller has no such project"), CommonErrors))]
pub(super) async fn freeze(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<FreezeRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let FreezeRequest { options, track_id, stage } = request;
    let input = Input { job: options.checked(&state, &user).await?, track_id, stage };
    let task_id = state.tasks.start_sized(&user.id, FREEZE.name, input.job.size_bytes(), input).await?;
    Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })))
}

fn run(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let Input { job, track_id, stage } = serde_json::from_value(input).map_err(ApiError::internal)?;
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let snapshot = runtime.block_on(state.sound.catalogue.of(owner_id))?;
    let RenderedProject { document, project, options } = job.open()?;
    let place = project.tracks.iter().position(|track| track.id == track_id);
    let place = place.ok_or_else(|| ApiError::not_found("track", &track_id))?;
    let track = &project.tracks[place];
    if track.items.is_empty() {
        return Err(nothing_to_render(&format!("The track `{track_id}`")));
    }
    if stage == Stage::AfterFader && track.sends.iter().any(|send| send.pre_fader) {
        let detail = format!(
            "The track `{track_id}` has a send before its fader, which would get the fader's gain once that is in the \
             sound: freeze it with `stage` `before_fader`."
        );
        return Err(ApiError::Unprocessable { code: "send_before_fader", detail });
    }
    let mut sources =
        ProjectSources::new(state, runtime, owner_id, &snapshot, &project, &mut || !task.is_cancelled())?;
    let parts = Parts::open(&project, &mut sources, &mut |_| !task.is_cancelled())?;
    let part = match stage {
        Stage::BeforeFader => Part::BeforeFader(place),
        Stage::AfterFader => Part::AfterFader(place),
    };
    let mut writer = state.blobs.local().unnamed_writer(super::mixdown::FOLDER)?;
    let report = parts.render(part, &options, &mut writer, &mut |share| {
        task.progress(RENDER_SHARE * share, "Rendering");
        !task.is_cancelled()
    })?;
    writer.flush()?;
    let name = format!("{} (frozen)", file_stem(&track.name));
    let mut content = File::open(writer.temporary())?;
    let file_name = format!("{name}.wav");
    let (file, _) = audio::take_in(state, runtime, owner_id, &file_name, &mut content, &mut |share| {
        task.progress(RENDER_SHARE + (1.0 - RENDER_SHARE) * share, "Storing");
        !task.is_cancelled()
    })?;
    let stored = document.view().list("tracks").nth(place);
    let stored = stored.ok_or_else(|| ApiError::not_found("track", &track_id))?;
    let (track, leaves_out) = frozen_track::freeze(stored, stage, &file.id, &name)?;
    let mut warnings = warnings(parts.missing_sounds(), report.is_silent);
    if leaves_out {
        warnings.push(format!(
            "The track's fields that this version does not know have more than {} bytes: those beyond are not in `track`.",
            frozen_track::UNKNOWN_MAX_BYTES
        ));
    }
    let (left_out, missing_sounds) = (parts.left_out(), parts.missing_sounds().to_vec());
    let result = Frozen { file, track, left_out, missing_sounds, warnings };
    JsonText::write(&result).map_err(ApiError::internal)
}
