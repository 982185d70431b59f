//! `POST /plugins/soundfont-render`: notes and a SoundFont to audio, before any fader.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use schemas::limits::MAX_TICK;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::render::Source;
use super::render_request::{checked_rate, checked_tail, rate_choices};
use super::soundfonts::download::chosen_headers;
use crate::auth::CurrentUser;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{JsonBytes, parse_object};
use crate::file_answer::FileAnswer;
use crate::permits::Caller;
use crate::projects::{ProjectControl, ProjectNote, ProjectSettings, ProjectTempo};
use crate::rendering::RenderError;
use crate::rendering::missing::MissingPreset;
use crate::rendering::track::{TrackChannels, TrackVoice, render_first};
use crate::state::AppState;

/// Names the presets that were not there.
const MISSING_PRESETS: HeaderName = HeaderName::from_static("x-soundfont-missing-presets");

/// Rate where the request names none, in hertz.
const SAMPLE_RATE_DEFAULT_HZ: u32 = 48_000;

/// Tempo at which a tick is 1/96000 second: times in seconds become ticks without an error
/// that a sample rate up to 96 kHz could show.
const SECONDS_BPM: f64 = 6_000.0;
const TICKS_PER_SECOND: f64 = 96_000.0;

/// What the ticks of notes and controls are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum TimeBase {
    /// 960ths of a quarter note; `tempo_map` says how long that is.
    #[default]
    Ticks,
    /// Seconds: `tick` and `length_ticks` are numbers of seconds, and there is no tempo map.
    Seconds,
}

/// Notes and what they are played with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SoundFontRenderRequest {
    /// Notes as in a project's MIDI item.
    #[schema(value_type = Vec<ProjectNote>)]
    notes: Vec<Value>,
    /// Controls as in a project's MIDI item.
    #[serde(default)]
    #[schema(value_type = Vec<ProjectControl>)]
    controls: Vec<Value>,
    /// Bank to play; left out: the default bank, which also stands in for a missing one.
    soundfont_id: Option<String>,
    /// SoundFont bank number, 0 by default; 128 holds drum kits.
    #[schema(value_type = u32, maximum = 128, required = false)]
    bank: Option<Value>,
    /// Program, 0 by default.
    #[schema(value_type = u32, maximum = 127, required = false)]
    program: Option<Value>,
    /// Tempo changes as in a project; 120 quarter notes a minute by default.
    #[schema(value_type = Vec<ProjectTempo>, required = false)]
    tempo_map: Option<Value>,
    /// What ticks are.
    #[serde(default)]
    time_base: TimeBase,
    /// 44100, 48000 (the default) or 96000 Hz.
    #[schema(schema_with = rate_choices)]
    sample_rate_hz: Option<u32>,
    /// Longest time in seconds that the sound may ring on after the last note; by default as long
    /// as the service allows. Silence ends it.
    tail_secs: Option<f64>,
    /// The engine's settings as in a project.
    #[schema(value_type = ProjectSettings, required = false)]
    settings: Option<Value>,
    /// `true`: four channels, left, right, and what the track sends to the reverb and the chorus of a
    /// mix. They belong to no loudspeakers: the file's channel mask is 0.
    #[serde(default)]
    sends: bool,
}

/// Renders notes with a SoundFont to a 32-bit float WAV file: the very samples that the engine
/// in the page computes for a track with these notes, before its fader.
#[utoipa::path(post, path = "/plugins/soundfont-render", tag = "plugins", request_body = SoundFontRenderRequest,
    responses((status = 200, description = "The sound", content_type = "audio/wav", headers(
            ("X-Soundfont-Id" = String, description = "The bank that was really played"),
            ("X-Soundfont-Fallback" = String, description = "`true` if it stood in for another"),
            ("X-Soundfont-Missing-Presets" = String, description = "Presets that the notes ask for and the bank lacks, and what \
             was played instead, such as `8:3=0:3, 5:9=none`; empty if there are none"))),
        (status = 422, description = "`soundfont_unusable` or `too_long`", body = Problem,
            content_type = "application/problem+json"),
        (status = 501, description = "`soundfont_render_unavailable`: switched off, or no SoundFont is installed",
            body = Problem, content_type = "application/problem+json"),
        CommonErrors))]
