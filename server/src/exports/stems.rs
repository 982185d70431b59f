//! Handler of `POST /multitrack/stems`, which renders each track's part of the mix into an archive.

use std::fs::File;
use std::io;

use axum::extract::State;
use axum::http::StatusCode;
use schemas::Project;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::file_options::FileOptions;
use super::job::{Export, ExportJob, OpenedExport, nothing_to_render, run_task};
use super::request::ExportRequest;
use super::stem_files;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, LongFields, LongJson};
use crate::file_stem::file_stem;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::LeftOutOfRender;
use crate::rendering::parts::{Part, Parts};
use crate::rendering::selection::Selection;
use crate::rendering::sources::RenderedTracks;
use crate::state::AppState;
use crate::storage::ensure_room;
use crate::tasks::{StartedTask, TaskKind};

/// The kind of task that renders stems.
pub(crate) const STEMS: TaskKind = TaskKind { name: Stems::KIND, run: run_task::<Stems>, discard: None };

/// Minimum file size in bytes at which an entry of the archive uses Zip64. It leaves space for
/// headers below 4 GiB.
const ZIP64_MIN_BYTES: u64 = u32::MAX as u64 - 65_536;

/// The tracks to render as stems, and the options of the export.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct StemsRequest {
    /// Format, quality and tags of the files.
    #[serde(flatten)]
    file: FileOptions,
    /// The project, and the options of the export.
    #[serde(flatten)]
    export: ExportRequest,
    /// Ids of tracks, buses and groups; by default those of all tracks that play something and are
    /// not muted. The stem of a bus or group contains the signal that passes through it.
    tracks: Option<Vec<String>>,
    /// Whether each track passes through the master's effects and limiter, as if only this track
    /// played; false by default. Such stems do not add up to the mix.
    #[serde(default)]
    through_master: bool,
}

impl LongFields for StemsRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// Stems in an archive: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Stems)]
pub(super) struct StemsAnswer {
    /// Id of the archive.
    stems_id: String,
    /// Path to download the archive. The ten newest archives of a user are kept.
    url: String,
    /// Size of the archive in bytes.
    size_bytes: u64,
    /// Sample rate of the stems in hertz.
    sample_rate_hz: u32,
    /// Length of each stem in seconds.
    duration_secs: f64,
    /// The stems, in the order of their tracks.
    stems: Vec<Stem>,
    /// Parts of the project that could not be rendered.
    left_out: Vec<LeftOutOfRender>,
    /// Missing SoundFonts and presets of the project, and their replacements.
    missing_sounds: Vec<MissingSound>,
    /// The missing sounds and damaged samples as sentences. There is also a warning if all stems
    /// are silent.
    warnings: Vec<String>,
}

/// The audio file of one track in the archive.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stem {
    /// Id of the stem's track.
    track_id: String,
    /// Name of the stem's file in the archive.
    file_name: String,
    /// Highest magnitude of any sample; 1 is full scale.
    peak: f64,
    /// Gated loudness in LUFS; null for silence.
    lufs: Option<f64>,
    /// True peak in dBTP; null for silence.
    true_peak_db: Option<f64>,
}

/// Renders each track's part of the mix to a separate file. A part includes the track's fader, its
/// sends, buses and groups, and the master's fader. It includes the master's effects and limiter
/// only if `through_master` is set. All files begin at the start of the song and have the same
/// length. If tracks share only faders and reverbs, the sum of the files is the mix. The task's
/// result is a `Stems`.
#[utoipa::path(post, path = "/multitrack/stems", tag = "multitrack", request_body = StemsRequest,
    responses((status = 202, description = "The task; its result is a `Stems`", body = StartedTask),
        (status = 404, description = "The caller has no such project")))]
pub(super) async fn stems(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<StemsRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let operation = Stems { tracks: request.tracks, through_master: request.through_master };
    let job =
        ExportJob::new(&state, &user, request.export, request.file.check()?, Selection::default(), operation)
            .await?;
    job.start(&state, &user.id).await
}

