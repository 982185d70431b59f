//! Handler of `POST /plugins/render`, which renders a project to an audio file.

use std::time::Instant;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::file_options::FileOptions;
use super::job::{Client, Export, ExportJob, Opened, run_task};
use super::new_render::NewRender;
use super::queries::RenderQuery;
use super::rendered_file::RenderedFile;
use super::request::{ExportRequest, SelectionOptions};
use super::sound_options::SoundDefaults;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, CommonErrors, Problem};
use crate::extract::{Json, JsonBytes, LongFields, Query, parse_long, with_document};
use crate::permits::Caller;
use crate::projects;
use crate::rendering::audio_format::BitDepth;
use crate::rendering::mix;
use crate::rendering::receipt::{Receipt, receipt};
use crate::state::AppState;
use crate::tasks::{Kind, StartedTask};

/// The kind of task that renders a project.
pub(crate) const RENDER: Kind = Kind { name: Render::KIND, run: run_task::<Render>, discard: None };

/// Project and options of a render.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderRequest {
    /// Format, quality and tags of the file.
    #[serde(flatten)]
    file: FileOptions,
    /// The part of the song.
    #[serde(flatten)]
    selection: SelectionOptions,
    /// The project, and the options of the export.
    #[serde(flatten)]
    export: ExportRequest,
}

impl LongFields for RenderRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// The result of a render.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct RenderAnswer {
    /// The file.
    #[serde(flatten)]
    file: RenderedFile,
    /// Warnings about the file, as sentences: missing SoundFonts and presets, damaged samples,
    /// and whether it is silent.
    warnings: Vec<String>,
    /// Measurements, settings and hash of the render.
    receipt: Receipt,
}

/// Renders a project to a file, with the same engine as the page.
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
    // Long fields stay JSON text, so that a request needs no more memory than its body.
    let request: RenderRequest = with_document(body.len(), move || parse_long(body)).await?;
    if query.asynchronous {
        let job = request.into_job(&state, &user.id).await?;
        return Ok(job.start(&state, &user.id).await?.into_response());
    }
    let weight_kib = request.project_bytes(&state, &user.id).await? / 1024;
    let (runtime, permits) = (Handle::current(), state.exports.renders.clone());
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| {
        // A stored project is loaded after the wait, so that waiting requests do not keep it in
        // memory.
        let job = runtime.block_on(request.into_job(&state, &user.id))?;
        job.run(&state, &runtime, &user.id, Client::Caller(caller))
    };
    let answer = permits.run_for(&owner_id, weight_kib, work).await?;
    Ok(Json(answer).into_response())
}

impl RenderRequest {
    /// Returns the size of the project in bytes, or 0 if the caller has no such project.
    async fn project_bytes(&self, state: &AppState, owner_id: &str) -> ApiResult<u64> {
        match (&self.export.project, &self.export.project_id) {
            (Some(project), _) => Ok(project.as_str().len() as u64),
            (None, Some(id)) => projects::stored_bytes(state, owner_id, id).await,
            (None, None) => Ok(0),
        }
    }

    async fn into_job(self, state: &AppState, owner_id: &str) -> ApiResult<ExportJob<Render>> {
        let file = self.file.check()?;
        ExportJob::new(state, owner_id, self.export, file, self.selection.check()?, Render {}).await
    }
}

/// Renders the mix to a file in the storage.
#[derive(Serialize, Deserialize)]
struct Render {}

/// Defaults of exported files.
pub(super) const DEFAULTS: SoundDefaults =
    SoundDefaults { bit_depth: BitDepth::Pcm16, unknown_bit_depth: "unsupported_format" };

impl Export for Render {
    const KIND: &'static str = "render";
    const IS_MIX: bool = true;
    const DEFAULTS: SoundDefaults = DEFAULTS;
    type Answer = RenderAnswer;

    fn run(self, opened: Opened<'_>) -> ApiResult<RenderAnswer> {
        let begun = Instant::now();
        let Opened { state, owner_id, client, document, project, options, .. } = &opened;
        let mut new = NewRender::create(state, owner_id, options)?;
        client.report(0.0, "Rendering");
        let mut sources = opened.sources()?;
        let report = mix::render(project, options, &mut sources, &mut new.writer, &mut |progress| {
            client.report(progress, "Rendering")
        })?;
        let soundfonts = sources.soundfonts;
        let sound_secs = report.file.measured.frames as f64 / f64::from(options.sample_rate_hz);
        state.metrics.rendered("project", begun.elapsed(), sound_secs);
        let id = Some(&*project.project_id);
        new.finish(&project.name, id, options, &report.file, |file| RenderAnswer {
            file,
            warnings: report.warnings(),
            receipt: receipt(document, project, options, soundfonts, &report),
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Method;
    use serde_json::json;

    use super::*;
    use crate::auth::admin_id;
    use crate::test_app::TestApp;

    #[tokio::test]
    async fn a_render_is_weighted_by_the_size_of_its_project() {
        let app = TestApp::start().await;
        let project = json!({ "schema_version": 1, "project_id": "p", "name": "p", "tracks": [],
            "client": "x".repeat(100_000) });
        app.local(Method::POST, "/api/v1/projects").json(&project).send().await.expect(201);
        let owner_id = admin_id(&app.state).await.expect("there is an administrator");
        for (body, min_bytes) in [
            (json!({ "project_id": "p" }), 100_000),
            (json!({ "project": project }), 100_000),
            (json!({ "project_id": "missing" }), 0),
        ] {
            let request: RenderRequest = parse_long(body.to_string().into()).expect("a request");
            let bytes = request.project_bytes(&app.state, &owner_id).await.expect("reads");
            assert!((min_bytes..=min_bytes + 10_000).contains(&bytes), "{bytes}");
        }
    }
}
