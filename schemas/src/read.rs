//! Reads valid documents into the types of [`crate::project`].

use crate::json::{JsonKind, JsonText, ObjectWriter, View, push_list};
use crate::project::Project;
use crate::schema::{Rule, Schema};

/// Reads a project without the fields that the schema does not define, and without `client`. These
/// fields therefore need no memory in the result.
///
/// # Errors
/// The document does not follow the schema.
pub fn project(document: &JsonText) -> Result<Project, serde_json::Error> {
    let mut text = String::with_capacity(document.as_str().len());
    let schema = Schema::project();
    FieldFilter { schema, remaining_unknown_bytes: 0, has_left_out: false }.value(
        &mut text,
        document.view(),
        schema.root(),
    );
    serde_json::from_str(&text)
}

/// Copies a track of a project with at most `unknown_max_bytes` bytes of unknown fields. Fields
/// that exceed the limit are left out. Also returns whether any field was left out.
#[must_use]
pub fn bounded_track(track: View<'_>, unknown_max_bytes: usize) -> (JsonText, bool) {
    let mut text = String::with_capacity(track.as_json().len());
    let schema = Schema::project();
    let tracks = schema.root().property("tracks").map(|(_, index)| schema.rule(index));
    let rule = tracks.and_then(|tracks| tracks.items).map(|index| schema.rule(index));
    let mut pruning = FieldFilter { schema, remaining_unknown_bytes: unknown_max_bytes, has_left_out: false };
    pruning.value(&mut text, track, rule.expect("a project has tracks"));
    (JsonText::of_written(text), pruning.has_left_out)
}

struct FieldFilter {
    schema: &'static Schema,
    /// Remaining bytes for unknown fields.
    remaining_unknown_bytes: usize,
    /// Whether an unknown field was left out.
    has_left_out: bool,
}

impl FieldFilter {
    fn value(&mut self, output: &mut String, view: View<'_>, rule: &Rule) {
        let kind = if rule.one_of.is_empty() { None } else { view.get("type") };
        let rule = kind.and_then(|kind| self.schema.form(rule, kind)).unwrap_or(rule);
        match (view.kind(), rule.items) {
            (JsonKind::Object, _) if !rule.properties.is_empty() => self.object(output, view, rule),
            (JsonKind::List, Some(items)) => {
                let items = self.schema.rule(items);
                push_list(output, view.entries(), |output, entry| {
                    self.value(output, entry, items);
                    true
                });
            }
            _ => output.push_str(view.as_json()),
        }
    }

    fn object(&mut self, output: &mut String, view: View<'_>, rule: &Rule) {
        let mut writer = ObjectWriter::new(output);
        // `type` is written first because it tells a reader how to read the other fields.
        let is_typed = rule.property("type").is_some();
        if let Some(kind) = view.get("type").filter(|_| is_typed) {
            writer.json("type", kind.as_json());
        }
        for (field_name, field) in view.fields() {
            match rule.property(field_name.raw_name()) {
                Some(_) if field_name.has_name("type") || field_name.has_name("client") => {}
                Some((_, index)) => self.value(writer.begin(field_name), field, self.schema.rule(index)),
                None => {
                    let bytes = field_name.raw_name().len() + field.as_json().len();
                    match self.remaining_unknown_bytes.checked_sub(bytes) {
                        Some(remaining_bytes) => {
                            self.remaining_unknown_bytes = remaining_bytes;
                            writer.copy(field_name, field);
                        }
                        None => self.has_left_out = true,
                    }
                }
            }
        }
        writer.end();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_fields_are_read_and_unknown_fields_are_left_out() {
        let text = include_str!("../examples/valid/unknown-fields.json");
        let document = JsonText::read(text.as_bytes()).unwrap();
        let complete: Project = serde_json::from_str(text).unwrap();
        let read_session = project(&document).unwrap();
        assert!(!complete.extra.is_empty() && read_session.extra.is_empty() && read_session.client.is_none());
        assert_eq!(read_session.tracks.len(), complete.tracks.len());

        let value = json!({"schema_version": 1, "project_id": "p", "a": [1], "b": 2, "tracks": [
            {"id": "t", "kind": "instrument", "a": 3, "items": [
                {"notes": [{"x": 1, "tick": 0, "length_ticks": 1, "pitch": 60, "velocity": 0.5, "a": 1}], "id": "i",
                 "start_tick": 0, "length_ticks": 9, "type": "midi"}]}]});
        let read_session = project(&JsonText::of_value(&value)).unwrap();
        assert!(read_session.extra.is_empty() && read_session.tracks[0].extra.is_empty());
        assert_eq!(read_session.tracks[0].midi_items()[0].notes[0].pitch, 60);
        let everything = include_str!("../examples/valid/everything.json");
        let read_session = project(&JsonText::read(everything.as_bytes()).unwrap()).unwrap();
        assert_eq!(read_session.tracks, serde_json::from_str::<Project>(everything).unwrap().tracks);
    }

    #[test]
    fn a_track_keeps_unknown_fields_up_to_a_limit_in_bytes() {
        let track = json!({"id": "t", "kind": "bus", "a": [1, 2], "sends": [{"to": "u", "b": "x"}], "c": 3});
        let text = JsonText::of_value(&track);
        assert_eq!(bounded_track(text.view(), 6 + 4 + 2), (text.clone(), false));
        let (bounded_text, has_left_out) = bounded_track(text.view(), 6 + 2);
        assert!(has_left_out);
        let expected = json!({"id": "t", "kind": "bus", "a": [1, 2], "sends": [{"to": "u"}], "c": 3});
        assert_eq!(bounded_text.view().to_value(), expected);
        let (bounded_text, has_left_out) = bounded_track(text.view(), 0);
        assert_eq!(
            (bounded_text.as_str(), has_left_out),
            (r#"{"id":"t","kind":"bus","sends":[{"to":"u"}]}"#, true)
        );
    }
}
