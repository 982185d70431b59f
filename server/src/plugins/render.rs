//! `POST /plugins/render`: a project to an audio file.

use std::collections::HashMap;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dsp_core::soundfont::Bank;
use schemas::Project;
use schemas::json::JsonText;
use schemas::session::files_used;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::render_request::{RenderQuery, RenderRequest, RenderSettings};
use super::renders;
use super::renders::{RenderFile, audio_url};
use super::soundfonts::Snapshot;
use crate::audio;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{Json, JsonBytes, Query, parse_long, with_document};
use crate::jobs::kinds::Kind;
use crate::permits::Caller;
use crate::projects;
use crate::rendering::budget::BudgetShare;
use crate::rendering::missing::OpenedBank;
use crate::rendering::mix::{self, MixOptions};
use crate::rendering::receipt::{BitDepth, Receipt, receipt};
use crate::rendering::sources::{Recording, Sources};
use crate::rendering::{Observer, RenderError};
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext};

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
    /// Warnings about the file, as sentences: missing SoundFonts and presets, and whether it is
    /// silent.
    pub warnings: Vec<String>,
    /// Proof of what was rendered.
    pub receipt: Receipt,
}

/// Renders a project to a file, in the engine that the page plays it with.
#[utoipa::path(post, path = "/plugins/render", tag = "plugins", params(RenderQuery), request_body = RenderRequest,
    responses((status = 200, body = RenderAnswer), (status = 202, body = StartedTask),
        (status = 404, description = "The caller has no such project", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`not_playable`, `soundfont_unusable`, `too_long`, `too_much_memory` or `too_much_work`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`soundfont_render_unavailable`: no SoundFont is installed", body = Problem,
            content_type = "application/problem+json"),
        CommonErrors))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<RenderQuery>,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    // Long fields stay text: a request takes as much memory as its body did.
    let request: RenderRequest = with_document(body.len(), move || parse_long(body)).await?;
    if query.asynchronous {
        let input = RenderInput::of(&state, &user, request).await?;
        let task_id = state.tasks.start_sized(&user.id, RENDER.name, input.size_bytes(), input).await?;
        return Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let weight_kib = project_bytes(&state, &user.id, &request).await? / 1024;
    let (runtime, permits) = (Handle::current(), state.sound.renders.clone());
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| {
        // A stored project is read here, so that requests that wait for this do not hold it.
        let input = runtime.block_on(RenderInput::of(&state, &user, request))?;
        input.render(&state, &runtime, &user.id, &mut |_| !caller.has_gone())
    };
    let answer = permits.run_for(&owner_id, weight_kib, work).await?;
    Ok(Json(answer).into_response())
}

/// Length of the project that a request means, in bytes; 0 where the caller has no such project.
async fn project_bytes(state: &AppState, owner_id: &str, request: &RenderRequest) -> ApiResult<u64> {
    match (&request.project, &request.project_id) {
        (Some(project), _) => Ok(project.as_str().len() as u64),
        (None, Some(id)) => projects::stored_bytes(state, owner_id, id).await,
        (None, None) => Ok(0),
    }
}

/// A render as a task.
pub(crate) const RENDER: Kind = Kind { name: "render", run: render_task, discard: None };

fn render_task(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let input: RenderInput = serde_json::from_value(input).map_err(ApiError::internal)?;
    let answer = input.render(state, task.runtime(), task.owner_id(), &mut |share| {
        task.progress(share, "Rendering");
        !task.is_cancelled()
    })?;
    JsonText::write(&answer).map_err(ApiError::internal)
}

/// What to render, and how.
#[derive(Serialize, Deserialize)]
struct RenderInput {
    source: Source,
    settings: RenderSettings,
}

impl RenderInput {
    /// The input that a request describes.
    async fn of(state: &AppState, user: &CurrentUser, mut request: RenderRequest) -> ApiResult<Self> {
        let settings = RenderSettings::of(&mut request, state.config.limits.tail_max_secs)?;
        let source = document(state, user, request.project_id, request.project).await?;
        Ok(Self { source, settings })
    }

