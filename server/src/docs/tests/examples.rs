//! Tests that every operation has a valid example, and that the service accepts its request.

use axum::http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::authorization::Resources;
use super::{document_of, operations};
use crate::test_app::TestApp;

/// Media type of the bodies that have examples.
const JSON: &str = "application/json";

/// Whether an operation answers each HTTP request with an error, as a WebSocket does.
fn has_only_errors(operation: &Value) -> bool {
    let answers = operation["responses"].as_object().expect("answers");
    answers.keys().all(|status| status == "101" || status.as_str() >= "400")
}

/// Returns the reason why `example` does not follow the schema in the document, or `None` if it
/// does.
fn fault(document: &Value, schema: &Value, example: &Value) -> Option<String> {
    let root = json!({ "allOf": [schema], "components": { "schemas": document["components"]["schemas"] } });
    let validator = jsonschema::draft202012::new(&root).expect("a schema");
    let faults: Vec<String> = validator
        .iter_errors(example)
        .take(3)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// Returns the schema and the example of a JSON request or answer.
fn json_of(message: &Value) -> Option<(&Value, &Value)> {
    let content = message["content"].get(JSON)?;
    Some((&content["schema"], content.get("example").unwrap_or(&Value::Null)))
}

#[tokio::test]
async fn every_operation_has_a_valid_example() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let mut faults = Vec::new();
    let mut check = |about: String, schema: &Value, example: Option<&Value>| match example {
        None => faults.push(format!("{about} has no example")),
        Some(example) => {
            faults.extend(fault(&document, schema, example).map(|fault| format!("{about}: {fault}")));
        }
    };
    for (path, method, operation) in
        operations(&document).filter(|(.., operation)| !has_only_errors(operation))
    {
        let name = format!("{method} {path}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let example = parameter.get("example");
            if parameter["required"] == true || example.is_some() {
                check(format!("{name}: {}", parameter["name"]), &parameter["schema"], example);
            }
        }
        if let Some((schema, example)) = json_of(&operation["requestBody"]) {
            check(format!("{name}: the body"), schema, Some(example).filter(|example| !example.is_null()));
        }
        let answers = operation["responses"].as_object().expect("answers").iter();
        let successes = answers.filter(|(status, _)| status.as_str() < "300");
        if let Some((schema, example)) = successes.filter_map(|(_, answer)| json_of(answer)).next() {
            check(format!("{name}: the answer"), schema, Some(example).filter(|example| !example.is_null()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn every_example_can_be_sent() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    // This is the user in the example of a log-in.
    app.token_of_new_user("ada").await;
    let resources = Resources::create(&app, &app.admin_token().await).await;
    let mut faults = Vec::new();
    let mut all_examples: Vec<_> =
        operations(&document).filter(|(.., operation)| !has_only_errors(operation)).collect();
    // Operations that delete resources or log out are called last.
    all_examples.sort_by_key(|(path, method, _)| {
        (path.ends_with("/logout"), path.ends_with("/password"), *method == "delete")
    });
    for (path, method, operation) in all_examples {
        // A stream of events does not end while its task runs.
        if path.ends_with("/events") {
            continue;
        }
        let method: Method = method.to_uppercase().parse().expect("a method");
        let (mut address, is_resource) = resources.path(path);
        if !is_resource {
            address.clone_from(path);
        }
        let mut headers = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (Some(name), Some(example)) = (parameter["name"].as_str(), parameter.get("example")) else {
                continue;
            };
            let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
            if parameter["in"] == "path" {
                let encoded_text = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
                address = address.replace(&format!("{{{name}}}"), &encoded_text);
            } else if parameter["in"] == "query" {
                let separator = if address.contains('?') { '&' } else { '?' };
                address
                    .push_str(&format!("{separator}{name}={}", utf8_percent_encode(&text, NON_ALPHANUMERIC)));
            } else if parameter["in"] == "header" {
                headers.push((name.to_owned(), text));
            }
        }
        let mut call = app.local(method.clone(), &address);
        for (name, text) in headers {
            call = call.header(name.to_lowercase().leak(), &text);
        }
        if let Some((_, example)) = json_of(&operation["requestBody"]) {
            call = call.json(example);
        } else if operation["requestBody"].is_object() {
            // Request bodies that are files have no example.
            continue;
        }
        let answer = call.send().await;
        let status = answer.status.as_u16();
        let body = String::from_utf8_lossy(&answer.bytes[..answer.bytes.len().min(300)]).into_owned();
        let response = operation["responses"].get(status.to_string());
        // The ids in examples may not exist here, but the requests must be well-formed.
        if response.is_none() || matches!(status, 400 | 401 | 413 | 415 | 428 | 500) {
            faults.push(format!("{method} {address}: {status} {body}"));
        } else if status < 300
            && let Some((schema, _)) = response.and_then(json_of)
        {
            faults.extend(
                fault(&document, schema, &answer.json()).map(|fault| format!("{method} {address}: {fault}")),
            );
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
