//! `POST /multitrack/stems`: what each track adds to a mix, as files in one archive.

use std::fs::File;
use std::io::{self, Write as _};

use axum::extract::State;
use axum::http::StatusCode;
use schemas::Project;
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::render_options::{RenderJob, RenderOptions, RenderedProject, file_stem, nothing_to_render};
use super::stem_files;
use crate::audio;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors};
use crate::extract::{Json, LongFields, LongJson};
use crate::jobs::kinds::Kind;
use crate::plugins::ProjectSources;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::{LeftOutOfRender, warnings};
use crate::rendering::parts::{Part, Parts};
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext};

/// Stems as a task.
pub(crate) const STEMS: Kind = Kind { name: "stems", run, discard: None };

/// Files from which on an entry of the archive needs the large form, in bytes: with room for a
/// header.
const LARGE_BYTES: u64 = u32::MAX as u64 - 65_536;

/// Whose stems to render.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct StemsRequest {
    /// The project, and how.
    #[serde(flatten)]
    options: RenderOptions,
    /// Ids of the tracks; by default all that play something and are not muted.
    tracks: Option<Vec<String>>,
}

impl LongFields for StemsRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

#[derive(Serialize, Deserialize)]
struct Input {
    job: RenderJob,
    tracks: Option<Vec<String>>,
}

/// Stems in an archive: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stems {
    /// Identifies the archive.
    stems_id: String,
    /// Where it is. The ten newest archives of a user are kept.
    url: String,
    /// Its size in bytes.
    size_bytes: u64,
    /// Sample rate of the stems in hertz.
    sample_rate_hz: u32,
    /// Length of each in seconds.
    duration_secs: f64,
    /// The stems, in the order of their tracks.
    stems: Vec<Stem>,
    /// What the engine does not play of the project.
    left_out: Vec<LeftOutOfRender>,
    /// SoundFonts and presets that the project names and that are not there, and what played
    /// instead.
    missing_sounds: Vec<MissingSound>,
    /// The same as sentences; also that all stems are silent.
    warnings: Vec<String>,
}

/// A stem.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stem {
    /// Id of its track.
    track_id: String,
    /// Its file in the archive.
    file_name: String,
    /// Highest magnitude of any sample; 1 is full scale.
    peak: f64,
    /// Gated loudness in LUFS; null for silence.
    lufs: Option<f64>,
    /// True peak in dBTP; null for silence.
    true_peak_db: Option<f64>,
}

/// Renders what each track adds to the mix into a file of its own: through its fader, its sends,
/// its buses and groups and the master's fader, without the master's effects and limiter. All are
/// as long and begin with the song. Where tracks share nothing but faders and reverbs they add up
/// to the mix. The task's result is a `Stems`.
#[utoipa::path(post, path = "/multitrack/stems", tag = "multitrack", request_body = StemsRequest,
    responses((status = 202, description = "The task; its result is a `Stems`", body = StartedTask),
        (status = 404, description = "The caller has no such project"), CommonErrors))]
pub(super) async fn stems(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<StemsRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let input = Input { job: request.options.checked(&state, &user).await?, tracks: request.tracks };
    let task_id = state.tasks.start_sized(&user.id, STEMS.name, input.job.size_bytes(), input).await?;
    Ok((StatusCode::ACCEPTED, Json(StartedTask { task_id })))
}

fn run(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let Input { job, tracks } = serde_json::from_value(input).map_err(ApiError::internal)?;
    let (runtime, owner_id) = (task.runtime(), task.owner_id());
    let snapshot = runtime.block_on(state.sound.catalogue.of(owner_id))?;
    let RenderedProject { project, options, .. } = job.open()?;
    let mut sources =
        ProjectSources::new(state, runtime, owner_id, &snapshot, &project, &mut || !task.is_cancelled())?;
    let parts = Parts::open(&project, &mut sources, &mut |_| !task.is_cancelled())?;
    let places = wanted(&project, &parts, tracks)?;

    // Beside the archive there is one stem at a time.
    let bytes = parts.file_bytes(&options).saturating_mul(places.len() as u64 + 1);
    audio::ensure_room(state, runtime, state.blobs.root(), bytes)?;
    let stems_id = uuid::Uuid::new_v4().simple().to_string();
    let key = stem_files::key(owner_id, &stems_id)?;
    let mut writer = state.blobs.writer(&key)?;
    let mut zip = ZipWriter::new(&mut writer);
    let (mut stems, mut frames, mut is_silent) = (Vec::new(), 0, true);
    for (number, &place) in places.iter().enumerate() {
        let track = &project.tracks[place];
        // By number, so that tracks of one name are told apart.
        let file_name = format!("{:02} {}.wav", place + 1, file_stem(&track.name));
        let mut stem = state.blobs.local().unnamed_writer(super::mixdown::FOLDER)?;
        let report = parts.render(Part::Stem(place), &options, &mut stem, &mut |share| {
            task.progress((number as f64 + share) / places.len() as f64, &format!("Rendering {file_name}"));
            !task.is_cancelled()
        })?;
        stem.flush()?;
        let mut file = File::open(stem.temporary())?;
        let entry = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(file.metadata()?.len() >= LARGE_BYTES);
        zip.start_file(&file_name, entry)?;
        io::copy(&mut file, &mut zip)?;
        let measured = report.measured;
        (frames, is_silent) = (measured.frames, is_silent && report.is_silent);
        stems.push(Stem {
            track_id: track.id.clone(),
            file_name,
            peak: f64::from(measured.peak),
            lufs: measured.integrated_lufs,
            true_peak_db: measured.true_peak_dbtp,
        });
    }
    zip.finish()?;
    let size_bytes = writer.finish()?.metadata()?.len();
    stem_files::keep_newest(&state.blobs, owner_id)?;
    let result = Stems {
        url: stem_files::url(&stems_id),
        stems_id,
        size_bytes,
        sample_rate_hz: options.sample_rate_hz,
        duration_secs: frames as f64 / f64::from(options.sample_rate_hz),
        stems,
        left_out: parts.left_out(),
        missing_sounds: parts.missing_sounds().to_vec(),
        warnings: warnings(parts.missing_sounds(), is_silent),
    };
    JsonText::write(&result).map_err(ApiError::internal)
}

/// Places of the tracks whose stems are wanted.
fn wanted(project: &Project, parts: &Parts, tracks: Option<Vec<String>>) -> ApiResult<Vec<usize>> {
    let places = match tracks {
        None => parts.heard(),
        Some(ids) => {
            let place = |id: &String| project.tracks.iter().position(|track| track.id == *id);
            let mut places = ids
                .iter()
                .map(|id| place(id).ok_or_else(|| ApiError::not_found("track", id)))
                .collect::<ApiResult<Vec<_>>>()?;
            places.sort_unstable();
            places.dedup();
            places
        }
    };
    if places.is_empty() { Err(nothing_to_render("The project")) } else { Ok(places) }
}