/// Renders each track into an archive.
#[derive(Serialize, Deserialize)]
struct Stems {
    tracks: Option<Vec<String>>,
    #[serde(default)]
    through_master: bool,
}

impl Export for Stems {
    const KIND: &'static str = "stems";
    const IS_MIX: bool = false;
    type Answer = StemsAnswer;

    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<StemsAnswer> {
        let OpenedExport { state, owner_id, client, project, options, .. } = &opened_export;
        let is_needed = |index: usize| {
            let track = &project.tracks[index];
            self.tracks.as_ref().map_or(!track.mute, |ids| ids.contains(&track.id))
        };
        let mut sources = opened_export.sources()?;
        let mut parts = opened_export.parts(&mut sources, RenderedTracks::Routed(&is_needed))?;
        let tracks = track_indices(project, &parts, self.tracks)?;

        // The disk must have space for the archive, plus one stem at a time, which a compressed
        // format writes twice.
        let bytes = parts.file_bytes().saturating_mul(tracks.len() as u64 + 2);
        ensure_room(state, opened_export.runtime, state.blobs.root(), bytes)?;
        let stems_id = uuid::Uuid::new_v4().simple().to_string();
        let key = stem_files::key(owner_id, &stems_id)?;
        let mut writer = state.blobs.writer(&key)?;
        let mut zip = ZipWriter::new(&mut writer);
        let (mut stems, mut frames, mut is_silent) = (Vec::new(), 0, true);
        for (number, &index) in tracks.iter().enumerate() {
            let track = &project.tracks[index];
            // The number distinguishes tracks with the same name.
            let file_name = options.format.file_name(&format!("{:02} {}", index + 1, file_stem(&track.name)));
            let step = format!("Rendering {file_name}");
            let (stem, report) = opened_export.render(|writer| {
                let part = match self.through_master {
                    true => Part::ThroughMaster(index),
                    false => Part::Stem(index),
                };
                parts.render(part, &mut sources, writer, &mut |progress| {
                    client.report((number as f64 + progress) / tracks.len() as f64, &step)
                })
            })?;
            let mut file = File::open(stem.temporary())?;
            let entry = SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Stored)
                .last_modified_time(zip::DateTime::default())
                .large_file(file.metadata()?.len() >= ZIP64_MIN_BYTES);
            zip.start_file(&file_name, entry)?;
            io::copy(&mut file, &mut zip)?;
            let measurements = report.measured;
            (frames, is_silent) = (measurements.frames, is_silent && report.is_silent);
            stems.push(Stem {
                track_id: track.id.clone(),
                file_name,
                peak: f64::from(measurements.peak),
                lufs: measurements.integrated_lufs,
                true_peak_db: measurements.true_peak_dbtp,
            });
        }
        zip.finish()?;
        let size_bytes = writer.finish()?.metadata()?.len();
        stem_files::keep_newest(&state.blobs, owner_id)?;
        Ok(StemsAnswer {
            url: stem_files::url(&stems_id),
            stems_id,
            size_bytes,
            sample_rate_hz: options.sample_rate_hz,
            duration_secs: frames as f64 / f64::from(options.sample_rate_hz),
            stems,
            left_out: parts.left_out(),
            missing_sounds: parts.missing_sounds().to_vec(),
            warnings: parts.warnings(is_silent),
        })
    }
}

/// Returns the indices of the requested tracks.
fn track_indices(project: &Project, parts: &Parts, tracks: Option<Vec<String>>) -> ApiResult<Vec<usize>> {
    let indices = match tracks {
        None => parts.audible_tracks(),
        Some(ids) => {
            let index = |id: &String| project.tracks.iter().position(|track| track.id == *id);
            let mut indices = ids
                .iter()
                .map(|id| index(id).ok_or_else(|| ApiError::not_found("track", id)))
                .collect::<ApiResult<Vec<_>>>()?;
            indices.sort_unstable();
            indices.dedup();
            indices
        }
    };
    match indices.is_empty() {
        true => Err(nothing_to_render("The project", "add notes or audio to a track that is not muted")),
        false => Ok(indices),
    }
}
