//! Upgrades documents of older versions.
//!
//! The upgrade works on JSON as text. Unknown fields therefore survive, and a document needs no
//! more memory than its text. Every step is idempotent. The first step also runs on every save,
//! because clients may continue to write the historical names.

use std::borrow::Cow;

use crate::SCHEMA_VERSION;
use crate::json::{JsonKind, JsonText, ObjectWriter, View, push_list, push_text};

/// The reason why a document cannot be upgraded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// The document is not a JSON object.
    #[error("a project must be a JSON object, but this document is {found}")]
    NotAnObject {
        /// The type of the document, with an article.
        found: &'static str,
    },
    /// The document was written by a later version of Songfoundry.
    #[error(
        "this project has schema_version {found}, but this version of Songfoundry reads versions up to {supported}: open it with a newer Songfoundry"
    )]
    Newer {
        /// The version of the document.
        found: u64,
        /// The newest version that can be read.
        supported: u32,
    },
}

/// Upgrades a project document of any older version to this version.
///
/// A document without an id gets `temp_legacy_<new_id>`. The result is not validated.
///
/// # Errors
/// The document is not an object, or is of a later version.
pub fn upgrade(document: &JsonText, new_id: &str) -> Result<JsonText, UpgradeError> {
    let root = document.view();
    if root.kind() != JsonKind::Object {
        return Err(UpgradeError::NotAnObject { found: kind_of(root) });
    }
    let version = match present(root.get("schema_version")) {
        None => Some(0.0),
        Some(version) => version.as_number().filter(|number| *number >= 0.0 && number.fract() == 0.0),
    }
    .map(|number| number as u64);
    let supported_version = u64::from(SCHEMA_VERSION);
    if let Some(newer_version) = version.filter(|newer_version| *newer_version > supported_version) {
        return Err(UpgradeError::Newer { found: newer_version, supported: SCHEMA_VERSION });
    }
    let is_older = version.is_some_and(|found_version| found_version < supported_version);
    let mut text = String::with_capacity(document.as_str().len() + 128);
    to_version_1(root, is_older, new_id, &mut text);
    Ok(JsonText::of_written(text))
}

/// Upgrades version 0, in which `schema_version` is 0, null or missing, to version 1.
fn to_version_1(root: View<'_>, is_older: bool, new_id: &str, output: &mut String) {
    let new_version = is_older.then(|| SCHEMA_VERSION.to_string());
    let new_id = is_missing(root.get("project_id")).then(|| format!("temp_legacy_{new_id}"));
    let (mut has_version, mut has_id) = (false, false);
    let mut project = ObjectWriter::new(output);
    for (field_name, value) in root.fields() {
        match (field_name.raw_name(), &new_version, &new_id) {
            ("schema_version", Some(version), _) => {
                has_version = true;
                project.json("schema_version", version);
            }
            ("project_id", _, Some(id)) => {
                has_id = true;
                project.text("project_id", id);
            }
            ("tracks", ..) if value.kind() == JsonKind::List => {
                push_list(project.begin(field_name), value.entries(), upgrade_track);
            }
            _ => project.copy(field_name, value),
        }
    }
    if let Some(version) = new_version.filter(|_| !has_version) {
        project.json("schema_version", &version);
    }
    if let Some(id) = new_id.filter(|_| !has_id) {
        project.text("project_id", &id);
    }
    project.end();
}

fn upgrade_track(output: &mut String, track: View<'_>) -> bool {
    if track.kind() != JsonKind::Object {
        output.push_str(track.as_json());
        return true;
    }
    let mut writer = ObjectWriter::new(output);
    for (field_name, value) in track.fields() {
        match (field_name.raw_name(), value.kind()) {
            ("synth_engine", JsonKind::Null) => {}
            ("items", JsonKind::List) => push_list(writer.begin(field_name), value.entries(), upgrade_item),
            _ => writer.copy(field_name, value),
        }
    }
    writer.end();
    true
}

/// Writes an item in this version's form; returns `false` for an item that is dropped.
fn upgrade_item(output: &mut String, item: View<'_>) -> bool {
    let kind = item.get("type");
    if kind.is_some_and(|kind| kind.is_text("section")) {
        return upgrade_section(output, item);
    }
    if kind.is_some_and(|kind| kind.is_text("audio")) {
        upgrade_audio_item(output, item);
    } else {
        output.push_str(item.as_json());
    }
    true
}

