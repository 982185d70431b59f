//! Handler of `POST /plugins/soundfont-render`, which renders notes with a SoundFont, before any
//! fader.

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use schemas::json::{JsonKind, JsonText, ObjectWriter, View, push_list};
use schemas::limits::MAX_TICK;
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::request::checked_tail;
use super::sound_options::{checked_rate, rate_choices};
use crate::auth::CurrentUser;
use crate::encoding::audio_format::AudioFormat;
use crate::error::{ApiError, ApiResult, CommonErrors, Problem};
use crate::extract::{JsonBytes, LongFields, parse_long, read_text};
use crate::large_answer;
use crate::permits::Caller;
use crate::plural::counted;
use crate::projects::{ProjectControl, ProjectNote, ProjectSettings, ProjectTempo, RequestedProject};
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

/// Default sample rate in hertz.
const SAMPLE_RATE_DEFAULT_HZ: u32 = 48_000;

/// Tempo of requests with times in seconds. At this tempo a tick is 1/96000 second, so that times
/// become ticks with an error below one frame at rates up to 96 kHz.
const SECONDS_BPM: f64 = 6_000.0;
const TICKS_PER_SECOND: f64 = 96_000.0;

/// Unit of `tick` and `length_ticks`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum TimeBase {
    /// 960ths of a quarter note. The `tempo_map` determines the length of a quarter note.
    #[default]
    Ticks,
    /// Seconds. `tick` and `length_ticks` are numbers of seconds, and there is no tempo map.
    Seconds,
}

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
    /// SoundFont bank number, 0 by default; 128 has the drum kits.
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
    /// Longest tail after the last note, in seconds; by default as long as the service allows. The
    /// tail ends earlier if it becomes silent.
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

