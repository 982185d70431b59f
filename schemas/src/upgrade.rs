//! How documents of older versions become documents of this one.
//!
//! Works on plain JSON, so that nothing is lost of a document that this version does not
//! understand. Every step is idempotent; the first one also runs on every save, which is how
//! clients may go on writing the historical names.

use serde_json::{Map, Value};

use crate::SCHEMA_VERSION;

/// Why a document could not be upgraded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// The document is not a JSON object.
    #[error("a project is a JSON object, and this document is {found}")]
    NotAnObject {
        /// What it is instead, with its article.
        found: &'static str,
    },
    /// The document was written by a later version of Songfoundry.
    #[error(
        "this project has schema_version {found}, and this version of Songfoundry reads up to {supported}: open it with a newer Songfoundry"
    )]
    Newer {
        /// The document's version.
        found: u64,
        /// The newest version that can be read.
        supported: u32,
    },
}

/// Turns a project document of any older version into one of this version.
///
/// `new_id` is the end of the id that a document without one gets: `temp_legacy_<new_id>`.
/// The result is not yet known to be valid.
///
/// # Errors
/// The document is not an object, or is of a later version.
pub fn upgrade(document: Value, new_id: &str) -> Result<Value, UpgradeError> {
    let mut project = match document {
        Value::Object(project) => project,
        other => {
            return Err(UpgradeError::NotAnObject { found: kind_of(&other) });
        }
    };
    let version = match project.get("schema_version") {
        None | Some(Value::Null) => Some(0),
        Some(version) => version.as_u64().or_else(|| {
            version.as_f64().filter(|number| *number >= 0.0 && number.trunc() == *number).map(|n| n as u64)
        }),
    };
    if let Some(found) = version {
        if found > u64::from(SCHEMA_VERSION) {
            return Err(UpgradeError::Newer { found, supported: SCHEMA_VERSION });
        }
        if found < u64::from(SCHEMA_VERSION) {
            project.insert("schema_version".into(), SCHEMA_VERSION.into());
        }
    }
    to_version_1(&mut project, new_id);
    Ok(Value::Object(project))
}

/// Version 0, before documents carried their version, to version 1.
fn to_version_1(project: &mut Map<String, Value>, new_id: &str) {
    if matches!(project.get("project_id"), None | Some(Value::Null)) || is_text(project.get("project_id"), "")
    {
        project.insert("project_id".into(), format!("temp_legacy_{new_id}").into());
    }
    for track in objects(project.get_mut("tracks")) {
        if track.get("synth_engine").is_some_and(Value::is_null) {
            track.shift_remove("synth_engine");
        }
        if let Some(Value::Array(items)) = track.get_mut("items") {
            items.retain_mut(|item| match item.as_object_mut() {
                Some(section) if is_text(section.get("type"), "section") => upgrade_section(section),
                _ => true,
            });
        }
        for item in objects(track.get_mut("items")) {
            if is_text(item.get("type"), "audio") {
                upgrade_audio_item(item);
            }
        }
    }
}

/// Brings a section's id under its name; false where there is none.
fn upgrade_section(section: &mut Map<String, Value>) -> bool {
    if let Some(historical) = section.shift_remove("section_id")
        && section.get("sectionId").is_none_or(Value::is_null)
    {
        section.insert("sectionId".into(), historical);
    }
    match section.get("sectionId") {
        None | Some(Value::Null) => false,
        Some(Value::String(id)) => !id.is_empty(),
        // Something else is for validation to refuse, with a pointer to it.
        Some(_) => true,
    }
}

/// Gives an audio item its file's id, and its source data the same.
fn upgrade_audio_item(item: &mut Map<String, Value>) {
    take_historical_file_id(item);
    let from_source = match item.get_mut("source").and_then(Value::as_object_mut) {
        Some(source) => {
            take_historical_file_id(source);
            source.get("server_file_id").cloned()
        }
        None => None,
    };
    if !item.contains_key("server_file_id") {
        let recovered = from_source.or_else(|| {
            item.get("audio_file_url").and_then(Value::as_str).and_then(file_id_in_url).map(Value::from)
        });
        if let Some(file_id) = recovered {
            item.insert("server_file_id".into(), file_id);
        }
    }
    if item.get("source").is_none_or(Value::is_null) {
        item.insert("source".into(), Value::Object(Map::new()));
    }
    let file_id = item.get("server_file_id").cloned();
    if let (Some(file_id), Some(Value::Object(source))) = (file_id, item.get_mut("source"))
        && !source.contains_key("server_file_id")
    {
        source.insert("server_file_id".into(), file_id);
    }
}

/// Renames `serverFileId`; a null id of either name counts as left out.
fn take_historical_file_id(object: &mut Map<String, Value>) {
    let historical = object.shift_remove("serverFileId");
    if object.get("server_file_id").is_some_and(Value::is_null) {
        object.shift_remove("server_file_id");
    }
    if let Some(historical) = historical.filter(|id| !id.is_null())
        && !object.contains_key("server_file_id")
    {
        object.insert("server_file_id".into(), historical);
    }
}

/// The file id in an address of this service: `.../audio/<id>/file`, `.../audio/<id>` or
/// `.../<id>.<extension>`.
fn file_id_in_url(url: &str) -> Option<&str> {
    if url.starts_with("blob:") || url.starts_with("data:") {
        return None;
    }
    let path = url.split(['?', '#']).next()?;
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let last = segments.next()?;
    let id =
        if last == "file" { segments.next()? } else { last.rsplit_once('.').map_or(last, |(stem, _)| stem) };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!id.is_empty() && id.len() <= 128 && id.chars().all(plain)).then_some(id)
}

fn objects(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

fn is_text(value: Option<&Value>, text: &str) -> bool {
    value.and_then(Value::as_str) == Some(text)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(document: Value, expected: Value) {
        let upgraded = upgrade(document, "n1").expect("the document can be upgraded");
        assert_eq!(upgraded, expected);
        assert_eq!(upgrade(upgraded, "n2").expect("again"), expected, "upgrading again changes nothing");
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
    fn a_null_engine_is_left_out() {
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
                {"type": "audio", "audio_file_url": "blob:http://x/f6", "source": {}},
                {"type": "audio", "audio_file_url": "/audio/../%2e%2e/file", "source": {}},
            ]}),
        );
    }

    #[test]
    fn later_versions_and_other_documents_are_refused() {
        assert_eq!(
            upgrade(json!({"schema_version": 7}), "n"),
            Err(UpgradeError::Newer { found: 7, supported: SCHEMA_VERSION })
        );
        assert_eq!(upgrade(json!([]), "n"), Err(UpgradeError::NotAnObject { found: "an array" }));
    }

    #[test]
    fn misshapen_documents_pass_through_to_validation() {
        for document in [
            json!({"schema_version": 1, "project_id": 4, "tracks": {"a": 1}}),
            json!({"schema_version": "one", "project_id": "p", "tracks": [1, null, {"items": "none"}]}),
            json!({"schema_version": -1, "project_id": "p", "tracks": [{"items": [3, {"type": "audio", "source": 5}]}]}),
        ] {
            check(document.clone(), document);
        }
    }
}
