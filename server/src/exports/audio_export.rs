//! Handler of `POST /audio/export`, which converts an audio file of the caller.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use schemas::json::JsonText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::client::Client;
use super::file_options::FileOptions;
use super::new_render::NewRender;
use super::queries::RenderQuery;
use super::render::DEFAULTS;
use super::render_files;
use super::rendered_file::RenderedFile;
use super::sound_options::{FileSettings, SoundOptions};
use super::sources::StorageWorkspace;
use super::unknown_options::refuse_unknown;
use crate::audio::{self, OpenedFile};
use crate::auth::CurrentUser;
use crate::encoding::loudness_curve::LoudnessCurve;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{Json, Query};
use crate::permits::Caller;
use crate::rendering::channel_check::ChannelReport;
use crate::rendering::convert::convert;
use crate::rendering::normalization::NormalizationReport;
use crate::rendering::selection::Selection;
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskContext, TaskKind};

/// The kind of task that converts an audio file.
pub(crate) const AUDIO_EXPORT: TaskKind = TaskKind { name: "audio-export", run: run_task, discard: None };

/// The file to convert, and the options of the export.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct AudioExportRequest {
    /// Id of an audio file of the caller.
    file_id: String,
    /// Format, quality and tags of the converted file.
    #[serde(flatten)]
    file: FileOptions,
    /// Sample format, dither, loudness and sample rate of the converted file.
    #[serde(flatten)]
    sound: SoundOptions,
    /// Options that this version does not know.
    #[serde(flatten)]
    #[schema(ignore)]
    unknown_fields: Map<String, Value>,
}

/// The result of a conversion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AudioExport)]
pub(super) struct AudioExportAnswer {
    /// The converted file.
    #[serde(flatten)]
    file: RenderedFile,
    /// Warnings, as sentences.
    warnings: Vec<String>,
    /// Measurements and hashes of the file.
    receipt: AudioExportReceipt,
}

/// Measurements and hashes of a converted file.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AudioExportReceipt {
    /// Highest absolute value of any sample; 1 is full scale.
    peak: f64,
    /// Number of samples beyond full scale. In files of integers they were clipped to it.
    clipped_samples: u64,
    /// Loudness range in LU (EBU Tech 3342).
    loudness_range_lu: f64,
    /// Highest loudness of any 400 ms in LUFS; null for silence.
    max_momentary_lufs: Option<f64>,
    /// Highest loudness of any 3 seconds in LUFS; null for silence.
    max_short_term_lufs: Option<f64>,
    /// Loudness and peaks over time.
    curve: LoudnessCurve,
    /// SHA-256 of the file that was converted, in hexadecimal.
    source_sha256: String,
    /// SHA-256 in hexadecimal of the audio data of a WAV file, without its header, or of the
    /// decoded samples of a file in another format.
    pcm_sha256: String,
    /// Number of frames in the file.
    frames: u64,
    /// How the file was normalized to a target loudness; null if it was not.
    normalization: Option<NormalizationReport>,
    /// How the file sounds in mono; null if `channel_check` was not set.
    channels: Option<ChannelReport>,
}

/// Converts an audio file of the caller: sample rate, loudness, dither, format and tags. The result
/// is a stereo file among the caller's renders.
#[utoipa::path(post, path = "/audio/export", tag = "audio", params(RenderQuery), request_body = AudioExportRequest,
    responses((status = 200, body = AudioExportAnswer), (status = 202, body = StartedTask),
        (status = 404, description = "The caller has no such file", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "`unsupported_sample_rate`", body = Problem,
            content_type = "application/problem+json")))]
pub(super) async fn export(
    State(state): State<AppState>,
    user: CurrentUser,
    Query(query): Query<RenderQuery>,
    Json(request): Json<AudioExportRequest>,
) -> ApiResult<Response> {
    let AudioExportRequest { file_id, file, sound, unknown_fields } = request;
    refuse_unknown(unknown_fields.iter())?;
    let settings = FileSettings::check(file.check()?, sound, DEFAULTS)?;
    let job = AudioExportJob { file_id, settings };
    audio::require(&state, &user.id, &job.file_id).await?;
    if query.asynchronous {
        let input = serde_json::to_value(&job).map_err(ApiError::internal)?;
        let task_id = state.tasks.start(&user.id, AUDIO_EXPORT.name, &input).await?;
        return Ok((axum::http::StatusCode::ACCEPTED, Json(StartedTask { task_id })).into_response());
    }
    let (runtime, permits) = (Handle::current(), state.exports.renders.clone());
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| job.run(&state, &runtime, &user.id, Client::Caller(caller));
    Ok(Json(permits.run_for(&owner_id, 0, work).await?).into_response())
}

/// A checked request. It is the input of the task.
#[derive(Serialize, Deserialize)]
struct AudioExportJob {
    file_id: String,
    settings: FileSettings,
}

fn run_task(state: &AppState, task: &TaskContext, input: Value) -> ApiResult<JsonText> {
    let job: AudioExportJob = serde_json::from_value(input).map_err(ApiError::internal)?;
    let answer = job.run(state, task.runtime(), task.owner_id(), Client::Task(task))?;
    JsonText::write(&answer).map_err(ApiError::internal)
}

impl AudioExportJob {
    /// Converts the file. Blocks.
    fn run(
        self,
        state: &AppState,
        runtime: &Handle,
        owner_id: &str,
        client: Client<'_>,
    ) -> ApiResult<AudioExportAnswer> {
        let OpenedFile { name, sha256, mut samples } =
            audio::open_samples(state, runtime, owner_id, &self.file_id)?;
        let shape = samples.shape();
        let options = self.settings.options(shape.sample_rate_hz, Selection::default(), 0.0);
        let mut new = NewRender::create(state, owner_id, &options)?;
        client.report(0.0, "Converting");
        let mut workspace = StorageWorkspace { state, runtime };
        let mut observer = |progress| client.report(progress, "Converting");
        let report = convert(&mut samples, shape, &options, &mut workspace, &mut new.writer, &mut observer)?;
        let measurements = &report.measured;
        let mut warnings = samples.warnings().to_vec();
        warnings.extend(report.warnings(measurements.peak == 0.0));
        let answer = new.finish(stem(&name), None, &options, &report, |file| AudioExportAnswer {
            file,
            warnings,
            receipt: AudioExportReceipt {
                peak: f64::from(measurements.peak),
                clipped_samples: report.clipped_samples,
                loudness_range_lu: measurements.range_lu,
                max_momentary_lufs: measurements.max_momentary_lufs,
                max_short_term_lufs: measurements.max_short_term_lufs,
                curve: measurements.curve.clone(),
                source_sha256: sha256,
                pcm_sha256: measurements.pcm_sha256.clone(),
                frames: measurements.frames,
                normalization: report.normalization,
                channels: report.channels.clone(),
            },
        })?;
        render_files::keep_newest(state, owner_id, 1)?;
        Ok(answer)
    }
}

/// Returns the name of a file without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
