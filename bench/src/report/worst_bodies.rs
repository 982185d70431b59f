//! The most expensive JSON bodies for each operation in the service's OpenAPI document.

use std::iter::{once, repeat_n};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

/// Marks the positions in a body that are filled with large values.
const PLACEHOLDER: &str = "@";

/// Largest depth to which schemas are searched.
const MAX_DEPTH: usize = 12;

/// An operation that takes a body.
pub(super) struct Operation {
    pub(super) method: String,
    /// Path template with parameter names.
    pub(super) path: String,
    /// Accepted media types.
    pub(super) media_types: Vec<String>,
    /// Whether the operation needs no token.
    pub(super) is_open: bool,
    /// The example of the JSON body.
    pub(super) example: Value,
    /// Bodies with placeholders, each with a description of the placeholder's position.
    templates: Vec<(&'static str, Value)>,
    /// The body with a placeholder instead of the project.
    project_template: Option<Value>,
}

impl Operation {
    /// Returns the method and the path for the report.
    pub(super) fn name(&self) -> String {
        format!("{} {}{}", self.method, self.path, if self.is_open { " (open)" } else { "" })
    }

    /// Returns whether the operation takes JSON.
    pub(super) fn takes_json(&self) -> bool {
        self.media_types.iter().any(|media_type| media_type == "application/json")
    }

    /// Adds the example and the templates of the JSON body.
    fn describe(mut self, document: &Value, description: &Value, project: &Value) -> Self {
        let schema = &description["schema"];
        self.example = description["example"].clone();
        let mut names: Vec<&str> = fields(document, schema).into_iter().map(|(name, _)| name).collect();
        names.extend(self.example.as_object().into_iter().flatten().map(|(name, _)| name.as_str()));
        names.sort_unstable();
        names.dedup();
        let flat: Map<String, Value> =
            names.iter().map(|name| ((*name).into(), PLACEHOLDER.into())).collect();
        let mut filled_example = self.example.clone();
        let mut list = deepest_list(document, schema, MAX_DEPTH);
        if schema["$ref"].as_str().is_some_and(|name| name.ends_with("/Project")) {
            self.project_template = Some(PLACEHOLDER.into());
        } else if names.contains(&"project")
            && let Some(object) = filled_example.as_object_mut()
        {
            // The body contains a project instead of the id of a stored project.
            object.shift_remove("project_id");
            object.insert("project".into(), PLACEHOLDER.into());
            if names.contains(&"tail_secs") {
                object.insert("tail_secs".into(), 0.1.into());
            }
            self.project_template = Some(filled_example.clone());
            filled_example["project"] = project["example"].clone();
            let inner = deepest_list(document, &project["schema"], MAX_DEPTH);
            list = inner.map(|path| [vec!["project".to_owned()], path].concat());
        }
        self.templates.push(("", Value::Object(flat)));
        if let Some(path) = list.filter(|path| path.len() > 1) {
            set(&mut filled_example, &path, PLACEHOLDER.into());
            self.templates.push((" in the deepest list", filled_example));
        }
        self
    }

    /// Returns bodies of at most `bytes` bytes, and the example. Each has a description of its
    /// content.
    pub(super) fn bodies(&self, bytes: usize) -> Vec<(String, Vec<u8>)> {
        const KINDS: [(&str, [&str; 4]); 5] = [
            ("empty objects", ["[", "{}", ",", "]"]),
            ("numbers", ["[", "0", ",", "]"]),
            ("empty lists", ["[", "[]", ",", "]"]),
            ("nested lists", ["[", NESTED_LISTS, ",", "]"]),
            ("text", ["\"", "\\n", "", "\""]),
        ];
        let mut bodies = vec![
            ("unknown names".to_owned(), unknown_names(bytes)),
            ("the example".to_owned(), self.example.to_string().into_bytes()),
        ];
        for (position, body) in &self.templates {
            for (kind, repeated) in KINDS {
                bodies.push((format!("{kind}{position}"), fill_placeholders(body, bytes, repeated)));
            }
        }
        bodies
    }

