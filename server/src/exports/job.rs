//! Runs an export, either for a direct answer or as a task.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use axum::http::StatusCode;
use schemas::Project;
use schemas::json::JsonText;
use schemas::session::without_frozen_parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Handle;

use super::client::Client;
use super::file_options::CheckedFile;
use super::plugin_sounds::PluginSounds;
use super::request::{ExportRequest, TAIL_DEFAULT_SECS, checked_tail};
use super::sound_options::{FileSettings, SoundDefaults};
use super::sources::ProjectSources;
use super::unknown_options::refuse_unknown;
use crate::audio::{self, AudioFile};
use crate::auth::CurrentUser;
use crate::encoding::audio_format::BitDepth;
use crate::error::{ApiError, ApiResult};
use crate::extract::Json;
use crate::projects::RequestedProject;
use crate::rendering::mix::MixOptions;
use crate::rendering::parts::Parts;
use crate::rendering::selection::Selection;
use crate::rendering::sources::RenderedTracks;
use crate::rendering::{Observer, RenderError};
use crate::soundfonts::Snapshot;
use crate::state::AppState;
use crate::storage::BlobWriter;
use crate::tasks::{StartedTask, TaskContext};

/// Folder of rendered files before they are added to an archive or to a user's audio files.
const FOLDER: &str = "mixdowns";

/// Progress at the end of rendering. Importing the rendered file is the remaining tenth.
const RENDER_PROGRESS: f64 = 0.9;

/// An operation that exports a project. The type contains the parameters of the operation.
pub(super) trait Export: Serialize + DeserializeOwned + Send + 'static {
    /// Name of the kind of tasks that run this export.
    const KIND: &'static str;
    /// Default options of the file.
    const DEFAULTS: SoundDefaults =
        SoundDefaults { bit_depth: BitDepth::Float32, unknown_bit_depth: "unexpected_json" };
    /// Whether the export writes a mix. Only a mix can be normalized and checked in mono, and only
    /// its file has the name of the project as its title.
    const IS_MIX: bool;
    /// The answer to the request. It is also the result of the task.
    type Answer: Serialize;

    /// Changes the project before its sounds are opened. The default changes nothing.
    fn prepare(&self, _project: &mut Project) {}

    /// Exports an opened project. Blocks.
    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<Self::Answer>;
}

/// A validated export. It is the input of the export's task.
#[derive(Serialize, Deserialize)]
pub(super) struct ExportJob<E> {
    project: RequestedProject,
    #[serde(flatten)]
    file: FileSettings,
    #[serde(default)]
    selection: Selection,
    tail_secs: f64,
    /// Whether the owner was allowed to use plugins when the export was requested.
    #[serde(default)]
    may_use_plugins: bool,
    operation: E,
}

impl<E: Export> ExportJob<E> {
    /// Checks a request and loads its project.
    ///
    /// # Errors
    /// 400 if the request is invalid, 404 if there is no such project.
    pub(super) async fn new(
        state: &AppState,
        user: &CurrentUser,
        request: ExportRequest,
        file: CheckedFile,
        selection: Selection,
        operation: E,
    ) -> ApiResult<Self> {
        let ExportRequest { project_id, project, sound, tail_secs, unknown_fields } = request;
        refuse_unknown(unknown_fields.iter())?;
        if sound.normalize.is_some() && !E::IS_MIX {
            return Err(ApiError::bad_request(
                "unsupported_option",
                "Only a whole mix can be normalized: stems would no longer add up to the mix, and a frozen track would \
                 change its level; leave out `normalize`.",
            ));
        }
        if sound.channel_check == Some(true) && !E::IS_MIX {
            return Err(ApiError::bad_request(
                "unsupported_option",
                "Only a mix can be checked in mono; leave out `channel_check`.",
            ));
        }
        // Frees these fields before the project is loaded.
        drop(unknown_fields);
        let tail_limit_secs = state.config.limits.tail_max_secs;
        Ok(Self {
            file: FileSettings::check(file, sound, E::DEFAULTS)?,
            selection,
            tail_secs: checked_tail(tail_secs, TAIL_DEFAULT_SECS, tail_limit_secs)?,
            project: RequestedProject::load(state, &user.id, project_id, project).await?,
            may_use_plugins: state.plugins.may_use(user),
            operation,
        })
    }

