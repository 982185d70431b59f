//! Tests that the API's description is complete, and that the service matches it.

mod authorization;
mod bodies;
mod examples;
mod lists;
mod media_types;
mod open_paths;
mod query;

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};

use crate::test_app::TestApp;

fn references<'v>(value: &'v Value, found_names: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(fields) => {
            found_names.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found_names));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found_names)),
        _ => {}
    }
}

const PROBLEM: &str = "#/components/schemas/Problem";

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (path, method, operation))
    })
}

async fn document_of(app: &TestApp) -> Value {
    app.remote(Method::GET, "/api/v1/openapi.json").send().await.expect(200)
}

#[tokio::test]
async fn answers_require_nullable_fields() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let required = |name: &str| {
        let names = document["components"]["schemas"][name]["required"].as_array().cloned();
        names.unwrap_or_default().into_iter().collect::<Vec<_>>()
    };
    assert!(required("Task").contains(&"result".into()), "{:?}", required("Task"));
    assert!(required("Page_Task").contains(&"next_cursor".into()));
    // Requests may leave out fields with a default. A problem has `errors` only if there are any.
    assert_eq!(required("RenderRequest"), Vec::<Value>::new());
    assert!(!required("Problem").contains(&"errors".into()));
}

#[tokio::test]
async fn the_description_is_complete() {
    let app = TestApp::start().await;
    let answer = app.remote(Method::GET, "/api/v1/openapi.json").send().await;
    let document = answer.expect(200);
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")), "{document}");
    let mut found_names = BTreeSet::new();
    references(&document, &mut found_names);
    assert!(found_names.contains("#/components/schemas/Project"), "{found_names:?}");
    for reference in &found_names {
        let target = reference.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(target).is_some(), "{reference} does not exist in the document");
    }
    let mut names = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let name = operation["operationId"].as_str().expect("a name");
        assert!(names.insert(name), "{name} is the name of two operations");
        for (status, answer) in operation["responses"].as_object().expect("answers") {
            let problem = &answer["content"]["application/problem+json"]["schema"];
            let expected = if status.as_str() < "400" { &Value::Null } else { &json!({ "$ref": PROBLEM }) };
            assert_eq!(problem, expected, "{method} {path}: {status}");
        }
    }
    assert!(names.contains("get_projects_id_raw"), "{names:?}");
    for path in ["/api/v1/auth/login", "/api/v1/projects/{id}", "/api/v1/tasks/{id}/events"] {
        assert!(document["paths"].get(path).is_some(), "{path} is not described");
    }
    let etag = answer.header("etag").to_owned();
    let second_answer =
        app.remote(Method::GET, "/api/v1/openapi.json").header("if-none-match", &etag).send().await;
    second_answer.expect(304);
}

#[tokio::test]
async fn the_table_of_operations_lists_every_operation() {
    let app = TestApp::start().await;
    let document = document_of(&app).await;
    let page = app.remote(Method::GET, "/api/operations").send().await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, "text/html; charset=utf-8"));
    let page = String::from_utf8(page.bytes).expect("text");
    for (path, method, operation) in operations(&document) {
        let table_row = format!("<tr><td>{}</td><td><code>{path}</code></td>", method.to_uppercase());
        let table_row = page.split_once(&table_row).unwrap_or_else(|| panic!("{method} {path} is missing")).1;
        let who = operation["x-who"].as_str().expect("the permitted callers");
        let end = table_row.find("</tr>").expect("an end");
        assert!(
            table_row[..end].contains(&format!("<td>{who}</td>")),
            "{method} {path}: {}",
            &table_row[..end]
        );
    }
    assert!(page.contains("409 <code>project_exists</code>"), "{page}");
}

#[tokio::test]
async fn the_description_has_a_page_to_browse_it() {
    let app = TestApp::start().await;
    let page = app.remote(Method::GET, "/api/docs/").send().await;
    assert_eq!(page.status, 200);
    assert!(String::from_utf8_lossy(&page.bytes).contains("swagger-ui"));
    let script = app.remote(Method::GET, "/api/docs/swagger-initializer.js").send().await;
    assert!(String::from_utf8_lossy(&script.bytes).contains("/api/v1/openapi.json"));
}
