//! Handler of `POST /plugins/soundfont-render`, which renders notes with a SoundFont, before any
//! fader.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use schemas::Project;
use schemas::json::{JsonText, ObjectWriter};
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::notes::{Notes, SAMPLE_RATE_DEFAULT_HZ, TimeBase, empty_list};
use super::request::checked_tail;
use super::sound_options::{checked_rate, rate_choices};
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult, Problem};
use crate::extract::{JsonBytes, LongFields, parse_long};
use crate::large_answer;
use crate::permits::Caller;
use crate::projects::{ProjectControl, ProjectNote, ProjectSettings, ProjectTempo};
use crate::rendering::RenderError;
use crate::rendering::missing::MissingPreset;
use crate::rendering::track::{TrackChannels, TrackInstrument, render_first};
use crate::soundfonts::chosen_headers;
use crate::state::AppState;
use crate::storage::RoomChecked;

/// Header that lists missing presets and their replacements.
const MISSING_PRESETS: HeaderName = HeaderName::from_static("x-soundfont-missing-presets");

/// Audio format of the answer.
const FORMAT: AudioFormat = AudioFormat::Wav;

/// Notes, and the SoundFont to play them with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SoundFontRenderRequest {
    /// Notes, as in a MIDI item of a project.
    #[schema(value_type = Vec<ProjectNote>)]
    notes: JsonText,
    /// Controls, as in a MIDI item of a project.
    #[serde(default = "empty_list")]
    #[schema(value_type = Vec<ProjectControl>)]
    controls: JsonText,
    /// Id of the SoundFont to play. By default it is the default SoundFont, which also replaces a
    /// missing one.
    soundfont_id: Option<String>,
    /// SoundFont bank number, 0 by default; bank 128 contains the drum kits.
    #[schema(value_type = u32, maximum = 128, required = false)]
    bank: Option<Value>,
    /// Program number, 0 by default.
    #[schema(value_type = u32, maximum = 127, required = false)]
    program: Option<Value>,
    /// Tempo changes as in a project; by default 120 quarter notes per minute.
    #[schema(value_type = Vec<ProjectTempo>, required = false)]
    tempo_map: Option<JsonText>,
    /// Unit of the times.
    #[serde(default)]
    time_base: TimeBase,
    /// 44100, 48000 (the default) or 96000 Hz.
    #[schema(schema_with = rate_choices)]
    sample_rate_hz: Option<u32>,
    /// Maximum tail after the last note, in seconds. The default is the maximum that the service
    /// allows. The tail ends earlier if it becomes silent.
    tail_secs: Option<f64>,
    /// Settings of the engine, as in a project.
    #[schema(value_type = ProjectSettings, required = false)]
    settings: Option<JsonText>,
    /// If `true`, the file has four channels: left, right, and the sends to the reverb and to the
    /// chorus of a mix. Its channel mask is 0, because sends have no loudspeaker position.
    #[serde(default)]
    sends: bool,
}

impl LongFields for SoundFontRenderRequest {
    const NAMES: &'static [&'static str] = &["notes", "controls", "tempo_map", "settings"];
}

