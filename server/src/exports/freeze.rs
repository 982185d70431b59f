//! Handler of `POST /multitrack/freeze`, which renders a track to audio and returns the audio track
//! that replaces it.

use axum::extract::State;
use axum::http::StatusCode;
use schemas::json::JsonText;
use schemas::project::FrozenSound;
use schemas::{Extra, Project};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::file_options::CheckedFile;
use super::frozen_track::{self, Stage};
use super::job::{Export, ExportJob, OpenedExport, nothing_to_render, run_task};
use super::request::ExportRequest;
use crate::audio::AudioFile;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult};
use crate::extract::{Json, LongFields, LongJson};
use crate::file_stem::file_stem;
use crate::raw_json;
use crate::rendering::missing::MissingSound;
use crate::rendering::mix::LeftOutOfRender;
use crate::rendering::parts::Part;
use crate::rendering::selection::Selection;
use crate::rendering::sources::{RenderedTracks, track_end};
use crate::state::AppState;
use crate::storage::ensure_room;
use crate::tasks::{StartedTask, TaskKind};

/// The kind of task that freezes a track.
pub(crate) const FREEZE: TaskKind = TaskKind { name: Freeze::KIND, run: run_task::<Freeze>, discard: None };

/// The track to freeze, and the options of the export.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct FreezeRequest {
    /// The project, and the options of the export.
    #[serde(flatten)]
    export: ExportRequest,
    /// Id of the track.
    track_id: String,
    /// Point in the signal path: `before_fader`, the default, or `after_fader`.
    #[serde(default)]
    stage: Stage,
}

impl LongFields for FreezeRequest {
    const NAMES: &'static [&'static str] = &["project"];
}

/// A frozen track: the result of the task.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Frozen {
    /// The rendered audio, as an audio file of the caller.
    file: AudioFile,
    /// The audio track that plays the file. It replaces the original track at the same index of the
    /// project. It is not stored.
    #[serde(serialize_with = "raw_json::serialize")]
    #[schema(value_type = Object)]
    track: JsonText,
    /// The field `frozen` of a project's track that plays the file and keeps its items, instrument
    /// and effects. `null` for `after_fader`, because the fader of the track would apply again.
    #[schema(value_type = Option<Object>)]
    frozen: Option<FrozenSound>,
    /// Parts of the project that could not be rendered.
    left_out: Vec<LeftOutOfRender>,
    /// Missing SoundFonts and presets of the project, and their replacements.
    missing_sounds: Vec<MissingSound>,
    /// The missing sounds and damaged samples as sentences. There are also warnings if the track is
    /// silent, or if it has too many fields that this version does not know.
    warnings: Vec<String>,
}

/// Renders a track, with its effects and its sends to the shared reverb and chorus, to an audio
/// file of the caller. The task's result is a `Frozen`. It contains a track that plays this file
/// and sounds like the original, and the field `frozen`, with which the original track plays the
/// file. If the track is frozen already, its items, instrument and effects are rendered again.
#[utoipa::path(post, path = "/multitrack/freeze", tag = "multitrack", request_body = FreezeRequest,
    responses((status = 202, description = "The task; its result is a `Frozen`", body = StartedTask),
        (status = 404, description = "The caller has no such project")))]
pub(super) async fn freeze(
    State(state): State<AppState>,
    user: CurrentUser,
    LongJson(request): LongJson<FreezeRequest>,
) -> ApiResult<(StatusCode, Json<StartedTask>)> {
    let operation = Freeze { track_id: request.track_id, stage: request.stage };
    let job = ExportJob::new(
        &state,
        &user,
        request.export,
        CheckedFile::default(),
        Selection::default(),
        operation,
    )
    .await?;
    job.start(&state, &user.id).await
}

/// Parameters of an export that renders one track to an audio file of the owner.
#[derive(Serialize, Deserialize)]
struct Freeze {
    track_id: String,
    stage: Stage,
}

impl Export for Freeze {
    const KIND: &'static str = "freeze";
    const IS_MIX: bool = false;
    type Answer = Frozen;

    fn prepare(&self, project: &mut Project) {
        if let Some(track) = project.tracks.iter_mut().find(|track| track.id == self.track_id) {
            track.frozen = None;
        }
    }

    fn run(self, opened_export: OpenedExport<'_>) -> ApiResult<Frozen> {
        let Self { track_id, stage } = self;
        let OpenedExport { document, project, .. } = &opened_export;
        let not_found = || ApiError::not_found("track", &track_id);
        let index = project.tracks.iter().position(|track| track.id == track_id).ok_or_else(not_found)?;
        let track = &project.tracks[index];
        if track.items.is_empty() {
            return Err(nothing_to_render(&format!("The track `{track_id}`"), "add notes or audio to it"));
        }
        if stage == Stage::AfterFader && track.sends.iter().any(|send| send.pre_fader) {
            let detail = format!(
                "The track `{track_id}` has a send before its fader. The frozen audio would contain the fader's gain, and the send \
                 would change; set `stage` to `before_fader`."
            );
            return Err(ApiError::Unprocessable { code: "send_before_fader", detail });
        }
        let mut sources = opened_export.sources()?;
        let mut parts = opened_export.parts(&mut sources, RenderedTracks::UpToFader(index))?;
        let part = match stage {
            Stage::BeforeFader => Part::BeforeFader(index),
            Stage::AfterFader => Part::AfterFader(index),
        };
        let end_frame = track_end(project, index, &mut sources)?;
        ensure_room(
            opened_export.state,
            opened_export.runtime,
            opened_export.state.blobs.root(),
            parts.file_bytes(),
        )?;
        let name = format!("{} (frozen)", file_stem(&track.name));
        let (file, report) = opened_export.render_to_audio(&name, "Rendering", |writer, observer| {
            parts.render(part, &mut sources, writer, observer)
        })?;
        let stored_track = document.view().list("tracks").nth(index).ok_or_else(not_found)?;
        let (track, has_left_out_fields) = frozen_track::freeze(stored_track, stage, &file.id, &name)?;
        let mut warnings = parts.warnings(report.is_silent);
        if has_left_out_fields {
            warnings.push(format!(
                "The track has more than {} bytes of fields that this version does not know; the fields beyond that limit were left out of `track`.",
                frozen_track::UNKNOWN_MAX_BYTES
            ));
        }
        let frozen = (stage == Stage::BeforeFader).then(|| FrozenSound {
            server_file_id: file.id.clone(),
            length_frames: frames_at_rate(end_frame, project.sample_rate_hz, file.sample_rate_hz),
            sample_rate_hz: Some(file.sample_rate_hz),
            tempo_map: project.tempo_map.clone(),
            extra: Extra::default(),
        });
        let (left_out, missing_sounds) = (parts.left_out(), parts.missing_sounds().to_vec());
        Ok(Frozen { file, track, frozen, left_out, missing_sounds, warnings })
    }
}

/// Converts a number of frames to another sample rate, rounded to the nearest number.
fn frames_at_rate(frames: u64, from_hz: u32, to_hz: u32) -> u64 {
    let [from_hz, to_hz] = [from_hz, to_hz].map(u128::from);
    ((u128::from(frames) * to_hz + from_hz / 2) / from_hz.max(1)) as u64
}
