//! Replaces the ids of audio files in a project's document.

use std::collections::HashMap;

use schemas::json::{JsonKind, JsonText, ObjectWriter, View, push_list, push_text};

/// Returns the document with its ids of audio files replaced. `new_ids` maps old ids to new ones.
pub(super) fn replace_audio_ids(document: &JsonText, new_ids: &HashMap<String, String>) -> JsonText {
    let mut text = String::with_capacity(document.as_str().len());
    Replacer { new_ids }.value(&mut text, document.view(), Part::Document);
    // The text consists of parts of a valid document, so reading it cannot fail.
    JsonText::read(text.as_bytes()).unwrap_or_else(|_| document.clone())
}

/// Part of a document that can contain ids of audio files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Document,
    Tracks,
    Track,
    Master,
    Items,
    Item,
    Source,
    Processing,
    Effects,
    Effect,
    Frozen,
    FileId,
    FileUrl,
}

impl Part {
    fn field(self, name: &str) -> Option<Self> {
        Some(match (self, name) {
            (Self::Document, "tracks") => Self::Tracks,
            (Self::Document, "master") => Self::Master,
            (Self::Track, "items" | "takes") => Self::Items,
            (Self::Track | Self::Master, "effects") => Self::Effects,
            (Self::Item, "source") => Self::Source,
            (Self::Item, "processing") => Self::Processing,
            (Self::Track, "frozen") => Self::Frozen,
            (Self::Item | Self::Source | Self::Processing | Self::Frozen, "server_file_id")
            | (Self::Effect, "impulse") => Self::FileId,
            (Self::Item, "audio_file_url") => Self::FileUrl,
            _ => return None,
        })
    }

    fn entry(self) -> Option<Self> {
        match self {
            Self::Tracks => Some(Self::Track),
            Self::Items => Some(Self::Item),
            Self::Effects => Some(Self::Effect),
            _ => None,
        }
    }
}

struct Replacer<'i> {
    new_ids: &'i HashMap<String, String>,
}

impl Replacer<'_> {
    fn value(&self, output: &mut String, view: View<'_>, part: Part) {
        match (view.kind(), part) {
            (JsonKind::Object, _) => {
                let mut object = ObjectWriter::new(output);
                for (field_name, field) in view.fields() {
                    match part.field(field_name.raw_name()) {
                        Some(part) => self.value(object.begin(field_name), field, part),
                        None => object.copy(field_name, field),
                    }
                }
                object.end();
            }
            (JsonKind::List, _) if part.entry().is_some() => {
                push_list(output, view.entries(), |output, entry| {
                    self.value(output, entry, part.entry().unwrap_or(part));
                    true
                });
            }
            (JsonKind::Text, Part::FileId | Part::FileUrl) => {
                let text = view.as_text().unwrap_or_default();
                let new =
                    if part == Part::FileId { self.new_ids.get(&*text).cloned() } else { self.url(&text) };
                match new {
                    Some(new) => push_text(output, &new),
                    None => output.push_str(view.as_json()),
                }
            }
            _ => output.push_str(view.as_json()),
        }
    }

    fn url(&self, url: &str) -> Option<String> {
        self.new_ids.iter().find_map(|(old, new)| {
            let old_path = format!("/audio/{old}/");
            url.contains(&old_path).then(|| url.replace(&old_path, &format!("/audio/{new}/")))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_ids_that_refer_to_audio_files_are_replaced() {
        let document = |id: &str| {
            json!({
                "name": "old", "client": { "server_file_id": "old" },
                "tracks": [{ "id": "old", "items": [
                    { "type": "audio", "id": "old", "source": { "server_file_id": id }, "server_file_id": id,
                      "processing": { "server_file_id": id, "start_frame": 0, "length_frames": 1 } },
                    { "type": "audio", "audio_file_url": format!("/api/v1/audio/{id}/file"), "source": {} },
                    { "type": "midi", "name": "old" },
                ], "takes": [{ "type": "audio", "id": "old", "source": { "server_file_id": id } }], "effects": [{ "id": "old", "impulse": id }, { "impulse": null }],
                    "frozen": { "server_file_id": id } }],
                "master": { "effects": [{ "impulse": id }] },
            })
        };
        let new_ids = HashMap::from([("old".to_owned(), "new".to_owned())]);
        let with_new = |document| replace_audio_ids(&JsonText::of_value(&document), &new_ids);
        assert_eq!(with_new(document("old")), JsonText::of_value(&document("new")));
        for malformed_id in
            [json!(null), json!({ "tracks": 7, "master": [] }), json!({ "tracks": [7, { "items": {} }] })]
        {
            assert_eq!(with_new(malformed_id.clone()), JsonText::of_value(&malformed_id));
        }
    }
}