/// Renders notes with a SoundFont to a 32-bit float WAV file. The samples are identical to those of
/// a track with these notes in the page, before its fader.
#[utoipa::path(post, path = "/plugins/soundfont-render", tag = "plugins", request_body = SoundFontRenderRequest,
    responses((status = 200, description = "The sound", content_type = FORMAT.media_type(), headers(
            ("X-Soundfont-Id" = String, description = "The SoundFont that was played"),
            ("X-Soundfont-Fallback" = String, description = "`true` if it replaced a missing SoundFont"),
            ("X-Soundfont-Missing-Presets" = String, description = "Presets that the notes select but the SoundFont does not have, and what \
             was played instead, such as `8:3=0:3, 5:9=none`; empty if there are none"))),
        (status = 422, description = "`soundfont_unusable`, `too_long`, `too_much_memory` or `too_much_work`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`soundfont_render_unavailable`: disabled, or no SoundFont is installed",
            body = Problem, content_type = "application/problem+json")))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    if !state.config.sound.soundfont_render {
        return Err(ApiError::NotImplemented {
            code: "soundfont_render_unavailable",
            detail: "Rendering with SoundFonts is disabled here (SF_SOUNDFONT_RENDER=off).".to_owned(),
        });
    }
    let (runtime, work_state, body_kib) = (Handle::current(), state.clone(), body.len() as u64 / 1024);
    let owner_id = user.id.clone();
    let work = move |caller: &Caller| -> ApiResult<_> {
        // The body is parsed after the wait, so that waiting requests keep only their bodies in
        // memory.
        let request: SoundFontRenderRequest = parse_long(body)?;
        let sample_rate_hz = checked_rate(FORMAT, request.sample_rate_hz.unwrap_or(SAMPLE_RATE_DEFAULT_HZ))?;
        let tail_max_secs = work_state.config.limits.tail_max_secs;
        let tail_secs = checked_tail(request.tail_secs, f64::INFINITY, tail_max_secs)?;
        let channels = if request.sends { TrackChannels::WithSends } else { TrackChannels::Stereo };
        let soundfont_id = request.soundfont_id.clone();
        let snapshot = runtime.block_on(work_state.soundfonts.catalogue.of_user(&user.id))?;
        let project = request.into_project()?;
        let opened_banks = snapshot.open(&work_state, soundfont_id.as_deref())?;
        let (bank, chosen) = opened_banks.ok_or(RenderError::NoSoundFont)?;
        // The file is unnamed, so the operating system deletes it once the answer has been sent.
        let mut file = tempfile::tempfile_in(&work_state.config.storage.dir)?;
        let buffered_writer = std::io::BufWriter::new(RoomChecked::new(&work_state, &mut file));
        let name = &chosen.soundfont.summary.soundfont_id;
        let mut prepare = |presets: &[(u16, u8)]| {
            work_state.soundfonts.banks.prepare(&bank, name, presets, &mut || !caller.has_disconnected())
        };
        let budget = work_state.exports.budget.share_of(&user.id);
        let voice = TrackInstrument { bank: &bank, prepare: &mut prepare, budget };
        let mut observer = |_| !caller.has_disconnected();
        let missing = render_first(
            &project,
            sample_rate_hz,
            tail_secs,
            channels,
            voice,
            buffered_writer,
            &mut observer,
        )?;
        Ok((large_answer::sound(&work_state, &user.id, FORMAT.media_type(), file)?, chosen, missing))
    };
    let (mut response, chosen, missing) = state.exports.renders.run_for(&owner_id, body_kib, work).await?;
    response.headers_mut().extend(chosen_headers(&chosen)?);
    response.headers_mut().insert(MISSING_PRESETS, missing_presets(&missing)?);
    Ok(response)
}

/// Returns the value of the response header [`MISSING_PRESETS`].
fn missing_presets(missing: &[MissingPreset]) -> ApiResult<HeaderValue> {
    let entries = missing.iter().map(|preset| match &preset.played {
        Some(played) => format!("{}={}:{}", preset.requested, played.bank, played.program),
        None => format!("{}=none", preset.requested),
    });
    HeaderValue::from_str(&entries.collect::<Vec<_>>().join(", ")).map_err(ApiError::internal)
}

impl SoundFontRenderRequest {
    fn into_project(self) -> ApiResult<Project> {
        let mut engine_text = String::new();
        let mut engine = ObjectWriter::new(&mut engine_text);
        engine.text("type", "soundfont");
        for (name, value) in [("bank", self.bank), ("program", self.program)] {
            engine.json(name, &value.unwrap_or_else(|| 0.into()).to_string());
        }
        engine.end();
        let Self { notes, controls, tempo_map, time_base, settings, .. } = self;
        let synth_engine = Some(engine_text);
        Notes { notes, controls, tempo_map, time_base, synth_engine, settings }.into_project()
    }
}
