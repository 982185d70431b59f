//! Handlers of `POST /plugins/sounds`, which lets the plugins of a song render their sounds, and of
//! `GET /plugins/sounds/{sound_id}`.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::client::Client;
use super::file_options::CheckedFile;
use super::job::{Export, ExportJob, OpenedExport};
use super::plugin_sound_files as files;
use super::request::ExportRequest;
use super::sources::PluginOutcome;
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, JsonBytes, LongFields, Path, parse_long};
use crate::file_answer::FileAnswer;
use crate::permits::Caller;
use crate::projects::ProjectDocument;
use crate::rendering::selection::Selection;
use crate::rendering::song_plugins;
use crate::state::AppState;

/// The song whose plugins render.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SoundsRequest {
    /// Id of a stored project. A request must have either this or `project`.
    project_id: Option<String>,
    /// A project document.
    #[schema(value_type = Option<ProjectDocument>)]
    project: Option<JsonText>,
}

impl LongFields for SoundsRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// The sounds of the plugins of a song.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SoundsAnswer {
    /// The outcome of each plugin instrument with notes and each audible plugin effect, in
    /// the order in which they were rendered.
    sounds: Vec<PluginOutcome>,
}

/// Lets the plugin instruments of a song play their notes, and its plugin effects process their
/// input. Sounds that earlier requests or exports have rendered are used again unless something
/// that determines them has changed. Exports have the same samples.
#[utoipa::path(post, path = "/plugins/sounds", tag = "plugins", request_body = SoundsRequest,
    responses((status = 200, body = SoundsAnswer),
        (status = 404, description = "The caller has no such project", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`not_playable`, `soundfont_unusable`, `too_long`, `too_much_memory` or `too_much_work`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Json<SoundsAnswer>> {
    let (runtime, permits, body_kib) =
        (Handle::current(), state.exports.renders.clone(), body.len() as u64 / 1024);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| {
        // The body is parsed after the wait, so that waiting requests keep only their bodies in
        // memory.
        let SoundsRequest { project_id, project } = parse_long(body)?;
        let request = ExportRequest { project_id, project, ..ExportRequest::default() };
        let (file, selection) = (CheckedFile::default(), Selection::default());
        let job = runtime.block_on(ExportJob::new(&state, &user, request, file, selection, SongSounds))?;
        job.run(&state, &runtime, &user.id, Client::Caller(caller))
    };
    Ok(Json(permits.run_for(&owner_id, body_kib, work).await?))
}

/// Renders the sounds of the plugins of a song.
#[derive(Serialize, Deserialize)]
struct SongSounds;

impl Export for SongSounds {
    const KIND: &'static str = "plugin_sounds";
    const IS_MIX: bool = true;
    type Answer = SoundsAnswer;

    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<SoundsAnswer> {
        if !song_plugins::has_plugins(&opened_export.project) {
            return Ok(SoundsAnswer { sounds: Vec::new() });
        }
        let mut sources = opened_export.sources()?;
        sources.plugin_outcomes = Some(Vec::new());
        let mut observer = |_| opened_export.client.is_waiting();
        song_plugins::render_plugins(&opened_export.project, &mut sources, &mut observer)?;
        Ok(SoundsAnswer { sounds: sources.plugin_outcomes.unwrap_or_default() })
    }
}

/// Sends a sound that a plugin has rendered, as a 32-bit float WAV file that begins at the start of
/// the song. The service deletes sounds that have not been used for a long time; render such a
/// sound again.
#[utoipa::path(get, path = "/plugins/sounds/{sound_id}", tag = "plugins",
    params(("sound_id", description = "Id of the sound")),
    responses((status = 200, description = "The sound", content_type = AudioFormat::Wav.media_type(), headers(("ETag" = String))),
        (status = 206, description = "The requested range"),
        (status = 304, description = "`If-None-Match` names the sound"),
        (status = 416, description = "The range is outside the file")))]
pub(super) async fn read(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(sound_id): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let not_found = || ApiError::not_found("plugin sound", &sound_id);
    let key = files::key(&user.id, &sound_id).map_err(|_| not_found())?;
    let blobs = state.blobs.clone();
    let sound_files = tokio::task::spawn_blocking(move || files::find(&blobs, &key)).await??;
    let answer = FileAnswer {
        file: sound_files.ok_or_else(not_found)?,
        etag: format!("\"{sound_id}\""),
        media_type: AudioFormat::Wav.media_type(),
        save_as: None,
    };
    answer.respond(&headers)
}