pub(super) async fn render(
    State(state): State<AppState>,
    user: CurrentUser,
    JsonBytes(body): JsonBytes,
) -> ApiResult<Response> {
    if !state.config.sound.soundfont_render {
        return Err(ApiError::NotImplemented {
            code: "soundfont_render_unavailable",
            detail: "Rendering with SoundFonts is switched off here (SF_SOUNDFONT_RENDER=off).".to_owned(),
        });
    }
    let (runtime, work_state, body_kib) = (Handle::current(), state.clone(), body.len() as u64 / 1024);
    let work = move |caller: &Caller| -> ApiResult<_> {
        // Parsed here, so that requests that wait hold no more than their bodies.
        let request: SoundFontRenderRequest = parse_object(&body)?;
        drop(body);
        let sample_rate_hz = checked_rate(request.sample_rate_hz.unwrap_or(SAMPLE_RATE_DEFAULT_HZ))?;
        let tail_max_secs = work_state.config.limits.tail_max_secs;
        let tail_secs = checked_tail(request.tail_secs, f64::INFINITY, tail_max_secs)?;
        let channels = if request.sends { TrackChannels::WithSends } else { TrackChannels::Stereo };
        let soundfont_id = request.soundfont_id.clone();
        let snapshot = runtime.block_on(work_state.sound.catalogue.of(&user.id))?;
        let document = project(request)?;
        let (_, project) = Source::Sent(document).into_project().map_err(in_terms_of_request)?;
        let opened = snapshot.open(&work_state, soundfont_id.as_deref())?;
        let (bank, chosen) = opened.ok_or(RenderError::NoSoundFont)?;
        // Without a name: the file is gone when the answer has been sent.
        let mut file = tempfile::tempfile_in(&work_state.config.storage.dir)?;
        let buffered = std::io::BufWriter::new(&mut file);
        let name = &chosen.soundfont.summary.soundfont_id;
        let mut prepare = |presets: &[(u16, u8)]| {
            work_state.sound.banks.prepare(&bank, name, presets, &mut || !caller.has_gone())
        };
        let voice = TrackVoice { bank: &bank, prepare: &mut prepare };
        let mut observer = |_| !caller.has_gone();
        let missing =
            render_first(&project, sample_rate_hz, tail_secs, channels, voice, buffered, &mut observer)?;
        Ok((file, chosen, missing))
    };
    let (file, chosen, missing) = state.sound.renders.run_weighted(body_kib, work).await?;
    let etag = format!("\"{}\"", uuid::Uuid::new_v4().simple());
    let answer = FileAnswer { file, etag, media_type: "audio/wav", save_as: None };
    let mut response = answer.respond(&HeaderMap::new())?;
    response.headers_mut().extend(chosen_headers(&chosen)?);
    response.headers_mut().insert(MISSING_PRESETS, missing_presets(&missing)?);
    Ok(response)
}

/// The value of [`MISSING_PRESETS`].
fn missing_presets(missing: &[MissingPreset]) -> ApiResult<HeaderValue> {
    let words = missing.iter().map(|one| match &one.played {
        Some(played) => format!("{}={}:{}", one.wanted, played.bank, played.program),
        None => format!("{}=none", one.wanted),
    });
    HeaderValue::from_str(&words.collect::<Vec<_>>().join(", ")).map_err(ApiError::internal)
}

/// The request as a project of one track, so that one schema judges both.
fn project(request: SoundFontRenderRequest) -> ApiResult<Value> {
    let in_seconds = request.time_base == TimeBase::Seconds;
    if in_seconds && request.tempo_map.is_some() {
        return Err(ApiError::bad_request(
            "tempo_map_in_seconds",
            "A tempo_map has no meaning where time_base is `seconds`; leave one of them out.",
        ));
    }
    let tempo_map = match request.tempo_map {
        Some(tempo_map) => tempo_map,
        None if in_seconds => json!([{"tick": 0, "bpm": SECONDS_BPM}]),
        None => json!([{"tick": 0, "bpm": dsp_core::tempo::DEFAULT_BPM}]),
    };
    let (mut notes, mut controls) = (request.notes, request.controls);
    if in_seconds {
        notes.iter_mut().chain(&mut controls).for_each(seconds_to_ticks);
    }
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_f64).unwrap_or(0.0);
    // A note must begin before its item's end.
    let note_end = |note: &Value| number(note, "tick") + number(note, "length_ticks").max(1.0);
    let ends = notes.iter().map(note_end).chain(controls.iter().map(|control| number(control, "tick")));
    let length_ticks = ends.fold(0.0, f64::max).clamp(0.0, f64::from(MAX_TICK)) as u64;
    let mut document = json!({
        "schema_version": schemas::SCHEMA_VERSION,
        "project_id": "soundfont-render",
        "tempo_map": tempo_map,
        "tracks": [{
            "id": "track",
            "kind": "instrument",
            "synth_engine": {
                "type": "soundfont",
                "bank": request.bank.unwrap_or_else(|| 0.into()),
                "program": request.program.unwrap_or_else(|| 0.into()),
            },
            "items": [{"type": "midi", "id": "item", "start_tick": 0, "length_ticks": length_ticks}],
        }],
    });
    let item = &mut document["tracks"][0]["items"][0];
    item["notes"] = notes.into();
    item["controls"] = controls.into();
    if let Some(settings) = request.settings {
        document["settings"] = settings;
    }
    Ok(document)
}

/// Seconds as ticks of [`SECONDS_BPM`]. What is no time stays as it is, for validation to refuse.
fn seconds_to_ticks(event: &mut Value) {
    let Some(fields) = event.as_object_mut() else { return };
    let seconds = |value: Option<&Value>| value.and_then(Value::as_f64);
    let start = seconds(fields.get("tick"));
    let ticks = |secs: f64| (secs * TICKS_PER_SECOND).round();
    if let (Some(start), Some(length)) = (start, seconds(fields.get("length_ticks"))) {
        // Rounded at both ends, so that notes that meet still do.
        fields.insert("length_ticks".into(), (ticks(start + length) - ticks(start)).into());
    }
    if let Some(start) = start {
        fields.insert("tick".into(), ticks(start).into());
    }
}

/// Pointers into the project as pointers into the request.
fn in_terms_of_request(error: ApiError) -> ApiError {
    let ApiError::Invalid { mut errors, .. } = error else { return error };
    for error in &mut errors {
        for prefix in ["/tracks/0/items/0", "/tracks/0/synth_engine"] {
            if let Some(rest) = error.pointer.strip_prefix(prefix) {
                error.pointer = rest.to_owned();
            }
        }
    }
    let first =
        errors.first().map_or(String::new(), |one| format!(" First, at {}: {}", one.pointer, one.detail));
    ApiError::Invalid {
        code: "invalid_notes",
        detail: format!("The notes cannot be played as they are ({} places).{first}", errors.len()),
        errors,
    }
}
