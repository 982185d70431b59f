//! Adds examples to the operations. The examples are in `examples.json`, by the `operationId`, for
//! example `get_projects_id_raw`.
//!
//! Each example has `parameters` by name, the JSON `body` of the request, and the JSON `answer`, if
//! the operation has them. Tests send every request, and check every example against its schema.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static EXAMPLES: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default());

/// Adds the example of an operation to its description, if there is one.
pub(super) fn add(operation: &mut Map<String, Value>) {
    let Some(example) = operation.get("operationId").and_then(Value::as_str).and_then(|id| EXAMPLES.get(id))
    else {
        return;
    };
    for parameter in operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
        let value = parameter["name"].as_str().and_then(|name| example["parameters"].get(name)).cloned();
        if let (Some(value), Some(parameter)) = (value, parameter.as_object_mut()) {
            parameter.insert("example".to_owned(), value);
        }
    }
    if let Some(body) = example.get("body") {
        set(operation.get_mut("requestBody"), body);
    }
    if let Some(answer) = example.get("answer") {
        let answers = operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten();
        let mut successes = answers.filter(|(status, _)| matches!(status.as_str(), "200" | "201" | "202"));
        set(successes.next().map(|(_, answer)| answer), answer);
    }
}

fn set(message: Option<&mut Value>, example: &Value) {
    if let Some(Value::Object(content)) =
        message.and_then(|message| message.pointer_mut("/content/application~1json"))
    {
        content.insert("example".to_owned(), example.clone());
    }
}