    /// Returns the body with this project, or `None` if the operation takes no project.
    pub(super) fn body_with(&self, project: &str) -> Option<Vec<u8>> {
        let body = self.project_template.as_ref()?.to_string();
        Some(body.replacen(&format!("\"{PLACEHOLDER}\""), project, 1).into_bytes())
    }
}

/// Returns a body of at most `bytes` bytes. Each placeholder is replaced by a list that repeats a
/// value.
fn fill_placeholders(body: &Value, bytes: usize, [open, value, separator, close]: [&str; 4]) -> Vec<u8> {
    let text = body.to_string();
    let parts: Vec<&str> = text.split(&format!("\"{PLACEHOLDER}\"")).collect();
    let list_bytes = bytes.saturating_sub(text.len()) / (parts.len() - 1).max(1);
    let count = list_bytes / (value.len() + separator.len());
    let values: Vec<&str> = repeat_n(value, count).collect();
    parts.join(&[open, &values.join(separator), close].concat()).into_bytes()
}

/// Nested lists. Their depth is within the limit of the parser.
const NESTED_LISTS: &str = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";

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

/// Returns the operations of an OpenAPI document that take a body.
pub(super) fn operations(document: &Value) -> anyhow::Result<Vec<Operation>> {
    let paths = document["paths"].as_object().context("the OpenAPI document has no `paths`")?;
    let project = &paths["/api/v1/projects"]["post"]["requestBody"]["content"]["application/json"];
    let mut operations = Vec::new();
    for (path, item) in paths {
        let operations_of_path = item.as_object();
        for (method, operation) in
            operations_of_path.with_context(|| format!("the path {path} has no operations"))?
        {
            let Some(content) = operation["requestBody"]["content"].as_object() else { continue };
            let without_json = Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                media_types: content.keys().cloned().collect(),
                is_open: operation["security"].as_array().is_some_and(|schemes| schemes.contains(&json!({}))),
                example: Value::Null,
                templates: Vec::new(),
                project_template: None,
            };
            operations.push(match content.get("application/json") {
                Some(description) => without_json.describe(document, description, project),
                None => without_json,
            });
        }
    }
    Ok(operations)
}

/// Returns the resolved schema with its parts and its alternatives.
fn parts<'d>(document: &'d Value, schema: &'d Value) -> Vec<&'d Value> {
    let referred = schema["$ref"].as_str().and_then(|name| document.pointer(name.strip_prefix('#')?));
    let schema = referred.unwrap_or(schema);
    let inner = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    once(schema).chain(inner.flat_map(|part| parts(document, part))).collect()
}

/// Returns the fields of an object with their schemas.
fn fields<'d>(document: &'d Value, schema: &'d Value) -> Vec<(&'d str, &'d Value)> {
    let properties = parts(document, schema).into_iter().filter_map(|part| part["properties"].as_object());
    properties.flatten().map(|(name, field)| (name.as_str(), field)).collect()
}

/// Returns the path of the deepest list. It has field names, and 0 for the first element of a list.
fn deepest_list(document: &Value, schema: &Value, max_depth: usize) -> Option<Vec<String>> {
    let max_depth = max_depth.checked_sub(1)?;
    let within = |name: &str, inner: &Value| {
        deepest_list(document, inner, max_depth).map(|path| [vec![name.to_owned()], path].concat())
    };
    let fields = fields(document, schema).into_iter().filter_map(|(name, field)| within(name, field));
    let lists = parts(document, schema).into_iter().filter_map(|part| part.get("items"));
    let lists = lists.map(|items| within("0", items).unwrap_or_default());
    fields.chain(lists).max_by_key(Vec::len)
}

/// Sets the value at a path and creates missing objects and lists.
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
    fn every_operation_with_a_body_is_listed() {
        let operations = operations(&document()).expect("a document");
        let listed_operations: Vec<_> = operations
            .iter()
            .map(|operation| (operation.name(), operation.is_open, operation.takes_json()))
            .collect();
        let expected = [
            ("POST /api/v1/projects", false, true),
            ("PUT /api/v1/things/{id} (open)", true, true),
            ("PATCH /api/v1/things/{id}", false, false),
        ];
        assert_eq!(
            listed_operations,
            expected.map(|(name, is_open, takes_json)| (name.to_owned(), is_open, takes_json))
        );
        let with_project = |number: usize| operations[number].body_with("[7]");
        assert_eq!(with_project(0).as_deref(), Some(b"[7]".as_slice()));
        assert_eq!(with_project(1).as_deref(), Some(br#"{"name":"n","project":[7]}"#.as_slice()));
        assert_eq!(with_project(2), None);
    }

    #[test]
    fn bodies_are_json_of_the_requested_size_and_reach_the_deepest_list() {
        let operations = operations(&document()).expect("a document");
        for (number, list) in [(0, "/tracks/0/items/0/notes"), (1, "/project/tracks/0/items/0/notes")] {
            let bodies = operations[number].bodies(10_000);
            assert_eq!(bodies.len(), 12);
            for (kind, body) in bodies {
                let value: Value =
                    serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{kind}: {error}"));
                if kind == "the example" {
                    assert_eq!(value, operations[number].example);
                    continue;
                }
                assert!((9_500..=10_000).contains(&body.len()), "{kind}: {} bytes", body.len());
                assert_eq!(value.pointer(list).is_some(), kind.ends_with("in the deepest list"), "{kind}");
            }
        }
    }
}