    /// Starts the export as a task.
    ///
    /// # Errors
    /// Those of [`crate::tasks::Tasks::start_sized`].
    pub(super) async fn start(
        self,
        state: &AppState,
        owner_id: &str,
    ) -> ApiResult<(StatusCode, Json<StartedTask>)> {
        let task_id = state.tasks.start_sized(owner_id, E::KIND, self.project.size_bytes(), self).await?;
        Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })))
    }

    /// Reads the project and exports it. Blocks.
    pub(super) fn run(
        self,
        state: &AppState,
        runtime: &Handle,
        owner_id: &str,
        client: Client<'_>,
    ) -> ApiResult<E::Answer> {
        let soundfonts = runtime.block_on(state.soundfonts.catalogue.of_user(owner_id))?;
        let (document, mut project) = self.project.into_project()?;
        self.operation.prepare(&mut project);
        let project = without_frozen_parts(project);
        if let Some(id) = self.selection.missing_track(&project) {
            return Err(ApiError::not_found("track", id));
        }
        let mut file = self.file;
        if E::IS_MIX {
            file.name_after(&project.name);
        }
        let options = file.options(project.sample_rate_hz, self.selection, self.tail_secs);
        self.operation.run(OpenedExport {
            state,
            runtime,
            owner_id,
            client,
            soundfonts,
            document,
            project,
            options,
            may_use_plugins: self.may_use_plugins,
        })
    }
}

/// Runs an export as a task.
pub(super) fn run_task<E: Export>(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let job: ExportJob<E> = serde_json::from_value(input).map_err(ApiError::internal)?;
    let answer = job.run(state, task.runtime(), task.owner_id(), Client::Task(task))?;
    JsonText::write(&answer).map_err(ApiError::internal)
}

/// An export with its loaded project.
pub(super) struct OpenedExport<'a> {
    pub(super) state: &'a AppState,
    pub(super) runtime: &'a Handle,
    pub(super) owner_id: &'a str,
    pub(super) client: Client<'a>,
    pub(super) document: JsonText,
    /// The project without the parts that recordings of frozen tracks replace.
    pub(super) project: Project,
    pub(super) options: MixOptions,
    soundfonts: Arc<Snapshot>,
    may_use_plugins: bool,
}

impl OpenedExport<'_> {
    /// Opens the owner's SoundFonts and recordings for the project.
    pub(super) fn sources(&self) -> ApiResult<ProjectSources<'_>> {
        let mut is_waiting = || self.client.is_waiting();
        let plugins = PluginSounds {
            state: self.state,
            runtime: self.runtime,
            owner_id: self.owner_id,
            client: self.client,
            may_use_plugins: self.may_use_plugins,
            started_at: SystemTime::now(),
        };
        ProjectSources::open(plugins, &self.soundfonts, &self.project, &mut is_waiting)
    }

    /// Opens the project so that the tracks `rendered` can be rendered separately. `sources` is the
    /// result of [`Self::sources`].
    pub(super) fn parts(
        &self,
        sources: &mut ProjectSources<'_>,
        rendered: RenderedTracks<'_>,
    ) -> ApiResult<Parts> {
        let options = self.options.clone();
        let mut observer = |_| self.client.is_waiting();
        Ok(Parts::open(&self.project, options, sources, rendered, &mut observer)?)
    }

    /// Renders to an unnamed file.
    pub(super) fn render<R>(
        &self,
        render: impl FnOnce(&mut BlobWriter) -> Result<R, RenderError>,
    ) -> ApiResult<(BlobWriter, R)> {
        let mut writer = self.state.blobs.local().unnamed_writer(FOLDER)?;
        let report = render(&mut writer)?;
        writer.flush()?;
        Ok((writer, report))
    }

    /// Renders to an audio file of the owner. `step` is the name of the rendering step, which the
    /// task shows.
    pub(super) fn render_to_audio<R>(
        &self,
        stem: &str,
        step: &str,
        render: impl FnOnce(&mut BlobWriter, Observer<'_>) -> Result<R, RenderError>,
    ) -> ApiResult<(AudioFile, R)> {
        let client = self.client;
        let (writer, report) = self.render(|writer| {
            render(writer, &mut |progress| client.report(RENDER_PROGRESS * progress, step))
        })?;
        let name = self.options.format.file_name(stem);
        let mut content = File::open(writer.temporary())?;
        let mut storing =
            |progress| client.report(RENDER_PROGRESS + (1.0 - RENDER_PROGRESS) * progress, "Storing");
        let (file, _) = audio::import_content(
            self.state,
            self.runtime,
            self.owner_id,
            &name,
            &mut content,
            &mut storing,
        )?;
        Ok((file, report))
    }
}

/// Returns the error 422 for a project or track that has nothing to play. `remedy` says what the
/// user can do.
pub(super) fn nothing_to_render(subject: &str, remedy: &str) -> ApiError {
    let detail = format!("{subject} has nothing to play; {remedy}.");
    ApiError::Unprocessable { code: "nothing_to_render", detail }
}
