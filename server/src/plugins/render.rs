//! `POST /plugins/render`: a project to an audio file.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemas::Project;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::renders::{RenderFile, audio_url};
use super::soundfonts::{Snapshot, no_soundfont};
use super::{Caller, renders};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Query};
use crate::projects::{self, ProjectDocument};
use crate::rendering::mix::{self, MixOptions};
use crate::rendering::receipt::{BitDepth, Receipt, receipt};
use crate::rendering::{Observer, RenderError};
use crate::state::AppState;

/// Longest tail where the request names none, in seconds.
pub(super) const TAIL_DEFAULT_SECS: f64 = 5.0;

/// Rates at which a project can be rendered, in hertz.
pub(super) const SAMPLE_RATES_HZ: [u32; 3] = [44_100, 48_000, 96_000];

/// What to render, and how.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderRequest {
    /// A stored project; exactly one of this and `project` is given.
    project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    project: Option<Value>,
    /// File format: `wav`, the default.
    format: Option<String>,
    /// How samples stand in the file: `pcm16`, the default, or `float32`.
    bit_depth: Option<String>,
    /// 44100, 48000 or 96000 Hz; the project's own rate by default.
    sample_rate_hz: Option<u32>,
    /// Longest time in seconds that the sound may ring on after the last item; 5 by default.
    tail_secs: Option<f64>,
    /// `title` names the file for the browser; the project's name by default.
    metadata: Option<RenderMetadata>,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    other: Map<String, Value>,
}

/// Words about the song.
#[derive(Debug, Deserialize, ToSchema)]
struct RenderMetadata {
    /// Title.
    title: Option<String>,
    /// Fields that this version cannot write.
    #[serde(flatten)]
    #[schema(ignore)]
    other: Map<String, Value>,
}

/// How to wait for the render.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RenderQuery {
    /// `true`: answer 202 with a task at once. The task's result is what a direct answer would be.
    #[serde(default, rename = "async")]
    #[param(rename = "async")]
    asynchronous: bool,
}

/// A finished render.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RenderAnswer {
    /// Identifies the render.
    pub render_id: String,
    /// Where its file is.
    pub audio_url: String,
    /// File format.
    pub format: &'static str,
    /// How samples stand in the file.
    pub bit_depth: BitDepth,
    /// Length in seconds.
    pub duration_secs: f64,
    /// Sample rate in hertz.
    pub sample_rate_hz: u32,
    /// Gated loudness of the file in LUFS (EBU R 128); null for silence.
    pub lufs: Option<f64>,
    /// True peak of the file in dBTP; null for silence.
    pub true_peak_db: Option<f64>,
    /// Proof of what was rendered.
    pub receipt: Receipt,
}

/// A task that was started.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StartedTask {
    /// Its id; see `/tasks/{id}`.
    task_id: String,
}

/// Renders a project to a file, in the engine that the page plays it with.
#[utoipa::path(post, path = "/plugins/render", tag = "plugins", request_body = RenderRequest,
    responses((status = 200, body = RenderAnswer), (status = 202, body = StartedTask),
        (status = 422, description = "`not_playable`, `soundfont_unusable` or `too_long`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`soundfont_render_unavailable`: no SoundFont is installed", body = Problem,
            content_type = "application/problem+json"),
        CommonErrors))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<RenderQuery>,
    Json(request): Json<RenderRequest>,
) -> ApiResult<Response> {
    let limit_secs = state.config.limits.tail_max_secs;
    let settings = RenderSettings::of(&request, limit_secs)?;
    let source = document(&state, &user, request.project_id, request.project).await?;
    let snapshot = state.sound.catalogue.current().await?;
    let work_state = state.clone();
    let owner_id = user.id.clone();
    let work = move |observer: Observer<'_>| -> ApiResult<RenderAnswer> {
        let job = RenderJob::new(source, &settings)?;
        job.run(&work_state, &owner_id, &snapshot, &settings, observer)
    };
    if query.asynchronous {
        let task_id = state
            .tasks
            .start(&user.id, "render", move |task| {
                let mut observer = |share| {
                    task.progress(share, "Rendering");
                    !task.is_cancelled()
                };
                let answer = work(&mut observer)?;
                serde_json::to_value(answer).map_err(ApiError::internal)
            })
            .await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let _place = state.sound.render_places.clone().acquire_owned().await.map_err(ApiError::internal)?;
    let caller = Caller::new();
    let gone = caller.gone();
    let answer = tokio::task::spawn_blocking(move || work(&mut |_| !gone.load(Ordering::Relaxed))).await??;
    Ok(Json(answer).into_response())
}

/// How to render, checked.
struct RenderSettings {
    bit_depth: BitDepth,
    sample_rate_hz: Option<u32>,
    tail_secs: f64,
    title: Option<String>,
}

impl RenderSettings {
    fn of(request: &RenderRequest, tail_limit_secs: u64) -> ApiResult<Self> {
        let metadata = request.metadata.as_ref();
        let unknown = request.other.iter().chain(metadata.into_iter().flat_map(|metadata| &metadata.other));
        if let Some((name, _)) = unknown.clone().find(|(_, value)| !is_off(value)) {
            return Err(ApiError::bad_request(
                "unsupported_option",
                format!("This version of Songfoundry cannot apply the option `{name}`; leave it out."),
            ));
        }
        match request.format.as_deref() {
            None | Some("wav") => {}
            Some(other) => {
                let detail = format!("The format `{other}` cannot be written; `wav` can.");
                return Err(ApiError::bad_request("unsupported_format", detail));
            }
        }
        let bit_depth = match request.bit_depth.as_deref() {
            None | Some("pcm16") => BitDepth::Pcm16,
            Some("float32") => BitDepth::Float32,
            Some(other) => {
                let detail = format!("The bit depth `{other}` cannot be written; `pcm16` and `float32` can.");
                return Err(ApiError::bad_request("unsupported_format", detail));
            }
        };
        Ok(Self {
            bit_depth,
            sample_rate_hz: request.sample_rate_hz.map(checked_rate).transpose()?,
            tail_secs: checked_tail(request.tail_secs, tail_limit_secs)?,
            title: metadata
                .and_then(|metadata| metadata.title.clone())
                .filter(|title| !title.trim().is_empty()),
        })
    }
}

