//! The worst JSON bodies for each operation that the service describes.

use std::iter::{once, repeat_n};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

/// Stands in a body where something large comes.
const HOLE: &str = "@";

/// Levels of lists and objects that are looked into.
const LEVELS: usize = 12;

/// An operation that takes a body.
pub(super) struct Operation {
    pub(super) method: String,
    /// Its path, with the names of its parameters.
    pub(super) path: String,
    /// The types of body that it takes.
    pub(super) media_types: Vec<String>,
    /// Whether it needs no token.
    pub(super) is_open: bool,
    /// The example of its JSON body.
    pub(super) example: Value,
    /// Bodies with holes, and where these are.
    with_holes: Vec<(&'static str, Value)>,
    /// The body with a hole in place of the project.
    with_project: Option<Value>,
}

impl Operation {
    /// A name for people.
    pub(super) fn name(&self) -> String {
        format!("{} {}{}", self.method, self.path, if self.is_open { " (open)" } else { "" })
    }

    /// Whether it takes JSON.
    pub(super) fn takes_json(&self) -> bool {
        self.media_types.iter().any(|one| one == "application/json")
    }

    /// Adds what the service says of the operation's JSON body.
    fn describe(mut self, document: &Value, description: &Value, project: &Value) -> Self {
        let schema = &description["schema"];
        self.example = description["example"].clone();
        let mut names: Vec<&str> = fields(document, schema).into_iter().map(|(name, _)| name).collect();
        names.extend(self.example.as_object().into_iter().flatten().map(|(name, _)| name.as_str()));
        names.sort_unstable();
        names.dedup();
        let flat: Map<String, Value> = names.iter().map(|name| ((*name).into(), HOLE.into())).collect();
        let mut whole = self.example.clone();
        let mut list = deepest_list(document, schema, LEVELS);
        if schema["$ref"].as_str().is_some_and(|name| name.ends_with("/Project")) {
            self.with_project = Some(HOLE.into());
        } else if names.contains(&"project")
            && let Some(object) = whole.as_object_mut()
        {
            // In place of a stored one.
            object.shift_remove("project_id");
            object.insert("project".into(), HOLE.into());
            if names.contains(&"tail_secs") {
                object.insert("tail_secs".into(), 0.1.into());
            }
            self.with_project = Some(whole.clone());
            whole["project"] = project["example"].clone();
            let inner = deepest_list(document, &project["schema"], LEVELS);
            list = inner.map(|path| [vec!["project".to_owned()], path].concat());
        }
        self.with_holes.push(("", Value::Object(flat)));
        if let Some(path) = list.filter(|path| path.len() > 1) {
            set(&mut whole, &path, HOLE.into());
            self.with_holes.push((" in the deepest list", whole));
        }
        self
    }

    /// Bodies of at most `bytes`, each with its kind; one of them is the example.
    pub(super) fn bodies(&self, bytes: usize) -> Vec<(String, Vec<u8>)> {
        const KINDS: [(&str, [&str; 4]); 5] = [
            ("empty objects", ["[", "{}", ",", "]"]),
            ("numbers", ["[", "0", ",", "]"]),
            ("empty lists", ["[", "[]", ",", "]"]),
            ("nested lists", ["[", NEST, ",", "]"]),
            ("text", ["\"", "\\n", "", "\""]),
        ];
        let mut bodies = vec![
            ("unknown names".to_owned(), unknown_names(bytes)),
            ("its example".to_owned(), self.example.to_string().into_bytes()),
        ];
        for (place, body) in &self.with_holes {
            for (kind, repeated) in KINDS {
                bodies.push((format!("{kind}{place}"), filled(body, bytes, repeated)));
            }
        }
        bodies
    }

    /// The body with this project, where it takes one.
    pub(super) fn body_with(&self, project: &str) -> Option<Vec<u8>> {
        let body = self.with_project.as_ref()?.to_string();
        Some(body.replacen(&format!("\"{HOLE}\""), project, 1).into_bytes())
    }
}

/// A body with as many values in its holes as there is room for.
fn filled(body: &Value, bytes: usize, [open, value, separator, close]: [&str; 4]) -> Vec<u8> {
    let text = body.to_string();
    let parts: Vec<&str> = text.split(&format!("\"{HOLE}\"")).collect();
    let share = bytes.saturating_sub(text.len()) / (parts.len() - 1).max(1);
    let count = share / (value.len() + separator.len());
    let values: Vec<&str> = repeat_n(value, count).collect();
    parts.join(&[open, &values.join(separator), close].concat()).into_bytes()
}

/// Lists in lists, not so deep that a parser refuses them at once.
const NEST: &str = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";

fn unknown_names(bytes: usize) -> Vec<u8> {
    let mut body = b"{".to_vec();
    let mut number = 0_u32;
    while body.len() + 16 < bytes {
        if number > 0 {
            body.push(b',');
        }
        body.extend(format!("\"{number:x}\":0").as_bytes());
        number += 1;
    }
    body.push(b'}');
    body
}

/// The operations of an OpenAPI document that take a body.
pub(super) fn operations(document: &Value) -> anyhow::Result<Vec<Operation>> {
    let paths = document["paths"].as_object().context("paths")?;
    let project = &paths["/api/v1/projects"]["post"]["requestBody"]["content"]["application/json"];
    let mut found = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().context("a path's operations")? {
            let Some(content) = operation["requestBody"]["content"].as_object() else { continue };
            let described = Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                media_types: content.keys().cloned().collect(),
                is_open: operation["security"].as_array().is_some_and(|ways| ways.contains(&json!({}))),
                example: Value::Null,
                with_holes: Vec::new(),
                with_project: None,
            };
            found.push(match content.get("application/json") {
                Some(description) => described.describe(document, description, project),
                None => described,
            });
        }
    }
    Ok(found)
}