    /// About its length as JSON, in bytes.
    fn size_bytes(&self) -> usize {
        self.source.size_bytes()
    }

    fn render(
        self,
        state: &AppState,
        runtime: &Handle,
        owner_id: &str,
        observer: Observer<'_>,
    ) -> ApiResult<RenderAnswer> {
        let snapshot = runtime.block_on(state.sound.catalogue.of(owner_id))?;
        let job = RenderJob::new(self.source, &self.settings)?;
        job.run(state, runtime, owner_id, &snapshot, &self.settings, observer)
    }
}

/// The project that a request means, read but not checked: that is left to the thread that renders.
#[derive(Serialize, Deserialize)]
pub(crate) enum Source {
    /// As it is stored, which was checked when it was saved.
    Stored(JsonText),
    /// As it came with the request.
    Sent(JsonText),
}

/// The project of a request that names exactly one, by id or as a document.
pub(crate) async fn document(
    state: &AppState,
    user: &CurrentUser,
    project_id: Option<String>,
    project: Option<JsonText>,
) -> ApiResult<Source> {
    match (project_id, project) {
        (Some(id), None) => Ok(Source::Stored(projects::load_document(state, &user.id, &id).await?)),
        (None, Some(document)) => Ok(Source::Sent(document)),
        _ => Err(not_one_project()),
    }
}

/// Works on the same project, on a thread that may block: requests that wait do not hold a stored
/// one.
pub(crate) async fn with_source<T: Send + 'static>(
    state: &AppState,
    user: &CurrentUser,
    project_id: Option<String>,
    project: Option<JsonText>,
    work: impl FnOnce(Source) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    match (project_id, project) {
        (Some(id), None) => {
            let work = |document| work(Source::Stored(document));
            projects::with_stored_document(state, &user.id, &id, work).await
        }
        (None, Some(document)) => {
            with_document(document.as_str().len(), move || work(Source::Sent(document))).await
        }
        _ => Err(not_one_project()),
    }
}

fn not_one_project() -> ApiError {
    ApiError::bad_request(
        "one_project",
        "The body names exactly one project, by `project_id` or as `project`.",
    )
}

impl Source {
    /// Length of the document in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Self::Stored(document) | Self::Sent(document) => document.as_str().len(),
        }
    }

    /// The document, checked, and the project that it describes. Blocks.
    pub(crate) fn into_project(self) -> ApiResult<(JsonText, Project)> {
        let document = match self {
            Self::Stored(document) | Self::Sent(document) => projects::checked_document(&document)?,
        };
        let project = schemas::read::project(&document).map_err(|error| ApiError::Unprocessable {
            code: "not_playable",
            detail: format!("The project cannot be read: {error}"),
        })?;
        Ok((document, project))
    }
}

struct RenderJob {
    document: JsonText,
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
        runtime: &Handle,
        owner_id: &str,
        snapshot: &Snapshot,
        settings: &RenderSettings,
        observer: Observer<'_>,
    ) -> ApiResult<RenderAnswer> {
        let begun = Instant::now();
        let render_id = uuid::Uuid::new_v4().simple().to_string();
        let file = RenderFile::new(owner_id, &render_id)?;
        let mut writer = state.blobs.writer(&file.audio)?;
        let mut sources =
            ProjectSources::new(state, runtime, owner_id, snapshot, &self.project, &mut || observer(0.0))?;
        let report = mix::render(&self.project, &self.options, &mut sources, &mut writer, observer)?;
        let soundfonts = sources.soundfonts;
        writer.finish()?;
        let sound_secs = report.measured.frames as f64 / f64::from(self.options.sample_rate_hz);
        state.metrics.rendered("project", begun.elapsed(), sound_secs);
        let answer = RenderAnswer {
            audio_url: audio_url(&render_id),
            render_id,
            format: "wav",
            bit_depth: settings.bit_depth,
            duration_secs: sound_secs,
            sample_rate_hz: self.options.sample_rate_hz,
            lufs: report.measured.integrated_lufs,
            true_peak_db: report.measured.true_peak_dbtp,
            warnings: report.warnings(),
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
        renders::keep_newest(&state.blobs, owner_id, state.config.limits.renders_quota_bytes)?;
        Ok(answer)
    }
}