/// Writes a section with its id under the current name; returns `false` if the section has no id.
fn upgrade_section(output: &mut String, section: View<'_>) -> bool {
    let (current, historical) = (section.get("sectionId"), section.get("section_id"));
    // An id that is not a string is copied: validation refuses it with a pointer.
    let Some(id) = present(current).or(present(historical)).filter(|id| !id.is_text("")) else {
        return false;
    };
    let mut writer = ObjectWriter::new(output);
    for (field_name, value) in section.fields() {
        match field_name.raw_name() {
            "section_id" => {}
            "sectionId" => writer.json("sectionId", id.as_json()),
            _ => writer.copy(field_name, value),
        }
    }
    if current.is_none() {
        writer.json("sectionId", id.as_json());
    }
    writer.end();
    true
}

/// Writes an audio item with its file id, both in the item and in its source.
fn upgrade_audio_item(output: &mut String, item: View<'_>) {
    let source = present(item.get("source"));
    let item_id = file_id(item);
    let source_id = source.and_then(file_id);
    let url_id = || {
        let url = item.text("audio_file_url")?;
        let id = file_id_in_url(&url)?;
        let mut quoted_id = String::new();
        push_text(&mut quoted_id, id);
        Some(Cow::Owned(quoted_id))
    };
    let borrowed = |id: View<'_>| Cow::Owned(id.as_json().to_owned());
    let id = item_id.or(source_id).map(borrowed).or_else(url_id);
    let mut writer = ObjectWriter::new(output);
    let (mut has_id, mut has_source) = (false, false);
    for (field_name, value) in item.fields() {
        match field_name.raw_name() {
            "serverFileId" => {}
            "server_file_id" => {
                if !is_missing(Some(value)) {
                    has_id = true;
                    writer.copy(field_name, value);
                }
            }
            "source" => {
                has_source = true;
                upgrade_source(writer.begin(field_name), value, id.as_deref());
            }
            _ => writer.copy(field_name, value),
        }
    }
    if let Some(id) = id.as_deref().filter(|_| !has_id) {
        writer.json("server_file_id", id);
    }
    if !has_source {
        let mut source = ObjectWriter::new(writer.named("source"));
        if let Some(id) = id.as_deref() {
            source.json("server_file_id", id);
        }
        source.end();
    }
    writer.end();
}

/// Writes the source of an audio item. A source without a file id gets `id`.
fn upgrade_source(output: &mut String, source: View<'_>, id: Option<&str>) {
    if !matches!(source.kind(), JsonKind::Object | JsonKind::Null) {
        output.push_str(source.as_json());
        return;
    }
    let source_id = file_id(source);
    let mut writer = ObjectWriter::new(output);
    let mut has_id = false;
    for (field_name, value) in source.fields() {
        match field_name.raw_name() {
            "serverFileId" => {}
            "server_file_id" => {
                if !is_missing(Some(value)) {
                    has_id = true;
                    writer.copy(field_name, value);
                }
            }
            _ => writer.copy(field_name, value),
        }
    }
    if let Some(id) = source_id.map(View::as_json).or(id).filter(|_| !has_id) {
        writer.json("server_file_id", id);
    }
    writer.end();
}

