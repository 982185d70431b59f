//! Project documents. Together they use every feature of a project that affects the audio.

mod chains;
mod clips;
mod delays;
mod kinds;
mod mix;
mod solo;

use serde_json::{Value, json};

/// Ticks in a quarter note.
const QUARTER: u32 = 960;

/// A project document, with its name for messages of the test.
pub(super) struct Document {
    pub(super) name: String,
    pub(super) sample_rate_hz: u32,
    pub(super) project: Value,
}

/// Returns all documents, including one for each kind of effect.
pub(super) fn documents() -> Vec<Document> {
    let mixed_documents =
        [mix::document(), clips::document(), solo::document(), delays::document(), chains::document()];
    mixed_documents.into_iter().chain(kinds::documents()).collect()
}

impl Document {
    fn new(name: &str, sample_rate_hz: u32, tempo_map: Value, tracks: Vec<Value>, master: Value) -> Self {
        let project = json!({
            "schema_version": 1, "project_id": "parity", "name": name, "sample_rate_hz": sample_rate_hz,
            "tempo_map": tempo_map, "tracks": tracks, "master": master, "settings": {"seed": 20_000, "velocity_to_cutoff": "specification"},
        });
        Self { name: name.to_owned(), sample_rate_hz, project }
    }
}

/// Returns a track with additional fields.
fn track(id: &str, kind: &str, fields: Value) -> Value {
    with(json!({"id": id, "kind": kind}), fields)
}

/// Returns an effect at its defaults with additional fields. The id of the effect is its kind.
fn effect(kind: &str, fields: Value) -> Value {
    with(json!({"id": kind, "type": "builtin", "name": kind}), fields)
}

fn lane(target: &str, points: &[(u32, f64, Value)]) -> Value {
    let point =
        |(tick, value, curve): &(u32, f64, Value)| json!({"tick": tick, "value": value, "curve": curve});
    json!({"target": target, "points": points.iter().map(point).collect::<Vec<_>>()})
}

/// Returns an audio item with additional fields.
fn audio(file_id: &str, start_tick: u32, fields: Value) -> Value {
    let id = format!("{file_id} at {start_tick}");
    let item =
        json!({"type": "audio", "id": id, "start_tick": start_tick, "source": {"server_file_id": file_id}});
    with(item, fields)
}

/// Returns a track that plays notes with a preset. `notes` has the start in ticks and the pitch of
/// each note. Each note lasts `length_ticks`.
fn instrument(
    id: &str,
    [bank, program]: [u8; 2],
    notes: &[(u32, u8)],
    length_ticks: u32,
    fields: Value,
) -> Value {
    let note = |(index, (tick, pitch)): (usize, &(u32, u8))| {
        let velocity = [0.75, 0.5, 1.0, 0.25][index % 4];
        json!({"tick": tick, "length_ticks": length_ticks, "pitch": pitch, "velocity": velocity})
    };
    let end = notes.last().map_or(0, |(tick, _)| tick + length_ticks);
    let item = json!({
        "type": "midi", "id": "notes", "start_tick": 0, "length_ticks": end,
        "notes": notes.iter().enumerate().map(note).collect::<Vec<_>>(),
        "controls": [{"tick": 0, "type": "cc", "controller": 91, "value": 30}, {"tick": QUARTER, "type": "bend", "value": 900}],
    });
    let engine = json!({"type": "soundfont", "bank": bank, "program": program});
    with(track(id, "instrument", json!({"synth_engine": engine, "items": [item]})), fields)
}

fn with(mut object: Value, fields: Value) -> Value {
    let (Value::Object(object_fields), Value::Object(fields)) = (&mut object, fields) else {
        panic!("objects")
    };
    object_fields.extend(fields);
    object
}
