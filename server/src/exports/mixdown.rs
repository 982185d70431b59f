//! Handler of `POST /multitrack/mixdown`, which renders a song to an audio file of its owner.

use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::file_options::CheckedFile;
use super::job::{Export, ExportJob, OpenedExport, run_task};
use super::request::{ExportRequest, SelectionOptions};
use crate::audio::AudioFile;
use crate::auth::CurrentUser;
use crate::error::ApiResult;
use crate::extract::{Json, LongFields, LongJson};
use crate::file_stem::file_stem;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::{self, LeftOutOfRender};
use crate::rendering::normalization::NormalizationReport;
use crate::state::AppState;
use crate::tasks::{StartedTask, TaskKind};

/// The kind of task that makes a mixdown.
pub(crate) const MIXDOWN: TaskKind =
    TaskKind { name: Mixdown::KIND, run: run_task::<Mixdown>, discard: None };

/// The song to mix down, and the options of the export.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct MixdownRequest {
    /// Range and tracks to render.
    #[serde(flatten)]
    selection: SelectionOptions,
    /// The project, and the options of the export.
    #[serde(flatten)]
    export: ExportRequest,
    /// Name of the audio file; by default the name of the project.
    name: Option<String>,
}

impl LongFields for MixdownRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// A mixdown: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Mixdown)]
pub(super) struct MixdownAnswer {
    /// The mixdown, as an audio file of the caller.
    file: AudioFile,
    /// Gated loudness in LUFS; null for silence.
    lufs: Option<f64>,
    /// True peak in dBTP; null for silence.
    true_peak_db: Option<f64>,
    /// How the mix was normalized to a target loudness; null if it was not.
    normalization: Option<NormalizationReport>,
    /// Parts of the project that could not be rendered.
    left_out: Vec<LeftOutOfRender>,
    /// Missing SoundFonts and presets of the project, and their replacements.
    missing_sounds: Vec<MissingSound>,
    /// The missing sounds and damaged samples as sentences. There is also a warning if the file is
    /// silent.
    warnings: Vec<String>,
}

/// Mixes a song down to an audio file of the caller, for use in clips of this song or another. The
/// task's result is a `Mixdown`.
#[utoipa::path(post, path = "/multitrack/mixdown", tag = "multitrack", request_body = MixdownRequest,
    responses((status = 202, description = "The task; its result is a `Mixdown`", body = StartedTask),
        (status = 404, description = "The caller has no such project")))]
pub(super) async fn mixdown(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<MixdownRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let operation = Mixdown { name: request.name };
    let job = ExportJob::new(
        &state,
        &user,
        request.export,
        CheckedFile::default(),
        request.selection.check()?,
        operation,
    )
    .await?;
    job.start(&state, &user.id).await
}

/// Renders the mix to an audio file of the owner.
#[derive(Serialize, Deserialize)]
struct Mixdown {
    name: Option<String>,
}

impl Export for Mixdown {
    const KIND: &'static str = "mixdown";
    const IS_MIX: bool = true;
    type Answer = MixdownAnswer;

    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<MixdownAnswer> {
        let OpenedExport { project, options, .. } = &opened_export;
        let mut sources = opened_export.sources()?;
        let stem = file_stem(self.name.as_deref().unwrap_or(&project.name));
        let (file, report) = opened_export.render_to_audio(&stem, "Mixing", |writer, observer| {
            let start_time = Instant::now();
            let report = mix::render(project, options, &mut sources, writer, observer)?;
            let sound_secs = report.file.measured.frames as f64 / f64::from(options.sample_rate_hz);
            opened_export.state.metrics.rendered("mixdown", start_time.elapsed(), sound_secs);
            Ok(report)
        })?;
        Ok(MixdownAnswer {
            file,
            lufs: report.file.measured.integrated_lufs,
            true_peak_db: report.file.measured.true_peak_dbtp,
            normalization: report.file.normalization,
            warnings: report.warnings(),
            left_out: report.left_out,
            missing_sounds: report.missing_sounds,
        })
    }
}