/// A schema behind its references, and its alternatives and parts.
fn parts<'d>(document: &'d Value, schema: &'d Value) -> Vec<&'d Value> {
    let referred = schema["$ref"].as_str().and_then(|name| document.pointer(name.strip_prefix('#')?));
    let schema = referred.unwrap_or(schema);
    let inner = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    once(schema).chain(inner.flat_map(|part| parts(document, part))).collect()
}

/// The fields of an object, with their schemas.
fn fields<'d>(document: &'d Value, schema: &'d Value) -> Vec<(&'d str, &'d Value)> {
    let all = parts(document, schema).into_iter().filter_map(|part| part["properties"].as_object());
    all.flatten().map(|(name, field)| (name.as_str(), field)).collect()
}

/// Where the list is that lies deepest: names of fields, and 0 for the first element of a list.
fn deepest_list(document: &Value, schema: &Value, levels: usize) -> Option<Vec<String>> {
    let levels = levels.checked_sub(1)?;
    let within = |name: &str, inner: &Value| {
        deepest_list(document, inner, levels).map(|path| [vec![name.to_owned()], path].concat())
    };
    let fields = fields(document, schema).into_iter().filter_map(|(name, field)| within(name, field));
    let lists = parts(document, schema).into_iter().filter_map(|part| part.get("items"));
    let lists = lists.map(|items| within("0", items).unwrap_or_default());
    fields.chain(lists).max_by_key(Vec::len)
}

/// Sets what lies at a path, and makes the objects and lists on the way.
fn set(value: &mut Value, path: &[String], new: Value) {
    match path {
        [] => *value = new,
        [first, path @ ..] if first == "0" => {
            if value.get(0).is_none() {
                *value = json!([null]);
            }
            set(&mut value[0], path, new);
        }
        [name, path @ ..] => {
            if !value.is_object() {
                *value = json!({});
            }
            set(&mut value[name.as_str()], path, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        let body = |schema: &Value, example: &Value| json!({"requestBody": {"content": {"application/json": {"schema": schema, "example": example}}}});
        let schemas = "#/components/schemas";
        let mut render = body(
            &json!({"allOf": [{"properties": {"rate": {}, "project": {}}}, {"properties": {"name": {}}}]}),
            &json!({"project_id": "p", "name": "n"}),
        );
        render["security"] = json!([{}]);
        json!({
            "paths": {
                "/api/v1/projects": {"post": body(
                    &json!({"$ref": format!("{schemas}/Project")}),
                    &json!({"id": "p", "tracks": [{"id": "t"}]}),
                )},
                "/api/v1/things/{id}": {"put": render, "get": {}, "patch": {
                    "requestBody": {"content": {"audio/midi": {}}},
                }},
            },
            "components": {"schemas": {
                "Project": {"properties": {"id": {}, "tracks": {"items": {"$ref": format!("{schemas}/Track")}}}},
                "Track": {"properties": {"items": {"items": {"oneOf": [
                    {"properties": {}}, {"properties": {"notes": {"items": {}}}}]}}}},
            }},
        })
    }

    #[test]
    fn every_operation_with_a_body_is_found() {
        let operations = operations(&document()).expect("a document");
        let found: Vec<_> =
            operations.iter().map(|one| (one.name(), one.is_open, one.takes_json())).collect();
        let expected = [
            ("POST /api/v1/projects", false, true),
            ("PUT /api/v1/things/{id} (open)", true, true),
            ("PATCH /api/v1/things/{id}", false, false),
        ];
        assert_eq!(found, expected.map(|(name, is_open, takes_json)| (name.to_owned(), is_open, takes_json)));
        let with_project = |number: usize| operations[number].body_with("[7]");
        assert_eq!(with_project(0).as_deref(), Some(b"[7]".as_slice()));
        assert_eq!(with_project(1).as_deref(), Some(br#"{"name":"n","project":[7]}"#.as_slice()));
        assert_eq!(with_project(2), None);
    }

    #[test]
    fn bodies_are_json_of_the_wanted_size_and_reach_the_deepest_list() {
        let operations = operations(&document()).expect("a document");
        for (number, list) in [(0, "/tracks/0/items/0/notes"), (1, "/project/tracks/0/items/0/notes")] {
            let bodies = operations[number].bodies(10_000);
            assert_eq!(bodies.len(), 12);
            for (kind, body) in bodies {
                let value: Value =
                    serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{kind}: {error}"));
                if kind == "its example" {
                    assert_eq!(value, operations[number].example);
                    continue;
                }
                assert!((9_500..=10_000).contains(&body.len()), "{kind}: {} bytes", body.len());
                assert_eq!(value.pointer(list).is_some(), kind.ends_with("in the deepest list"), "{kind}");
            }
        }
    }
}