/// Returns the file id under its current or its historical name. Null and the empty string count as
/// missing.
fn file_id(object: View<'_>) -> Option<View<'_>> {
    let id = |name| object.get(name).filter(|id| !is_missing(Some(*id)));
    id("server_file_id").or_else(|| id("serverFileId"))
}

fn present(value: Option<View<'_>>) -> Option<View<'_>> {
    value.filter(|value| value.kind() != JsonKind::Null)
}

/// Whether an id is missing, null or the empty string.
fn is_missing(id: Option<View<'_>>) -> bool {
    present(id).is_none_or(|id| id.is_text(""))
}

/// Returns the file id in the address of an audio file: `.../audio/<id>/file`, `.../audio/<id>` or
/// `.../<id>.<extension>`. Only the last segments of the path are read, and the host is not
/// checked. `None` for a `blob:` or `data:` address, and for an address without a valid id.
fn file_id_in_url(url: &str) -> Option<&str> {
    if url.starts_with("blob:") || url.starts_with("data:") {
        return None;
    }
    let path = url.split(['?', '#']).next()?;
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let last_segment = segments.next()?;
    let id = if last_segment == "file" {
        segments.next()?
    } else {
        last_segment.rsplit_once('.').map_or(last_segment, |(stem, _)| stem)
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!id.is_empty() && id.len() <= 128 && id.chars().all(is_plain)).then_some(id)
}

fn kind_of(value: View<'_>) -> &'static str {
    match value.kind() {
        JsonKind::Null => "null",
        JsonKind::Boolean => "a boolean",
        JsonKind::Number => "a number",
        JsonKind::Text => "a string",
        JsonKind::List => "an array",
        JsonKind::Object => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(document: Value, expected: Value) {
        let upgraded = upgrade(&JsonText::of_value(&document), "n1").expect("the document can be upgraded");
        assert_eq!(upgraded.view().to_value(), expected);
        assert_eq!(
            upgrade(&upgraded, "n2").expect("an upgraded document can be upgraded again"),
            upgraded,
            "upgrading again changes nothing"
        );
    }

    #[test]
    fn a_document_without_id_and_version_gets_both() {
        check(
            json!({"tracks": []}),
            json!({"tracks": [], "schema_version": 1, "project_id": "temp_legacy_n1"}),
        );
        check(
            json!({"schema_version": null, "project_id": "", "tracks": [], "mood": "blue"}),
            json!({"schema_version": 1, "project_id": "temp_legacy_n1", "tracks": [], "mood": "blue"}),
        );
    }

    fn check_track(track: Value, expected: Value) {
        check(
            json!({"schema_version": 0, "project_id": "p", "tracks": [track]}),
            json!({"schema_version": 1, "project_id": "p", "tracks": [expected]}),
        );
    }

    #[test]
    fn a_null_engine_is_removed() {
        check_track(json!({"id": "t", "synth_engine": null}), json!({"id": "t"}));
    }

    #[test]
    fn sections_without_id_are_dropped() {
        check_track(
            json!({"items": [
                {"type": "section", "name": "lost"},
                {"type": "section", "sectionId": null},
                {"type": "section", "sectionId": ""},
                {"type": "section", "section_id": "s1"},
                {"type": "section", "section_id": "old", "sectionId": "s2"},
                {"type": "section", "sectionId": 3},
                {"type": "midi"},
            ]}),
            json!({"items": [
                {"type": "section", "sectionId": "s1"},
                {"type": "section", "sectionId": "s2"},
                {"type": "section", "sectionId": 3},
                {"type": "midi"},
            ]}),
        );
    }

    #[test]
    fn file_ids_are_recovered_and_copied() {
        check_track(
            json!({"items": [
                {"type": "audio", "serverFileId": "f1"},
                {"type": "audio", "server_file_id": "f2", "serverFileId": "old", "source": {"rate": 1}},
                {"type": "audio", "source": {"serverFileId": "f3"}},
                {"type": "audio", "audio_file_url": "http://x/api/v1/audio/f4/file?v=1", "server_file_id": null},
                {"type": "audio", "audio_file_url": "/files/f5.wav", "source": null},
                {"type": "audio", "audio_file_url": "/files/f7.wav", "serverFileId": ""},
                {"type": "audio", "audio_file_url": "/files/f8.wav", "server_file_id": "", "source": {"serverFileId": ""}},
                {"type": "audio", "audio_file_url": "blob:http://x/f6"},
                {"type": "audio", "audio_file_url": "/audio/../%2e%2e/file"},
            ]}),
            json!({"items": [
                {"type": "audio", "server_file_id": "f1", "source": {"server_file_id": "f1"}},
                {"type": "audio", "server_file_id": "f2", "source": {"rate": 1, "server_file_id": "f2"}},
                {"type": "audio", "source": {"server_file_id": "f3"}, "server_file_id": "f3"},
                {"type": "audio", "audio_file_url": "http://x/api/v1/audio/f4/file?v=1", "server_file_id": "f4",
                 "source": {"server_file_id": "f4"}},
                {"type": "audio", "audio_file_url": "/files/f5.wav", "source": {"server_file_id": "f5"},
                 "server_file_id": "f5"},
                {"type": "audio", "audio_file_url": "/files/f7.wav", "server_file_id": "f7",
                 "source": {"server_file_id": "f7"}},
                {"type": "audio", "audio_file_url": "/files/f8.wav", "source": {"server_file_id": "f8"},
                 "server_file_id": "f8"},
                {"type": "audio", "audio_file_url": "blob:http://x/f6", "source": {}},
                {"type": "audio", "audio_file_url": "/audio/../%2e%2e/file", "source": {}},
            ]}),
        );
    }

    #[test]
    fn later_versions_and_documents_that_are_not_objects_are_refused() {
        assert_eq!(
            upgrade(&JsonText::of_value(&json!({"schema_version": 7})), "n"),
            Err(UpgradeError::Newer { found: 7, supported: SCHEMA_VERSION })
        );
        assert_eq!(
            upgrade(&JsonText::of_value(&json!([])), "n"),
            Err(UpgradeError::NotAnObject { found: "an array" })
        );
    }

    #[test]
    fn malformed_documents_are_left_to_validation() {
        for document in [
            json!({"schema_version": 1, "project_id": 4, "tracks": {"a": 1}}),
            json!({"schema_version": "one", "project_id": "p", "tracks": [1, null, {"items": "none"}]}),
            json!({"schema_version": -1, "project_id": "p", "tracks": [{"items": [3, {"type": "audio", "source": 5}]}]}),
        ] {
            check(document.clone(), document);
        }
    }
}
