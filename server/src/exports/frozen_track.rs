//! Builds the audio track that replaces a frozen track in a project's document.

use schemas::json::{JsonText, ObjectWriter, View, push_list};
use schemas::read::bounded_track;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};

/// Point in the signal path at which a track is rendered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// After the effects, but before the fader, pan and sends, which can still be changed.
    #[default]
    BeforeFader,
    /// After the effects, fader and pan, with the automation of fader and pan.
    AfterFader,
}

/// Maximum size of the unknown fields in a frozen track, in bytes.
pub(super) const UNKNOWN_MAX_BYTES: usize = 64 * 1024;

/// Builds the audio track that plays `file_id` from the start of the song and replaces `track`.
/// Also returns whether fields were left out because of [`UNKNOWN_MAX_BYTES`].
///
/// # Errors
/// If `track` is not from a valid document.
pub(super) fn freeze(
    track: View<'_>,
    stage: Stage,
    file_id: &str,
    name: &str,
) -> ApiResult<(JsonText, bool)> {
    let mut text = String::new();
    let mut frozen = ObjectWriter::new(&mut text);
    for (key, field) in track.fields() {
        match key.raw_name() {
            "kind" | "items" | "synth_engine" | "effects" | "bypass" | "frozen" => {}
            "volume_db" | "pan" if stage == Stage::AfterFader => {}
            "automation" => push_list(frozen.begin(key), field.entries(), |output, lane| {
                let is_kept = keeps_automation(&lane.text("target").unwrap_or_default(), stage);
                if is_kept {
                    output.push_str(lane.as_json());
                }
                is_kept
            }),
            _ => frozen.copy(key, field),
        }
    }
    frozen.json("kind", "\"audio\"");
    let id = format!("frozen-{}", uuid::Uuid::new_v4().simple());
    let item = json!({
        "type": "audio", "id": id, "name": name, "start_tick": 0,
        "source": { "server_file_id": file_id }, "server_file_id": file_id,
    });
    let items = frozen.named("items");
    items.push('[');
    items.push_str(&item.to_string());
    let is_section = |item: &View<'_>| item.get("type").is_some_and(|kind| kind.is_text("section"));
    for section in track.list("items").filter(is_section) {
        items.push(',');
        items.push_str(section.as_json());
    }
    items.push(']');
    frozen.end();
    let text = JsonText::read(text.as_bytes()).map_err(ApiError::internal)?;
    Ok(bounded_track(text.view(), UNKNOWN_MAX_BYTES))
}

/// Whether automation of `target` still applies to the frozen track.
fn keeps_automation(target: &str, stage: Stage) -> bool {
    match target {
        "volume_db" | "pan" => stage == Stage::BeforeFader,
        // Other targets are parameters of effects or of the instrument. The frozen audio already
        // contains their effect.
        other => other.starts_with("send/"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    fn track() -> Map<String, Value> {
        let lane = |target: &str| json!({ "target": target, "points": [] });
        let track = json!({
            "id": "t", "kind": "instrument", "volume_db": -3, "pan": 0.5, "mute": true, "x_unknown": 1,
            "synth_engine": { "type": "soundfont", "bank": 0, "program": 0 }, "effects": [{}], "bypass": false,
            "sends": [{ "to": "b" }], "output": "g",
            "automation": [lane("volume_db"), lane("pan"), lane("send/b"), lane("e/mix"), lane("instrument/3")],
            "items": [{ "type": "midi" }, { "type": "section", "sectionId": "s" }, { "type": "audio" }],
        });
        track.as_object().expect("an object").clone()
    }

    #[track_caller]
    fn check(stage: Stage, targets: &[&str]) -> Map<String, Value> {
        let document = JsonText::of_value(&track().into());
        let (frozen, has_left_out_fields) = freeze(document.view(), stage, "file", "Bass").expect("a track");
        assert!(!has_left_out_fields);
        let frozen = frozen.view().to_value().as_object().expect("an object").clone();
        assert_eq!(frozen["kind"], "audio");
        assert_eq!(frozen["items"][0]["source"]["server_file_id"], "file");
        assert_eq!(frozen["items"][1], json!({ "type": "section", "sectionId": "s" }));
        assert_eq!(frozen["items"].as_array().map(Vec::len), Some(2));
        let remaining: Vec<&str> = frozen["automation"]
            .as_array()
            .expect("lanes")
            .iter()
            .filter_map(|lane| lane["target"].as_str())
            .collect();
        assert_eq!(remaining, targets);
        for removed_field in ["synth_engine", "effects", "bypass"] {
            assert!(!frozen.contains_key(removed_field), "{removed_field}");
        }
        for kept_field in ["mute", "x_unknown", "sends", "output", "id"] {
            assert_eq!(frozen[kept_field], track()[kept_field], "{kept_field}");
        }
        frozen
    }

    #[test]
    fn fields_whose_effect_the_audio_contains_are_removed() {
        let frozen = check(Stage::BeforeFader, &["volume_db", "pan", "send/b"]);
        assert_eq!((&frozen["volume_db"], &frozen["pan"]), (&json!(-3), &json!(0.5)));
        let frozen = check(Stage::AfterFader, &["send/b"]);
        assert!(!frozen.contains_key("volume_db") && !frozen.contains_key("pan"));
    }
}
