//! From the text of a valid document to the types of [`crate::project`].

use crate::json::{JsonText, Kind, ObjectWriter, View, push_list};
use crate::project::Project;
use crate::schema::{Rule, Schema};

/// Largest value of an unknown field that is kept, in bytes: unlike everything else it becomes a
/// tree.
const UNKNOWN_MAX_BYTES: usize = 1024 * 1024;

/// Reads a project. Of the fields that the schema does not know only those named in `unknown` are
/// kept, up to a MiB each: memory grows with what is played, not with what others keep in a
/// document.
///
/// # Errors
/// The document does not follow the schema.
pub fn project(document: &JsonText, unknown: &[&str]) -> Result<Project, serde_json::Error> {
    let mut text = String::with_capacity(document.as_str().len());
    let schema = Schema::project();
    Pruning { schema, unknown }.value(&mut text, document.view(), schema.root());
    serde_json::from_str(&text)
}

struct Pruning<'k> {
    schema: &'static Schema,
    unknown: &'k [&'k str],
}

impl Pruning<'_> {
    fn value(&self, out: &mut String, view: View<'_>, rule: &Rule) {
        let kind = if rule.one_of.is_empty() { None } else { view.get("type") };
        let rule = kind.and_then(|kind| self.schema.form(rule, kind)).unwrap_or(rule);
        match (view.kind(), rule.items) {
            (Kind::Object, _) if !rule.properties.is_empty() => self.object(out, view, rule),
            (Kind::List, Some(items)) => {
                let items = self.schema.rule(items);
                push_list(out, view.entries(), |out, entry| {
                    self.value(out, entry, items);
                    true
                });
            }
            _ => out.push_str(view.as_json()),
        }
    }

    fn object(&self, out: &mut String, view: View<'_>, rule: &Rule) {
        let mut writer = ObjectWriter::new(out);
        // First, so that a reader knows the form of what follows.
        let is_typed = rule.property("type").is_some();
        if let Some(kind) = view.get("type").filter(|_| is_typed) {
            writer.json("type", kind.as_json());
        }
        for (key, field) in view.fields() {
            match rule.property(key.raw_name()) {
                _ if key.is("type") || key.is("client") => {}
                Some((_, index)) => self.value(writer.begin(key), field, self.schema.rule(index)),
                None if self.unknown.contains(&key.raw_name())
                    && field.as_json().len() <= UNKNOWN_MAX_BYTES =>
                {
                    writer.copy(key, field);
                }
                None => {}
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
    fn what_is_known_is_read_and_unknown_fields_only_by_name() {
        let text = include_str!("../examples/valid/unknown-fields.json");
        let document = JsonText::read(text.as_bytes()).unwrap();
        let whole: Project = serde_json::from_str(text).unwrap();
        let read = project(&document, &[]).unwrap();
        assert!(!whole.extra.is_empty() && read.extra.is_empty() && read.client.is_none());
        assert_eq!(read.tracks.len(), whole.tracks.len());

        let value = json!({"schema_version": 1, "project_id": "p", "a": [1], "b": 2, "tracks": [
            {"id": "t", "kind": "instrument", "a": 3, "items": [
                {"notes": [{"x": 1, "tick": 0, "length_ticks": 1, "pitch": 60, "velocity": 0.5, "a": 1}], "id": "i",
                 "start_tick": 0, "length_ticks": 9, "type": "midi"}]}]});
        let read = project(&JsonText::of_value(&value), &["a"]).unwrap();
        assert_eq!((read.extra.get("a"), read.extra.get("b")), (Some(&json!([1])), None));
        assert_eq!(read.tracks[0].extra.get("a"), Some(&json!(3)));
        assert_eq!(read.tracks[0].midi_items()[0].notes[0].pitch, 60);
        let everything = include_str!("../examples/valid/everything.json");
        let read = project(&JsonText::read(everything.as_bytes()).unwrap(), &[]).unwrap();
        assert_eq!(read.tracks, serde_json::from_str::<Project>(everything).unwrap().tracks);
    }
}