/// What the service has for a project.
pub(crate) struct ProjectSources<'a> {
    snapshot: &'a Snapshot,
    state: &'a AppState,
    /// Ids of the banks that were opened.
    soundfonts: Vec<String>,
    recordings: HashMap<String, Recording>,
    owner_id: String,
}

impl<'a> ProjectSources<'a> {
    /// What `owner_id` has for a project. Blocks, and ends where `go_on` says no.
    pub(crate) fn new(
        state: &'a AppState,
        runtime: &Handle,
        owner_id: &str,
        snapshot: &'a Snapshot,
        project: &Project,
        go_on: &mut dyn FnMut() -> bool,
    ) -> ApiResult<Self> {
        let recordings = recordings(state, runtime, owner_id, project, go_on)?;
        Ok(Self { snapshot, state, soundfonts: Vec::new(), recordings, owner_id: owner_id.to_owned() })
    }
}

impl Sources for ProjectSources<'_> {
    fn bank(&mut self, soundfont_id: Option<&str>) -> Result<Option<OpenedBank>, RenderError> {
        let (bank, chosen) = self.snapshot.open(self.state, soundfont_id)?.ok_or(RenderError::NoSoundFont)?;
        let id = chosen.soundfont.summary.soundfont_id;
        if !self.soundfonts.contains(&id) {
            self.soundfonts.push(id.clone());
        }
        Ok(Some(OpenedBank { bank, soundfont_id: id, stands_in: chosen.fallback }))
    }

    fn prepare(
        &mut self,
        bank: &Bank,
        name: &str,
        presets: &[(u16, u8)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), RenderError> {
        self.state.sound.banks.prepare(bank, name, presets, go_on)
    }

    fn bank_memory_bytes(&self) -> u64 {
        self.state.sound.banks.total_bytes()
    }

    fn recording(&mut self, server_file_id: &str) -> Option<Recording> {
        self.recordings.get(server_file_id).cloned()
    }

    fn budget(&self) -> BudgetShare {
        self.state.sound.render_budget.share_of(&self.owner_id)
    }
}

/// The recordings of a project that its owner has. Blocks.
fn recordings(
    state: &AppState,
    runtime: &Handle,
    owner_id: &str,
    project: &Project,
    go_on: &mut dyn FnMut() -> bool,
) -> ApiResult<HashMap<String, Recording>> {
    let mut recordings = HashMap::new();
    // One query for all: a project may name 200,000 files that nobody has.
    let had = runtime.block_on(audio::ids(&state.db, owner_id))?;
    for id in files_used(project).into_iter().filter(|id| had.contains(id)) {
        // Another sampling rate takes up to a minute for each.
        if !go_on() {
            return Err(RenderError::Cancelled.into());
        }
        let opening = audio::recording(state, owner_id, &id, project.sample_rate_hz);
        if let Some(recording) = runtime.block_on(opening)? {
            recordings.insert(id, recording);
        }
    }
    Ok(recordings)
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use serde_json::json;

    use super::*;
    use crate::auth::admin_id;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn a_render_weighs_as_much_as_its_project_however_it_is_named() {
        let app = TestApp::start().await;
        let project = json!({ "schema_version": 1, "project_id": "p", "name": "p", "tracks": [],
            "client": "x".repeat(100_000) });
        app.local(Method::POST, "/api/v1/projects").json(&project).send().await.expect(201);
        let owner_id = admin_id(&app.state).await.expect("there is one");
        for (body, least) in [
            (json!({ "project_id": "p" }), 100_000),
            (json!({ "project": project }), 100_000),
            (json!({ "project_id": "missing" }), 0),
        ] {
            let request: RenderRequest = parse_long(body.to_string().into()).expect("a request");
            let bytes = project_bytes(&app.state, &owner_id, &request).await.expect("reads");
            assert!((least..=least + 10_000).contains(&bytes), "{bytes}");
        }
    }
}
