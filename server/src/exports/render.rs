//! Handler of `POST /plugins/render`, which renders a project to an audio file.

use std::iter;
use std::time::Instant;

use anyhow::anyhow;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::client::Client;
use super::file_options::FileOptions;
use super::job::{Export, ExportJob, OpenedExport, run_task};
use super::more_files::{CheckedMoreFile, MoreFile, check_more_files};
use super::new_render::NewRender;
use super::queries::RenderQuery;
use super::render_files;
use super::rendered_file::RenderedFile;
use super::request::{ExportRequest, SelectionOptions};
use super::sound_options::SoundDefaults;
use crate::auth::CurrentUser;
use crate::encoding::audio_format::BitDepth;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, LongFields, Query, parse_long, with_document};
use crate::permits::Caller;
use crate::projects;
use crate::rendering::mix::{self, MixFile, MixOptions, MixReport};
use crate::rendering::receipt::{Receipt, receipt};
use crate::rendering::selection::Selection;
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskKind};

/// The kind of task that renders a project.
pub(crate) const RENDER: TaskKind = TaskKind { name: Render::KIND, run: run_task::<Render>, discard: None };

/// Project and options of a render.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct RenderRequest {
    /// Format, quality and tags of the file.
    #[serde(flatten)]
    file: FileOptions,
    /// Range and tracks to render.
    #[serde(flatten)]
    selection: SelectionOptions,
    /// Further files of the same render, such as other formats, or one file for each section of the
    /// song. The mix is rendered once for all files with a `range`, and once for all others.
    #[schema(max_items = 31)]
    more_files: Option<Vec<MoreFile>>,
    /// The project, and the options of the export.
    #[serde(flatten)]
    export: ExportRequest,
}

impl LongFields for RenderRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// The result of a render.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RenderAnswer {
    /// The first file.
    #[serde(flatten)]
    first: FileWithReceipt,
    /// The further files, in the order of the request.
    more_files: Vec<FileWithReceipt>,
}

/// A rendered file with its receipt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct FileWithReceipt {
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
            content_type = "application/problem+json")))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<RenderQuery>,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    // Long fields stay JSON text, so that a request needs no more memory than its body.
    let request: RenderRequest = with_document(body.len(), move || parse_long(body)).await?;
    if query.asynchronous {
        let job = request.into_job(&state, &user).await?;
        return Ok(job.start(&state, &user.id).await?.into_response());
    }
    let weight_kib = request.project_bytes(&state, &user.id).await? / 1024;
    let (runtime, permits) = (Handle::current(), state.exports.renders.clone());
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| {
        // A stored project is loaded after the wait, so that waiting requests do not keep it in
        // memory.
        let job = runtime.block_on(request.into_job(&state, &user))?;
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

    async fn into_job(self, state: &AppState, user: &CurrentUser) -> ApiResult<ExportJob<Render>> {
        let Self { file, selection, more_files, export } = self;
        let (file, selection) = (file.check()?, selection.check()?);
        let operation = Render {
            more_files: check_more_files(selection.range, more_files.unwrap_or_default(), DEFAULTS)?,
        };
        ExportJob::new(state, user, export, file, selection, operation).await
    }
}

/// Renders the mix to files in the storage.
#[derive(Serialize, Deserialize)]
struct Render {
    #[serde(default)]
    more_files: Vec<CheckedMoreFile>,
}

/// Defaults of exported files.
pub(super) const DEFAULTS: SoundDefaults =
    SoundDefaults { bit_depth: BitDepth::Pcm16, unknown_bit_depth: "unsupported_format" };

impl Export for Render {
    const KIND: &'static str = "render";
    const IS_MIX: bool = true;
    const DEFAULTS: SoundDefaults = DEFAULTS;
    type Answer = RenderAnswer;

    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<RenderAnswer> {
        let start_time = Instant::now();
        let OpenedExport { state, owner_id, client, document, project, options, .. } = &opened_export;
        let further = self.more_files.into_iter().map(|CheckedMoreFile { mut settings, range }| {
            settings.name_after(&project.name);
            let selection = Selection { range, tracks: options.selection.tracks.clone() };
            settings.options(project.sample_rate_hz, selection, options.tail_secs)
        });
        let all_options: Vec<MixOptions> = iter::once(options.clone()).chain(further).collect();
        let mut new_renders = all_options
            .iter()
            .map(|options| NewRender::create(state, owner_id, options))
            .collect::<ApiResult<Vec<_>>>()?;
        client.report(0.0, "Rendering");
        let mut sources = opened_export.sources()?;
        let files = all_options.iter().zip(&mut new_renders);
        let files =
            files.map(|(options, new)| MixFile { options: options.clone(), destination: &mut new.writer });
        let mut reports: Vec<Option<MixReport>> = vec![None; all_options.len()];
        let mut finished = |index: usize, report| reports[index] = Some(report);
        let mut observer = |progress| client.report(progress, "Rendering");
        mix::render_files(project, files.collect(), &mut sources, &mut finished, &mut observer)?;
        let id = Some(&*project.project_id);
        let mut sound_secs = 0.0;
        let mut answers = Vec::with_capacity(all_options.len());
        for ((options, new), report) in all_options.iter().zip(new_renders).zip(reports.into_iter().flatten())
        {
            sound_secs += report.file.measured.frames as f64 / f64::from(options.sample_rate_hz);
            let answer = new.finish(&project.name, id, options, &report.file, |file| FileWithReceipt {
                file,
                warnings: report.warnings(),
                receipt: receipt(document, project, options, sources.soundfonts.clone(), &report),
            })?;
            answers.push(answer);
        }
        render_files::keep_newest(state, owner_id, answers.len())?;
        state.metrics.rendered("project", start_time.elapsed(), sound_secs);
        let mut answers = answers.into_iter();
        let first = answers.next().ok_or_else(|| ApiError::internal(anyhow!("a render has no file")))?;
        Ok(RenderAnswer { first, more_files: answers.collect() })
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
