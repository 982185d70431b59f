//! The document of a project with a track in place of which its sound stands.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// Where a track's sound is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Behind the effects, before fader, pan and sends: all these can still be moved.
    #[default]
    BeforeFader,
    /// Behind fader and pan, their automation included.
    AfterFader,
}

/// Turns a track into an audio track that plays `file_id` from the start of the song.
pub(super) fn freeze(track: &mut Map<String, Value>, stage: Stage, file_id: &str, name: &str) {
    let id = format!("frozen-{}", uuid::Uuid::new_v4().simple());
    let item = json!({
        "type": "audio", "id": id, "name": name, "start_tick": 0,
        "source": { "server_file_id": file_id }, "server_file_id": file_id,
    });
    let mut items = vec![item];
    if let Some(Value::Array(old)) = track.shift_remove("items") {
        items.extend(old.into_iter().filter(|item| item["type"] == "section"));
    }
    track.insert("kind".to_owned(), "audio".into());
    track.insert("items".to_owned(), items.into());
    for field in ["synth_engine", "effects", "bypass"] {
        track.shift_remove(field);
    }
    if stage == Stage::AfterFader {
        track.shift_remove("volume_db");
        track.shift_remove("pan");
    }
    if let Some(lanes) = track.get_mut("automation").and_then(Value::as_array_mut) {
        lanes.retain(|lane| match lane["target"].as_str().unwrap_or_default() {
            "volume_db" | "pan" => stage == Stage::BeforeFader,
            // What else there is moves effects, which are in the sound now.
            other => other.starts_with("send/"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track() -> Map<String, Value> {
        let lane = |target: &str| json!({ "target": target, "points": [] });
        let track = json!({
            "id": "t", "kind": "instrument", "volume_db": -3, "pan": 0.5, "mute": true, "x_unknown": 1,
            "synth_engine": { "type": "soundfont", "bank": 0, "program": 0 }, "effects": [{}], "bypass": false,
            "sends": [{ "to": "b" }], "output": "g",
            "automation": [lane("volume_db"), lane("pan"), lane("send/b"), lane("e/mix")],
            "items": [{ "type": "midi" }, { "type": "section", "sectionId": "s" }, { "type": "audio" }],
        });
        track.as_object().expect("an object").clone()
    }

    #[track_caller]
    fn check(stage: Stage, targets: &[&str]) -> Map<String, Value> {
        let mut frozen = track();
        freeze(&mut frozen, stage, "file", "Bass");
        assert_eq!(frozen["kind"], "audio");
        assert_eq!(frozen["items"][0]["source"]["server_file_id"], "file");
        assert_eq!(frozen["items"][1], json!({ "type": "section", "sectionId": "s" }));
        assert_eq!(frozen["items"].as_array().map(Vec::len), Some(2));
        let left: Vec<&str> = frozen["automation"]
            .as_array()
            .expect("lanes")
            .iter()
            .filter_map(|lane| lane["target"].as_str())
            .collect();
        assert_eq!(left, targets);
        for gone in ["synth_engine", "effects", "bypass"] {
            assert!(!frozen.contains_key(gone), "{gone}");
        }
        for kept in ["mute", "x_unknown", "sends", "output", "id"] {
            assert_eq!(frozen[kept], track()[kept], "{kept}");
        }
        frozen
    }

    #[test]
    fn what_the_sound_holds_is_taken_off_and_all_else_stays() {
        let frozen = check(Stage::BeforeFader, &["volume_db", "pan", "send/b"]);
        assert_eq!((&frozen["volume_db"], &frozen["pan"]), (&json!(-3), &json!(0.5)));
        let frozen = check(Stage::AfterFader, &["send/b"]);
        assert!(!frozen.contains_key("volume_db") && !frozen.contains_key("pan"));
    }
}