fn empty_list() -> JsonText {
    JsonText::of_value(&Value::Array(Vec::new()))
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
        let document = build_project(request)?;
        let (_, project) = RequestedProject::Sent(document).into_project().map_err(with_request_pointers)?;
        let opened = snapshot.open(&work_state, soundfont_id.as_deref())?;
        let (bank, chosen) = opened.ok_or(RenderError::NoSoundFont)?;
        // The file is unnamed, so the operating system deletes it once the answer has been sent.
        let mut file = tempfile::tempfile_in(&work_state.config.storage.dir)?;
        let buffered = std::io::BufWriter::new(RoomChecked::new(&work_state, &mut file));
        let name = &chosen.soundfont.summary.soundfont_id;
        let mut prepare = |presets: &[(u16, u8)]| {
            work_state.soundfonts.banks.prepare(&bank, name, presets, &mut || !caller.has_disconnected())
        };
        let budget = work_state.exports.budget.share_of(&user.id);
        let voice = TrackInstrument { bank: &bank, prepare: &mut prepare, budget };
        let mut observer = |_| !caller.has_disconnected();
        let missing =
            render_first(&project, sample_rate_hz, tail_secs, channels, voice, buffered, &mut observer)?;
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

/// Builds a project of one track from the request, so that the project's schema validates it.
fn build_project(request: SoundFontRenderRequest) -> ApiResult<JsonText> {
    let in_seconds = request.time_base == TimeBase::Seconds;
    if in_seconds && request.tempo_map.is_some() {
        return Err(ApiError::bad_request(
            "tempo_map_in_seconds",
            "`tempo_map` has no effect if `time_base` is `seconds`; leave one of them out.",
        ));
    }
    let bpm = if in_seconds { SECONDS_BPM } else { dsp_core::tempo::DEFAULT_BPM };
    let events = |name: &str, list: JsonText| -> ApiResult<JsonText> {
        if list.view().kind() != JsonKind::List {
            let detail = format!("The body is not the JSON that is expected here: `{name}` is not a list.");
            return Err(ApiError::bad_request("unexpected_json", detail));
        }
        if in_seconds { seconds_to_ticks(&list) } else { Ok(list) }
    };
    let (notes, controls) = (events("notes", request.notes)?, events("controls", request.controls)?);
    let number = |event: View<'_>, field: &str| event.get(field).and_then(View::as_number).unwrap_or(0.0);
    // A note must begin before the end of its item.
    let note_end = |note: View<'_>| number(note, "tick") + number(note, "length_ticks").max(1.0);
    let note_ends = notes.view().entries().map(note_end);
    let ends = note_ends.chain(controls.view().entries().map(|control| number(control, "tick")));
    let length_ticks = ends.fold(0.0, f64::max).clamp(0.0, f64::from(MAX_TICK)) as u64;

    let mut text = String::with_capacity(notes.as_str().len() + controls.as_str().len() + 1024);
    let mut project = ObjectWriter::new(&mut text);
    project.json("schema_version", &schemas::SCHEMA_VERSION.to_string());
    project.text("project_id", "soundfont-render");
    match &request.tempo_map {
        Some(tempo_map) => project.json("tempo_map", tempo_map.as_str()),
        None => project.json("tempo_map", &format!(r#"[{{"tick":0,"bpm":{bpm:?}}}]"#)),
    }
    let tracks = project.named("tracks");
    tracks.push('[');
    let mut track = ObjectWriter::new(tracks);
    track.text("id", "track");
    track.text("kind", "instrument");
    let mut engine = ObjectWriter::new(track.named("synth_engine"));
    engine.text("type", "soundfont");
    for (name, value) in [("bank", request.bank), ("program", request.program)] {
        engine.json(name, &value.unwrap_or_else(|| 0.into()).to_string());
    }
    engine.end();
    let items = track.named("items");
    items.push('[');
    let mut item = ObjectWriter::new(items);
    item.text("type", "midi");
    item.text("id", "item");
    item.json("start_tick", "0");
    item.json("length_ticks", &length_ticks.to_string());
    item.json("notes", notes.as_str());
    item.json("controls", controls.as_str());
    item.end();
    items.push(']');
    track.end();
    tracks.push(']');
    if let Some(settings) = &request.settings {
        project.json("settings", settings.as_str());
    }
    project.end();
    read_text(text.as_bytes())
}

/// Converts the times of events from seconds to ticks at [`SECONDS_BPM`]. Invalid values are kept,
/// because validation refuses them later.
fn seconds_to_ticks(events: &JsonText) -> ApiResult<JsonText> {
    let mut text = String::with_capacity(events.as_str().len());
    push_list(&mut text, events.view().entries(), |out, event| {
        if event.kind() != JsonKind::Object {
            out.push_str(event.as_json());
            return true;
        }
        let seconds = |field: &str| event.get(field).and_then(View::as_number);
        let ticks = |secs: f64| (secs * TICKS_PER_SECOND).round();
        let start = seconds("tick");
        // Both start and end are rounded, so that adjacent notes stay adjacent.
        let length =
            start.zip(seconds("length_ticks")).map(|(start, length)| ticks(start + length) - ticks(start));
        let mut object = ObjectWriter::new(out);
        for (key, value) in event.fields() {
            let converted = match key.raw_name() {
                "tick" => start.map(ticks),
                "length_ticks" => length,
                _ => None,
            };
            match converted {
                Some(ticks) => object.json(key.raw_name(), &Value::from(ticks).to_string()),
                None => object.copy(key, value),
            }
        }
        object.end();
        true
    });
    read_text(text.as_bytes())
}

/// Changes pointers into the built project into pointers into the request.
fn with_request_pointers(error: ApiError) -> ApiError {
    let ApiError::Invalid { mut errors, .. } = error else { return error };
    for error in &mut errors {
        for prefix in ["/tracks/0/items/0", "/tracks/0/synth_engine"] {
            if let Some(request_pointer) = error.pointer.strip_prefix(prefix) {
                error.pointer = request_pointer.to_owned();
            }
        }
    }
    let first = errors.first().map_or(String::new(), |error| {
        let location = if error.pointer.is_empty() { "the request" } else { &error.pointer };
        format!(" The first error is at {location}: {}", error.detail)
    });
    ApiError::Invalid {
        code: "invalid_notes",
        detail: format!("The notes are invalid ({}).{first}", counted(errors.len(), "error")),
        errors,
    }
}
