//! The notes of a request, which an instrument plays. They become a project of one track, so that
//! the project's schema validates them.

use schemas::Project;
use schemas::json::{JsonKind, JsonText, ObjectWriter, View, push_list};
use schemas::limits::MAX_TICK;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};
use crate::extract::read_text;
use crate::plural::counted;
use crate::projects::RequestedProject;

/// Default sample rate in hertz.
pub(super) const SAMPLE_RATE_DEFAULT_HZ: u32 = 48_000;

/// Tempo of requests with times in seconds. At this tempo a tick is 1/96000 second, so that times
/// become ticks with an error below one frame at rates up to 96 kHz.
const SECONDS_BPM: f64 = 6_000.0;
const TICKS_PER_SECOND: f64 = 96_000.0;

/// Unit of `tick` and `length_ticks`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TimeBase {
    /// 960ths of a quarter note. The `tempo_map` determines the length of a quarter note.
    #[default]
    Ticks,
    /// Seconds. `tick` and `length_ticks` are numbers of seconds, and there is no tempo map.
    Seconds,
}

/// Fields of a request that are converted to a project.
pub(super) struct Notes {
    /// Notes, as in a MIDI item of a project.
    pub(super) notes: JsonText,
    /// Controls, as in a MIDI item of a project.
    pub(super) controls: JsonText,
    /// Tempo changes as in a project.
    pub(super) tempo_map: Option<JsonText>,
    /// Unit of the times.
    pub(super) time_base: TimeBase,
    /// `synth_engine` of the track, if it has one.
    pub(super) synth_engine: Option<String>,
    /// Settings of the engine, as in a project.
    pub(super) settings: Option<JsonText>,
}

/// Returns an empty JSON list, the default of optional lists.
pub(super) fn empty_list() -> JsonText {
    JsonText::of_value(&Value::Array(Vec::new()))
}

impl Notes {
    /// Returns the project of one track.
    ///
    /// # Errors
    /// 400 `invalid_notes` with pointers into the request; 400 `tempo_map_in_seconds`.
    pub(super) fn into_project(self) -> ApiResult<Project> {
        let document = build_project(self)?;
        let (_, project) = RequestedProject::Sent(document).into_project().map_err(with_request_pointers)?;
        Ok(project)
    }
}

/// Builds a project of one track from the request, so that the project's schema validates it.
fn build_project(request: Notes) -> ApiResult<JsonText> {
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
    project.text("project_id", "notes");
    match &request.tempo_map {
        Some(tempo_map) => project.json("tempo_map", tempo_map.as_str()),
        None => project.json("tempo_map", &format!(r#"[{{"tick":0,"bpm":{bpm:?}}}]"#)),
    }
    let tracks = project.named("tracks");
    tracks.push('[');
    let mut track = ObjectWriter::new(tracks);
    track.text("id", "track");
    track.text("kind", "instrument");
    if let Some(engine) = &request.synth_engine {
        track.json("synth_engine", engine);
    }
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
    push_list(&mut text, events.view().entries(), |output, event| {
        if event.kind() != JsonKind::Object {
            output.push_str(event.as_json());
            return true;
        }
        let seconds = |field: &str| event.get(field).and_then(View::as_number);
        let ticks = |secs: f64| (secs * TICKS_PER_SECOND).round();
        let start = seconds("tick");
        // Both start and end are rounded, so that adjacent notes stay adjacent.
        let length =
            start.zip(seconds("length_ticks")).map(|(start, length)| ticks(start + length) - ticks(start));
        let mut object = ObjectWriter::new(output);
        for (key, value) in event.fields() {
            let converted_text = match key.raw_name() {
                "tick" => start.map(ticks),
                "length_ticks" => length,
                _ => None,
            };
            match converted_text {
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
    let first_error = errors.first().map_or(String::new(), |error| {
        let location = if error.pointer.is_empty() { "the request" } else { &error.pointer };
        format!(" The first error is at {location}: {}", error.detail)
    });
    ApiError::Invalid {
        code: "invalid_notes",
        detail: format!("The notes are invalid ({}).{first_error}", counted(errors.len(), "error")),
        errors,
    }
}
