//! The worst JSON bodies for each operation that the service describes.

use anyhow::Context as _;
use serde_json::Value;

/// An operation that takes a JSON body.
pub(super) struct Operation {
    pub(super) method: String,
    /// Its path with a name in place of each parameter.
    pub(super) path: String,
    /// Names of the fields of its body.
    fields: Vec<String>,
}

impl Operation {
    /// A name for people.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Bodies of at most `bytes`, each with its kind.
    pub(super) fn bodies(&self, bytes: usize) -> Vec<(&'static str, Vec<u8>)> {
        const KINDS: [(&str, &str, &str); 4] = [
            ("empty objects", "{}", ","),
            ("numbers", "0", ","),
            ("empty lists", "[]", ","),
            ("nested lists", NEST, ","),
        ];
        let mut bodies: Vec<_> = KINDS
            .iter()
            .map(|&(kind, value, separator)| (kind, self.body(bytes, "[", value, separator, "]")))
            .collect();
        bodies.push(("text", self.body(bytes, "\"", "\\n", "", "\"")));
        bodies.push(("unknown names", unknown_names(bytes)));
        bodies
    }

    /// An object in which each field has as many values as there is room for.
    fn body(&self, bytes: usize, open: &str, value: &str, separator: &str, close: &str) -> Vec<u8> {
        let share = bytes / self.fields.len().max(1);
        let mut body = b"{".to_vec();
        for (number, field) in self.fields.iter().enumerate() {
            let head = format!("{}\"{field}\":{open}", if number > 0 { "," } else { "" });
            let around = head.len() + close.len() + 2;
            let count = share.saturating_sub(around) / (value.len() + separator.len());
            body.extend(head.as_bytes());
            body.extend(vec![value; count].join(separator).as_bytes());
            body.extend(close.as_bytes());
        }
        body.push(b'}');
        body
    }
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

/// The operations of an OpenAPI document that take a JSON body.
pub(super) fn operations(document: &Value) -> anyhow::Result<Vec<Operation>> {
    let paths = document["paths"].as_object().context("paths")?;
    let mut found = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().context("a path's operations")? {
            let content = &operation["requestBody"]["content"];
            let Some(schema) = content.get("application/json").map(|kind| &kind["schema"]) else { continue };
            found.push(Operation {
                method: method.to_uppercase(),
                path: with_names(path),
                fields: fields(document, schema),
            });
        }
    }
    Ok(found)
}

/// A path template with `x` in place of each parameter.
fn with_names(template: &str) -> String {
    let parts = template.split('/').map(|part| if part.starts_with('{') { "x" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Names of an object's fields, those of its alternatives and parts included.
fn fields(document: &Value, schema: &Value) -> Vec<String> {
    let schema = match schema["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
        Some(pointer) => document.pointer(pointer).unwrap_or(&Value::Null),
        None => schema,
    };
    let own = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
    let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|kind| schema[kind].as_array()).flatten();
    let mut all: Vec<String> = own.chain(parts.flat_map(|part| fields(document, part))).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_json_of_the_wanted_size() {
        let document = json!({
            "paths": {"/things/{id}": {"put": {"requestBody": {"content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/Thing"}}}}}, "get": {}}},
            "components": {"schemas": {"Thing": {"allOf": [
                {"properties": {"name": {}}}, {"properties": {"parts": {}}}]}}},
        });
        let operations = operations(&document).expect("a document");
        let [operation] = operations.as_slice() else { panic!("one takes a body") };
        assert_eq!(operation.name(), "PUT /things/x");
        assert_eq!(operation.fields, ["name", "parts"]);
        for (kind, body) in operation.bodies(10_000) {
            let value: Value =
                serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!((9_500..=10_000).contains(&body.len()), "{kind}: {} bytes", body.len());
            let names: Vec<&String> = value.as_object().expect("an object").keys().collect();
            assert!(kind == "unknown names" || names == ["name", "parts"], "{kind}: {names:?}");
        }
    }
}
