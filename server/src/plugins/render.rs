//! `POST /plugins/render`: a project to an audio file.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemas::Project;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::render_request::{RenderQuery, RenderRequest, RenderSettings};
use super::renders::{RenderFile, audio_url};
use super::soundfonts::Snapshot;
use super::{Caller, renders};
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, Query};
use crate::projects;
use crate::rendering::mix::{self, MixOptions};
use crate::rendering::receipt::{BitDepth, Receipt, receipt};
use crate::rendering::{Observer, RenderError};
use crate::state::AppState;

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
#[utoipa::path(post, path = "/plugins/render", tag = "plugins", params(RenderQuery), request_body = RenderRequest,
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
        let bank = |id: Option<&str>| -> Result<_, RenderError> {
            let (bank, chosen) = snapshot.open(&state.sound.banks, id)?.ok_or(RenderError::NoSoundFont)?;
            let id = chosen.soundfont.summary.soundfont_id;
            if !soundfonts.contains(&id) {
                soundfonts.push(id);
            }
            Ok(Some(bank))
        };
        let report = mix::render(&self.project, &self.options, bank, |_| Ok(None), &mut writer, observer)?;
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