/// Whether an option says that it is not wanted.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.values().all(is_off),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

pub(super) fn checked_rate(sample_rate_hz: u32) -> ApiResult<u32> {
    if SAMPLE_RATES_HZ.contains(&sample_rate_hz) {
        return Ok(sample_rate_hz);
    }
    Err(ApiError::bad_request(
        "unsupported_sample_rate",
        format!("The sample rate {sample_rate_hz} Hz is not one of 44100, 48000 and 96000 Hz."),
    ))
}

pub(super) fn checked_tail(tail_secs: Option<f64>, limit_secs: u64) -> ApiResult<f64> {
    let tail_secs = tail_secs.unwrap_or(TAIL_DEFAULT_SECS.min(limit_secs as f64));
    if (0.0..=limit_secs as f64).contains(&tail_secs) {
        return Ok(tail_secs);
    }
    Err(ApiError::bad_request(
        "bad_tail",
        format!("The tail of {tail_secs} seconds is outside 0 to {limit_secs} seconds (SF_TAIL_MAX_SECS)."),
    ))
}

/// The project that a request means, read but not checked: that is left to the thread that renders.
pub(crate) enum Source {
    /// As it is stored, which was checked when it was saved.
    Stored(Value),
    /// As it came with the request.
    Sent(Value),
}

/// The project of a request that names exactly one, by id or as a document.
pub(crate) async fn document(
    state: &AppState,
    user: &CurrentUser,
    project_id: Option<String>,
    project: Option<Value>,
) -> ApiResult<Source> {
    match (project_id, project) {
        (Some(id), None) => Ok(Source::Stored(projects::load_document(state, &user.id, &id).await?)),
        (None, Some(document)) => Ok(Source::Sent(document)),
        _ => Err(ApiError::bad_request(
            "one_project",
            "The body names exactly one project, by `project_id` or as `project`.",
        )),
    }
}

impl Source {
    /// The document, checked, and the project that it describes. Blocks.
    pub(crate) fn into_project(self) -> ApiResult<(Value, Project)> {
        let document = match self {
            Self::Stored(document) | Self::Sent(document) => projects::checked_document(document)?,
        };
        let project = serde_json::from_value(document.clone()).map_err(|error| ApiError::Unprocessable {
            code: "not_playable",
            detail: format!("The project cannot be read: {error}"),
        })?;
        Ok((document, project))
    }
}

struct RenderJob {
    document: Value,
    project: Project,
    options: MixOptions,
}

impl RenderJob {
    fn new(source: Source, settings: &RenderSettings) -> ApiResult<Self> {
        let (document, project) = source.into_project()?;
        let options = MixOptions {
            sample_rate_hz: settings.sample_rate_hz.unwrap_or(project.sample_rate_hz),
            format: settings.bit_depth.into(),
            tail_secs: settings.tail_secs,
        };
        Ok(Self { document, project, options })
    }

    /// Renders into the store and describes what came out.
    fn run(
        self,
        state: &AppState,
        owner_id: &str,
        snapshot: &Snapshot,
        settings: &RenderSettings,
        observer: Observer<'_>,
    ) -> ApiResult<RenderAnswer> {
        let render_id = uuid::Uuid::new_v4().simple().to_string();
        let file = RenderFile::new(owner_id, &render_id)?;
        let mut writer = state.blobs.writer(&file.audio)?;
        let mut soundfonts = Vec::new();
        let mut none_installed = false;
        let bank = |id: Option<&str>| -> Result<_, RenderError> {
            let Some((bank, chosen)) = snapshot.open(&state.sound.banks, id)? else {
                none_installed = true;
                return Err(RenderError::Cancelled);
            };
            let id = chosen.soundfont.summary.soundfont_id;
            if !soundfonts.contains(&id) {
                soundfonts.push(id);
            }
            Ok(Some(bank))
        };
        let rendered = mix::render(&self.project, &self.options, bank, &mut writer, observer);
        let report = match rendered {
            Err(_) if none_installed => return Err(no_soundfont()),
            other => other?,
        };
        writer.finish()?;
        let answer = RenderAnswer {
            audio_url: audio_url(&render_id),
            render_id,
            format: "wav",
            bit_depth: settings.bit_depth,
            duration_secs: report.measured.frames as f64 / f64::from(self.options.sample_rate_hz),
            sample_rate_hz: self.options.sample_rate_hz,
            lufs: report.measured.integrated_lufs,
            true_peak_db: report.measured.true_peak_dbtp,
            receipt: receipt(
                &self.document,
                &self.project,
                &self.options,
                settings.bit_depth,
                soundfonts,
                &report,
            ),
        };
        let title = settings.title.as_deref().unwrap_or(&self.project.name);
        renders::describe(&state.blobs, &file, title, &answer)?;
        renders::keep_newest(&state.blobs, owner_id)?;
        Ok(answer)
    }
}
