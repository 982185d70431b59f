//! The ids of audio files in a project's document.

use std::collections::HashMap;

use serde_json::Value;

/// Puts other ids in the place of audio files' ids, by a table from old to new.
pub(super) fn replace(document: &mut Value, new_ids: &HashMap<String, String>) {
    if let Some(effects) = document.pointer_mut("/master/effects") {
        in_effects(effects, new_ids);
    }
    for track in document.get_mut("tracks").and_then(Value::as_array_mut).into_iter().flatten() {
        for item in track.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            in_item(item, new_ids);
        }
        if let Some(effects) = track.get_mut("effects") {
            in_effects(effects, new_ids);
        }
    }
}

fn in_effects(effects: &mut Value, new_ids: &HashMap<String, String>) {
    for effect in effects.as_array_mut().into_iter().flatten() {
        in_field(effect.get_mut("impulse"), new_ids);
    }
}

fn in_item(item: &mut Value, new_ids: &HashMap<String, String>) {
    in_field(item.get_mut("server_file_id"), new_ids);
    in_field(item.pointer_mut("/source/server_file_id"), new_ids);
    if let Some(Value::String(url)) = item.get_mut("audio_file_url") {
        for (old, new) in new_ids {
            let (from, to) = (format!("/audio/{old}/"), format!("/audio/{new}/"));
            if url.contains(&from) {
                *url = url.replace(&from, &to);
                break;
            }
        }
    }
}

fn in_field(field: Option<&mut Value>, new_ids: &HashMap<String, String>) {
    if let Some(Value::String(id)) = field
        && let Some(new) = new_ids.get(id)
    {
        id.clone_from(new);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_replaced_where_they_name_audio_and_nowhere_else() {
        let document = |id: &str| {
            json!({
                "name": "old", "client": { "server_file_id": "old" },
                "tracks": [{ "id": "old", "items": [
                    { "type": "audio", "id": "old", "source": { "server_file_id": id }, "server_file_id": id },
                    { "type": "audio", "audio_file_url": format!("/api/v1/audio/{id}/file"), "source": {} },
                    { "type": "midi", "name": "old" },
                ], "effects": [{ "id": "old", "impulse": id }, { "impulse": null }] }],
                "master": { "effects": [{ "impulse": id }] },
            })
        };
        let mut replaced = document("old");
        replace(&mut replaced, &HashMap::from([("old".to_owned(), "new".to_owned())]));
        assert_eq!(replaced, document("new"));
        for mut odd in
            [json!(null), json!({ "tracks": 7, "master": [] }), json!({ "tracks": [7, { "items": {} }] })]
        {
            replace(&mut odd, &HashMap::from([("old".to_owned(), "new".to_owned())]));
        }
    }
}
